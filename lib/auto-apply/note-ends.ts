import { giveUpStages } from '../campaigns/run/give-up.ts'
import { endOfFlight, lookAtFlight, slackOf } from '../campaigns/run/note-ends.ts'
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
  const { db, clock, fleet } = parts
  const ends: AutoApplyTargetEnd[] = []
  let hasGivenUp = false
  for (const [workloadId, flight] of run.inFlight) {
    const nowMs = fleet.clock.heardMs()
    const ended = await lookAtFlight(parts, workloadId, flight, () => giveUp(parts, id, workloadId, flight))
    if (ended === 'given-up') {
      run.inFlight.delete(workloadId)
      hasGivenUp = true
    }
    if (ended === 'given-up' || ended === 'is-held') continue
    const { startedMs } = flight
    const slackMs = () => slackOf(parts, workloadId)
    const end = endOfFlight({ startedMs, isBack: false }, ended, nowMs, slackMs)
    if (end !== null) ends.push({ ...end, workloadId, state: end.state as AutoApplyTargetState })
  }
  const failed = hasFailedSince ? await listAutoApplyFailedSince(db, id) : []
  if (ends.length + failed.length === 0) return hasGivenUp
  await db.transaction('auto-apply.note-ends', async (tx) => {
    if (ends.length > 0) await endAutoApplyTargets(tx, id, 'started', ends, clock.now())
    if (failed.length > 0) await endAutoApplyTargets(tx, id, 'applied', failed, clock.now())
  })
  for (const { workloadId } of ends) run.inFlight.delete(workloadId)
  run.hasNews = true
  return true
}

/**
 * End a push amid its stages that something keeps from the next one, as the target of a campaign: it names what that
 * is, and nobody else gets the version.
 */
const giveUp = (
  parts: AutoApplyParts,
  id: string,
  workloadId: string,
  flight: { pushId: string },
): Promise<boolean> =>
  giveUpStages(parts, workloadId, flight, (tx, { reason, about }) => {
    const end = { workloadId, state: 'overtaken', cause: reason, title: about || null } as const
    return endAutoApplyTargets(tx, id, 'started', [end], parts.clock.now())
  })
