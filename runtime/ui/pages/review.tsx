import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { environmentOf, nameOf } from '../logic/workloads.ts'
import { CompareView } from '../parts/code.tsx'
import { ActionLink } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import type { Shape } from '../parts/icons.tsx'
import { Head, Pairs } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { can } from '../state/session.ts'
import { type Resource, touchesWorkload, useResource } from '../state/use-resource.ts'
import { Checks, PolicyPane, ReachPane } from './change-checks.tsx'
import { DiffSummary } from './diff-summary.tsx'
import { ReviewDecision } from './review-decision.tsx'

const LOOK: Record<ApprovalRecord['status'], readonly [Tone, Shape]> = {
  pending: ['warn', 'triangle'],
  approved: ['ok', 'tick'],
  pushed: ['ok', 'full'],
}

/** How far a request is. */
export function ApprovalMark({ status }: { status: ApprovalRecord['status'] }) {
  const [tone, shape] = LOOK[status]
  return (
    <Mark tone={tone} shape={shape}>
      {say(changeTexts).state[status]}
    </Mark>
  )
}

function Story({ approval }: { approval: ApprovalRecord }) {
  const words = say(changeTexts)
  const rows: [string, string | undefined][] = [
    [words.comment, approval.request_comment],
    [words.environment, approval.target_env],
    [words.group, approval.target_group],
    [words.approvedBy, approval.approved_by],
    [words.approveComment, approval.approval_comment],
    [words.pushComment, approval.push_comment],
    [words.breakGlassReason, approval.break_glass_reason],
  ]
  const filled = rows.filter((row): row is [string, string] => Boolean(row[1]))
  if (filled.length === 0) return null
  return (
    <section class="pane">
      <Pairs of={filled} />
      {approval.self_approved && <p class="warn">{words.self}</p>}
      {approval.break_glass && <p class="bad">{words.wasBreakGlass}</p>}
    </section>
  )
}

function Review({
  workload,
  approval,
  list,
}: {
  workload: WorkloadRecord
  approval: ApprovalRecord
  list: Resource<ApprovalRecord[]>
}) {
  const words = say(changeTexts)
  const hash = workload.active_config_hash ?? ''
  const isPushed = approval.status === 'pushed'
  // A pushed request is compared with what it replaced, not with itself.
  const baseHash = isPushed ? (approval.base_config_hash ?? '') : hash
  const base = useResource(baseHash === '' ? null : `revision:${workload.id}:${baseHash}`, (abort) =>
    api.revision(workload.id, baseHash, abort),
  )
  const validation = useResource(isPushed ? null : `validate:${approval.id}`, (abort) =>
    api.validate(workload.id, approval.draft_yaml, abort),
  )
  const plan = useResource(
    isPushed || !can('config_safety.policy_preview') ? null : `plan:${approval.id}:${hash}`,
    (abort) => api.plan(workload.id, approval.draft_yaml, abort),
  )
  const topology = useResource(
    isPushed ? null : `topology:${workload.id}`,
    (abort) => api.topology(workload.id, abort),
    touchesWorkload(workload.id),
  )
  const before = base.data?.content ?? ''
  const isBaseKnown = baseHash === '' || base.data !== null || base.failure !== null
  const hasMoved = !isPushed && (approval.base_config_hash ?? '') !== hash
  return (
    <div class="two" style={{ marginTop: '24px' }}>
      <div class="stack">
        {hasMoved && (
          <div class="notice t-warn">
            <div>{words.baseMoved}</div>
          </div>
        )}
        {isBaseKnown && (
          <>
            <DiffSummary workloadId={workload.id} before={before} after={approval.draft_yaml} />
            <div class="pane flush">
              <CompareView before={before} after={approval.draft_yaml} label={words.draft} />
            </div>
          </>
        )}
      </div>
      <div>
        <ReviewDecision workload={workload} approval={approval} plan={plan.data} reload={list.reload} />
        <Story approval={approval} />
        {!isPushed && <Checks of={validation} isStale={false} />}
        {plan.data && <PolicyPane plan={plan.data} />}
        {plan.data && (
          <ReachPane
            plan={plan.data}
            instances={topology.data?.instances ?? []}
            environment={approval.target_env || environmentOf(workload)}
          />
        )}
      </div>
    </div>
  )
}

/** One request: what it does, what the checks say, and the decision. */
export function ReviewPage({ params }: { params: Record<string, string> }) {
  const words = say(changeTexts)
  const id = params['id'] ?? ''
  const touches = touchesWorkload(id)
  const workload = useResource(`workload:${id}`, (abort) => api.workload(id, abort), touches)
  const list = useResource(
    `approvals:${id}`,
    (abort) => api.workloadApprovals(id, abort),
    (frame) => frame.type === 'approval_update' && touches(frame),
  )
  return (
    <Loaded of={workload}>
      {(data) => (
        <Loaded of={list}>
          {(approvals) => {
            const approval = approvals.find((candidate) => candidate.id === params['approval'])
            if (!approval)
              return (
                <>
                  <Head title={words.review}>
                    <ActionLink href={`/workloads/${id}`}>← {nameOf(data)}</ActionLink>
                  </Head>
                  <p class="empty">{words.notFound}</p>
                </>
              )
            const title = approval.request_comment.split('\n')[0] || words.title(nameOf(data))
            return (
              <>
                <Head
                  title={title}
                  beside={
                    <>
                      <ApprovalMark status={approval.status} />
                      <span class="muted">
                        <a href={`/workloads/${id}`}>{nameOf(data)}</a> ·{' '}
                        {words.requestedBy(approval.requester)} · <Ago at={approval.created_at} /> ·{' '}
                        <span class="mono">{shortHash(approval.draft_hash)}</span>
                      </span>
                    </>
                  }
                />
                <Review workload={data} approval={approval} list={list} />
              </>
            )
          }}
        </Loaded>
      )}
    </Loaded>
  )
}
