import { useSignal } from '@preact/signals'
import { gitGroupOf } from '../../../lib/model/git-group.ts'
import type { ApprovalPushRequest, ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { RolloutGateName } from '../../../lib/wire/rollouts.ts'
import { ROLLOUT_GATES } from '../../../lib/wire/values.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { changeTexts } from '../i18n/change.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { gitTexts } from '../i18n/git.ts'
import { listStageSizes, readShares, toStageRequests } from '../logic/stages.ts'
import { environmentOf, nameOf } from '../logic/workloads.ts'
import { Action, ActionLink, Checkbox, TextArea, TextField, unless } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { FleetStandingNote } from '../parts/fleet-standing.tsx'
import { useManaged } from '../parts/git-notice.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { keepDraft } from '../state/drafts.ts'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { can, me } from '../state/session.ts'
import { isOver } from './review-story.tsx'

interface DecisionProps {
  workload: WorkloadRecord
  approval: ApprovalRecord
  plan: ConfigPlan | null
  reload: () => void
}

/** Why one’s own approval would not count; the server has the last word. */
function refuseMyself(approval: ApprovalRecord): string | null {
  const words = say(changeTexts)
  const mine = me.value?.email
  if (approval.requester === mine && approval.author_counts === false) return words.ownRequest
  const hasApproved = approval.approvals_short !== true && approval.approvals.some(({ by }) => by === mine)
  return hasApproved ? words.approvedAlready : null
}

/** How many have approved, of how many, and whether the author counts. */
function Count({ approval }: { approval: ApprovalRecord }) {
  const words = say(changeTexts)
  const { approvals, approvals_needed: needed, author_counts: authorCounts } = approval
  if (needed === undefined) return null
  return (
    <p class={approval.approvals_short ? 'warn' : 'muted'}>
      {approval.approvals_short && `${words.approvalsShort} `}
      {words.approvalCount(approvals.length, needed)} {authorCounts === false && words.byAnother}
    </p>
  )
}

function Approve({ workload, approval, reload }: DecisionProps) {
  const words = say(changeTexts)
  const comment = useSignal('')
  const isBusy = useSignal(false)
  const managed = useManaged(workload.id)
  const isOutsideGit = managed !== null && approval.target_group !== gitGroupOf(managed.owner)
  const reason =
    unless('config:approve') ??
    (isOutsideGit ? say(gitTexts).notApproved : null) ??
    refuseMyself(approval) ??
    (comment.value.trim() === '' ? words.approveNeedsComment : null)
  const ask = async () => {
    if (isBusy.value) return
    isBusy.value = true
    const result = await api.answerApproval(workload.id, approval.id, 'comments', comment.value.trim())
    isBusy.value = false
    if (!result.ok) return toastFailure(result)
    comment.value = ''
    toast(words.commented)
    reload()
  }
  const approve = async () => {
    if (reason !== null || isBusy.value) return
    isBusy.value = true
    const result = await api.approve(workload.id, approval.id, comment.value.trim())
    isBusy.value = false
    if (!result.ok) return toastFailure(result)
    toast(words.approved)
    reload()
  }
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault()
        void approve()
      }}
    >
      <TextArea
        label={words.approveComment}
        value={comment.value}
        onValue={(value) => {
          comment.value = value
        }}
      />
      <div class="actions">
        <Action kind="primary" isSubmit reason={reason}>
          {words.approve}
        </Action>
        <Action
          reason={unless('config:request') ?? (comment.value.trim() === '' ? words.changesNeedComment : null)}
          onClick={() => void ask()}
        >
          {words.askChanges}
        </Action>
      </div>
    </form>
  )
}

/** A week. */
const DWELL_SECONDS_MAX = 604_800

/** Stages as the form holds them; `wanted` is what is asked for, null when nothing is or something is wrong. */
function useStages() {
  const isOn = useSignal(false)
  const shares = useSignal('10, 50')
  const dwell = useSignal('120')
  const gates = useSignal<RolloutGateName[]>([...ROLLOUT_GATES])
  const read = readShares(shares.value)
  const seconds = dwell.value.trim() === '' ? Number.NaN : Number(dwell.value)
  const words = say(changeTexts)
  const fault = !isOn.value
    ? null
    : read === null
      ? words.stageFault
      : Number.isInteger(seconds) && seconds >= 0 && seconds <= DWELL_SECONDS_MAX
        ? null
        : words.stageDwellFault
  const wanted = isOn.value && fault === null ? toStageRequests(read ?? [], seconds, gates.value) : null
  return { isOn, shares, dwell, gates, fault, wanted }
}

function Stages({ of, connected }: { of: ReturnType<typeof useStages>; connected: number }) {
  const words = say(changeTexts)
  return (
    <>
      <Checkbox
        value={of.isOn.value}
        onValue={(value) => {
          of.isOn.value = value
        }}
      >
        {words.stages}
      </Checkbox>
      {of.isOn.value && (
        <div class="stack tight">
          <TextField
            label={words.stageShares}
            hint={
              of.wanted === null
                ? words.stageHint
                : words.stagePreview(listStageSizes(of.wanted, connected), connected)
            }
            error={of.fault === words.stageFault ? of.fault : null}
            value={of.shares.value}
            onValue={(value) => {
              of.shares.value = value
            }}
          />
          <TextField
            label={words.stageDwell}
            type="number"
            error={of.fault === words.stageDwellFault ? of.fault : null}
            value={of.dwell.value}
            onValue={(value) => {
              of.dwell.value = value
            }}
          />
          <fieldset class="field">
            <legend class="label muted">{words.stageGates}</legend>
            {ROLLOUT_GATES.map((gate) => (
              <Checkbox
                key={gate}
                value={of.gates.value.includes(gate)}
                onValue={(isOn) => {
                  of.gates.value = ROLLOUT_GATES.filter((id) =>
                    id === gate ? isOn : of.gates.value.includes(id),
                  )
                }}
              >
                {words.gates[gate]}
              </Checkbox>
            ))}
          </fieldset>
        </div>
      )}
    </>
  )
}

function PushDialog({
  workload,
  approval,
  isProduction,
  isBreakGlass,
  onClose,
  reload,
}: Omit<DecisionProps, 'plan'> & { isProduction: boolean; isBreakGlass: boolean; onClose: () => void }) {
  const words = say(changeTexts)
  const comment = useSignal('')
  const typed = useSignal('')
  const why = useSignal('')
  const isBusy = useSignal(false)
  const asksProduction = useSignal(isProduction)
  const stages = useStages()
  const name = nameOf(workload)
  const needsComment = asksProduction.value || isBreakGlass
  const reason =
    isBreakGlass && (why.value.trim() === '' || comment.value.trim() === '')
      ? words.breakGlassNeeds
      : needsComment && comment.value.trim() === ''
        ? words.pushNeedsComment
        : asksProduction.value && typed.value.trim() !== name
          ? words.pushTyped(name)
          : isBreakGlass
            ? null
            : stages.fault
  const push = async () => {
    if (reason !== null || isBusy.value) return
    isBusy.value = true
    const wantedStages = isBreakGlass ? null : stages.wanted
    const request: ApprovalPushRequest = {
      comment: comment.value.trim(),
      prod_double_confirmed: asksProduction.value && typed.value.trim() === name,
      ...(isBreakGlass ? { break_glass: true, break_glass_reason: why.value.trim() } : {}),
      ...(wantedStages ? { stages: wantedStages } : {}),
    }
    const result = await api.push(workload.id, approval.id, request)
    isBusy.value = false
    if (!result.ok) {
      if (result.code === 'production_double_confirmation_required') asksProduction.value = true
      return toastFailure(result)
    }
    toast(words.pushed)
    reload()
    const { config_hash: hash, push_id: pushId } = result.value
    const rollouts = wantedStages ? await api.rollouts(workload.id) : null
    const rollout = rollouts?.ok ? rollouts.value.find((one) => one.push_id === pushId) : undefined
    if (rollout) return navigate(`/workloads/${workload.id}/rollouts/${rollout.id}`)
    navigate(
      `/workloads/${workload.id}/pushes/${hash ?? approval.draft_hash}${pushId ? `?push=${pushId}` : ''}`,
    )
  }
  return (
    <Dialog title={isBreakGlass ? words.breakGlass : words.push} onClose={onClose}>
      <form
        class={isBreakGlass ? 'stack pane alarm' : 'stack'}
        onSubmit={(event) => {
          event.preventDefault()
          void push()
        }}
      >
        <p>
          {words.pushReach(
            name,
            approval.target_env || environmentOf(workload),
            workload.connected_instance_count,
            stages.wanted && !isBreakGlass
              ? listStageSizes(stages.wanted, workload.connected_instance_count)
              : null,
          )}
        </p>
        <FleetStandingNote workloadId={workload.id} isPush />
        {isBreakGlass && (
          <>
            <p class="bad">{words.breakGlassLead}</p>
            <TextArea
              label={words.breakGlassReason}
              value={why.value}
              onValue={(value) => {
                why.value = value
              }}
            />
          </>
        )}
        <TextArea
          label={words.pushComment}
          value={comment.value}
          onValue={(value) => {
            comment.value = value
          }}
        />
        {!isBreakGlass && can('config_safety.canary_rollout') && (
          <Stages of={stages} connected={workload.connected_instance_count} />
        )}
        {!isBreakGlass && <EditionLine parts={['canary_rollout']} />}
        {asksProduction.value && (
          <TextField
            label={words.pushTyped(name)}
            autoComplete="off"
            value={typed.value}
            onValue={(value) => {
              typed.value = value
            }}
          />
        )}
        <div class="actions">
          <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
          <Action kind={isBreakGlass ? 'danger primary' : 'primary'} isSubmit reason={reason}>
            {isBreakGlass ? words.breakGlassGo : words.pushNow}
          </Action>
        </div>
      </form>
    </Dialog>
  )
}

type Ending = 'reject' | 'withdraw'

/** Ask why, then end a request. */
function EndDialog({
  workload,
  approval,
  ending,
  reload,
  onClose,
}: Omit<DecisionProps, 'plan'> & { ending: Ending; onClose: () => void }) {
  const words = say(changeTexts)
  const comment = useSignal('')
  const isBusy = useSignal(false)
  const isReject = ending === 'reject'
  const reason = isReject && comment.value.trim() === '' ? words.rejectNeedsComment : null
  const end = async () => {
    if (reason !== null || isBusy.value) return
    isBusy.value = true
    const result = await api.answerApproval(workload.id, approval.id, ending, comment.value.trim())
    isBusy.value = false
    if (!result.ok) return toastFailure(result)
    toast(isReject ? words.rejected : words.withdrawn)
    onClose()
    reload()
  }
  return (
    <Dialog title={words[ending]} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void end()
        }}
      >
        <p>{isReject ? words.rejectLead : words.withdrawLead}</p>
        <TextArea
          label={words.endComment}
          value={comment.value}
          onValue={(value) => {
            comment.value = value
          }}
        />
        <div class="actions">
          <Action onClick={onClose}>{say(commonTexts).cancel}</Action>
          <Action kind={isReject ? 'danger primary' : 'primary'} isSubmit reason={reason}>
            {words[ending]}
          </Action>
        </div>
      </form>
    </Dialog>
  )
}

/** A request of which nothing can be decided any more. */
function Closed({
  workload,
  approval,
  onEdit,
}: Omit<DecisionProps, 'plan' | 'reload'> & { onEdit: () => void }) {
  const words = say(changeTexts)
  const { status } = approval
  const hash = approval.config_hash ?? approval.draft_hash
  return (
    <section class="pane stack">
      {(status === 'rejected' || status === 'withdrawn' || status === 'retired') && (
        <p>{words.over[status]}</p>
      )}
      <div class="actions">
        {status === 'pushed' && (
          <ActionLink
            kind="primary"
            href={`/workloads/${workload.id}/pushes/${hash}${approval.push_id ? `?push=${approval.push_id}` : ''}`}
          >
            {words.seePush}
          </ActionLink>
        )}
        <Action reason={unless('workload:push_config')} onClick={onEdit}>
          {words.editAgain}
        </Action>
      </div>
    </section>
  )
}

/** What can be decided about a request now. */
export function ReviewDecision(props: DecisionProps) {
  const { workload, approval, plan } = props
  const words = say(changeTexts)
  const open = useSignal<'push' | 'glass' | Ending | null>(null)
  const isProduction = approval.prod_target || plan?.prod_target === true
  const close = () => {
    open.value = null
  }
  const editAgain = () => {
    keepDraft(workload.id, approval.draft_yaml)
    navigate(`/workloads/${workload.id}/change`)
  }
  if (isOver(approval)) return <Closed workload={workload} approval={approval} onEdit={editAgain} />
  const pushReason =
    unless('workload:push_config') ??
    (approval.status === 'approved' ? null : words.pushNeedsApproval) ??
    (approval.approvals_short === true ? words.approvalsShort : null) ??
    (plan?.policy.decision === 'block' ? words.policyBlocks(plan.policy.summary.block_count) : null)
  return (
    <section class="pane stack">
      <Count approval={approval} />
      {(approval.status === 'pending' || approval.approvals_short === true) && <Approve {...props} />}
      <div class="actions">
        {approval.status === 'approved' && (
          <Action kind="primary" reason={pushReason} onClick={() => (open.value = 'push')}>
            {words.push}
          </Action>
        )}
        <Action reason={unless('workload:push_config')} onClick={editAgain}>
          {words.editAgain}
        </Action>
        <Action reason={unless('config:request')} onClick={() => (open.value = 'withdraw')}>
          {words.withdraw}
        </Action>
        <Action reason={unless('config:approve')} onClick={() => (open.value = 'reject')}>
          {words.reject}
        </Action>
        {approval.status === 'pending' && (
          <Action kind="danger" reason={unless('config:break_glass')} onClick={() => (open.value = 'glass')}>
            ▲ {words.breakGlass}
          </Action>
        )}
      </div>
      {(open.value === 'reject' || open.value === 'withdraw') && (
        <EndDialog
          workload={workload}
          approval={approval}
          reload={props.reload}
          ending={open.value}
          onClose={close}
        />
      )}
      {(open.value === 'push' || open.value === 'glass') && (
        <PushDialog
          workload={workload}
          approval={approval}
          reload={props.reload}
          isProduction={isProduction}
          isBreakGlass={open.value === 'glass'}
          onClose={close}
        />
      )}
    </section>
  )
}
