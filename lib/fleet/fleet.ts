import type { UsedComponent } from '../model/components.ts'
import { encodeServerToAgent } from '../opamp/codec.ts'
import type { AboutReport, AgentConnection, FleetPort } from '../opamp/fleet-port.ts'
import type { AgentReport } from '../opamp/report.ts'
import type { Db } from '../store/db.ts'
import type { Push } from '../store/pushes.ts'
import {
  archiveIfDisconnected,
  deleteWorkload,
  listOperatorSettings,
  type OperatorSettings,
  setTrustedLabels,
} from '../store/workloads.ts'
import { ConfigReports } from './intake/config-reports.ts'
import { EffectiveConfigs } from './intake/effective-configs.ts'
import { Presence } from './intake/presence.ts'
import { OUR_CAPABILITIES, Receiver } from './intake/receive.ts'
import { OfferEngine } from './offers/offer-engine.ts'
import { PushEngine, type PushOutcome, type PushRequest } from './pushes/push-engine.ts'
import { PushUndoing } from './pushes/push-undoing.ts'
import {
  type FoundRollback,
  findRollback,
  findRolloutRollback,
  isRunnable,
} from './pushes/rollback-search.ts'
import { TargetEnds } from './pushes/target-ends.ts'
import { RolloutEngine } from './rollouts/rollout-engine.ts'
import { ComponentLists } from './state/component-lists.ts'
import type { FleetDeps } from './state/deps.ts'
import { removeJoiner } from './state/followed-push.ts'
import { loadFleet } from './state/load-fleet.ts'
import type { FollowedPush, Instance, Rollout, Workload } from './state/model.ts'
import { compareInstances, FleetState, followedPushes } from './state/state.ts'
import { WriteBehind } from './state/write-behind.ts'

const TICK_MS = 1_000

/** Thrown inside a transaction that is to leave nothing behind. */
class TakenBack extends Error {}

/**
 * The live fleet: agents in memory, workloads with their assignments, and everything that follows when an
 * agent reports, leaves, or fails a config. One process holds one.
 */
export class Fleet implements FleetPort {
  readonly state = new FleetState()
  readonly writer: WriteBehind
  readonly offers: OfferEngine
  readonly rollouts: RolloutEngine
  readonly #deps: FleetDeps
  readonly #pushes: PushEngine
  readonly #ends: TargetEnds
  readonly #reports: ConfigReports
  readonly #presence: Presence
  readonly #receiver: Receiver
  readonly effectiveConfigs: EffectiveConfigs
  #isStopped = false

  constructor(deps: FleetDeps) {
    this.#deps = deps
    this.writer = new WriteBehind(deps)
    this.offers = new OfferEngine(deps, this.state, this.writer)
    this.#pushes = new PushEngine(deps, this.state, this.writer, this.offers)
    this.#ends = new TargetEnds(deps, this.state, this.writer, this.offers, this.#pushes)
    const undoing = new PushUndoing(deps, this.state, this.writer, this.#pushes)
    this.rollouts = new RolloutEngine(deps, this.state, this.writer, this.offers, this.#pushes, undoing)
    this.#reports = new ConfigReports(deps, this.state, this.writer, this.#pushes)
    const components = new ComponentLists(deps, this.state)
    this.#presence = new Presence(deps, this.state, this.writer, this.offers, this.#reports, components)
    this.effectiveConfigs = new EffectiveConfigs(deps, this.writer)
    this.#receiver = new Receiver({
      deps,
      state: this.state,
      writer: this.writer,
      presence: this.#presence,
      offers: this.offers,
      reports: this.#reports,
      components,
      effective: this.effectiveConfigs,
    })
  }

  /** Load what is stored, start the grace of everyone that was live, and begin to keep time. */
  async start(): Promise<void> {
    this.state.startedAtMs = this.#deps.clock.monotonicMs()
    await loadFleet(this.#deps.db, this.state)
    this.#presence.startGraces()
    this.#forEachPush((followed) => this.#pushes.reconsider(followed))
    this.#deps.timers.after(this.#deps.graceMs, () => {
      this.#endStartGrace(0)
      this.#forEachPush((followed) => this.#reports.releaseAbsent(followed))
    })
    this.#keepTime()
  }

  /** Who has not come back by the end of its grace comes anew. */
  #endStartGrace(round: number): void {
    if (this.#isStopped) return
    const { graceMs } = this.#deps
    const passedMs = Math.max(TICK_MS, graceMs) * 2 ** round
    for (const uid of this.state.knownAtStart)
      if (this.state.startGraceMs(uid, graceMs) <= passedMs) this.state.knownAtStart.delete(uid)
    if (this.state.knownAtStart.size > 0)
      this.#deps.timers.after(passedMs, () => this.#endStartGrace(round + 1))
  }

  /** A failed target whose rollback a crash prevented fails its push at the start; who stays away, when the grace ends. */
  #forEachPush(work: (followed: FollowedPush) => void): void {
    for (const workload of this.state.workloads.values())
      for (const followed of followedPushes(workload)) work(followed)
  }

  #keepTime(): void {
    this.#deps.timers.after(TICK_MS, () => {
      if (this.#isStopped) return
      this.#presence.tick()
      this.offers.tick()
      this.#ends.tick()
      this.rollouts.tick()
      this.effectiveConfigs.tick()
      this.writer.tick()
      this.#keepTime()
    })
  }

  /** Take no more, and write down what waits. Agents' connections are the listener's to drop. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#receiver.isDropping = true
    await this.#pushes.idle()
    await this.writer.stop()
  }

  receive(connection: AgentConnection, report: AgentReport, about: AboutReport) {
    if (this.#isStopped) return { message: {}, pendingOffer: null }
    return this.#receiver.receive(connection, report, about)
  }

  connectionClosed(connection: AgentConnection, options: { isOurDoing?: boolean } = {}): void {
    // A graceful stop writes no disconnected events: they come back to whoever is next.
    if (!this.#isStopped) this.#receiver.connectionClosed(connection, options)
  }

  /** What became of pushes since the start. */
  get pushStats(): Readonly<PushEngine['stats']> {
    return this.#pushes.stats
  }

  /** Messages of agents that found no room, on their connection or in the process. */
  get refusedAgents(): number {
    return this.#receiver.refusedCount
  }

  /** Messages taken since the start. */
  get messageCount(): number {
    return this.#receiver.messageCount
  }

  workload(id: string): Workload | null {
    return this.state.workloads.get(id) ?? null
  }

  /** Live instances, by pod, connection time and uid. */
  liveInstances(workload: Workload): Instance[] {
    return [...workload.live.instances()].sort(compareInstances)
  }

  /** Make a config a workload's assignment; see `PushEngine.push`. */
  push<Code extends string>(
    request: PushRequest,
    alongside: (tx: Db, push: Push) => Promise<{ ok: true } | { ok: false; code: Code }>,
  ): Promise<PushOutcome<Code>> {
    return this.#pushes.push(request, alongside)
  }

  /** Put a disconnected workload out of the default inventory; again changes nothing. */
  archive(
    id: string,
    alongside: (tx: Db) => Promise<void>,
  ): Promise<{ ok: true } | { ok: false; code: 'workload-not-found' | 'workload-not-disconnected' }> {
    return this.#pushes.exclusively(id, async () => {
      const workload = this.state.workloads.get(id)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      if (workload.status !== 'disconnected') return { ok: false, code: 'workload-not-disconnected' }
      if (workload.archivedAt !== null) return { ok: true }
      await this.writer.flush()
      const now = this.#deps.clock.now()
      const isDone = await this.#inTransaction(workload, async (tx) => {
        if (!(await archiveIfDisconnected(tx, id, now))) return false
        await alongside(tx)
        return true
      })
      if (!isDone) return { ok: false, code: 'workload-not-disconnected' }
      // Whoever came between the last look and the commit's answer came to an archived workload, and its next write
      // takes it out of the archive.
      if (workload.live.count === 0) workload.archivedAt = now
      this.#deps.notices.workloadChanged(workload)
      return { ok: true }
    })
  }

  /**
   * Run `work` in a transaction that is about a workload in which nobody lives, and take everything back when `work`
   * says so or somebody came meanwhile; whether it was committed.
   */
  async #inTransaction(workload: Workload, work: (tx: Db) => Promise<boolean>): Promise<boolean> {
    try {
      await this.#deps.db.transaction('workload.leave', async (tx) => {
        await this.#deps.checkEpoch(tx)
        if (!(await work(tx)) || workload.live.count > 0) throw new TakenBack()
      })
      return true
    } catch (error) {
      if (error instanceof TakenBack) return false
      throw error
    }
  }

  /** Remove a workload whose time is over, where `isRemoved` did so and nobody came meanwhile; whether it is gone. */
  discard(id: string, isRemoved: (tx: Db) => Promise<boolean>): Promise<boolean> {
    return this.#pushes.exclusively(id, async () => {
      const workload = this.state.workloads.get(id)
      if (workload === undefined || workload.live.count > 0) return false
      await this.writer.flush()
      if (!(await this.#inTransaction(workload, isRemoved))) return false
      this.#forget(workload)
      return true
    })
  }

  /** Nothing is remembered of these agents any more: where they belonged, and what they alone had failed. */
  forgetAgents(agents: readonly { instanceUid: string; workloadId: string }[]): void {
    for (const { instanceUid: uid, workloadId } of agents) {
      if (this.state.instances.has(uid)) continue
      if (this.state.homes.get(uid) === workloadId) this.state.homes.delete(uid)
      this.state.knownAtStart.delete(uid)
      this.state.forgetRhythm(uid)
      const workload = this.state.workloads.get(workloadId)
      if (workload === undefined) continue
      for (const [hash, uids] of workload.quarantinedInstances) {
        uids.delete(uid)
        if (uids.size === 0) workload.quarantinedInstances.delete(hash)
      }
      for (const followed of followedPushes(workload))
        if (removeJoiner(followed, uid)) this.writer.push(followed)
    }
  }

  /** Throws where another process has become the active one: asked in each transaction that writes. */
  checkEpoch(tx: Db): Promise<void> {
    return this.#deps.checkEpoch(tx)
  }

  /** Remove a workload. Its live instances are asked for their full state and register as new. */
  remove(
    id: string,
    alongside: (tx: Db) => Promise<void>,
  ): Promise<{ ok: true } | { ok: false; code: 'workload-not-found' }> {
    return this.#pushes.exclusively(id, async () => {
      const workload = this.state.workloads.get(id)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      await this.writer.flush()
      await this.#deps.db.transaction('workload.delete', async (tx) => {
        await this.#deps.checkEpoch(tx)
        await deleteWorkload(tx, id)
        await alongside(tx)
      })
      this.#forget(workload)
      for (const [uid, home] of this.state.homes) if (home === id) this.state.homes.delete(uid)
      return { ok: true }
    })
  }

  /**
   * Take over what operators have set, and what they have deleted, where the database holds it and memory does not.
   * Which workloads that were, and which have to be looked at again because the database may not know them yet.
   */
  async adoptSettings(): Promise<{ adopted: string[]; passedOver: string[] }> {
    const { db, notices } = this.#deps
    const adopted: string[] = []
    const passedOver: string[] = []
    await this.writer.flush()
    const all = await listOperatorSettings(db)
    for (const workload of [...this.state.workloads.values()]) {
      if (isAsStored(workload, all.get(workload.id))) continue
      if (this.writer.owes(workload)) {
        passedOver.push(workload.id)
        continue
      }
      await this.#pushes.exclusively(workload.id, async () => {
        // Under the lock of the workload nothing of this is being committed: what is read now is how it stands.
        await this.writer.flush()
        const stored = (await listOperatorSettings(db, workload.id)).get(workload.id)
        if (workload.isDeleted || isAsStored(workload, stored)) return
        if (this.writer.owes(workload)) {
          passedOver.push(workload.id)
          return
        }
        adopted.push(workload.id)
        // One without the push that it was assigned was deleted, and written anew by a report that came after.
        if (stored === undefined || stored.activePushId !== workload.activePushId) {
          this.#forget(workload)
          for (const [uid, home] of this.state.homes) if (home === workload.id) this.state.homes.delete(uid)
          return
        }
        workload.trustedLabels = stored.trustedLabels
        workload.knownGoodHash = stored.knownGoodHash
        if (workload.live.count === 0) workload.archivedAt = stored.archivedAt
        notices.workloadChanged(workload)
      })
    }
    return { adopted, passedOver }
  }

  #forget(workload: Workload): void {
    workload.isDeleted = true
    this.writer.forget(workload)
    this.state.remove(workload)
    this.state.inGrace.delete(workload)
    this.state.healthWatch.delete(workload)
    this.state.rollingOut.delete(workload)
    for (const instance of workload.instances) {
      this.state.outstanding.delete(instance)
      if (instance.connection === null) {
        this.#presence.forget(instance)
        continue
      }
      Object.assign(instance, {
        workload: null,
        isDescribed: false,
        undescribedSinceMs: null,
        isAnnounced: false,
        attributes: null,
        offer: null,
        reported: { isKnown: false },
        hasAskedFullState: true,
        fullStateAskedMs: this.#deps.clock.monotonicMs(),
      })
      const ask = { capabilities: OUR_CAPABILITIES, reportFullState: true }
      // A poller, and one whose socket had no room, is asked by the answer to its next message.
      const outcome = instance.connection.send(encodeServerToAgent(instance.uidOnWire, ask))
      if (outcome === 'dropped') instance.hasAskedFullState = false
    }
    this.#deps.notices.workloadRemoved(workload.id)
  }

  /** Replace the labels that operators set on a workload. */
  setTrustedLabels(
    id: string,
    labels: Readonly<Record<string, string>>,
    alongside: (tx: Db) => Promise<void>,
  ): Promise<{ ok: true } | { ok: false; code: 'workload-not-found' }> {
    return this.#pushes.exclusively(id, async () => {
      const workload = this.state.workloads.get(id)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      await this.writer.flush()
      const isThere = await this.#deps.db.transaction('workload.trusted-labels', async (tx) => {
        if (!(await setTrustedLabels(tx, id, labels))) return false
        await alongside(tx)
        return true
      })
      if (!isThere) return { ok: false, code: 'workload-not-found' }
      workload.trustedLabels = labels
      this.#deps.notices.workloadChanged(workload)
      return { ok: true }
    })
  }

  /** Can at least one live instance run a config of these components, or does none live? */
  canRun(id: string, used: readonly UsedComponent[]): boolean {
    const workload = this.state.workloads.get(id)
    return isRunnable(used, workload === undefined ? [] : this.state.liveInstances(workload), this.#deps)
  }

  /** What an operator's rollback without a named target goes back to; null when nothing fits. */
  async findRollbackTarget(id: string): Promise<FoundRollback | null> {
    const workload = this.state.workloads.get(id)
    if (workload === undefined) return null
    await this.writer.flush()
    const live = this.state.liveInstances(workload)
    return findRollback(this.#deps.db, this.#deps, workload, live, workload.activeHash ?? '')
  }

  /** What the members of a workload's open rollout would go back to; null when there is nothing. */
  findRolloutRollback(workload: Workload, rollout: Rollout): Promise<FoundRollback | null> {
    const live = this.state.liveInstances(workload)
    return findRolloutRollback(this.#deps.db, this.#deps, workload, live, rollout.followed.push.hash)
  }

  /** Pin the config that failed pushes go back to, or unpin it with null, where `work` says that it is done. */
  pinKnownGood<Outcome extends { ok: boolean }>(
    id: string,
    hash: string | null,
    work: (tx: Db) => Promise<Outcome>,
  ): Promise<Outcome> {
    return this.#pushes.exclusively(id, async () => {
      const outcome = await this.#deps.db.transaction('known-good.pin', work)
      const workload = this.state.workloads.get(id)
      if (!outcome.ok || workload === undefined) return outcome
      workload.knownGoodHash = hash
      this.#deps.notices.workloadChanged(workload)
      return outcome
    })
  }
}

/** Whether memory and database agree on what operators set; not when the database has no such workload. */
function isAsStored(workload: Workload, stored: OperatorSettings | undefined): boolean {
  if (stored === undefined) return false
  const labels = Object.entries(stored.trustedLabels)
  return (
    workload.activePushId === stored.activePushId &&
    workload.knownGoodHash === stored.knownGoodHash &&
    Object.keys(workload.trustedLabels).length === labels.length &&
    labels.every(([key, value]) => workload.trustedLabels[key] === value) &&
    // One that lives leaves the archive with its next write.
    (workload.live.count > 0 || (workload.archivedAt === null) === (stored.archivedAt === null))
  )
}
