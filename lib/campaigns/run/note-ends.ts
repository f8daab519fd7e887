import { pollSlackMs } from '../../fleet/decide/poll-rhythm.ts'
import type { CampaignTargetEnd } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { giveUp, lastingHoldOf } from './give-up.ts'
import { endOfPush, type PushEnd } from './outcome.ts'
import type { CampaignRun, InFlight } from './run.ts'
import { isInStages } from './stop-staged.ts'
import { writeEnds } from './write.ts'

/** Why a target could not be taken back where its push got no answer. */
const UNANSWERED = { cause: 'no_answer', title: 'No answer to the config that it had before' } as const

/**
 * A started target that has not ended after this time ends as `no_answer`; where slow pollers are to answer, later. Amid
 * its stages the time begins anew, unless something keeps it from the next one that has no end of its own.
 */
const TARGET_ENDS_MS = 10 * 60_000

/** How much longer the agents of a workload may take to answer, as they poll. */
export function slackOf({ fleet }: Pick<CampaignParts, 'fleet'>, workloadId: string): number {
  let slackMs = 0
  for (const instance of fleet.workload(workloadId)?.instances ?? [])
    slackMs = Math.max(slackMs, pollSlackMs(instance))
  return slackMs
}

/**
 * Until when a started target is waited for at the latest; null where nobody can say, because it is amid its stages.
 */
export function waitsUntil(
  parts: Pick<CampaignParts, 'fleet'>,
  { workloadId, pushId, startedAt }: { workloadId: string; pushId: string; startedAt: Date },
): Date | null {
  if (isInStages(parts, workloadId, { pushId })) return null
  return new Date(startedAt.getTime() + TARGET_ENDS_MS + slackOf(parts, workloadId))
}

/**
 * How a target ends, given how its push ended (null while it goes on), how old the push is and how much longer its agents
 * may take. Null while the target goes on.
 */
export function endOfFlight(
  { startedMs, isBack }: Pick<InFlight, 'startedMs' | 'isBack'>,
  ended: PushEnd | null,
  nowMs: number,
  slackMs: () => number = () => 0,
): Omit<CampaignTargetEnd, 'workloadId'> | null {
  const lateMs = nowMs - startedMs - TARGET_ENDS_MS
  const isLate = ended === null && lateMs > 0 && lateMs > slackMs()
  const whole: PushEnd | null = ended ?? (isLate ? { state: 'no_answer' } : null)
  if (whole === null) return null
  const { reach, ...end } = whole
  if (!isBack) return end
  if (reach !== undefined) return { state: 'rollback_failed', cause: 'in_part', title: reach }
  if (end.state === 'applied') return { state: 'rolled_back' }
  if (end.state === 'overtaken') return { state: 'moved_on' }
  return { ...(end.state === 'no_answer' ? UNANSWERED : end), state: 'rollback_failed' }
}

/**
 * How a push in flight ended; null while it goes on. One that something keeps amid its stages is held, and is given up
 * once its time is over. Amid its stages its time begins anew, unless it is held.
 */
export async function lookAtFlight(
  parts: Pick<CampaignParts, 'db' | 'fleet' | 'clock'>,
  workloadId: string,
  flight: { pushId: string; startedMs: number },
  giveUp: () => Promise<boolean>,
): Promise<PushEnd | 'is-held' | 'given-up' | null> {
  const nowMs = parts.fleet.clock.heardMs()
  const isHeld = lastingHoldOf(parts, workloadId, flight) !== null
  if (isInStages(parts, workloadId, flight) && !isHeld) flight.startedMs = nowMs
  const ended = await endOfPush(parts, workloadId, flight.pushId)
  if (!isHeld || ended !== null) return ended
  const isLate = nowMs - flight.startedMs > TARGET_ENDS_MS
  return isLate && (await giveUp()) ? 'given-up' : 'is-held'
}

/** Note how started pushes ended; answers whether any has. */
export async function noteEnds(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
): Promise<boolean> {
  const nowMs = parts.fleet.clock.heardMs()
  const forward: CampaignTargetEnd[] = []
  const back: CampaignTargetEnd[] = []
  const byItself: CampaignTargetEnd[] = []
  let hasGivenUp = false
  for (const [workloadId, flight] of run.inFlight) {
    const ended = await lookAtFlight(parts, workloadId, flight, () =>
      giveUp(parts, campaign, workloadId, flight),
    )
    if (ended === 'given-up') {
      run.inFlight.delete(workloadId)
      hasGivenUp = true
    }
    if (ended === 'given-up' || ended === 'is-held') continue
    const end = endOfFlight(flight, ended, nowMs, () => slackOf(parts, workloadId))
    const ends = flight.isByItself ? byItself : flight.isBack ? back : forward
    if (end !== null) ends.push({ workloadId, ...end })
  }
  if (forward.length + back.length + byItself.length === 0) return hasGivenUp
  await writeEnds(parts, campaign, [
    { from: ['started'], ends: forward },
    { from: ['rolling_back'], ends: back },
    { from: ['rolling_back'], ends: byItself, isByItself: true },
  ])
  for (const { workloadId, state } of forward) if (state === 'applied') watch(run, workloadId)
  for (const { workloadId } of [...forward, ...back, ...byItself]) run.inFlight.delete(workloadId)
  return true
}

/**
 * Watch the health and the drift of a target that applied the change, where they were well at its start: for as long as it
 * is to run that, and nothing that somebody pushed since.
 */
function watch(run: CampaignRun, workloadId: string): void {
  const { resultHash, wasDegraded, wasDrifted } = run.inFlight.get(workloadId)!
  if (resultHash === null) return
  if (!wasDegraded) run.watched.set(workloadId, resultHash)
  if (!wasDrifted) run.steady.set(workloadId, resultHash)
}
