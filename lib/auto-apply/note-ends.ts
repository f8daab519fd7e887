import { endOfFlight, slackOf } from '../campaigns/run/note-ends.ts'
import { endOfPush } from '../campaigns/run/outcome.ts'
import { isInStages } from '../campaigns/run/stop-staged.ts'
import type { AutoApplyInForce } from '../store/auto-apply.ts'
import {
  type AutoApplyTargetEnd,
  endAutoApplyTargets,
  listAutoApplyFailedSince,
} from '../store/auto-apply-targets.ts'
import type { AutoApplyTargetState } from '../wire/auto-apply.ts'
import type { AutoApplyParts } from './parts.ts'
import type { AutoApplyRun } from './run.ts'

/**
 * Note how pushes ended, and which failed of those that had applied the version; answers whether there is any.
 */
export async function noteEnds(
  parts: AutoApplyParts,
  { id, hasFailedSince }: AutoApplyInForce,
  run: AutoApplyRun,
): Promise<boolean> {
  const { db, clock } = parts
  const ends: AutoApplyTargetEnd[] = []
  for (const [workloadId, flight] of run.inFlight) {
    const nowMs = clock.monotonicMs()
    if (isInStages(parts, workloadId, flight)) flight.startedMs = nowMs
    const ended = await endOfPush(parts, workloadId, flight.pushId)
    const { startedMs } = flight
    const slackMs = () => slackOf(parts, workloadId)
    const end = endOfFlight({ startedMs, isBack: false }, ended, nowMs, slackMs)
    if (end !== null) ends.push({ ...end, workloadId, state: end.state as AutoApplyTargetState })
  }
  const failed = hasFailedSince ? await listAutoApplyFailedSince(db, id) : []
  if (ends.length + failed.length === 0) return false
  await db.transaction('auto-apply.note-ends', async (tx) => {
    if (ends.length > 0) await endAutoApplyTargets(tx, id, 'started', ends, clock.now())
    if (failed.length > 0) await endAutoApplyTargets(tx, id, 'applied', failed, clock.now())
  })
  for (const { workloadId } of ends) run.inFlight.delete(workloadId)
  run.hasNews = true
  return true
}
