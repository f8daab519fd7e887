import type { ActTransaction } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { UsedComponent } from '../model/components.ts'
import type { AboutReport, AgentConnection, FleetPort } from '../opamp/fleet-port.ts'
import type { AgentReport } from '../opamp/report.ts'
import type { Push } from '../store/pushes.ts'
import { ConfigReports } from './intake/config-reports.ts'
import { EffectiveConfigs, type EffectiveForm } from './intake/effective-configs.ts'
import { Presence } from './intake/presence.ts'
import { Receiver } from './intake/receive.ts'
import { WorkloadLeaving } from './inventory/workload-leaving.ts'
import { WorkloadSettings } from './inventory/workload-settings.ts'
import { OfferEngine } from './offers/offer-engine.ts'
import { PushProgress } from './progress/push-progress.ts'
import { TargetEnds } from './progress/target-ends.ts'
import { Assignments } from './pushes/assignments.ts'
import { CommitTurns } from './pushes/commit-turns.ts'
import { PushEngine, type PushOutcome, type PushRequest } from './pushes/push-engine.ts'
import { PushUndoing } from './pushes/push-undoing.ts'
import {
  type FoundRollback,
  findRollback,
  findRolloutRollback,
  isRunnable,
} from './pushes/rollback-search.ts'
import { RolloutEngine } from './rollouts/rollout-engine.ts'
import { ComponentLists } from './state/component-lists.ts'
import type { FleetDeps } from './state/deps.ts'
import { TouchedWorkloads } from './state/derive.ts'
import { loadFleet } from './state/load-fleet.ts'
import type { FollowedPush, Instance, Rollout, Workload } from './state/model.ts'
import { noteOfferDropped } from './state/offer-state.ts'
import type { Outcome } from './state/outcomes.ts'
import { type FleetParts, isCompatible } from './state/parts.ts'
import { compareInstances, FleetState, followedPushes } from './state/state.ts'
import { WriteBehind } from './state/write-behind.ts'

const TICK_MS = 1_000

/**
 * The live fleet: agents in memory, workloads with their assignments, and everything that follows when an
 * agent reports, leaves, or fails a config. One process holds one. Its parts do not know each other: each says what it
 * has done as an `Outcome`, and `#follow` says what comes of it.
 */
export class Fleet implements FleetPort {
  readonly state = new FleetState()
  readonly writer: WriteBehind
  readonly offers: OfferEngine
  readonly rollouts: RolloutEngine
  readonly effectiveConfigs: EffectiveConfigs
  readonly #deps: FleetDeps
  readonly #pushes: PushEngine
  readonly #turns: CommitTurns
  readonly #undoing: PushUndoing
  readonly #progress: PushProgress
  readonly #ends: TargetEnds
  readonly #reports: ConfigReports
  readonly #presence: Presence
  readonly #receiver: Receiver
  readonly #leaving: WorkloadLeaving
  readonly #settings: WorkloadSettings
  #isStopped = false

  constructor(deps: FleetDeps) {
    this.#deps = deps
    this.writer = new WriteBehind(deps, new TouchedWorkloads(deps, this.state))
    const tell = (outcome: Outcome) => this.#follow(outcome)
    const parts: FleetParts = { deps, state: this.state, writer: this.writer, tell }
    const components = new ComponentLists(deps, this.state)
    this.effectiveConfigs = new EffectiveConfigs(parts)
    this.#reports = new ConfigReports(parts)
    this.#presence = new Presence(parts, this.#reports, components)
    this.#receiver = new Receiver(parts, {
      presence: this.#presence,
      reports: this.#reports,
      effective: this.effectiveConfigs,
      components,
    })
    this.offers = new OfferEngine(parts)
    this.#progress = new PushProgress(parts)
    this.#ends = new TargetEnds(parts)
    const assignments = new Assignments(parts)
    this.#turns = new CommitTurns(parts, assignments)
    this.#pushes = new PushEngine(parts, assignments, this.#turns)
    this.#undoing = new PushUndoing(parts, assignments, this.#turns)
    this.rollouts = new RolloutEngine(parts, assignments, this.#turns, this.#undoing)
    this.#leaving = new WorkloadLeaving(parts, this.#turns)
    this.#settings = new WorkloadSettings(parts, this.#turns)
  }

  /** What follows from what a part of the fleet has done. */
  #follow(outcome: Outcome): void {
    switch (outcome.kind) {
      case 'offer-due':
        this.offers.consider(outcome.instance)
        break
      case 'effective-config-read':
        this.#receiver.effectiveConfigRead(outcome.instance)
        break
      case 'target-moved':
        this.#progress.reconsider(outcome.followed)
        break
      case 'push-failed':
        this.#undoing.start(outcome.workload, outcome.followed)
        break
      case 'assigned':
        this.#afterPush(outcome)
        break
      case 'assignments-settled':
        this.#afterSettling(outcome.workload)
        break
      case 'members-joined':
        this.#afterJoining(outcome)
        break
      case 'rollout-completed':
        this.#progress.reconsider(outcome.followed)
        this.#considerAll(outcome.workload)
        break
      case 'workload-gone':
        this.#forget(outcome.workload)
        break
      default:
        outcome satisfies never
    }
  }

  #afterPush({ workload, followed, first }: Outcome & { kind: 'assigned' }): void {
    for (const each of followedPushes(workload)) {
      this.#ends.look(each)
      // Another one may have failed meanwhile: then nobody is offered anything before that is settled, too.
      if (each !== followed) this.#progress.reconsider(each)
    }
    this.#deps.notices.pushChanged(workload, followed.push)
    this.#deps.notices.workloadChanged(workload)
    // Also those that joined meanwhile, or say no more that they run it, and those that it is not for: they may be
    // assigned something else now, too.
    const others = [...workload.live.instances()].filter((instance) => !first.has(instance))
    this.offers.fanOut([...first, ...others])
    this.#progress.reconsider(followed)
  }

  /** The failed are judged before anybody is offered anything. */
  #afterSettling(workload: Workload): void {
    for (const followed of followedPushes(workload)) {
      this.#ends.look(followed)
      this.#progress.reconsider(followed)
    }
    this.#considerAll(workload)
  }

  #afterJoining({ workload, followed, joined }: Outcome & { kind: 'members-joined' }): void {
    this.offers.fanOut(joined)
    this.#considerAll(workload)
    for (const each of followedPushes(workload)) this.#ends.look(each)
    this.#progress.reconsider(followed)
  }

  /** Look at every instance of a workload again. */
  #considerAll(workload: Workload): void {
    for (const instance of workload.instances) this.offers.consider(instance)
  }

  #forget(workload: Workload): void {
    workload.isDeleted = true
    this.writer.forget(workload)
    this.state.remove(workload)
    for (const instance of workload.instances) this.#presence.startOver(instance)
    this.#deps.notices.workloadRemoved(workload.id)
  }

  /** Load what is stored, start the grace of everyone that was live, and begin to keep time. */
  async start(): Promise<void> {
    this.state.startedAtMs = this.#deps.clock.monotonicMs()
    await loadFleet(this.#deps.db, this.state)
    // What is stored of the rules may be older than they are.
    await this.#settings.relabel()
    this.#presence.startGraces()
    // A failed target whose rollback a crash prevented fails its push at the start; who stays away, when the grace ends.
    this.#forEachPush((followed) => this.#progress.reconsider(followed))
    this.#deps.timers.after(this.#deps.graceMs, () => this.#endStartGrace(0))
    this.#keepTime()
  }

  /** Who has not come back by the end of its grace comes anew, and says nothing more of a push until then. */
  #endStartGrace(round: number): void {
    if (this.#isStopped) return
    const { graceMs } = this.#deps
    const passedMs = Math.max(TICK_MS, graceMs) * 2 ** round
    for (const uid of this.state.knownAtStart)
      if (this.state.startGraceMs(uid, graceMs) <= passedMs) this.state.knownAtStart.delete(uid)
    this.#forEachPush((followed) => this.#reports.releaseAbsent(followed))
    if (this.state.knownAtStart.size > 0)
      this.#deps.timers.after(passedMs, () => this.#endStartGrace(round + 1))
  }

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
    await this.#turns.idle()
    await this.writer.stop()
  }

  receive(connection: AgentConnection, report: AgentReport, about: AboutReport) {
    if (this.#isStopped) return { message: {}, pendingOffer: null }
    const { message, heard } = this.#receiver.receive(connection, report, about)
    if (heard === null) return { message, pendingOffer: null }
    return this.offers.answer(message, heard.instance, connection, heard.isRepeated)
  }

  connectionClosed(connection: AgentConnection, options: { isOurDoing?: boolean } = {}): void {
    // A graceful stop writes no disconnected events: they come back to whoever is next.
    if (!this.#isStopped) this.#receiver.connectionClosed(connection, options)
  }

  /** What this agent runs in effect, as it was read where it is connected. */
  effectiveConfigRead(uid: string, form: EffectiveForm): void {
    const instance = this.state.instances.get(uid)
    if (instance !== undefined && !this.#isStopped) this.effectiveConfigs.takeForm(instance, form)
  }

  /** These agents were heard of, without anything new to say. */
  heardOf(instances: Iterable<Instance>): void {
    const now = this.#deps.clock.now()
    const nowMs = this.#deps.clock.monotonicMs()
    for (const instance of instances) {
      instance.lastMessageAt = now
      instance.lastMessageMs = nowMs
      if (instance.workload === null) continue
      instance.workload.lastSeenAt = now
      this.writer.seen(instance.workload)
    }
  }

  /** An offer of this config did not reach its agent after all: it is due again. */
  offerNotSent(connection: AgentConnection, uid: string, hash: string): void {
    const instance = this.state.instances.get(uid)
    if (instance?.connection !== connection || instance.offer?.hash !== hash) return
    noteOfferDropped(instance)
    this.state.outstanding.add(instance)
  }

  /** What became of pushes since the start. */
  get pushStats(): Readonly<FleetState['pushStats']> {
    return this.state.pushStats
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

  /** Can this instance run the push's config, as far as its component list says? */
  isCompatible(instance: Instance, followed: FollowedPush): boolean {
    return isCompatible(this.#deps, instance, followed)
  }

  /** Make a config a workload's assignment; see `PushEngine.push`. */
  push<Refused extends { ok: false; code: string } = never>(
    request: PushRequest,
    alongside: (tx: ActTransaction, push: Push) => Promise<{ ok: true } | Refused>,
  ): Promise<PushOutcome<Refused>> {
    return this.#pushes.push(request, alongside)
  }

  /** Make configs the assignments of several workloads at once; see `PushEngine.pushTogether`. */
  readonly pushTogether: PushEngine['pushTogether'] = (name, actor, requests, alongside) =>
    this.#pushes.pushTogether(name, actor, requests, alongside)

  /** Put a disconnected workload out of the default inventory, and resolve its alerts; again changes nothing. */
  archive(...of: Parameters<WorkloadLeaving['archive']>): ReturnType<WorkloadLeaving['archive']> {
    return this.#leaving.archive(...of)
  }

  /** Remove a workload whose time is over; see `WorkloadLeaving.discard`. */
  discard(...of: Parameters<WorkloadLeaving['discard']>): Promise<boolean> {
    return this.#leaving.discard(...of)
  }

  /** Remove a workload. Its live instances are asked for their full state and register as new. */
  remove(...of: Parameters<WorkloadLeaving['remove']>): ReturnType<WorkloadLeaving['remove']> {
    return this.#leaving.remove(...of)
  }

  /** Nothing is remembered of these agents any more. */
  forgetAgents(agents: readonly { instanceUid: string; workloadId: string }[]): void {
    this.#leaving.forgetAgents(agents)
  }

  /** Take over what operators have set or deleted where only the database holds it; see `WorkloadSettings.adopt`. */
  adoptSettings(): ReturnType<WorkloadSettings['adopt']> {
    return this.#settings.adopt()
  }

  /** The label rules have changed: every workload has what they give now. */
  relabel(): ReturnType<WorkloadSettings['relabel']> {
    return this.#settings.relabel()
  }

  /** Replace the labels that operators set on a workload. */
  setTrustedLabels(
    ...of: Parameters<WorkloadSettings['setTrustedLabels']>
  ): ReturnType<WorkloadSettings['setTrustedLabels']> {
    return this.#settings.setTrustedLabels(...of)
  }

  /** Make the labels that operators set on a workload from those that it has, or refuse to. */
  changeTrustedLabels<Refused extends { ok: false }>(
    ...of: Parameters<typeof WorkloadSettings.prototype.changeTrustedLabels<Refused>>
  ): ReturnType<typeof WorkloadSettings.prototype.changeTrustedLabels<Refused>> {
    return this.#settings.changeTrustedLabels(...of)
  }

  /** Pin the config that failed pushes go back to, or unpin it with null, where `work` says that it is done. */
  pinKnownGood<Outcome extends { ok: boolean }>(
    id: string,
    hash: string | null,
    actor: AuditActor,
    work: (tx: ActTransaction) => Promise<Outcome>,
  ): Promise<Outcome | AuditFailure> {
    return this.#settings.pinKnownGood(id, hash, actor, work)
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
    const db = await this.#deps.db.upToDate()
    const live = this.state.liveInstances(workload)
    const from = workload.activeHash ?? ''
    return findRollback(db, this.#deps, workload, live, from, { findable: 'applied-and-approved' })
  }

  /** What the members of a workload's open rollout would go back to; null when there is nothing. */
  findRolloutRollback(workload: Workload, rollout: Rollout): Promise<FoundRollback | null> {
    const live = this.state.liveInstances(workload)
    return findRolloutRollback(this.#deps.db, this.#deps, workload, live, rollout.followed.push.hash)
  }
}
