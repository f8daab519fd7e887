import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { describeAftermath } from '../i18n/aftermath.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { formatList } from '../i18n/format.ts'
import { pushTexts } from '../i18n/push.ts'
import { nameSayer } from '../i18n/sayer.ts'
import { stateOf } from '../logic/pushes.ts'
import { REQUEST_LOOK } from '../logic/requests.ts'
import { Icon, type Shape } from '../parts/icons.tsx'
import { Pairs } from '../parts/page.tsx'
import { Ago, Mark, PushMark } from '../parts/state.tsx'

/** How far a request is; of one that was pushed, what became of it. */
export function ApprovalMark({ of }: { of: Pick<ApprovalRecord, 'status' | 'outcome'> }) {
  const [tone, shape] = REQUEST_LOOK[of.status]
  const words = say(changeTexts)
  // How the push ended says more than that there was one.
  if (of.outcome && of.outcome.outcome !== 'applied')
    return (
      <>
        <PushMark state={stateOf(of.outcome)} />
        <span class="sr"> · {words.state.pushed}</span>
      </>
    )
  return (
    <Mark tone={tone} shape={shape}>
      {of.outcome ? words.pushedApplied : words.state[of.status]}
    </Mark>
  )
}

/** Whether nothing more can be decided about a request. */
export const isOver = ({ status }: Pick<ApprovalRecord, 'status'>): boolean =>
  status !== 'pending' && status !== 'approved'

const STEP_SHAPES: Record<ApprovalRecord['timeline'][number]['what'], Shape> = {
  requested: 'ring',
  commented: 'dot',
  approved: 'tick',
  rejected: 'cross',
  withdrawn: 'cross',
  retired: 'dot',
  pushed: 'full',
  break_glass_pushed: 'triangle',
}

/** What took the place of a request that was retired, as a sentence; null for any other, and where it is not known. */
function tellRetired({ retired_by: by }: Pick<ApprovalRecord, 'retired_by'>): string | null {
  return by ? say(changeTexts).retiredBy[by.what](by.name ?? '', by.version ?? 0) : null
}

/** What became of the push of a request, in one line. */
export function Outcome({ approval }: { approval: ApprovalRecord }) {
  const { outcome } = approval
  if (!outcome) return null
  return (
    <p class="muted">
      <PushMark state={stateOf(outcome)} /> ·{' '}
      {say(pushTexts).reached(outcome.applied_count, outcome.failed_count, outcome.target_count)}{' '}
      {describeAftermath(outcome.aftermath)}
    </p>
  )
}

/** What happened to a request and what was said, the first thing first. */
export function Story({ approval }: { approval: ApprovalRecord }) {
  const words = say(changeTexts)
  const facts: [string, string][] = [
    [words.environment, approval.target_env],
    [words.group, approval.target_group],
  ]
  const filled = facts.filter(([, value]) => value !== '')
  const overtaken = approval.approvals.flatMap((given) => (given.overtaken ? [given.by] : []))
  return (
    <section class="pane" aria-label={words.story}>
      <h2>{words.story}</h2>
      {filled.length > 0 && <Pairs of={filled} />}
      <ol class="list story">
        {approval.timeline.map((step) => (
          <li key={`${step.at}${step.what}`}>
            <Icon shape={STEP_SHAPES[step.what]} />
            <div>
              <b>{words.step[step.what]}</b>{' '}
              <span class="muted">
                {step.who && `${nameSayer(step)} · `}
                <Ago at={step.at} />
              </span>
              {step.comment && <p class="said">{step.comment}</p>}
              {step.what === 'retired' && <p class="said">{tellRetired(approval)}</p>}
            </div>
          </li>
        ))}
      </ol>
      <Outcome approval={approval} />
      {approval.approvals.some(({ sole_approver: isSole }) => isSole) && (
        <p class="warn">{words.soleApprover}</p>
      )}
      {overtaken.length > 0 && <p class="warn">{words.overtakenApprovals(formatList(overtaken))}</p>}
      {approval.self_approved && <p class="warn">{words.self}</p>}
      {approval.break_glass && <p class="bad">{words.wasBreakGlass}</p>}
    </section>
  )
}
