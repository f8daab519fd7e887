import { string, type } from 'superstruct'
import type { RolloutOutcome } from '../../lib/fleet/rollout-engine.ts'
import { toRolloutRecord } from '../../lib/fleet/views/rollout.ts'
import { listTargets } from '../../lib/store/push-targets.ts'
import { findPush } from '../../lib/store/pushes.ts'
import { findRollout, listRolloutMembers, type StoredRollout } from '../../lib/store/rollouts.ts'
import type { RolloutRecord } from '../../lib/wire/rollouts.ts'
import type { Context } from '../../runtime/context.ts'
import { json, problem, type Reply } from '../../runtime/reply.ts'

/** The path parameters of one rollout. */
export const rolloutParams = type({ id: string(), canary_id: string() })

/** A rollout as it stands now: from memory while it is assigned, else from the database. */
export async function readRollout(
  ctx: Context,
  workloadId: string,
  id: string,
): Promise<RolloutRecord | null> {
  const live = ctx.fleet.workload(workloadId)?.rollout
  if (live?.stored.id === id) {
    const { stored, followed, members } = live
    return toRolloutRecord({
      rollout: stored,
      push: followed.push,
      targets: [...followed.targets.values()],
      members,
    })
  }
  const stored = await findRollout(ctx.db, id)
  return stored === null || stored.workloadId !== workloadId ? null : readStored(ctx, stored)
}

/** The record of a rollout that is over. */
export async function readStored(ctx: Context, rollout: StoredRollout): Promise<RolloutRecord | null> {
  const push = await findPush(ctx.db, rollout.pushId)
  if (push === null) return null
  const targets = (await listTargets(ctx.db, [rollout.pushId])).map(({ target }) => target)
  return toRolloutRecord({ rollout, push, targets, members: await listRolloutMembers(ctx.db, rollout.id) })
}

/** The reply to what an operator decided about a rollout. */
export async function replyToOutcome(
  ctx: Context,
  params: { id: string; canary_id: string },
  outcome: RolloutOutcome,
  status: number,
): Promise<Reply> {
  const record = await readRollout(ctx, params.id, params.canary_id)
  if (outcome.ok) return record === null ? problem('rollout-not-found') : json(record, status)
  // One that has ended is known, but no longer assigned: that is not the same as one that never was.
  const isOver = outcome.code === 'rollout-not-found' && record !== null
  return problem(isOver ? 'rollout-ended' : outcome.code, record === null ? {} : { status: record.status })
}
