import type { UsedComponent } from '../../model/components.ts'
import { storeContent } from '../../store/config-contents.ts'
import { DatabaseUnavailable, type Db } from '../../store/db.ts'
import type { TargetState } from '../../store/push-targets.ts'
import { findPush, listPushes, type Push } from '../../store/pushes.ts'
import { liftQuarantines } from '../../store/quarantines.ts'
import type { StagePlan } from '../../store/rollouts.ts'
import { lockWorkload } from '../../store/workloads.ts'
import type { PushVerdict } from '../decide/push.ts'
import { type OfferEngine, startOffer } from '../offers/offer-engine.ts'
import type { FleetDeps } from '../state/deps.ts'
import { deriveWorkload } from '../state/derive.ts'
import { addTarget, followPush, judgePush, moveTarget } from '../state/followed-push.ts'
import { type LoadedAssignments, loadAssignments } from '../state/load-push.ts'
import type { FollowedPush, Instance, Workload } from '../state/model.ts'
import { KeyedMutex } from '../state/mutex.ts'
import {
  assignmentOf,
  assignmentOfUid,
  type FleetState,
  followedPushes,
  quarantineInstance,
} from '../state/state.ts'
import type { WriteBehind } from '../state/write-behind.ts'
import { adoptAssignments, assignActive } from './adopt-assignments.ts'
import { hasCapableInstance } from './push-plan.ts'
import { insertPushRows, type NewPush, Veto } from './push-rows.ts'

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
  /** Called for a push whose targets may have nothing more to say: who they are, or what is assigned, has changed. */
  endTargets: (followed: FollowedPush) => void = () => {}
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
   * Make a config the workload's assignment and offer it; with stages of which the first has nobody, the code is
   * `stage-empty`. `alongside` runs in the same transaction, last: it
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
        const made = await this.#deps.db.transaction(
          request.kind === 'rollback' ? 'rollback' : 'push',
          async (tx) => {
            const made = await this.#insert(tx, workload, request)
            const verdict = await alongside(tx, made.push)
            if (!verdict.ok) throw new Veto(verdict.code)
            return made
          },
        )
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
      // One that moved to another workload since it was planned is not offered anything of this one.
      if (assignmentOf(instance) !== followed) continue
      if (target.state === 'applied') instance.offer = null
      else {
        startOffer(instance, followed, true)
        this.#state.outstanding.add(instance)
      }
    }
    workload.isFrozen = false
    for (const each of followedPushes(workload)) {
      this.endTargets(each)
      // Another one may have failed meanwhile: then nobody is offered anything before that is settled, too.
      if (each !== followed) this.reconsider(each)
    }
    this.assignmentMoved(workload)
    this.#deps.notices.pushChanged(workload, push)
    this.#deps.notices.workloadChanged(workload)
    const offered = plan.targets.filter(({ target }) => target.state !== 'applied')
    // Also those that joined meanwhile, or say no more that they run it, and those that it is not for: they may be
    // assigned something else now, too.
    this.#offers.fanOut(startingWith(new Set(offered.map(({ instance }) => instance)), workload))
    this.reconsider(followed)
  }

  /** What a workload's record says about its active config follows from another one now, whoever reports. */
  assignmentMoved(workload: Workload): void {
    if (deriveWorkload(workload, this.#deps.clock.monotonicMs())) this.#writer.workload(workload)
  }

  /** Nobody is assigned this push any more: it is over as it stands, and so are those that had not answered. */
  close(workload: Workload, former: FollowedPush): void {
    const now = this.#deps.clock.now()
    for (const target of [...former.awaiting.keys()]) {
      moveTarget(former, target, 'superseded', now)
      this.#writer.target({ pushId: former.push.pushId, target })
    }
    if (former.push.status === 'pending' && former.push.phase !== 'aborted') former.push.phase = 'superseded'
    former.isSuperseded = true
    this.#writer.push(former)
    this.#deps.notices.pushChanged(workload, former.push)
  }

  #assign(workload: Workload, followed: FollowedPush, rollout: NewPush['rollout']): void {
    const isForEveryone = rollout === null && followed.scope === null
    for (const former of followedPushes(workload))
      if (isForEveryone || former !== workload.active) this.close(workload, former)
    workload.newestPush = followed.push
    workload.generation = followed.push.generation
    workload.pushSeq = followed.push.seq
    workload.rollout = null
    workload.takenBack = null
    if (rollout !== null) {
      const { stored, members } = rollout
      workload.rollout = { stored, followed, members: new Map(members) }
      this.#state.rollingOut.add(workload)
    } else if (followed.scope !== null) workload.takenBack = followed
    else assignActive(workload, followed)
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
    for (const followed of followedPushes(workload)) {
      this.endTargets(followed)
      this.reconsider(followed)
    }
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
    const workload = this.#state.workloads.get(followed.push.workloadId)
    const nowMs = this.#deps.clock.monotonicMs()
    return judgePush(
      followed,
      (uid) =>
        this.#state.isRecent(uid, nowMs, this.#deps.graceMs) &&
        workload !== undefined &&
        (assignmentOfUid(workload, uid) === followed || this.#speaksFor(workload, followed, uid)),
    )
  }

  /** One that takes part in a rollout now, and ran this config before, has not failed it. */
  #speaksFor(workload: Workload, { targets }: FollowedPush, uid: string): boolean {
    const instance = this.#state.instances.get(uid)
    return targets.get(uid)?.state === 'applied' && (instance === undefined || instance.workload === workload)
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
    const { loaded, formers } = await this.#deps.db.snapshot('push.settle', async (db) => {
      const loaded = await loadAssignments(db, workloadId)
      return { loaded, formers: loaded === null ? [] : await this.#readFormers(db, workload, loaded) }
    })
    this.#inDoubt.delete(workload)
    if (loaded !== null) this.#adopt(workload, loaded, formers)
    this.unfreeze(workload)
  }

  /** What is assigned to nobody any more by what the database holds, as it stands there. */
  async #readFormers(db: Db, workload: Workload, loaded: LoadedAssignments): Promise<FollowedPush[]> {
    const assigned = new Set(followedPushes(loaded).map(({ push }) => push.pushId))
    const formers = followedPushes(workload).filter(({ push }) => !assigned.has(push.pushId))
    for (const former of formers) {
      const push = await findPush(db, former.push.pushId)
      // Who failed it counts as the database says; how many stand where is known better here.
      if (push !== null) former.push = { ...push, counts: former.push.counts }
    }
    return formers
  }

  /** Go on from the assignments as the database holds them, where they are not those in memory. */
  #adopt(workload: Workload, loaded: LoadedAssignments, formers: readonly FollowedPush[]): void {
    adoptAssignments(workload, loaded)
    for (const quarantine of this.#writer.waitingQuarantines(workload.id))
      quarantineInstance(workload, quarantine.hash, quarantine.instanceUid)
    for (const former of formers) this.close(workload, former)
    if (workload.rollout !== null) this.#state.rollingOut.add(workload)
    for (const instance of workload.instances) {
      const followed = assignmentOf(instance)
      const target = followed?.targets.get(instance.uid)
      if (followed === null || target === undefined || instance.offer?.pushId === followed.push.pushId)
        continue
      if (OFFERED_BY_COMMIT.includes(target.state)) startOffer(instance, followed, true)
    }
    this.assignmentMoved(workload)
    if (workload.newestPush !== null) this.#deps.notices.pushChanged(workload, workload.newestPush)
    this.#deps.notices.workloadChanged(workload)
  }
}

/** All that live, some of them first. */
function startingWith(first: ReadonlySet<Instance>, { live }: Workload): Instance[] {
  const all = [...first]
  for (const instance of live.instances()) if (!first.has(instance)) all.push(instance)
  return all
}

/** States in which a stored target has an offer that may go out. */
const OFFERED_BY_COMMIT: readonly TargetState[] = ['offered', 'applying', 'cannot_report']

/**
 * The push that an operator's rollback to a hash takes back; null where it only repeats the newest one. Asked of
 * the database: after a commit of unknown fate, memory may not know the newest push yet.
 */
async function findTakenBack(tx: Db, workloadId: string, hash: string): Promise<string | null> {
  const [newest] = await listPushes(tx, workloadId, { beforeSeq: null, limit: 1 })
  return newest === undefined || newest.hash === hash ? null : newest.pushId
}
