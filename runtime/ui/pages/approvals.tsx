import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { RISK_RULES } from '../../../lib/configs/diff/rules.ts'
import { environmentOf } from '../../../lib/model/workload-states.ts'
import type { ApprovalSummary } from '../../../lib/wire/approvals.ts'
import type { RiskLevel } from '../../../lib/wire/plan.ts'
import { describeAftermath } from '../i18n/aftermath.ts'
import { approvalTexts, describeForNobody, describeForYou } from '../i18n/approvals.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { changeTexts, sayBlocks, sayRisk } from '../i18n/change.ts'
import { translated } from '../i18n/check-findings.ts'
import { say } from '../i18n/define.ts'
import { reviewTexts } from '../i18n/reviews.ts'
import { mineFirst } from '../logic/approval-order.ts'
import { titleOfRequest } from '../logic/requests.ts'
import { Loaded } from '../parts/failure.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Head, Tabs } from '../parts/page.tsx'
import { PolicyWaits } from '../parts/policy-waits.tsx'
import { Mark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { countOf } from '../parts/tally.tsx'
import { WorkloadLink } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { countForYou, waitsForMe } from '../state/for-you.ts'
import { namedOf, useNames } from '../state/names.ts'
import { useReviews } from '../state/reviews.ts'
import { hrefWith, query } from '../state/router.ts'
import { boundTo, can } from '../state/session.ts'
import { useInSight } from '../state/use-in-sight.ts'
import { useResource } from '../state/use-resource.ts'
import { useWaitingCampaigns } from '../state/waiting-campaigns.ts'
import { Asked, WaitingCampaigns } from './approval-campaigns.tsx'
import { findsNobody, RiskMark, RiskOf } from './diff-summary.tsx'
import { ApprovalMark, isOver } from './review-story.tsx'
import { Reviews } from './reviews.tsx'

interface Approval {
  approval: ApprovalSummary
}

/** How risky a change was when it was pushed. */
function PushedRisk({ of: risk }: { of: NonNullable<ApprovalSummary['risk']> }) {
  const why = sayRisk(risk)
  return (
    <>
      <RiskOf of={risk} comparedWith={risk.compared_with} isAway={false} />
      {why !== '' && <div class="beneath">{why}</div>}
    </>
  )
}

/** How risky a change was that is over, against what was active when it was asked for; it is asked once it is in sight. */
function PastRisk({ approval: { id, workload_id: workload, base_config_hash: base } }: Approval) {
  const place = useRef<HTMLSpanElement>(null)
  const isSeen = useInSight(place)
  const diff = useResource(isSeen && base !== undefined ? `risk:${id}` : null, async (abort) => {
    const [read, before] = await Promise.all([
      api.approval(workload, id, abort),
      api.revision(workload, base ?? '', abort),
    ])
    if (!read.ok) return read
    if (!before.ok) return before
    const texts = { base_yaml: before.value.content ?? '', target_yaml: read.value.draft_yaml }
    return api.diff({ ...texts, context: { workload_id: workload } }, abort)
  })
  return (
    <span ref={place}>
      {diff.data === null ? (
        <span class="faint">{diff.isLoading ? '…' : '–'}</span>
      ) : (
        <RiskMark risk={diff.data.risk_score.severity} />
      )}
    </span>
  )
}

/** How risky the change is, against what is active now. */
function Risk({ approval }: Approval) {
  const plan = useResource(
    can('config_safety.policy_preview') ? `plan:${approval.id}` : null,
    async (abort) => {
      const read = await api.approval(approval.workload_id, approval.id, abort)
      return read.ok ? api.plan(approval.workload_id, read.value.draft_yaml, abort) : read
    },
  )
  if (plan.data === null) return <span class="faint">{plan.isLoading ? '…' : '–'}</span>
  const blocked = sayBlocks(plan.data.policy)
  const why = sayRisk(plan.data.risk_score)
  return (
    <>
      <RiskOf
        of={plan.data.risk_score}
        comparedWith={plan.data.compared_with}
        isAway={findsNobody(plan.data)}
      />
      {why !== '' && <div class="beneath">{why}</div>}
      {blocked !== null && <div class="beneath bad">{blocked}</div>}
    </>
  )
}

const TABS = {
  pending: 'pending',
  approved: 'approved',
  pushed: 'pushed',
  closed: 'rejected,withdrawn,retired',
} as const
const TAB_IDS = Object.keys(TABS) as (keyof typeof TABS)[]
/** The tab of what was done without an approval. */
const REVIEWS = 'reviews'

/** What became of a request, and how it came about. */
function State({ approval }: Approval) {
  const words = say(changeTexts)
  return (
    <>
      <ApprovalMark of={approval} />
      {approval.tally && <div class="beneath">{countOf(approval.tally)}</div>}
      {waitsForMe(approval) && <div class="beneath warn">{say(approvalTexts).forYou}</div>}
      {approval.nobody_can_approve && <div class="beneath warn">{say(approvalTexts).forNobody}</div>}
      {approval.outcome?.aftermath && (
        <div class="beneath">{describeAftermath(approval.outcome.aftermath)}</div>
      )}
      {approval.close_comment && <div class="beneath">{approval.close_comment}</div>}
      {approval.break_glass && <div class="beneath bad">{words.breakGlass}</div>}
      {approval.self_approved && <div class="beneath warn">{words.self}</div>}
    </>
  )
}

/** Whom it reaches: production first, then how many instances there are while it may still reach them. */
function Reach({
  of: { workload_id: id, prod_target: isProduction, target_env: asked, ...rest },
}: {
  of: ApprovalSummary
}) {
  useNames([id])
  const workload = namedOf(id)
  const count = workload === undefined || isOver(rest) ? null : workload.connected_instance_count
  const environment = asked || (workload === undefined ? '' : environmentOf(workload))
  const said = [
    ...(count === null ? [] : [say(approvalTexts).instances(count)]),
    ...(isProduction || environment === '' ? [] : [environment]),
  ]
  return (
    <>
      {isProduction && (
        <Mark tone="warn" shape="triangle">
          {say(changeTexts).production}
        </Mark>
      )}
      {said.map((text) => (
        <div key={text} class="muted">
          {text}
        </div>
      ))}
      {said.length === 0 && !isProduction && '–'}
    </>
  )
}

function columnsOf(): TableColumn<ApprovalSummary>[] {
  const { column } = say(approvalTexts)
  return [
    {
      title: column.change,
      look: 'text',
      cell: (approval) => (
        <a class="name" href={`/workloads/${approval.workload_id}/changes/${approval.id}`}>
          {titleOfRequest(approval) ?? say(approvalTexts).untitled}
        </a>
      ),
    },
    {
      title: column.workload,
      cell: ({ workload_id: id }) => <WorkloadLink id={id} />,
    },
    {
      title: column.requester,
      cell: ({ requester, created_at: at }) => <Asked by={requester} at={at} />,
    },
    {
      title: column.reach,
      cell: (approval) => <Reach of={approval} />,
    },
    {
      title: column.risk,
      look: 'text told',
      cell: (approval) =>
        approval.risk ? (
          <PushedRisk of={approval.risk} />
        ) : isOver(approval) ? (
          <PastRisk approval={approval} />
        ) : (
          <Risk approval={approval} />
        ),
    },
    { title: column.state, look: 'text told', cell: (approval) => <State approval={approval} /> },
  ]
}

/** What counts as which risk, by the rules that judge it. */
function RiskLegend() {
  const { risks } = say(approvalTexts)
  const isOpen = useSignal(false)
  const nameRules = (level: RiskLevel) =>
    Object.entries(RISK_RULES).flatMap(([rule, { title, risk }]) =>
      risk === level ? [translated(say(changeTexts).rule, rule, title).replace(/\.$/, '')] : [],
    )
  return (
    <details
      class="small risks"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>{risks.title}</summary>
      {isOpen.value && (
        <div class="stack tight">
          <div>
            <RiskMark risk="high" />
            <p class="muted">{nameRules('high').join(' · ')}</p>
          </div>
          <div>
            <RiskMark risk="medium" />
            <p class="muted">{[...nameRules('medium'), risks.other].join(' · ')}</p>
          </div>
          <p class="muted">{risks.low}</p>
        </div>
      )}
    </details>
  )
}

/** A list of requests, or the words for none, and how many lie outside of the reader's scope. */
function Requests({ of, none, outside }: { of: ApprovalSummary[]; none: string | null; outside: number }) {
  return (
    <>
      {of.length === 0 && none !== null && <p class="empty">{none}</p>}
      {of.length > 0 && (
        <>
          <Table label={say(approvalTexts).title} columns={columnsOf()} rows={of} keyOf={({ id }) => id} />
          <RiskLegend />
        </>
      )}
      <OutsideScope count={outside} />
    </>
  )
}

/** What of all that waits is for the reader, and what of it is for nobody. */
const sayForWhom = (...of: Parameters<typeof countForYou>): string =>
  [describeForYou(countForYou(...of)), describeForNobody(of[0])].filter((part) => part !== '').join(' ')

/** All requests by their status, and what was done without an approval. */
export function ApprovalsPage() {
  const words = say(approvalTexts)
  const wanted = query.value.get('status')
  const status = TAB_IDS.find((id) => id === wanted) ?? 'pending'
  const only = query.value.get('workload')
  // What lies outside of one's scope is not listed, and may well wait.
  const isWithin = boundTo('config:request').length > 0
  const isReviews = wanted === REVIEWS
  const waiting = useWaitingCampaigns()
  const campaigns = status === 'pending' && only === null ? waiting : []
  const reviews = useReviews(true)
  const approvals = useResource(
    isReviews ? null : `approvals:${status}`,
    (abort) => api.approvals(TABS[status], abort),
    (frame) => frame.type === 'approval_update' || (status === 'pushed' && frame.type === 'push_update'),
  )
  const tabs = [
    ...TAB_IDS.map((id) => ({
      href: hrefWith({ status: id === 'pending' ? null : id }),
      text: words.tab[id],
      isCurrent: !isReviews && id === status,
    })),
    {
      href: hrefWith({ status: REVIEWS }),
      text: say(reviewTexts).count(say(reviewTexts).tab, reviews.data?.length ?? 0),
      isCurrent: isReviews,
    },
  ]
  return (
    <>
      <Head title={words.title} />
      <PolicyWaits />
      {status === 'pending' && !isReviews && approvals.data !== null && (
        <p class="muted">{sayForWhom(approvals.data, waiting, reviews.data ?? [])}</p>
      )}
      <Tabs label={words.title} tabs={tabs} />
      {isReviews ? (
        <Reviews of={reviews} only={only} />
      ) : (
        <>
          {campaigns.length > 0 && (
            <section>
              <h2>{say(campaignTexts).title}</h2>
              <WaitingCampaigns of={campaigns} />
            </section>
          )}
          <Loaded of={approvals}>
            {(all) => (
              <Requests
                of={mineFirst(all.filter((approval) => only === null || approval.workload_id === only))}
                none={campaigns.length > 0 ? null : isWithin ? words.noneWithin : words.none[status]}
                outside={only === null ? approvals.outside : 0}
              />
            )}
          </Loaded>
        </>
      )}
    </>
  )
}
