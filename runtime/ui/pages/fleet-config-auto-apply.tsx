import { useSignal } from '@preact/signals'
import type {
  AutoApplyRecord,
  AutoApplyState,
  AutoApplyStatus,
  PlannedAutoApply,
} from '../../../lib/wire/auto-apply.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import { describeRule } from '../i18n/approval-rule.ts'
import { autoApplyTexts } from '../i18n/auto-apply.ts'
import { say } from '../i18n/define.ts'
import { formatDay, formatList } from '../i18n/format.ts'
import { AUTO_APPLY_LOOK } from '../logic/campaigns.ts'
import { ApprovalHelp, UnknownAuthors } from '../parts/approval-help.tsx'
import { Action, bind, Checkbox, TextArea, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { refuseOwn, Tally } from '../parts/tally.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { type AutoApplyStep, api } from '../state/endpoints.ts'
import { holds } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'
import { LeftOutTable, leftOutReason, PushedTable } from './fleet-config-auto-apply-tables.tsx'
import { SelectorChips } from './fleet-configs.tsx'
import { PlanGroups, usePlanGroups } from './plan-groups.tsx'

/** What each group of workloads would get. */
function WhatChanges({ of: { id, fleet_config_id: config }, total }: { of: AutoApplyRecord; total: number }) {
  const of = { path: `/api/fleet-configs/${encodeURIComponent(config)}/auto-apply/groups`, planKey: id }
  return <PlanGroups {...of} total={total} groups={usePlanGroups(of)} />
}

function StatusOf({ of }: { of: AutoApplyRecord }) {
  const [tone, shape] = AUTO_APPLY_LOOK[of.status]
  return (
    <Mark tone={tone} shape={shape}>
      {say(autoApplyTexts).status[of.status] ?? of.status}
    </Mark>
  )
}

/** What a plan says, one line for each thing that is to be known. */
function PlanLines({
  of: { plan, approval_rule },
}: {
  of: Pick<PlannedAutoApply, 'plan' | 'approval_rule'>
}) {
  const words = say(autoApplyTexts)
  const left = Object.entries(plan.left_out)
  return (
    <ul>
      <li>
        {words.reachedNow(plan.reached_count)}
        {plan.reached.length > 0 && <span class="muted"> ({formatList(plan.reached.slice(0, 5))})</span>}
      </li>
      <li>{words.current(plan.current_count)}</li>
      {plan.arriving_count > 0 && <li>{words.comes(plan.arriving_count)}</li>}
      {plan.leaving_count > 0 && <li>{words.goes(plan.leaving_count)}</li>}
      {left.map(([reason, count]) => (
        <li key={reason}>
          {words.leftOut}: {words.workload(count)}, {leftOutReason(reason)}
        </li>
      ))}
      <li>{plan.reaches_production ? words.production : words.noProduction}</li>
      {plan.environments.length > 0 && <li>{formatList(plan.environments)}</li>}
      <li>{plan.campaign_ids.length === 0 ? words.needsCampaign : words.proven(plan.campaign_ids.length)}</li>
      {approval_rule && <li>{describeRule(approval_rule)}</li>}
    </ul>
  )
}

/** Shows a plan, and requests what it says. */
function RequestDialog({
  id,
  planned,
  onClose,
  onDone,
}: {
  id: string
  planned: PlannedAutoApply
  onClose: () => void
  onDone: () => void
}) {
  const words = say(autoApplyTexts)
  const comment = useSignal('')
  const isConfirmed = useSignal(false)
  const { plan } = planned
  const send = async () => {
    const result = await api.requestAutoApply(id, {
      number: plan.number,
      selector: plan.selector,
      priority: plan.priority,
      plan_hash: planned.plan_hash,
      comment: comment.value,
      prod_confirmation: isConfirmed.value,
    })
    if (!result.ok) return toastFailure(result)
    toast(words.told.request)
    onDone()
  }
  const reason =
    plan.campaign_ids.length === 0
      ? words.needsCampaign
      : plan.reaches_production && !isConfirmed.value
        ? words.needsConfirm
        : null
  return (
    <FormDialog
      title={words.planTitle(plan.number)}
      send={words.step.request}
      onSend={send}
      onClose={onClose}
      reason={reason}
    >
      <PlanLines of={planned} />
      <TextArea label={words.comment} {...bind(comment)} />
      {plan.reaches_production && <Checkbox {...bind(isConfirmed)}>{words.confirm}</Checkbox>}
    </FormDialog>
  )
}

const needsComment = (step: AutoApplyStep, { status }: AutoApplyRecord): boolean =>
  step === 'approve' || step === 'reject' || (step === 'continue' && status === 'held')

function DecisionDialog({
  of,
  step,
  onClose,
  onDone,
}: {
  of: AutoApplyRecord
  step: AutoApplyStep
  onClose: () => void
  onDone: () => void
}) {
  const words = say(autoApplyTexts)
  const comment = useSignal('')
  const send = async () => {
    const choice = { comment: comment.value, plan_hash: of.plan_hash }
    const result = await api.decideAutoApply(of.fleet_config_id, step, choice)
    if (!result.ok) return toastFailure(result)
    toast(words.told[step])
    onDone()
  }
  return (
    <FormDialog
      title={words.step[step]}
      send={words.step[step]}
      onSend={send}
      onClose={onClose}
      kind={step === 'turn-off' ? 'danger primary' : 'primary'}
      reason={needsComment(step, of) && comment.value.trim() === '' ? words.needsComment : null}
    >
      {step === 'approve' && <PlanLines of={of} />}
      <p>{words.hint[step]}</p>
      <TextArea label={words.comment} {...bind(comment)} />
    </FormDialog>
  )
}

const STEPS: Partial<Record<AutoApplyStatus, readonly AutoApplyStep[]>> = {
  requested: ['approve', 'reject', 'withdraw'],
  active: ['pause', 'turn-off'],
  paused: ['continue', 'turn-off'],
  held: ['continue', 'turn-off'],
}

const permissionOf = (step: AutoApplyStep): string =>
  step === 'approve' || step === 'reject'
    ? 'config:approve'
    : step === 'withdraw'
      ? 'config:request'
      : 'workload:push_config'

function Steps({ of, reload }: { of: AutoApplyRecord; reload: () => void }) {
  const words = say(autoApplyTexts)
  const { about, open, close, done } = useDialog<AutoApplyStep>(reload)
  return (
    <div class="actions">
      {(STEPS[of.status] ?? []).map((step) => (
        <Action
          key={step}
          reason={
            unless(permissionOf(step), of) ?? (step === 'approve' ? refuseOwn(of.tally, of.help) : null)
          }
          onClick={() => open(step)}
        >
          {words.step[step]}
        </Action>
      ))}
      {about !== null && <DecisionDialog of={of} step={about} onClose={close} onDone={done} />}
    </div>
  )
}

/** Who requested and who approved that the version applies by itself, whom it is for, and what stopped it. */
function About({ of, reload }: { of: AutoApplyRecord; reload: () => void }) {
  const words = say(autoApplyTexts)
  const isAsked = of.status === 'requested'
  const { hold } = of
  return (
    <div class="pane stack">
      <p>
        <b>{isAsked ? words.asked(of.number) : words.version(of.number)}</b> · <StatusOf of={of} />
      </p>
      {hold && (
        <p role="alert">
          {words.hold[hold.gate]?.(hold.value, hold.limit, formatList(hold.approvers ?? []))}{' '}
          {hold.title && words.cause(hold.title)}
        </p>
      )}
      {of.ends_at && <p>{words.endsAt(formatDay(of.ends_at))}</p>}
      <p class="muted">
        {words.askedBy(of.requested_by)}
        {of.request_comment && `: ${of.request_comment}`}
        {of.approvals.length > 0 &&
          ` · ${words.approvedBy(formatList(of.approvals.map(({ by, comment }) => (comment === '' ? by : `${by} (${comment})`))))}`}
        {of.active_since && (
          <>
            {` · ${words.since} `}
            <Ago at={of.active_since} />
          </>
        )}
        {` · ${words.priority(of.priority)}`}
      </p>
      {isAsked && (
        <>
          <SelectorChips of={of.selector} />
          <PlanLines of={of} />
          {of.tally && <Tally of={of.tally} help={of.help} />}
          <UnknownAuthors of={of.help} />
          {of.tally && <ApprovalHelp of={of.help} tally={of.tally} />}
          {!holds('config:read_content') && <LeftOutFor permission="config:read_content" />}
          {holds('config:read_content') && <WhatChanges of={of} total={of.plan.under_count} />}
        </>
      )}
      <Steps of={of} reload={reload} />
    </div>
  )
}

/** Plans a version for newcomers; the plan is shown before anything is requested. */
function Choose({ of, number, reload }: { of: FleetConfigRecord; number: number; reload: () => void }) {
  const words = say(autoApplyTexts)
  const { about, open, close, done } = useDialog<PlannedAutoApply>(reload)
  const plan = async () => {
    const result = await api.planAutoApply(of.id, { number })
    if (!result.ok) return toastFailure(result)
    open(result.value)
  }
  return (
    <div class="actions">
      <Action reason={unless('config:request', of)} onClick={() => void plan()}>
        {words.plan(number)}
      </Action>
      {about !== null && <RequestDialog id={of.id} planned={about} onClose={close} onDone={done} />}
    </div>
  )
}

function State({
  of,
  number,
  state,
  reload,
}: {
  of: FleetConfigRecord
  number: number
  state: AutoApplyState
  reload: () => void
}) {
  const words = say(autoApplyTexts)
  const { in_force: inForce, request, ended } = state
  return (
    <>
      {inForce === undefined && request === undefined && <p>{words.off}</p>}
      {ended && <p class="warn">{words.over(ended.number)}</p>}
      {inForce && <About of={inForce} reload={reload} />}
      {request && <About of={request} reload={reload} />}
      {request === undefined && of.newest_version > 0 && <Choose of={of} number={number} reload={reload} />}
      {inForce && !holds('config:request') && <LeftOutFor permission="config:request" />}
      {inForce && holds('config:request') && <PushedTable id={of.id} />}
      {inForce && <LeftOutTable id={of.id} state={state} />}
    </>
  )
}

/**
 * Whether a version of a fleet config applies by itself: who allowed it, what it pushed, and who is left out and why.
 */
export function AutoApplySection({ of, number }: { of: FleetConfigRecord; number: number }) {
  const words = say(autoApplyTexts)
  const state = useResource(
    `auto-apply:${of.id}`,
    (abort) => api.autoApply(of.id, abort),
    (frame) => frame.type === 'auto_apply_update' && frame.auto_apply.fleet_config_id === of.id,
  )
  return (
    <section class="ground stack" aria-label={words.title}>
      <h2>{words.title}</h2>
      <p class="muted">{words.lead}</p>
      <Loaded of={state}>
        {(data) => <State of={of} number={number} state={data} reload={state.reload} />}
      </Loaded>
    </section>
  )
}
