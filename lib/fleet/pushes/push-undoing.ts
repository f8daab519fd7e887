import type { Act, ActTransaction } from '../../audit/database.ts'
import type { AuditActor } from '../../audit/event.ts'
import { DatabaseUnavailable } from '../../store/db.ts'
import { noteUnsentTargets, type PushTarget, updateTargets } from '../../store/push-targets.ts'
import { closePushes, failPush, updatePushProgress } from '../../store/push-writes.ts'
import type { AgentError, Push } from '../../store/pushes.ts'
import { insertQuarantines } from '../../store/quarantines.ts'
import { assignRollout, type RolloutHalt, type RolloutStatus, updateRollout } from '../../store/rollouts.ts'
import { lockWorkload, type StoredWorkload } from '../../store/workloads.ts'
import { describeHalt, ROLLOUT_HALTED } from '../decide/rollout.ts'
import {
  errorOfPush,
  isBringingBack,
  isTargetFromBefore,
  LOST_OUT,
  moveTarget,
} from '../state/followed-push.ts'
import { judgeNow } from '../state/judge.ts'
import type { FollowedPush, Rollout, Workload } from '../state/model.ts'
import { stopOffers } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import { followedPushes } from '../state/state.ts'
import type { Assignments } from './assignments.ts'
import type { CommitTurns } from './commit-turns.ts'
import { insertPushRows, lockAssigned, type NewPush } from './push-rows.ts'
import { tellRolledBack } from './rollback-notice.ts'
import { type FoundRollback, findRollback, findRolloutRollback } from './rollback-search.ts'

/** How, and why, a failed push is undone. */
interface Undoing {
  path: 'auto-rollback' | 'rollout-rollback'
  pushedBy: string
  /** Null for the service itself. */
  pushedById: string | null
  action: string
  error: AgentError
  rolloutStatus: RolloutStatus
  /** Why the rollout halted. */
  halt?: RolloutHalt
  /** An operator asks for it: where nothing can be pushed that takes the members back, nothing is changed at all. */
  asked?: AskedUndoing
}

/** What has to do with whoever asks that a rollout is undone, in the transaction of the push that takes its members back. */
export interface AskedUndoing {
  /** Whether whoever asks may not bring this config back there; then nothing is changed. */
  isRefused?: (tx: ActTransaction, workload: Workload, hash: string) => Promise<boolean>
  /** Writes its own rows. */
  alongside?: (tx: ActTransaction, push: Push) => Promise<unknown>
}

/** The push that answers a failed one. */
interface Rollback extends Pick<FoundRollback, 'body' | 'used'> {
  made: NewPush
}

/** What was written: the push that takes back, or why there is none. */
interface Written {
  why: Extract<Undone, { ok: false }>['code']
  rollback: Rollback | null
}

/** What came of undoing a push: why nothing was changed, where an operator asked for it. */
export type Undone =
  | { ok: true }
  | { ok: false; code: 'approved-for-less' | 'rollout-ended' | 'rollout-no-way-back' }

/** Undoes pushes: those that failed by themselves, and open rollouts, in an operator's name or as they halted. */
export class PushUndoing {
  readonly #parts: FleetParts
  readonly #assignments: Assignments
  readonly #turns: CommitTurns
  readonly #failing = new Set<FollowedPush>()

  constructor(parts: FleetParts, assignments: Assignments, turns: CommitTurns) {
    this.#parts = parts
    this.#assignments = assignments
    this.#turns = turns
  }

  /** Undo a push that is judged to have failed; again, while it is being undone, changes nothing. */
  start(workload: Workload, followed: FollowedPush): void {
    if (followed.isSuperseded) return
    // Once a push is known to have failed, no instance may be offered it; another change may have resumed them.
    if (isAssigned(workload, followed)) stopOffers(workload)
    if (this.#failing.has(followed)) return
    this.#failing.add(followed)
    void this.#turns
      .act('rollback.automatic', null, workload.id, async (act) => {
        await this.#fail(act, workload, followed)
        this.#failing.delete(followed)
        // Where it was judged not to have failed, it may have failed since.
        if (isAssigned(workload, followed)) this.#parts.tell({ kind: 'target-moved', followed })
        return { ok: true }
      })
      .catch((error) => {
        const fields = { err: error, workload_id: workload.id }
        if (error instanceof DatabaseUnavailable)
          this.#parts.deps.log.warn(fields, 'rollback waits for the database')
        else this.#parts.deps.log.error(fields, 'rollback did not finish')
      })
      .finally(() => this.#failing.delete(followed))
  }

  async #fail(act: Act, workload: Workload, followed: FollowedPush): Promise<void> {
    if (workload.isDeleted) return
    const isOver = followed.isSuperseded || followed.push.status === 'failed'
    const verdict = judgeNow(this.#parts.deps, this.#parts.state, followed)
    if (isOver || verdict.status !== 'failed') {
      // Offers were stopped by `start`, so instances that came meanwhile have been offered nothing.
      this.#assignments.confirm(workload)
      return
    }
    if (verdict.cause !== null) this.#endLost(followed)
    await this.#undo(act, workload, followed, {
      path: 'auto-rollback',
      pushedBy: 'auto-rollback',
      pushedById: null,
      action: 'config.auto_rollback',
      error: errorOfPush(followed, verdict.cause),
      rolloutStatus: 'failed',
    })
  }

  /** A push that failed as its targets were lost has failed on each of them that has said nothing since. */
  #endLost(followed: FollowedPush): void {
    const { deps, writer } = this.#parts
    for (const target of [...followed.awaiting.keys()]) {
      if (!target.isTarget || target.losses === 0) continue
      moveTarget(followed, target, 'failed', deps.clock, LOST_OUT)
      writer.target({ pushId: followed.push.pushId, target })
    }
  }

  /**
   * Undo an open rollout in an operator's name, as if its push had failed; refused where there is no push that takes its
   * members back, so that nothing is said to be undone that is not. Call it in the workload's turn. `alongside` writes its
   * own rows in the transaction of that push.
   */
  async undoRollout(act: Act, workload: Workload, actor: AuditActor, asked: AskedUndoing): Promise<Undone> {
    const { rollout } = workload
    if (rollout === null) return { ok: false, code: 'rollout-ended' }
    return this.#undo(act, workload, rollout.followed, {
      path: 'rollout-rollback',
      pushedBy: actor.email,
      pushedById: actor.userId,
      action: 'config.canary.rollback',
      error: { cause: 'rolled_back', title: 'Rolled back by an operator', parameters: {}, text: '' },
      rolloutStatus: 'rollback_started',
      asked,
    })
  }

  /** Undo an open rollout that a gate halts: its push has failed. Call it in the workload's turn. */
  async undoHaltedRollout(act: Act, workload: Workload, halt: RolloutHalt): Promise<void> {
    const { rollout } = workload
    if (rollout === null) return
    await this.#undo(act, workload, rollout.followed, {
      path: 'auto-rollback',
      pushedBy: 'auto-rollback',
      pushedById: null,
      action: 'config.auto_rollback',
      error: { ...ROLLOUT_HALTED, parameters: {}, text: describeHalt(halt) },
      rolloutStatus: 'failed',
      halt,
    })
  }

  /** Store the failure, the quarantine and the rollback in one transaction; then assign in memory, offer and notify. */
  async #undo(act: Act, workload: Workload, followed: FollowedPush, undoing: Undoing): Promise<Undone> {
    stopOffers(workload)
    const { error } = undoing
    const now = this.#parts.deps.clock.now()
    // Judged once, for the database and for memory: targets may move during the commit.
    const quarantines = isAboutConfig(followed, error)
    try {
      const undone = await act.commit(async (tx) => {
        const written = await this.#write(tx, workload, followed, { ...undoing, now, quarantines })
        return { ok: undoing.asked === undefined || written.rollback !== null, ...written }
      })
      if (!undone.ok) return this.#leave(workload, undone)
      followed.push = {
        ...followed.push,
        status: 'failed',
        phase: 'failed',
        failedAt: now,
        updatedAt: now,
        error,
      }
      if (workload.newestPush?.pushId === followed.push.pushId) workload.newestPush = followed.push
      if (quarantines) workload.quarantinedHashes.add(followed.push.hash)
      this.#parts.state.pushStats.failed++
      this.#parts.deps.notices.pushChanged(workload, followed.push)
      const { rollback } = undone
      if (rollback === null) {
        if (workload.rollout?.followed === followed) {
          this.#assignments.close(workload, followed)
          workload.rollout = null
          workload.endedStages = followed
        }
        this.#assignments.confirm(workload)
        this.#parts.deps.notices.workloadChanged(workload)
        return { ok: true }
      }
      this.#assignments.apply(workload, rollback.made, Buffer.from(rollback.body), rollback.used)
      tellRolledBack(this.#parts.deps.notices, rollback.made.push, error)
      return { ok: true }
    } catch (fault) {
      void this.#turns.resync(workload)
      throw fault
    }
  }

  /** Write that a push failed, and the push that answers it, if any. */
  async #write(
    tx: ActTransaction,
    workload: Workload,
    followed: FollowedPush,
    { now, quarantines, ...undoing }: Undoing & { now: Date; quarantines: boolean },
  ): Promise<Written> {
    const row = await lockWorkload(tx, workload.id)
    if (row === null) return { why: 'rollout-ended', rollback: null }
    await lockAssigned(tx, [{ workload, row }])
    const { pushId, hash } = followed.push
    // The states of its targets are stored with the failure, and not by the next write-behind.
    await updatePushProgress(tx, [followed.push])
    const waiting = this.#parts.writer.waitingTargets(pushId)
    if (waiting.length > 0) await updateTargets(tx, waiting)
    if (!(await failPush(tx, pushId, undoing.error, now))) return { why: 'rollout-ended', rollback: null }
    if (quarantines)
      await insertQuarantines(tx, [{ workloadId: workload.id, hash, instanceUid: '', pushId }], now)
    const rollback = await this.#rollBack(tx, workload, row, followed, undoing)
    if (rollback === 'refused') return { why: 'approved-for-less', rollback: null }
    if (rollback === null && workload.rollout?.followed === followed)
      await noteUnsentTargets(tx, pushId, this.#unsentOf(followed))
    return { why: 'rollout-no-way-back', rollback }
  }

  /** The targets of a push that have not answered and to which, as this process knows, nothing was sent. */
  #unsentOf(followed: FollowedPush): string[] {
    const { instances } = this.#parts.state
    const isUnsent = (target: PushTarget) => {
      const { offer } = instances.get(target.instanceUid) ?? {}
      if (offer === undefined || target.state !== 'offered' || isTargetFromBefore(followed, target))
        return false
      return offer?.generation !== followed.push.generation || offer.lastSentAtMs === null
    }
    return [...followed.awaiting.keys()].filter(isUnsent).map(({ instanceUid }) => instanceUid)
  }

  /** Nothing was stored: offers go on as before, once the database has said what holds where the push had ended in it. */
  #leave(workload: Workload, { why }: Written): Undone {
    if (why === 'rollout-ended') void this.#turns.resync(workload)
    else this.#assignments.confirm(workload)
    return { ok: false, code: why }
  }

  /** End a rollout that is undone: its members are assigned the active config again, whether or not a push follows. */
  async #endRollout(
    tx: ActTransaction,
    workload: Workload,
    { stored }: Rollout,
    { rolloutStatus, halt }: Undoing,
  ): Promise<void> {
    const now = this.#parts.deps.clock.now()
    const ended = { ...stored, ...(halt === undefined ? {} : { halt }), status: rolloutStatus }
    await updateRollout(tx, { ...ended, updatedAt: now, endedAt: now })
    await closePushes(tx, [stored.pushId], now)
    await assignRollout(tx, workload.id, null)
  }

  async #rollBack(
    tx: ActTransaction,
    workload: Workload,
    row: StoredWorkload,
    failed: FollowedPush,
    undoing: Undoing,
  ): Promise<Rollback | 'refused' | null> {
    const { push } = failed
    const { cause, title, parameters, text } = undoing.error
    const rollout = workload.rollout?.followed === failed ? workload.rollout : null
    if (rollout !== null) await this.#endRollout(tx, workload, rollout, undoing)
    // Nothing is pushed for a push that no instance is assigned any more, nor for one that brings back: that could go on
    // for ever, and would lead forward again to what a campaign took back.
    const isAssigned = push.pushId === row.activePushId || push.pushId === row.rolloutPushId
    if (!isAssigned || isBringingBack(failed)) return null
    const live = this.#parts.state.liveInstances(workload)
    const search = rollout === null ? findRollback : findRolloutRollback
    const found: FoundRollback | null = await search(tx, this.#parts.deps, workload, live, push.hash, {
      by: undoing.path === 'rollout-rollback' ? 'person' : 'by-itself',
      failedPushId: push.pushId,
    })
    if (found === null) return null
    const { target, body, used } = found
    if (await undoing.asked?.isRefused?.(tx, workload, target.hash)) return 'refused'
    const content = {
      hash: target.hash,
      used,
      path: undoing.path,
      pushedBy: undoing.pushedBy,
      pushedById: undoing.pushedById,
      approvalId: null,
      rollbackTargetKind: target.kind,
      rollbackOfPushId: push.pushId,
      failedHash: push.hash,
      failedError: { cause, title, parameters, ...(text === '' ? {} : { text }) },
      // Only the members of a rollout ever left the active config.
      scope: rollout === null ? null : new Set(failed.targets.keys()),
      stages: null,
    }
    const draft = { workload, row, live, content, lifted: null }
    const [made] = (await insertPushRows(tx, this.#parts.deps, [draft])) as [NewPush]
    await undoing.asked?.alongside?.(tx, made.push)
    await tx.record({
      action: undoing.action,
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
    return { made, body, used }
  }
}

/**
 * Whether a failed push says that its config runs nowhere in the workload. One that takes members back fails on those
 * members alone: the others run its config and go on with it. Of another that brings back, whoever has not failed it may
 * still run it: those that were away, said nothing, or are applying it; where it was lost with each instance it is not
 * tried on and on.
 */
function isAboutConfig(followed: FollowedPush, { cause }: AgentError): boolean {
  if (followed.scope !== null) return false
  const { failed, target } = followed.push.counts
  return !isBringingBack(followed) || cause === LOST_OUT.cause || failed === target
}

function isAssigned(workload: Workload, followed: FollowedPush): boolean {
  return followedPushes(workload).includes(followed)
}
