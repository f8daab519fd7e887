import { useMemo } from 'preact/hooks'
import { baseInWordsOf } from '../../../lib/configs/effective/base-of-report.ts'
import { environmentOf } from '../../../lib/model/workload-states.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { approvalTexts } from '../i18n/approvals.ts'
import { changeTexts, sayNotOurs } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { nameRequest, nameRevision, sideTexts } from '../i18n/sides.ts'
import { titleOfRequest } from '../logic/requests.ts'
import { workableHashOf } from '../logic/workloads.ts'
import { CodeView, CompareView } from '../parts/code.tsx'
import { unless } from '../parts/controls.tsx'
import { Loaded, Waiting } from '../parts/failure.tsx'
import { useStanding } from '../parts/fleet-standing.tsx'
import { Head } from '../parts/page.tsx'
import { Ago } from '../parts/state.tsx'
import { headingOf } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { callOf } from '../state/names.ts'
import { can, may } from '../state/session.ts'
import { isSettled, type Resource, touchesWorkload, useOnce, useResource } from '../state/use-resource.ts'
import { Checks, PolicyPane, ReachPane } from './change-checks.tsx'
import { DiffSummary, findsNobody } from './diff-summary.tsx'
import { ReviewDecision } from './review-decision.tsx'
import {
  ApprovedBeside,
  BrokenNow,
  FailedBefore,
  FailedLast,
  FrozenNotice,
  UnderFleetConfig,
} from './review-notices.tsx'
import { RequestOutside } from './review-outside.tsx'
import { ApprovalMark, isOver, Story } from './review-story.tsx'

/** What a request's draft is compared with: the text before it, once that is known. */
function useBefore(workload: WorkloadRecord, approval: ApprovalRecord) {
  const isClosed = isOver(approval)
  // A request that is over is compared with the config that it was to replace: its own may be active by now.
  // What failed everywhere runs nowhere, though it stays active for want of another one.
  const hash = (isClosed ? approval.base_config_hash : workableHashOf(workload)) ?? ''
  const base = useResource(hash === '' ? null : `revision:${workload.id}:${hash}`, (abort) =>
    api.revision(workload.id, hash, abort),
  )
  // A first push replaces the config that the instances report.
  const isFirst =
    hash === '' && !isClosed && workload.connected_instance_count > 0 && may('config:read_content')
  const reported = useResource(isFirst ? `reported:${workload.id}` : null, (abort) =>
    api.reportedConfig(workload.id, abort),
  )
  const report = reported.data?.content ?? ''
  const asReported = useMemo(() => baseInWordsOf(approval.draft_yaml, report), [approval.draft_yaml, report])
  const isAnswered = (of: Resource<unknown>) => of.data !== null || of.failure !== null
  return {
    side:
      base.data === null
        ? say(sideTexts).reported
        : say(sideTexts)[isClosed ? 'before' : 'active'](nameRevision(base.data)),
    text: base.data?.content ?? (reported.data ? asReported : ''),
    isKnown:
      approval.draft_yaml !== '' && (hash === '' ? !isFirst || isAnswered(reported) : isAnswered(base)),
    isReported: hash === '' && reported.data !== null,
  }
}

/** What the checks say of a request that is not over. */
function useReview(workload: WorkloadRecord, approval: ApprovalRecord) {
  const isClosed = isOver(approval)
  const hash = workload.active_config_hash ?? ''
  const validation = useResource(isClosed ? null : `validate:${approval.id}`, (abort) =>
    api.validate(workload.id, approval.draft_yaml, abort),
  )
  const plan = useResource(
    isClosed || !can('config_safety.policy_preview') ? null : `plan:${approval.id}:${hash}`,
    (abort) => api.plan(workload.id, approval.draft_yaml, abort),
  )
  const topology = useResource(
    isClosed ? null : `topology:${workload.id}`,
    (abort) => api.topology(workload.id, abort),
    touchesWorkload(workload.id),
  )
  return {
    validation,
    plan: plan.data,
    instances: topology.data?.instances ?? [],
    isThere: isSettled(plan) && isSettled(topology),
  }
}

/** What is to be known of a request that is open before anything else. */
function Notices({
  workload,
  approval,
  plan,
  standing,
}: {
  workload: WorkloadRecord
  approval: ApprovalRecord
  plan: ConfigPlan | null
  standing: FleetStanding | null
}) {
  const hasMoved = (approval.base_config_hash ?? '') !== (workload.active_config_hash ?? '')
  return (
    <div class="stack notices">
      <BrokenNow workload={workload} plan={plan} />
      <FailedBefore workloadId={workload.id} hash={approval.draft_hash} />
      <FailedLast workloadId={workload.id} approval={approval} />
      <ApprovedBeside approval={approval} />
      <FrozenNotice
        standing={standing}
        can={approval.status === 'approved' ? 'pushedLater' : 'approvedNow'}
      />
      <UnderFleetConfig standing={standing} />
      {hasMoved && (
        <div class="notice t-warn">
          <div>{say(changeTexts).baseMoved}</div>
        </div>
      )}
    </div>
  )
}

/** Whom it reaches, the decision, and what the policy and the checks say: before it, where that stands in its way. */
function Deciding({
  workload,
  approval,
  standing,
  reload,
  validation,
  plan,
  instances,
}: Omit<ReturnType<typeof useReview>, 'isThere'> & {
  workload: WorkloadRecord
  approval: ApprovalRecord
  standing: Resource<FleetStanding>
  reload: () => void
}) {
  const policy = plan && <PolicyPane key="policy" plan={plan} />
  const checks = !isOver(approval) && (
    <Checks key="checks" of={validation} isStale={false} isAway={plan !== null && findsNobody(plan)} />
  )
  const isProduction = approval.prod_target || plan?.prod_target === true
  const [isForbidden, isInvalid] = [plan?.policy.decision === 'block', validation.data?.valid === false]
  return (
    <div>
      {plan && (
        <ReachPane
          plan={plan}
          workload={workload}
          instances={instances}
          environment={approval.target_env || environmentOf(workload)}
          isProduction={isProduction}
        />
      )}
      <div class="blockers" key="before">
        {isForbidden && policy}
        {isInvalid && checks}
      </div>
      <ReviewDecision
        key="decision"
        workload={workload}
        approval={approval}
        plan={plan}
        standing={standing}
        isProduction={isProduction}
        reload={reload}
      />
      <Story key="story" approval={approval} />
      <div class="blockers" key="after">
        {!isForbidden && policy}
        {!isInvalid && checks}
      </div>
    </div>
  )
}

/** How risky a request was when it was pushed, in the form of a plan. */
const keptRisk = ({ risk }: ApprovalRecord) =>
  risk === undefined ? null : { risk_score: risk, compared_with: risk.compared_with }

/** The draft beside what it replaces, line by line. */
function Lines({ approval, before }: { approval: ApprovalRecord; before: ReturnType<typeof useBefore> }) {
  const sides = [before.side, nameRequest(approval)] as const
  return (
    <div class="pane flush">
      {before.text === '' ? (
        <CodeView text={approval.draft_yaml} label={say(changeTexts).draft} />
      ) : (
        <CompareView before={before.text} after={approval.draft_yaml} sides={sides} />
      )}
    </div>
  )
}

function Review({
  workload,
  approval,
  of,
}: {
  workload: WorkloadRecord
  approval: ApprovalRecord
  of: Resource<ApprovalRecord>
}) {
  const words = say(changeTexts)
  const isClosed = isOver(approval)
  const before = useBefore(workload, approval)
  const review = useReview(workload, approval)
  const standing = useStanding(workload.id)
  const { validation, plan } = review
  // Drawn once it is there whom it reaches and what the policy says: what comes later pushes the rest aside.
  const isThere = useOnce(review.isThere && isSettled(standing))
  if (!isThere) return <Waiting />
  return (
    <>
      {!isClosed && <Notices workload={workload} approval={approval} plan={plan} standing={standing.data} />}
      <div class="two reviewed">
        <div class="stack">
          {approval.draft_yaml === '' && <p class="muted">{words.draftNotKept}</p>}
          {before.isKnown && (
            <DiffSummary
              workloadId={workload.id}
              before={before.text}
              after={approval.draft_yaml}
              reported={before.isReported ? sayNotOurs(workload) : null}
              isInvalid={validation.data !== null && !validation.data.valid}
              planned={plan ?? keptRisk(approval)}
              whyNothing={unless('config:read_content') ?? (isClosed ? words.beforeNotKept : null)}
            >
              <Lines approval={approval} before={before} />
            </DiffSummary>
          )}
        </div>
        <Deciding
          workload={workload}
          approval={approval}
          standing={standing}
          reload={of.reload}
          validation={validation}
          plan={plan}
          instances={review.instances}
        />
      </div>
    </>
  )
}

/** One request: what it does, what the checks say, and the decision. */
export function ReviewPage({ params }: { params: Record<string, string> }) {
  const words = say(changeTexts)
  const id = params['id'] ?? ''
  const touches = touchesWorkload(id)
  const workload = useResource(`workload:${id}`, (abort) => api.workload(id, abort), touches)
  const approvalId = params['approval'] ?? ''
  const request = useResource(
    `approval:${approvalId}`,
    (abort) => api.approval(id, approvalId, abort),
    (frame) =>
      (frame.type === 'approval_update' && frame.approval.id === approvalId) ||
      ((frame.type === 'push_update' || frame.type === 'auto_rollback_applied') && touches(frame)),
  )
  return (
    <Loaded of={workload} title={headingOf(id)}>
      {(data) =>
        request.failure?.status === 403 ? (
          <RequestOutside workload={data} />
        ) : (
          <Loaded of={request} title={callOf(data)}>
            {(approval) => {
              const title = titleOfRequest(approval) ?? say(approvalTexts).untitled
              return (
                <>
                  <Head
                    title={title}
                    inTab={`${callOf(data)} · ${title}`}
                    beside={
                      <>
                        <ApprovalMark of={approval} />
                        <span class="muted">
                          <a href={`/workloads/${id}`}>{callOf(data)}</a> ·{' '}
                          {words.requestedBy(approval.requester)} · <Ago at={approval.created_at} /> ·{' '}
                          <span class="mono">{shortHash(approval.draft_hash)}</span>
                        </span>
                      </>
                    }
                  />
                  <Review workload={data} approval={approval} of={request} />
                </>
              )
            }}
          </Loaded>
        )
      }
    </Loaded>
  )
}
