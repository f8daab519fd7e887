import { uuidv7 } from '../ids.ts'
import { findContents, storeContent } from '../store/config-contents.ts'
import { DatabaseUnavailable, type Db } from '../store/db.ts'
import { findKnownGood } from '../store/known-good.ts'
import { insertTargets, updateTargets } from '../store/push-targets.ts'
import {
  failPush,
  insertPush,
  listAppliedHashes,
  supersedePushes,
  updatePushProgress,
} from '../store/pushes.ts'
import { insertQuarantines, liftQuarantines, listWorkloadQuarantines } from '../store/quarantines.ts'
import { assignPush, lockWorkload, type StoredWorkload } from '../store/workloads.ts'
import type { FleetDeps } from './deps.ts'
import { addTarget, errorOfPush, followPush, judgePush } from './followed-push.ts'
import { loadFollowedPush } from './load-push.ts'
import type { FollowedPush, Push, UsedComponent, Workload } from './model.ts'
import { KeyedMutex } from './mutex.ts'
import { type OfferEngine, startOffer } from './offer-engine.ts'
import { chooseRollbackTarget, type RollbackTarget } from './push-decision.ts'
import { hasCapableInstance, type PushPlan, planPush } from './push-plan.ts'
import type { FleetState } from './state.ts'
import type { WriteBehind } from './write-behind.ts'

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

interface NewPush {
  push: Push
  plan: PushPlan
  lifted: readonly string[]
}

/** Changes assignments: pushes, and the automatic rollback of those that fail. */
export class PushEngine {
  readonly #deps: FleetDeps
  readonly #state: FleetState
  readonly #writer: WriteBehind
  readonly #offers: OfferEngine
  readonly #mutex = new KeyedMutex()
  readonly #failing = new Set<FollowedPush>()

  constructor(deps: FleetDeps, state: FleetState, writer: WriteBehind, offers: OfferEngine) {
    this.#deps = deps
    this.#state = state
    this.#writer = writer
    this.#offers = offers
    offers.targetChanged = (followed) => this.reconsider(followed)
  }

  /** Run work on a workload apart from its pushes and rollbacks. */
  exclusively<T>(workloadId: string, work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(workloadId, work)
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
    return this.#mutex.run(request.workloadId, async () => {
      const workload = this.#state.workloads.get(request.workloadId)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      if (!hasCapableInstance(workload)) return { ok: false, code: 'workload-not-connected' }
      // A workload of a moment ago may have no row yet to lock, and a push that was applied just now must not be
      // superseded as pending: what waits to be written goes first.
      await this.#writer.flush()
      workload.isFrozen = true
      try {
        // A workload that has just appeared may not be a row yet.
        await this.#writer.flush()
        const made = await this.#deps.db.transaction(async (tx) => {
          const made = await this.#insert(tx, workload, request)
          const verdict = await alongside(tx, made.push)
          if (!verdict.ok) throw new Veto(verdict.code)
          return made
        })
        this.#apply(workload, made, Buffer.from(request.body), request.used)
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
    const now = this.#deps.clock.now()
    await storeContent(tx, { hash: request.hash, body: request.body, components: request.used }, now)
    const lifted = await liftQuarantines(tx, workload.id, request.hash)
    return this.#insertRows(
      tx,
      workload,
      row,
      { ...request, rollbackOfPushId: null, failedHash: null },
      lifted,
    )
  }

  async #insertRows(
    tx: Db,
    workload: Workload,
    row: StoredWorkload,
    request: Omit<PushRequest, 'kind'> & Pick<Push, 'kind' | 'rollbackOfPushId' | 'failedHash'>,
    lifted: readonly string[],
  ): Promise<NewPush> {
    const now = this.#deps.clock.now()
    const generation = row.generation + 1
    const plan = planPush(
      this.#state.liveInstances(workload),
      { hash: request.hash, generation, now },
      request.used,
      new Set(lifted),
      this.#deps.isCompatible,
    )
    const applied = plan.targets.filter(({ target }) => target.state === 'applied').length
    const push: Push = {
      pushId: uuidv7(now, this.#deps.random),
      workloadId: workload.id,
      seq: row.pushSeq + 1,
      hash: request.hash,
      kind: request.kind,
      pushedBy: request.pushedBy,
      generation,
      status: 'pending',
      phase: 'submitted',
      submittedAt: now,
      sentAt: null,
      appliedAt: null,
      failedAt: null,
      updatedAt: now,
      error: null,
      approvalId: request.approvalId,
      rollbackOfPushId: request.rollbackOfPushId,
      failedHash: request.failedHash,
      rollbackTargetKind: request.rollbackTargetKind,
      excluded: plan.excluded,
      counts: {
        target: plan.targets.filter(({ target }) => target.isTarget).length,
        applying: 0,
        applied,
        failed: 0,
        straggler: 0,
        gone: 0,
        joined: 0,
      },
    }
    // One that has applied a moment ago is not closed as pending: it is what a later failure goes back to.
    if (workload.active !== null) await updatePushProgress(tx, [workload.active.push])
    await supersedePushes(tx, workload.id, now)
    await insertPush(tx, push)
    await insertTargets(
      tx,
      plan.targets.map(({ target }) => ({ pushId: push.pushId, target })),
    )
    await assignPush(tx, {
      workloadId: workload.id,
      hash: push.hash,
      pushId: push.pushId,
      generation,
      seq: push.seq,
    })
    return { push, plan, lifted }
  }

  /** The transaction is committed: the same in memory, then the frames. No await in here. */
  #apply(workload: Workload, made: NewPush, body: Uint8Array, used: readonly UsedComponent[]): void {
    const { push, plan } = made
    const followed = followPush(push, body, used, false)
    // The counts of the row hold the targets already.
    const counts = { ...push.counts }
    for (const { target } of plan.targets) addTarget(followed, target)
    push.counts = counts
    this.#replaceActive(workload, followed)
    if (push.kind !== 'auto-rollback') {
      workload.quarantinedHashes.delete(push.hash)
      workload.quarantinedInstances.delete(push.hash)
    }
    for (const { instance, target } of plan.targets) {
      if (target.state === 'applied') instance.offer = null
      else {
        startOffer(instance, followed, true)
        this.#state.outstanding.add(instance)
      }
    }
    workload.isFrozen = false
    this.#settleLeavers(followed)
    this.#writer.push(followed)
    this.#deps.notices.pushChanged(workload, push)
    this.#deps.notices.workloadChanged(workload)
    this.#offers.fanOut(
      followed,
      plan.targets.filter(({ target }) => target.state !== 'applied').map(({ instance }) => instance),
    )
    this.reconsider(followed)
  }

  #replaceActive(workload: Workload, followed: FollowedPush): void {
    const former = workload.active
    if (former !== null && former.push.status === 'pending') {
      former.isSuperseded = true
      former.push.phase = 'superseded'
      this.#deps.notices.pushChanged(workload, former.push)
    }
    workload.active = followed
    workload.newestPush = followed.push
    workload.activeHash = followed.push.hash
    workload.activePushId = followed.push.pushId
    workload.generation = followed.push.generation
    workload.pushSeq = followed.push.seq
  }

  /** Targets that left while the transaction ran. */
  #settleLeavers(followed: FollowedPush): void {
    for (const target of followed.targets.values()) {
      const instance = this.#state.instances.get(target.instanceUid)
      if (instance === undefined || (instance.connection === null && instance.hasDeparted))
        this.#onGone(followed, target.instanceUid)
    }
  }

  onGone: (followed: FollowedPush, uid: string) => void = () => {}
  #onGone(followed: FollowedPush, uid: string): void {
    this.onGone(followed, uid)
  }

  #takeBack<Code extends string>(workload: Workload, error: unknown): PushOutcome<Code> {
    if (error instanceof DatabaseUnavailable) {
      // The commit may have gone through: nothing is offered until the database says.
      void this.#resync(workload)
      throw error
    }
    workload.isFrozen = false
    this.#considerAll(workload)
    if (error instanceof Veto) return { ok: false, code: error.code as Code }
    throw error
  }

  #considerAll(workload: Workload): void {
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
    const verdict = judgePush(followed, (uid) => this.#state.instances.has(uid))
    if (verdict.status === 'failed') {
      this.#startFailing(workload, followed)
      return
    }
    if (verdict.status !== push.status || verdict.phase !== push.phase) {
      push.updatedAt = this.#deps.clock.now()
      if (verdict.status === 'applied' && push.status === 'pending') push.appliedAt = push.updatedAt
      push.status = verdict.status
      push.phase = verdict.phase
    }
    this.#deps.notices.pushChanged(workload, push)
  }

  #startFailing(workload: Workload, followed: FollowedPush): void {
    if (this.#failing.has(followed) || followed.isSuperseded) return
    this.#failing.add(followed)
    // From the moment it is known to have failed, nobody else is offered it.
    if (workload.active === followed) workload.isFrozen = true
    void this.#mutex
      .run(workload.id, () => this.#fail(workload, followed))
      .catch((error) => {
        const fields = { err: error, workload_id: workload.id }
        if (error instanceof DatabaseUnavailable)
          this.#deps.log.warn(fields, 'rollback waits for the database')
        else this.#deps.log.error(fields, 'rollback did not finish')
      })
      .finally(() => this.#failing.delete(followed))
  }

  /** The failed status, the quarantine and the rollback: one transaction, then the frames, then the notice. */
  async #fail(workload: Workload, followed: FollowedPush): Promise<void> {
    if (workload.isDeleted || followed.isSuperseded || followed.push.status === 'failed') {
      if (workload.active === followed) workload.isFrozen = false
      return
    }
    const verdict = judgePush(followed, (uid) => this.#state.instances.has(uid))
    if (verdict.status !== 'failed') {
      workload.isFrozen = false
      return this.#considerAll(workload)
    }
    workload.isFrozen = true
    await this.#writer.flush()
    const error = errorOfPush(followed, verdict.cause)
    const now = this.#deps.clock.now()
    try {
      const rollback = await this.#deps.db.transaction(async (tx) => {
        await this.#deps.checkEpoch(tx)
        const row = await lockWorkload(tx, workload.id)
        if (row === null) return null
        const { pushId, hash } = followed.push
        // Who failed it is stored with the failure, not a little later.
        const waiting = this.#writer.waitingTargets(pushId)
        if (waiting.length > 0) await updateTargets(tx, waiting)
        await updatePushProgress(tx, [followed.push])
        if (!(await failPush(tx, pushId, error, now))) return null
        await insertQuarantines(tx, [{ workloadId: workload.id, hash, instanceUid: '', pushId }], now)
        return this.#rollBack(tx, workload, row, followed)
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
      workload.quarantinedHashes.add(followed.push.hash)
      this.#deps.notices.pushChanged(workload, followed.push)
      if (rollback === null) {
        workload.isFrozen = false
        this.#deps.notices.workloadChanged(workload)
        return
      }
      this.#apply(workload, rollback.made, Buffer.from(rollback.body), rollback.used)
      this.#deps.notices.autoRolledBack({
        workloadId: workload.id,
        fromHash: followed.push.hash,
        toHash: rollback.target.hash,
        reason: error.title,
        targetKind: rollback.target.kind,
      })
    } catch (fault) {
      void this.#resync(workload)
      throw fault
    }
  }

  async #rollBack(tx: Db, workload: Workload, row: StoredWorkload, failed: FollowedPush) {
    const { push } = failed
    if (push.seq !== row.pushSeq || push.kind === 'auto-rollback') return null
    const found = await this.#findRollbackTarget(tx, workload, push.hash)
    if (found === null) return null
    const { target, body, used } = found
    const made = await this.#insertRows(
      tx,
      workload,
      row,
      {
        workloadId: workload.id,
        hash: target.hash,
        body,
        used,
        kind: 'auto-rollback',
        pushedBy: 'auto-rollback',
        approvalId: null,
        rollbackTargetKind: target.kind,
        rollbackOfPushId: push.pushId,
        failedHash: push.hash,
      },
      [],
    )
    await this.#deps.recordAudit(tx, {
      action: 'config.auto_rollback',
      actor: null,
      resource: 'workload',
      resourceId: workload.id,
      configHash: target.hash,
      detail: JSON.stringify({
        failed_hash: push.hash,
        failed_push_id: push.pushId,
        push_id: made.push.pushId,
        target_hash: target.hash,
        target_kind: target.kind,
      }),
    })
    return { made, target, body, used }
  }

  async #findRollbackTarget(
    tx: Db,
    workload: Workload,
    failedHash: string,
  ): Promise<{ target: RollbackTarget; body: string; used: readonly UsedComponent[] } | null> {
    const knownGood = await findKnownGood(tx, workload.id)
    const applied = await listAppliedHashes(tx, workload.id)
    const quarantined = new Set(await listWorkloadQuarantines(tx, workload.id))
    const hashes = [...new Set([...(knownGood === null ? [] : [knownGood.hash]), ...applied])]
    const contents = new Map((await findContents(tx, hashes)).map((content) => [content.hash, content]))
    const live = this.#state.liveInstances(workload)
    const toCandidate = (hash: string) => ({
      hash,
      isQuarantined: quarantined.has(hash),
      isInvalid: !isRunnable(contents.get(hash)?.components ?? null, live, this.#deps),
    })
    const target = chooseRollbackTarget(
      failedHash,
      knownGood === null ? null : toCandidate(knownGood.hash),
      applied.map(toCandidate),
    )
    const content = target === null ? undefined : contents.get(target.hash)
    return target === null || content === undefined
      ? null
      : { target, body: content.body, used: content.components }
  }

  /** The fate of a transaction is unknown: ask the database until it answers, then go on from what it holds. */
  async #resync(workload: Workload): Promise<void> {
    workload.isFrozen = true
    await new Promise<void>((resolve) => void this.#deps.timers.after(RESYNC_MS, resolve))
    await this.#mutex.run(workload.id, async () => {
      if (workload.isDeleted) return
      try {
        const loaded = await loadFollowedPush(this.#deps.db, workload.id)
        if (loaded.generation !== workload.generation && loaded.followed !== null)
          this.#adopt(workload, loaded.followed, loaded.quarantinedHashes)
        workload.isFrozen = false
      } catch {
        void this.#resync(workload)
        return
      }
      if (workload.active !== null) this.reconsider(workload.active)
      this.#considerAll(workload)
    })
  }

  /** Go on from a push as the database holds it. */
  #adopt(workload: Workload, followed: FollowedPush, quarantinedHashes: readonly string[]): void {
    this.#replaceActive(workload, followed)
    workload.quarantinedHashes = new Set(quarantinedHashes)
    for (const instance of workload.instances) {
      if (followed.targets.has(instance.uid)) startOffer(instance, followed, true)
    }
    this.#deps.notices.pushChanged(workload, followed.push)
    this.#deps.notices.workloadChanged(workload)
  }
}

/** Can at least one live instance run a config that uses these components? */
function isRunnable(
  used: readonly UsedComponent[] | null,
  live: ReturnType<FleetState['liveInstances']>,
  deps: FleetDeps,
): boolean {
  if (used === null) return false
  const lists = live.filter((instance) => !instance.isExcluded)
  return lists.length === 0 || lists.some((i) => deps.isCompatible(used, i.components?.components ?? null))
}
