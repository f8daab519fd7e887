import type { CampaignTargetEnd } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { endOfPush, type PushEnd } from './outcome.ts'
import type { CampaignRun, InFlight } from './run.ts'
import { isHeldBack } from './stop-staged.ts'
import { writeEnds } from './write.ts'

/** Why a target could not be taken back where its push got no answer. */
const UNANSWERED = { cause: 'no_answer', title: 'No answer to the config that it had before' } as const

/** A started target that has not ended after this time ends as `no_answer`. */
const TARGET_ENDS_MS = 10 * 60_000

/**
 * How a target ends, given how its push ended (null while it goes on) and how old the push is. Null while the target
 * goes on.
 */
export function endOfFlight(
  { startedMs, isBack }: Pick<InFlight, 'startedMs' | 'isBack'>,
  ended: PushEnd | null,
  nowMs: number,
): Omit<CampaignTargetEnd, 'workloadId'> | null {
  const isLate = nowMs - startedMs > TARGET_ENDS_MS
  const whole: PushEnd | null = ended ?? (isLate ? { state: 'no_answer' } : null)
  if (whole === null) return null
  const { reach, ...end } = whole
  if (!isBack) return end
  if (reach !== undefined) return { state: 'rollback_failed', cause: 'in_part', title: reach }
  if (end.state === 'applied') return { state: 'rolled_back' }
  if (end.state === 'overtaken') return { state: 'moved_on' }
  return { ...(end.state === 'no_answer' ? UNANSWERED : end), state: 'rollback_failed' }
}

/** Note how started pushes ended; answers whether any has. */
export async function noteEnds(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
): Promise<boolean> {
  const nowMs = parts.clock.monotonicMs()
  const forward: CampaignTargetEnd[] = []
  const back: CampaignTargetEnd[] = []
  const byItself: CampaignTargetEnd[] = []
  for (const [workloadId, flight] of run.inFlight) {
    if (isHeldBack(parts, workloadId, flight)) flight.startedMs = nowMs
    const end = endOfFlight(flight, await endOfPush(parts, workloadId, flight.pushId), nowMs)
    const ends = flight.isByItself ? byItself : flight.isBack ? back : forward
    if (end !== null) ends.push({ workloadId, ...end })
  }
  if (forward.length + back.length + byItself.length === 0) return false
  await writeEnds(parts, campaign, [
    { from: ['started'], ends: forward },
    { from: ['rolling_back'], ends: back },
    { from: ['rolling_back'], ends: byItself, isByItself: true },
  ])
  for (const { workloadId, state } of forward) if (state === 'applied') watch(parts, run, workloadId)
  for (const { workloadId } of [...forward, ...back, ...byItself]) run.inFlight.delete(workloadId)
  return true
}

/** Watch the health and the drift of a target that applied the change, where they were well at its start. */
function watch({ fleet }: CampaignParts, run: CampaignRun, workloadId: string): void {
  const { wasDegraded, wasDrifted } = run.inFlight.get(workloadId)!
  const hash = fleet.workload(workloadId)?.activeHash ?? null
  if (hash === null) return
  if (!wasDegraded) run.watched.set(workloadId, hash)
  if (!wasDrifted) run.steady.set(workloadId, hash)
}
