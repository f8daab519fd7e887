import { string, type } from 'superstruct'
import type { AuditFailure } from '../../lib/audit/delivery.ts'
import type { RolloutOutcome } from '../../lib/fleet/rollouts/rollout-engine.ts'
import { isDegradingNow } from '../../lib/fleet/state/derive.ts'
import type { StageHold, Workload } from '../../lib/fleet/state/model.ts'
import type { TextAccess } from '../../lib/fleet/views/errors.ts'
import { toRolloutRecord } from '../../lib/fleet/views/rollout.ts'
import { findPush, findRollbackOf } from '../../lib/store/pushes.ts'
import { findRollout, listRolloutMembers, type StoredRollout } from '../../lib/store/rollouts.ts'
import type { RolloutRecord } from '../../lib/wire/rollouts.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import type { Context } from '../../runtime/context.ts'
import { json, problem, type Reply } from '../../runtime/reply.ts'
import { currentStateOf, targetsOf } from '../workloads/_push-targets-of.ts'

/** The path parameters of one rollout. */
export const rolloutParams = type({ id: string(), canary_id: string() })

/** A rollout as it stands now: from memory while it is assigned, else from the database. */
export async function readRollout(
  ctx: Context,
  params: { id: string; canary_id: string },
  texts: TextAccess,
): Promise<RolloutRecord | null> {
  const workload = ctx.fleet.workload(params.id)
  if (workload === null) return null
  const { rollout } = workload
  if (rollout?.stored.id !== params.canary_id) {
    const stored = await findRollout(ctx.db, params.canary_id)
    return stored === null || stored.workloadId !== workload.id
      ? null
      : readStored(ctx, workload, stored, texts)
  }
  const { stored, followed, members } = rollout
  const canRollBack = stored.status === 'running' || stored.status === 'halted'
  const target = canRollBack ? await ctx.fleet.findRolloutRollback(workload, rollout) : null
  const facts = { rollout: stored, push: followed.push, targets: [...followed.targets.values()], members }
  return toRolloutRecord(
    {
      ...facts,
      measured: ctx.fleet.rollouts.measure(workload),
      dwellEndsAt: ctx.fleet.rollouts.dwellEndsAt(workload),
      unwellOf(uid) {
        const live = ctx.fleet.state.instances.get(uid)
        return live !== undefined && isDegradingNow(live, ctx.fleet.clock.heardMs()) ? live : null
      },
      aftermath: null,
      hold: rollout.hold ?? null,
      rollbackTargetHash: target?.target.hash ?? null,
    },
    texts,
  )
}

/** The record of a rollout that is over. */
async function readStored(
  ctx: Context,
  workload: Workload,
  rollout: StoredRollout,
  texts: TextAccess,
): Promise<RolloutRecord | null> {
  const stored = await findPush(ctx.db, rollout.pushId)
  if (stored === null) return null
  const push = currentStateOf(workload, stored)
  const answer = push.status === 'failed' ? await findRollbackOf(ctx.db, push.pushId) : null
  return toRolloutRecord(
    {
      rollout,
      push,
      targets: await targetsOf(ctx, workload, push),
      members: await listRolloutMembers(ctx.db, rollout.id),
      measured: null,
      dwellEndsAt: null,
      // Once it is over, how its members are doing is no matter of the rollout any more.
      unwellOf: () => null,
      aftermath: ctx.views.aftermath(workload, push, answer),
      hold: null,
      rollbackTargetHash: null,
    },
    texts,
  )
}

/** The reply where something keeps the next stage from starting, in the words of a push that it would keep as well. */
function refuseHeld({ reason, about }: StageHold): Reply {
  switch (reason) {
    case 'frozen':
      return problem('workload-frozen', { reason: about })
    case 'kept_in_git':
      return problem('managed-elsewhere', { owner: about })
    case 'archived':
      return problem('workload-archived')
    case 'not_approved':
      return problem('rollout-not-approved')
    case 'stopped':
      return problem('rollout-stopped')
    default:
      return problem('rollout-on-hold')
  }
}

/** The reply to what an operator decided about a rollout. */
export async function replyToOutcome(
  ctx: Context,
  params: { id: string; canary_id: string },
  outcome: RolloutOutcome | AuditFailure,
  { status, texts }: { status: number; texts: TextAccess },
): Promise<Reply> {
  if (!outcome.ok && outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
  if (!outcome.ok && outcome.code === 'rollout-held') return refuseHeld(outcome.hold)
  const record = await readRollout(ctx, params, texts)
  if (outcome.ok) return record === null ? problem('rollout-not-found') : json(record, status)
  // A rollout that has ended is stored, but not assigned any more: it is told apart from one that never was.
  const isOver = outcome.code === 'rollout-not-found' && record !== null
  return problem(isOver ? 'rollout-ended' : outcome.code, record === null ? {} : { status: record.status })
}
