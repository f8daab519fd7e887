import type { UsedComponent } from '../../model/components.ts'
import { storeContent } from '../../store/config-contents.ts'
import { DatabaseUnavailable, type Db } from '../../store/db.ts'
import { listPushes, type Push } from '../../store/pushes.ts'
import { liftQuarantines } from '../../store/quarantines.ts'
import type { StoredRollout } from '../../store/rollouts.ts'
import { lockWorkload } from '../../store/workloads.ts'
import type { PushVerdict } from '../decide/push.ts'
import type { StagePlan } from '../decide/rollout.ts'
import { type OfferEngine, startOffer } from '../offers/offer-engine.ts'
import type { FleetDeps } from '../state/deps.ts'
import { deriveWorkload } from '../state/derive.ts'
import { addTarget, followPush, judgePush } from '../state/followed-push.ts'
import { loadAssignments } from '../state/load-push.ts'
import type { FollowedPush, Instance, Workload } from '../state/model.ts'
import { KeyedMutex } from '../state/mutex.ts'
import type { FleetState } from '../state/state.ts'
import type { WriteBehind } from '../state/write-behind.ts'
import { hasCapableInstance } from './push-plan.ts'
import { insertPushRows, type NewPush } from './push-rows.ts'

const RESYNC_MS = 1_000

/** A config to be made a workload's assignment. */
export interface PushRequest {
  workloadId: string
  hash: string
  body: string
  used: readonly UsedComponent[]
  kind: 'approval' | 'rollback'
  pushedBy: string
  approvalId: string | null
  rollbackTargetKind: string | null
  /** Absent for a push to everyone at once. */
  stages?: readonly StagePlan[] | null
}

export type PushOutcome<Code extends string = never> =
  | { ok: true; push: Push }
  | { ok: false; code: 'workload-not-found' | 'workload-not-connected' | Code }

/** Thrown inside a push's transaction to take everything back with a code. */
class Veto extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** Makes assignments: commits a push, settles it in memory, and follows what becomes of it. */
export class PushEngine {
  readonly #deps: FleetDeps
  readonly #state: FleetState
  readonly #writer: WriteBehind
  readonly #offers: OfferEngine
  readonly #mutex = new KeyedMutex()
  /** Workloads of which a commit got no answer, until the database has said what it holds. */
  readonly #inDoubt = new WeakSet<Workload>()
  /** What became of pushes since the start, for the metrics. */
  readonly stats = { applied: 0, failed: 0, convergenceMs: 0 }
  /** Called for each target that is no longer there when its push is committed. */
  onGone: (followed: FollowedPush, uid: string) => void = () => {}
  /** Called for a push that is judged to have failed, each time it is. */
  onFailed: (workload: Workload, followed: FollowedPush) => void = () => {}

  constructor(deps: FleetDeps, state: FleetState, writer: WriteBehind, offers: OfferEngine) {
    this.#deps = deps
    this.#state = state
    this.#writer = writer
    this.#offers = offers
    offers.targetChanged = (followed) => this.reconsider(followed)
  }

  /**
   * Run work on a workload apart from its pushes, rollbacks and rollouts. Where the fate of the last of them is not
   * known, the database is asked first: whatever is decided here is decided on what it holds.
   */
  exclusively<T>(workloadId: string, work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(workloadId, async () => {
      await this.#settleDoubt(workloadId)
      return work()
    })
  }

  /** Resolves when no push or rollback is under way. */
  idle(): Promise<void> {
    return this.#mutex.idle()
  }

  /**
   * Make a config the workload's assignment and offer it. `alongside` runs in the same transaction, last: it
   * may write its own rows and the audit entry, or take everything back by answering a code.
   */
  push<Code extends string>(
    request: PushRequest,
    alongside: (tx: Db, push: Push) => Promise<{ ok: true } | { ok: false; code: Code }>,
  ): Promise<PushOutcome<Code>> {
    return this.exclusively(request.workloadId, async () => {
      const workload = this.#state.workloads.get(request.workloadId)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      if (!hasCapableInstance(workload)) return { ok: false, code: 'workload-not-connected' }
      // A workload of a moment ago may have no row yet to lock, and a push that was applied just now must not be
      // superseded as pending: what waits to be written goes first.
      await this.#writer.flush()
      workload.isFrozen = true
      try {
        const made = await this.#deps.db.transaction(async (tx) => {
          const made = await this.#insert(tx, workload, request)
          const verdict = await alongside(tx, made.push)
          if (!verdict.ok) throw new Veto(verdict.code)
          return made
        })
        this.apply(workload, made, Buffer.from(request.body), request.used)
        return { ok: true, push: made.push }
      } catch (error) {
        return this.#takeBack(workload, error)
      }
    })
  }

  async #insert(tx: Db, workload: Workload, request: PushRequest): Promise<NewPush> {
    await this.#deps.checkEpoch(tx)
    const row = await lockWorkload(tx, workload.id)
    if (row === null) throw new Veto('workload-not-found')
    const content = { hash: request.hash, body: request.body, components: request.used }
    await storeContent(tx, content, this.#deps.clock.now())
    const lifted = await liftQuarantines(tx, workload.id, request.hash)
    const rollbackOfPushId =
      request.kind === 'rollback' ? await findTakenBack(tx, workload.id, request.hash) : null
    return insertPushRows(
      tx,
      this.#deps,
      workload,
      row,
      this.#state.liveInstances(workload),
      { ...request, stages: request.stages ?? null, scope: null, rollbackOfPushId, failedHash: null },
      lifted,
    )
  }

  /** The transaction is committed: the same in memory, then the frames. No await in here. */
  apply(workload: Workload, made: NewPush, body: Uint8Array, used: readonly UsedComponent[]): void {
    const { push, plan } = made
    const followed = followPush(push, body, used, false)
    followed.isStaged = made.rollout !== null
    followed.scope = made.scope
    // The counts of the row hold the targets already.
    const counts = { ...push.counts }
    for (const { target } of plan.targets) addTarget(followed, target)
    push.counts = counts
    if (made.lifted !== null) {
      followed.liftedUids = new Set(made.lifted)
      workload.quarantinedHashes.delete(push.hash)
      workload.quarantinedInstances.delete(push.hash)
    }
    this.#assign(workload, followed, made.rollout)
    for (const { instance, target } of plan.targets) {
      if (target.state === 'applied') instance.offer = null
      else {
        startOffer(instance, followed, true)
        this.#state.outstanding.add(instance)
      }
    }
    workload.isFrozen = false
    this.#settleLeavers(followed)
    this.assignmentMoved(workload)
    this.#deps.notices.pushChanged(workload, push)
    this.#deps.notices.workloadChanged(workload)
    const offered = plan.targets.filter(({ target }) => target.state !== 'applied')
    // Also those that joined meanwhile, or that it is not for: they may be assigned something else now, too.
    this.#offers.fanOut([...offered.map(({ instance }) => instance), ...othersOf(workload, followed)])
    this.reconsider(followed)
  }

  /** What a workload's record says about its active config follows from another one now, whoever reports. */
  assignmentMoved(workload: Workload): void {
    if (deriveWorkload(workload, this.#deps.clock.monotonicMs())) this.#writer.workload(workload)
  }

  /** Another push takes the place of what was assigned until now. */
  #supersede(workload: Workload): void {
    for (const former of [workload.active, workload.rollout?.followed ?? null]) {
      if (former === null || former.push.status !== 'pending' || former.isSuperseded) continue
      former.isSuperseded = true
      if (former.push.phase !== 'aborted') former.push.phase = 'superseded'
      this.#deps.notices.pushChanged(workload, former.push)
    }
  }

  #assign(workload: Workload, followed: FollowedPush, rollout: NewPush['rollout']): void {
    this.#supersede(workload)
    workload.newestPush = followed.push
    workload.generation = followed.push.generation
    workload.pushSeq = followed.push.seq
    if (rollout !== null) {
      const { stored, members } = rollout
      workload.rollout = { stored, followed, members: new Map(members) }
      this.#state.rollingOut.add(workload)
      return
    }
    workload.rollout = null
    workload.active = followed
    workload.activeHash = followed.push.hash
    workload.activePushId = followed.push.pushId
  }

  /** Targets that left while the transaction ran. */
  #settleLeavers(followed: FollowedPush): void {
    for (const target of [...followed.targets.values()]) {
      const instance = this.#state.instances.get(target.instanceUid)
      if (instance === undefined || (instance.connection === null && instance.hasDeparted))
        this.onGone(followed, target.instanceUid)
    }
  }

  #takeBack<Code extends string>(workload: Workload, error: unknown): PushOutcome<Code> {
    if (error instanceof DatabaseUnavailable) {
      // The commit may have gone through: nothing is offered until the database says.
      void this.resync(workload)
      throw error
    }
    this.unfreeze(workload)
    if (error instanceof Veto) return { ok: false, code: error.code as Code }
    throw error
  }

  /** The assignment is settled: go on. The failed are judged before anybody is offered anything. */
  unfreeze(workload: Workload): void {
    workload.isFrozen = false
    for (const followed of [workload.active, workload.rollout?.followed ?? null])
      if (followed !== null) this.reconsider(followed)
    this.considerAll(workload)
  }

  /** Look at every instance of a workload again. */
  considerAll(workload: Workload): void {
    for (const instance of workload.instances) this.#offers.consider(instance)
  }

  /** Where a followed push stands after something about its targets changed. */
  reconsider(followed: FollowedPush): void {
    const { push } = followed
    const workload = this.#state.workloads.get(push.workloadId)
    if (workload === undefined) return
    this.#writer.push(followed)
    if (push.status === 'failed') {
      this.#deps.notices.pushChanged(workload, push)
      return
    }
    const verdict = this.judge(followed)
    if (verdict.status === 'failed') {
      this.onFailed(workload, followed)
      return
    }
    // Another push is being committed: whether this one may still become applied is decided by that.
    if (workload.isFrozen && push.status === 'pending' && verdict.status === 'applied') return
    if (verdict.status !== push.status || verdict.phase !== push.phase) {
      push.updatedAt = this.#deps.clock.now()
      if (verdict.status === 'applied' && push.status === 'pending') this.#noteApplied(push)
      push.status = verdict.status
      if (push.phase !== 'aborted') push.phase = verdict.phase
    }
    this.#deps.notices.pushChanged(workload, push)
  }

  /** What its targets make of a push, as they are now. */
  judge(followed: FollowedPush): PushVerdict {
    const nowMs = this.#deps.clock.monotonicMs()
    return judgePush(followed, (uid) => this.#state.isRecent(uid, nowMs, this.#deps.graceMs))
  }

  #noteApplied(push: Push): void {
    push.appliedAt = push.updatedAt
    this.stats.applied++
    this.stats.convergenceMs += Math.max(0, push.appliedAt.getTime() - push.submittedAt.getTime())
  }

  /** The fate of a transaction is unknown: ask the database until it answers, then go on from what it holds. */
  async resync(workload: Workload): Promise<void> {
    workload.isFrozen = true
    this.#inDoubt.add(workload)
    await new Promise<void>((resolve) => void this.#deps.timers.after(RESYNC_MS, resolve))
    try {
      await this.#mutex.run(workload.id, () => this.#settleDoubt(workload.id))
    } catch {
      void this.resync(workload)
    }
  }

  async #settleDoubt(workloadId: string): Promise<void> {
    const workload = this.#state.workloads.get(workloadId)
    if (workload === undefined || !this.#inDoubt.has(workload)) return
    // What agents said meanwhile goes first, so that what is read holds it.
    await this.#writer.flush()
    const loaded = await loadAssignments(this.#deps.db, workloadId)
    this.#inDoubt.delete(workload)
    if (loaded !== null) this.#adopt(workload, loaded)
    this.unfreeze(workload)
  }

  /** Go on from the assignments as the database holds them, where they are not those in memory. */
  #adopt(workload: Workload, loaded: NonNullable<Awaited<ReturnType<typeof loadAssignments>>>): void {
    workload.quarantinedHashes = new Set(loaded.quarantinedHashes)
    const isNewActive = loaded.active !== null && loaded.active.push.pushId !== workload.active?.push.pushId
    const isNewRollout = loaded.rollout?.stored.id !== workload.rollout?.stored.id
    const isNewStage = loaded.rollout?.stored.stageIndex !== workload.rollout?.stored.stageIndex
    if (!isNewActive && !isNewRollout && !isNewStage) {
      if (loaded.rollout !== null) this.#adoptStanding(workload, loaded.rollout.stored)
      return
    }
    if (isNewActive && loaded.active !== null) {
      this.#assign(workload, loaded.active, null)
      this.#restoreOffers(workload, loaded.active)
    } else if (isNewRollout && loaded.rollout !== null) this.#supersede(workload)
    workload.rollout = loaded.rollout
    if (loaded.rollout !== null) {
      this.#state.rollingOut.add(workload)
      workload.newestPush = loaded.rollout.followed.push
      this.#restoreOffers(workload, loaded.rollout.followed)
    }
    workload.generation = loaded.generation
    workload.pushSeq = loaded.pushSeq
    this.assignmentMoved(workload)
    if (workload.newestPush !== null) this.#deps.notices.pushChanged(workload, workload.newestPush)
    this.#deps.notices.workloadChanged(workload)
  }

  /** The same members, but it may have been halted, continued or aborted, or its stage may have converged. */
  #adoptStanding(workload: Workload, stored: StoredRollout): void {
    const { rollout } = workload
    if (rollout === null || rollout.stored.updatedAt.getTime() === stored.updatedAt.getTime()) return
    rollout.stored = stored
    if (stored.status === 'aborted') {
      rollout.followed.isSuperseded = true
      rollout.followed.push.phase = 'aborted'
    }
    this.#deps.notices.pushChanged(workload, rollout.followed.push)
  }

  #restoreOffers(workload: Workload, followed: FollowedPush): void {
    for (const instance of workload.instances)
      if (followed.targets.has(instance.uid) && instance.offer?.pushId !== followed.push.pushId)
        startOffer(instance, followed, true)
  }
}

function othersOf({ live }: Workload, { targets }: FollowedPush): Instance[] {
  const others: Instance[] = []
  for (const instance of live.instances()) if (!targets.has(instance.uid)) others.push(instance)
  return others
}

/**
 * The push that an operator's rollback to a hash takes back; null where it only repeats the newest one. Asked of
 * the database: after a commit of unknown fate, memory may not know the newest push yet.
 */
async function findTakenBack(tx: Db, workloadId: string, hash: string): Promise<string | null> {
  const [newest] = await listPushes(tx, workloadId, { beforeSeq: null, limit: 1 })
  return newest === undefined || newest.hash === hash ? null : newest.pushId
}
