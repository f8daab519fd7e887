import { useSignal } from '@preact/signals'
import { gitGroupOf } from '../../../lib/model/git-group.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { helpTexts } from '../i18n/approval-help.ts'
import { changeTexts, sayBlocks } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { formatDay, formatExact, formatList, shortHash } from '../i18n/format.ts'
import { gitTexts } from '../i18n/git.ts'
import { standingTexts } from '../i18n/standing.ts'
import { isWaiting, saidSinceApproval } from '../logic/requests.ts'
import { ApprovalHelp, UnknownAuthors, Way } from '../parts/approval-help.tsx'
import { Action, ActionLink, bind, TextArea, unless } from '../parts/controls.tsx'
import { Form, FormDialog } from '../parts/form.tsx'
import { SaidSince } from '../parts/said-since.tsx'
import { refuseOwn, Tally } from '../parts/tally.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WhyClass } from '../parts/why-class.tsx'
import type { Result } from '../state/api.ts'
import { beginDraft } from '../state/drafts.ts'
import { api } from '../state/endpoints.ts'
import { navigate } from '../state/router.ts'
import { can, me } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useInGit } from '../state/use-in-git.ts'
import type { Resource } from '../state/use-resource.ts'
import { PushDialog } from './push-dialog.tsx'
import { useRevisionThatRan } from './review-notices.tsx'
import { isOver } from './review-story.tsx'
import { RollbackDialog } from './rollback-dialog.tsx'

interface DecisionProps {
  workload: WorkloadRecord
  approval: ApprovalRecord
  plan: ConfigPlan | null
  /** What keeps the workload from pushes, and who keeps its config in Git. */
  standing: Resource<FleetStanding>
  reload: () => void
}

/** What ends it on this very workload where nobody can approve: going back to the text, or asking for it otherwise. */
function WaysHere({
  workload,
  approval,
  onEdit,
}: Pick<DecisionProps, 'approval' | 'workload'> & { onEdit: () => void }) {
  const words = say(helpTexts)
  const { about: row, open, close } = useDialog<RevisionRecord>()
  const ranHere = useRevisionThatRan(workload, approval.draft_hash)
  const hash = shortHash(approval.draft_hash)
  const isOwn = approval.tally?.own === 'author'
  return (
    <>
      {ranHere !== null && can('config_safety.guided_rollback') && (
        <Way text={words.way.goBack(hash)}>
          <Action reason={unless('workload:push_config')} onClick={() => open(ranHere)}>
            {words.go.goBack(hash)}
          </Action>
          {row !== null && <RollbackDialog workload={workload} row={row} onClose={close} />}
        </Way>
      )}
      <Way text={words.way.ask}>
        {!isOwn && (
          <Action reason={unless('config:request')} onClick={onEdit}>
            {say(changeTexts).editAgain}
          </Action>
        )}
      </Way>
    </>
  )
}

/** How many approvals count, of how many, and whether the reader's own would. */
function Count({
  approval,
  workload,
  onEdit,
}: Pick<DecisionProps, 'approval' | 'workload'> & { onEdit: () => void }) {
  const words = say(changeTexts)
  if (approval.tally === undefined) return null
  // Nobody is asked any more: whose approval would count is no question, who gave it is.
  if (!isWaiting(approval))
    return <p data-said>{words.approvedByAll(formatList(approval.approvals.map(({ by }) => by)))}</p>
  return (
    <>
      {approval.approvals_short && <p class="warn">{words.approvalsShort}</p>}
      <Tally of={approval.tally} help={approval.help} isOwn={approval.requester === me.value?.email} />
      <UnknownAuthors of={approval.help} />
      <ApprovalHelp
        of={approval.help}
        tally={approval.tally}
        ways={<WaysHere workload={workload} approval={approval} onEdit={onEdit} />}
      />
      {approval.author_counts === false && approval.nobody_can_approve !== true && (
        <p class="muted">{words.byAnother}</p>
      )}
      {approval.approval_class !== undefined && (
        <WhyClass workload={workload} asked={approval} counted={approval.approval_class} />
      )}
    </>
  )
}

/** Approve it, where it waits for that, or ask for changes, which whoever pushes it is shown. */
function Answer({ workload, approval, standing, reload }: DecisionProps) {
  const words = say(changeTexts)
  const comment = useSignal('')
  const isBusy = useSignal(false)
  const { keptBy } = useInGit(workload.id, standing)
  const isOutsideGit = keptBy !== null && approval.target_group !== gitGroupOf(keptBy)
  const lacksComment = comment.value.trim() === ''
  const reason =
    unless('config:approve') ??
    (isOutsideGit ? say(gitTexts).notApproved : null) ??
    refuseOwn(approval.tally, approval.help) ??
    (lacksComment ? words.approveNeedsComment : null)
  /** Send an answer unless another is under way; resolves with whether it was taken. */
  const answer = async (send: () => Promise<Result<unknown>>, told: string): Promise<boolean> => {
    if (isBusy.value) return false
    isBusy.value = true
    const result = await send()
    isBusy.value = false
    if (result.ok) {
      toast(told)
      reload()
    } else toastFailure(result)
    return result.ok
  }
  const text = () => comment.value.trim()
  const approve = () => answer(() => api.approve(workload.id, approval.id, text()), words.approved)
  const ask = async () => {
    const send = () => api.answerApproval(workload.id, approval.id, 'comments', text())
    if (await answer(send, isWaiting(approval) ? words.commented : words.commentedApproved))
      comment.value = ''
  }
  const whyNotAsk = unless('config:request') ?? (lacksComment ? words.changesNeedComment : null)
  const field = <TextArea label={words.approveComment} {...bind(comment)} />
  if (!isWaiting(approval))
    return (
      <Form class="stack tight in-rows" send={words.askChanges} onSend={ask} reason={whyNotAsk} kind="">
        {field}
      </Form>
    )
  const askChanges = (
    <Action reason={whyNotAsk} onClick={() => void ask()}>
      {words.askChanges}
    </Action>
  )
  return (
    <Form
      class="stack tight in-rows"
      send={words.approve}
      onSend={approve}
      reason={reason}
      beside={askChanges}
    >
      {field}
    </Form>
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
}: Omit<DecisionProps, 'plan' | 'standing'> & { ending: Ending; onClose: () => void }) {
  const words = say(changeTexts)
  const comment = useSignal('')
  const isReject = ending === 'reject'
  const end = async () => {
    const result = await api.answerApproval(workload.id, approval.id, ending, comment.value.trim())
    if (!result.ok) return toastFailure(result)
    toast(isReject ? words.rejected : words.withdrawn)
    onClose()
    reload()
  }
  return (
    <FormDialog
      title={words[ending]}
      send={words[ending]}
      onSend={end}
      onClose={onClose}
      kind={isReject ? 'danger primary' : 'primary'}
      reason={isReject && comment.value.trim() === '' ? words.rejectNeedsComment : null}
    >
      <p>{isReject ? words.rejectLead : words.withdrawLead}</p>
      <TextArea label={words.endComment} {...bind(comment)} />
    </FormDialog>
  )
}

/** The page of what took the place of a request; null where there is none to tell of. */
function hrefOfRetirement({ workload_id: id, retired_by: by }: ApprovalRecord): string | null {
  if (by?.approval_id) return `/workloads/${id}/changes/${by.approval_id}`
  if (by?.campaign_id) return `/campaigns/${by.campaign_id}`
  return by?.fleet_config_id ? `/fleet-configs/${by.fleet_config_id}` : null
}

/** A request of which nothing can be decided any more. */
function Closed({
  workload,
  approval,
  onEdit,
}: Omit<DecisionProps, 'plan' | 'standing' | 'reload'> & { onEdit: () => void }) {
  const words = say(changeTexts)
  const { status } = approval
  const hash = approval.config_hash ?? approval.draft_hash
  const overtaking = hrefOfRetirement(approval)
  return (
    <section class="pane stack">
      {(status === 'rejected' || status === 'withdrawn' || status === 'retired') && (
        <p data-said>{words.over[status]}</p>
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
        {overtaking !== null && <ActionLink href={overtaking}>{words.seeWhat}</ActionLink>}
        {approval.draft_yaml !== '' && (
          <Action reason={unless('config:request')} onClick={onEdit}>
            {words.editAgain}
          </Action>
        )}
      </div>
    </section>
  )
}

type Asking = 'push' | 'glass' | Ending

/** The buttons of a request that is open; each opens a dialog, or the editor. */
function Choices({
  approval,
  plan,
  standing,
  onAsk,
  onEdit,
}: Omit<DecisionProps, 'reload' | 'workload'> & { onAsk: (what: Asking) => void; onEdit: () => void }) {
  const words = say(changeTexts)
  // What is approved is not pushed while a freeze lasts, unless somebody breaks the glass.
  const freeze = standing.data?.freeze ?? null
  const policyReason = plan === null ? null : sayBlocks(plan.policy)
  const pushReason =
    unless('workload:push_config') ??
    (approval.status === 'approved' ? null : words.pushNeedsApproval) ??
    (approval.approvals_short === true ? words.approvalsShort : null) ??
    policyReason ??
    (freeze === null ? null : say(standingTexts).frozen(formatExact(freeze.until)))
  // Broken glass stands for an approval, and for the end of a freeze; not for a policy.
  const glass = (approval.status === 'pending' || freeze !== null) && (
    <Action
      kind="danger"
      reason={unless('config:break_glass') ?? policyReason}
      onClick={() => onAsk('glass')}
    >
      ▲ {words.breakGlass}
    </Action>
  )
  const isApproved = approval.status === 'approved'
  // Whoever may not judge a request of their own takes it back.
  const isOwn = approval.requester === me.value?.email && approval.tally?.own === 'author'
  return (
    <div class="actions in-rows">
      {isApproved && (
        <Action
          kind={freeze === null ? 'primary' : ''}
          reason={pushReason}
          isReasonShown
          onClick={() => onAsk('push')}
        >
          {words.push}
        </Action>
      )}
      {isApproved && glass}
      <Action reason={unless('config:request')} onClick={onEdit}>
        {words.editAgain}
      </Action>
      <Action reason={unless('config:request')} onClick={() => onAsk('withdraw')}>
        {words.withdraw}
      </Action>
      {!isOwn && (
        <Action reason={unless('config:approve')} onClick={() => onAsk('reject')}>
          {words.reject}
        </Action>
      )}
      {!isApproved && glass}
    </div>
  )
}

/** What can be decided about a request now. */
export function ReviewDecision({ isProduction, ...props }: DecisionProps & { isProduction: boolean }) {
  const { workload, approval, plan, standing, reload } = props
  const { about: what, open, close } = useDialog<Asking>()
  const editAgain = () => {
    beginDraft(workload.id, approval.draft_yaml)
    navigate(`/workloads/${workload.id}/change`)
  }
  if (isOver(approval)) return <Closed workload={workload} approval={approval} onEdit={editAgain} />
  const dialog = { workload, approval, reload, onClose: close }
  return (
    <section class="pane stack">
      <Count workload={workload} approval={approval} onEdit={editAgain} />
      {isWaiting(approval) ? <Answer {...props} /> : <SaidSince said={saidSinceApproval(approval)} />}
      <Choices approval={approval} plan={plan} standing={standing} onEdit={editAgain} onAsk={open} />
      {!isWaiting(approval) && <Answer {...props} />}
      {approval.ends_at !== undefined && (
        <p class="muted">{say(changeTexts).endsAt(formatDay(approval.ends_at))}</p>
      )}
      {(what === 'reject' || what === 'withdraw') && <EndDialog {...dialog} ending={what} />}
      {(what === 'push' || what === 'glass') && (
        <PushDialog
          {...dialog}
          isProduction={isProduction}
          plan={plan}
          standing={standing}
          isBreakGlass={what === 'glass'}
        />
      )}
    </section>
  )
}
