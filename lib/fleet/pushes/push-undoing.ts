import { DatabaseUnavailable, type Db } from '../../store/db.ts'
import { updateTargets } from '../../store/push-targets.ts'
import { type AgentError, closePushes, failPush, updatePushProgress } from '../../store/pushes.ts'
import { insertQuarantines } from '../../store/quarantines.ts'
import { assignRollout, type RolloutStatus, updateRollout } from '../../store/rollouts.ts'
import { lockWorkload, type StoredWorkload } from '../../store/workloads.ts'
import type { FleetDeps } from '../state/deps.ts'
import { errorOfPush } from '../state/followed-push.ts'
import type { FollowedPush, Workload } from '../state/model.ts'
import { type FleetState, followedPushes } from '../state/state.ts'
import type { WriteBehind } from '../state/write-behind.ts'
import type { PushEngine } from './push-engine.ts'
import { insertPushRows } from './push-rows.ts'
import { type FoundRollback, findRollback, findRolloutRollback } from './rollback-search.ts'

/** In whose name, and why, a failed push is undone. */
interface Undoing {
  /** Of the transaction. */
  name: 'rollback.automatic' | 'rollback.rollout'
  kind: 'auto-rollback' | 'rollback'
  pushedBy: string
  action: string
  actor: { userId: string; email: string } | null
  error: AgentError
  rolloutStatus: RolloutStatus
}

/** Undoes pushes: those that failed by themselves, and open rollouts in an operator's name. */
export class PushUndoing {
  readonly #deps: FleetDeps
  readonly #state: FleetState
  readonly #writer: WriteBehind
  readonly #pushes: PushEngine
  readonly #failing = new Set<FollowedPush>()

  constructor(deps: FleetDeps, state: FleetState, writer: WriteBehind, pushes: PushEngine) {
    this.#deps = deps
    this.#state = state
    this.#writer = writer
    this.#pushes = pushes
    pushes.onFailed = (workload, followed) => this.#start(workload, followed)
  }

  #start(workload: Workload, followed: FollowedPush): void {
    if (followed.isSuperseded) return
    // From the moment it is known to have failed, nobody else is offered it, whatever else was settled meanwhile.
    if (isAssigned(workload, followed)) workload.isFrozen = true
    if (this.#failing.has(followed)) return
    this.#failing.add(followed)
    void this.#pushes
      .exclusively(workload.id, () => this.#fail(workload, followed))
      .then(() => {
        this.#failing.delete(followed)
        // It may have failed again since it was found not to have.
        if (isAssigned(workload, followed)) this.#pushes.reconsider(followed)
      })
      .catch((error) => {
        const fields = { err: error, workload_id: workload.id }
        if (error instanceof DatabaseUnavailable)
          this.#deps.log.warn(fields, 'rollback waits for the database')
        else this.#deps.log.error(fields, 'rollback did not finish')
      })
      .finally(() => this.#failing.delete(followed))
  }

  async #fail(workload: Workload, followed: FollowedPush): Promise<void> {
    if (workload.isDeleted) return
    const isOver = followed.isSuperseded || followed.push.status === 'failed'
    const verdict = this.#pushes.judge(followed)
    if (isOver || verdict.status !== 'failed') {
      // Whoever came meanwhile was offered nothing, whatever became of this push.
      this.#pushes.unfreeze(workload)
      return
    }
    await this.#undo(workload, followed, {
      name: 'rollback.automatic',
      kind: 'auto-rollback',
      pushedBy: 'auto-rollback',
      action: 'config.auto_rollback',
      actor: null,
      error: errorOfPush(followed, verdict.cause),
      rolloutStatus: 'failed',
    })
  }

  /** Undo an open rollout in an operator's name: what a failure of it would do. Call it exclusively. */
  async undoRollout(workload: Workload, actor: { userId: string; email: string }): Promise<void> {
    const { rollout } = workload
    if (rollout === null) return
    await this.#undo(workload, rollout.followed, {
      name: 'rollback.rollout',
      kind: 'rollback',
      pushedBy: actor.email,
      action: 'config.canary.rollback',
      actor,
      error: { cause: 'rolled_back', title: 'Rolled back by an operator', parameters: {}, text: '' },
      rolloutStatus: 'rollback_started',
    })
  }

  /** The failed status, the quarantine and the rollback: one transaction, then the frames, then the notice. */
  async #undo(workload: Workload, followed: FollowedPush, undoing: Undoing): Promise<void> {
    workload.isFrozen = true
    await this.#writer.flush()
    const { error } = undoing
    // Who could not be taken back to what others run is kept from it, each alone; the others run it on.
    const isAboutConfig = followed.scope === null
    const now = this.#deps.clock.now()
    try {
      const rollback = await this.#deps.db.transaction(undoing.name, async (tx) => {
        await this.#deps.checkEpoch(tx)
        const row = await lockWorkload(tx, workload.id)
        if (row === null) return null
        const { pushId, hash } = followed.push
        // Who failed it is stored with the failure, not a little later.
        await updatePushProgress(tx, [followed.push])
        const waiting = this.#writer.waitingTargets(pushId)
        if (waiting.length > 0) await updateTargets(tx, waiting)
        if (!(await failPush(tx, pushId, error, now))) return null
        if (isAboutConfig)
          await insertQuarantines(tx, [{ workloadId: workload.id, hash, instanceUid: '', pushId }], now)
        return this.#rollBack(tx, workload, row, followed, undoing)
      })
      followed.push = {
        ...followed.push,
        status: 'failed',
        phase: 'failed',
        failedAt: now,
        updatedAt: now,
        error,
      }
      if (workload.newestPush?.pushId === followed.push.pushId) workload.newestPush = followed.push
      if (isAboutConfig) workload.quarantinedHashes.add(followed.push.hash)
      this.#pushes.stats.failed++
      this.#deps.notices.pushChanged(workload, followed.push)
      if (rollback === null) {
        if (workload.rollout?.followed === followed) {
          this.#pushes.close(workload, followed)
          workload.rollout = null
        }
        this.#pushes.unfreeze(workload)
        this.#deps.notices.workloadChanged(workload)
        return
      }
      this.#pushes.apply(workload, rollback.made, Buffer.from(rollback.body), rollback.used)
      if (undoing.kind === 'auto-rollback')
        this.#deps.notices.autoRolledBack({
          workloadId: workload.id,
          fromHash: followed.push.hash,
          toHash: rollback.target.hash,
          reason: error.title,
          targetKind: rollback.target.kind,
          pushId: rollback.made.push.pushId,
        })
    } catch (fault) {
      void this.#pushes.resync(workload)
      throw fault
    }
  }

  async #rollBack(tx: Db, workload: Workload, row: StoredWorkload, failed: FollowedPush, undoing: Undoing) {
    const { push } = failed
    const rollout = workload.rollout?.followed === failed ? workload.rollout : null
    const now = this.#deps.clock.now()
    if (rollout !== null) {
      await updateRollout(tx, {
        ...rollout.stored,
        status: undoing.rolloutStatus,
        updatedAt: now,
        endedAt: now,
      })
      // Its members are assigned the active config again, whether or not something is pushed to them.
      await closePushes(tx, [push.pushId], now)
      await assignRollout(tx, workload.id, null)
    }
    // What nobody is assigned any more is not undone, nor is what undid something: that would go round.
    const isAssigned = push.pushId === row.activePushId || push.pushId === row.rolloutPushId
    if (!isAssigned || push.kind === 'auto-rollback' || failed.scope !== null) return null
    const live = this.#state.liveInstances(workload)
    const search = rollout === null ? findRollback : findRolloutRollback
    const found: FoundRollback | null = await search(tx, this.#deps, workload, live, push.hash)
    if (found === null) return null
    const { target, body, used } = found
    const made = await insertPushRows(
      tx,
      this.#deps,
      workload,
      row,
      live,
      {
        ...{ hash: target.hash, used, kind: undoing.kind, pushedBy: undoing.pushedBy },
        ...{ approvalId: null, rollbackTargetKind: target.kind },
        ...{ rollbackOfPushId: push.pushId, failedHash: push.hash },
        // Only the members of a rollout ever left the active config.
        scope: rollout === null ? null : new Set(failed.targets.keys()),
        stages: null,
      },
      null,
    )
    await this.#deps.recordAudit(tx, {
      action: undoing.action,
      actor: undoing.actor,
      resource: 'workload',
      resourceId: workload.id,
      configHash: target.hash,
      detail: JSON.stringify({
        failed_hash: push.hash,
        failed_push_id: push.pushId,
        push_id: made.push.pushId,
        target_hash: target.hash,
        target_kind: target.kind,
        ...(rollout === null ? {} : { rollout_id: rollout.stored.id }),
      }),
    })
    return { made, target, body, used }
  }
}

function isAssigned(workload: Workload, followed: FollowedPush): boolean {
  return followedPushes(workload).includes(followed)
}
