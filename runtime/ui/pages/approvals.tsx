import { useEffect } from 'preact/hooks'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { describeAftermath } from '../i18n/aftermath.ts'
import { approvalTexts } from '../i18n/approvals.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { nameOf } from '../logic/workloads.ts'
import { Capped } from '../parts/capped.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head, Sheet, Tabs } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, fleetLoading, fleetVersion, loadFleet, workloads } from '../state/fleet.ts'
import { hrefWith, query } from '../state/router.ts'
import { can } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import { RiskMark } from './diff-summary.tsx'
import { ApprovalMark, isOver } from './review-story.tsx'

/** How risky the change is, against what is active now; what was pushed is not asked about any more. */
function Risk({ approval }: { approval: ApprovalRecord }) {
  const isAsked = !isOver(approval) && can('config_safety.policy_preview')
  const plan = useResource(isAsked ? `plan:${approval.id}` : null, (abort) =>
    api.plan(approval.workload_id, approval.draft_yaml, abort),
  )
  if (plan.data === null) return <span class="faint">{plan.isLoading ? '…' : '–'}</span>
  const blocks = plan.data.policy.summary.block_count
  return (
    <>
      <RiskMark risk={plan.data.risk_score.severity} />
      {blocks > 0 && <span class="bad"> · {say(changeTexts).policyBlocks(blocks)}</span>}
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

/** Everything that waits for somebody, with age and risk. */
export function ApprovalsPage() {
  const words = say(approvalTexts)
  const { column } = words
  const wanted = query.value.get('status')
  const status = TAB_IDS.find((id) => id === wanted) ?? 'pending'
  const only = query.value.get('workload')
  void fleetVersion.value
  const approvals = useResource(
    `approvals:${status}`,
    (abort) => api.approvals(TABS[status], abort),
    (frame) => frame.type === 'approval_update' || (status === 'pushed' && frame.type === 'push_update'),
  )
  useEffect(() => {
    if (!fleetLoaded.peek() && !fleetLoading.peek()) void loadFleet()
  }, [])
  return (
    <>
      <Head title={words.title} />
      <Tabs
        label={words.title}
        tabs={TAB_IDS.map((id) => ({
          href: hrefWith({ status: id === 'pending' ? null : id }),
          text: words.tab[id],
          isCurrent: id === status,
        }))}
      />
      <Loaded of={approvals}>
        {(all) => {
          const shown = all.filter((approval) => only === null || approval.workload_id === only)
          if (shown.length === 0) return <p class="empty">{words.none[status]}</p>
          return (
            <Sheet
              isStacked
              label={words.title}
              head={
                <>
                  <th scope="col">{column.change}</th>
                  <th scope="col">{column.workload}</th>
                  <th scope="col">{column.requester}</th>
                  <th scope="col">{column.age}</th>
                  <th scope="col">{column.reach}</th>
                  <th scope="col">{column.risk}</th>
                  <th scope="col">{column.state}</th>
                </>
              }
            >
              <Capped rows={shown}>
                {(approval) => {
                  const workload = workloads.get(approval.workload_id)
                  return (
                    <tr key={approval.id}>
                      <td class="text">
                        <a class="name" href={`/workloads/${approval.workload_id}/changes/${approval.id}`}>
                          {approval.request_comment.split('\n')[0] || shortHash(approval.draft_hash)}
                        </a>
                      </td>
                      <td>
                        <a href={`/workloads/${approval.workload_id}`}>
                          {workload ? nameOf(workload) : approval.workload_id.slice(0, 8)}
                        </a>
                      </td>
                      <td>{approval.requester}</td>
                      <td class="muted">
                        <Ago at={approval.created_at} />
                      </td>
                      <td>
                        {approval.prod_target ? (
                          <Mark tone="warn" shape="triangle">
                            {say(changeTexts).production}
                          </Mark>
                        ) : (
                          <span class="muted">{approval.target_env || '–'}</span>
                        )}
                      </td>
                      <td>
                        <Risk approval={approval} />
                      </td>
                      <td class="text">
                        <ApprovalMark of={approval} />
                        {approval.outcome?.aftermath && (
                          <span class="sub">{describeAftermath(approval.outcome.aftermath)}</span>
                        )}
                        {approval.close_comment && <span class="sub">{approval.close_comment}</span>}
                        {approval.break_glass && <span class="bad"> · {say(changeTexts).breakGlass}</span>}
                        {approval.self_approved && <span class="warn"> · {say(changeTexts).self}</span>}
                      </td>
                    </tr>
                  )
                }}
              </Capped>
            </Sheet>
          )
        }}
      </Loaded>
    </>
  )
}
