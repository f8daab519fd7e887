import type { ActTransaction } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { UsedComponent } from '../model/components.ts'
import type { AboutReport, AgentConnection, FleetPort } from '../opamp/fleet-port.ts'
import type { AgentReport, ServerMessage } from '../opamp/report.ts'
import type { PushTarget } from '../store/push-targets.ts'
import { countInTurns, inTurns } from '../turns.ts'
import { AlteredTimes } from './intake/altered-times.ts'
import { ConfigReports } from './intake/config-reports.ts'
import { EffectiveConfigs, type EffectiveForm } from './intake/effective-configs.ts'
import { HealthTimes } from './intake/health-times.ts'
import { Presence } from './intake/presence.ts'
import { type LateGoodbye, Receiver } from './intake/receive.ts'
import { TargetLosses } from './intake/target-losses.ts'
import { WorkloadLeaving } from './inventory/workload-leaving.ts'
import { WorkloadSettings } from './inventory/workload-settings.ts'
import { OfferEngine } from './offers/offer-engine.ts'
import { PushProgress } from './progress/push-progress.ts'
import { TargetEnds } from './progress/target-ends.ts'
import { Assignments } from './pushes/assignments.ts'
import { CommitTurns } from './pushes/commit-turns.ts'
import { PushEngine } from './pushes/push-engine.ts'
import { hasCapableInstance } from './pushes/push-plan.ts'
import { PushUndoing } from './pushes/push-undoing.ts'
import {
  type FoundRollback,
  findRollback,
  findRolloutRollback,
  isRunnable,
} from './pushes/rollback-search.ts'
import { RolloutEngine } from './rollouts/rollout-engine.ts'
import type { AgentLimits } from './state/agent-limits.ts'
import { beginOffer } from './state/begin-offer.ts'
import { ComponentLists } from './state/component-lists.ts'
import type { FleetDeps, FleetGround } from './state/deps.ts'
import { TouchedWorkloads } from './state/derive.ts'
import { HeardClock } from './state/heard-clock.ts'
import { CHUNK, inChunks } from './state/in-chunks.ts'
import { loadFleet } from './state/load-fleet.ts'
import type { FollowedPush, Instance, Rollout, Workload } from './state/model.ts'
import { noteOfferNotSent } from './state/offer-state.ts'
import type { Outcome, PlannedTarget } from './state/outcomes.ts'
import { type FleetParts, isCompatible } from './state/parts.ts'
import { compareInstances, FleetState, followedPushes, isAwaited } from './state/state.ts'
import { WriteBehind } from './state/write-behind.ts'

const TICK_MS = 1_000
/**
 * How long after a start a push waits for the agents of its workload. Fronts tell a new owner of theirs at once, and an agent whose process
 * ended is back after some seconds.
 */
const AGENTS_AWAITED_MS = 10_000
const AGENTS_LOOK_MS = 100
/** Of those that run a config whose text is missing, so many are asked for it at once. */
const ASKED_FOR_TEXT = 10

/**
 * The live fleet: agents in memory, workloads with their assignments, and everything that follows when an agent
 * reports, leaves, or fails a config. The owner holds one. Its parts mostly do not know each other: each tells what it
 * has done as an `Outcome`, and `#follow` calls the parts that have to act on it.
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
  readonly #losses: TargetLosses
  /** The time in which agents can be heard: by this everything is measured that is compared with what they did. */
  readonly clock: HeardClock
  readonly #health: HealthTimes
  /** Since when instances are changed on their hosts. */
  readonly altered: AlteredTimes
  readonly #presence: Presence
  readonly #receiver: Receiver
  readonly #leaving: WorkloadLeaving
  readonly #settings: WorkloadSettings
  #isStopped = false
  /** When agents could first be told of, and when nobody could be heard last; by the fleet's clock. */
  #openSinceMs = 0
  #unheardMs = Number.NEGATIVE_INFINITY

  constructor(ground: FleetGround) {
    this.clock = new HeardClock(ground, TICK_MS)
    const deps = { ...ground, clock: this.clock }
    this.#deps = deps
    this.writer = new WriteBehind(deps, new TouchedWorkloads(deps, this.state))
    const tell = (outcome: Outcome) => this.#follow(outcome)
    const parts: FleetParts = { deps, state: this.state, writer: this.writer, tell }
    const components = new ComponentLists(deps, this.state)
    this.effectiveConfigs = new EffectiveConfigs(parts)
    this.#losses = new TargetLosses(parts)
    this.#reports = new ConfigReports(parts, this.#losses)
    this.#health = new HealthTimes(parts)
    this.altered = new AlteredTimes(parts)
    this.#presence = new Presence(parts, {
      reports: this.#reports,
      losses: this.#losses,
      components,
      health: this.#health,
    })
    this.#receiver = new Receiver(parts, {
      presence: this.#presence,
      reports: this.#reports,
      effective: this.effectiveConfigs,
      components,
      health: this.#health,
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
    deps.followers.follow(() => this.#adoptStored())
  }

  /** Call the parts that have to act on what another part has done. */
  #follow(outcome: Outcome): void {
    switch (outcome.kind) {
      case 'offer-due':
        this.offers.consider(outcome.instance)
        break
      case 'died-too-often':
        this.#losses.conclude(outcome.instance)
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
      case 'assignments-confirmed':
        this.#afterConfirming(outcome.workload)
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

  #afterPush({ workload, followed, targets }: Outcome & { kind: 'assigned' }): void {
    for (const each of followedPushes(workload)) {
      this.#ends.look(each)
      // The workload's other push may have failed meanwhile: then offers wait until that is settled, too.
      if (each !== followed) this.#progress.reconsider(each)
    }
    this.#deps.notices.pushChanged(workload, followed.push)
    this.#deps.notices.workloadChanged(workload)
    this.offers.fanOut(followed, inOrder(workload, followed, targets))
    this.#progress.reconsider(followed)
  }

  /** Judge the workload's pushes before any instance is offered anything: one that failed must not go out. */
  #afterConfirming(workload: Workload): void {
    for (const followed of followedPushes(workload)) {
      this.#ends.look(followed)
      this.#progress.reconsider(followed)
    }
    this.#considerAll(workload)
  }

  #afterJoining({ workload, followed, joined }: Outcome & { kind: 'members-joined' }): void {
    this.offers.fanOut(followed, joined)
    this.#considerAll(workload)
    for (const each of followedPushes(workload)) this.#ends.look(each)
    this.#progress.reconsider(followed)
  }

  /** Look at every instance of a workload again, the first ones now. */
  #considerAll(workload: Workload): void {
    this.offers.considerAll([...workload.instances])
  }

  #forget(workload: Workload): void {
    workload.isDeleted = true
    this.writer.forget(workload)
    this.state.remove(workload)
    for (const instance of workload.instances) this.#presence.startOver(instance)
    this.#deps.notices.workloadRemoved(workload.id)
  }

  /** Load what is stored, start the grace of every workload that was live, and begin to call the parts each second. */
  async start(): Promise<void> {
    this.state.startedAtMs = this.#deps.clock.heardMs()
    this.state.startedAt = this.#deps.clock.now()
    await loadFleet(this.#deps.db, this.state, this.#deps.log)
    // The rules may have changed since their labels were stored with the workloads.
    await this.#settings.relabel()
    await this.#presence.startGraces()
    this.#openSinceMs = this.#deps.clock.heardMs()
    // A crash may have prevented the rollback of a push with failed targets: such a push fails now.
    for await (const some of inTurns(this.#followed(), CHUNK))
      for (const followed of some) this.#progress.reconsider(followed)
    this.#deps.timers.after(this.#deps.graceMs, () => this.#endStartGrace(0))
    this.#keepTime()
  }

  /**
   * Treat agents that did not come back within their grace as gone, some in each turn of the event loop: pushes forget
   * them, and they come back as new.
   */
  #endStartGrace(round: number): void {
    if (this.#isStopped) return
    const { timers, graceMs } = this.#deps
    const passedMs = Math.max(TICK_MS, graceMs) * 2 ** round
    const leftMs = this.state.startedAtMs + passedMs - this.clock.heardMs()
    if (leftMs > 0) {
      // The clock may stand still meanwhile, and does not tell when it goes on.
      timers.after(Math.max(TICK_MS, leftMs), () => this.#endStartGrace(round))
      return
    }
    const forget = (uid: string) => {
      if (this.state.startGraceMs(uid, graceMs) > passedMs) return
      this.#reports.neverBack(uid)
      this.#health.over(uid)
      this.state.knownAtStart.delete(uid)
    }
    const again = () => {
      if (this.state.knownAtStart.size > 0) timers.after(passedMs, () => this.#endStartGrace(round + 1))
    }
    const release = ({ followed, target }: { followed: FollowedPush; target: PushTarget | null }) => {
      if (this.#isStopped) return
      if (target === null) this.#reports.judgeAgain(followed)
      else this.#reports.releaseAbsent(followed, target)
    }
    inChunks(timers, this.state.knownAtStart, forget, () =>
      inChunks(timers, this.#followedTargets(), release, again),
    )
  }

  *#followed(): Generator<FollowedPush> {
    for (const workload of this.state.workloads.values()) yield* followedPushes(workload)
  }

  /** Every target of the pushes that are followed, and behind those of each push null. */
  *#followedTargets(): Generator<{ followed: FollowedPush; target: PushTarget | null }> {
    for (const followed of this.#followed()) {
      for (const target of followed.targets.values()) yield { followed, target }
      yield { followed, target: null }
    }
  }

  #keepTime(): void {
    this.#deps.timers.after(TICK_MS, () => {
      if (this.#isStopped) return
      this.clock.tick(this.#deps.hears())
      if (this.clock.isUnheard) this.#unheardMs = this.clock.heardMs()
      this.#presence.tick()
      this.offers.tick()
      this.#ends.tick()
      this.rollouts.tick()
      this.effectiveConfigs.tick()
      this.writer.tick()
      this.#keepTime()
    })
  }

  /** Take no more messages, and store what waits to be written. The listener drops the agents' connections. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#receiver.isDropping = true
    await this.#turns.idle()
    await this.writer.stop()
  }

  /** It takes nothing any more: what it is told now is for the next owner. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  receive(connection: AgentConnection, report: AgentReport, about: AboutReport) {
    if (this.#isStopped) return { message: {}, pendingOffer: null }
    const { message, heard } = this.#receiver.receive(connection, report, about)
    if (heard === null) return { message, pendingOffer: null }
    return this.offers.answer(message, heard.instance, connection, heard.isRepeated)
  }

  answerNotSent(connection: AgentConnection, uid: string, answer: ServerMessage): void {
    this.#receiver.answerNotSent(connection, uid, answer)
  }

  connectionClosed(...[connection, options = {}]: Parameters<FleetPort['connectionClosed']>): void {
    // A graceful stop writes no disconnected events: the agents come back to the next owner.
    if (this.#isStopped) return
    // A front judges by itself of the sockets that it has: it may not have stood still.
    const stoodStill = connection.place === undefined && this.clock.stoodStill
    const isOurDoing = options.isOurDoing === true || stoodStill
    this.#receiver.connectionClosed(connection, { ...options, isOurDoing })
  }

  /** A front does not have this agent on this connection any more, and says nothing of why: it is away. */
  agentForgotten(connection: AgentConnection, uid: string): void {
    if (!this.#isStopped) this.#receiver.agentForgotten(connection, uid)
  }

  /** An agent's socket at this place had ended, and a front tells of it late: it counts unless the agent came back. */
  hadEnded(uid: string, place: string): void {
    if (!this.#isStopped) this.#receiver.hadEnded(uid, place)
  }

  /** An agent had said goodbye, and a front tells of it late: it counts unless the agent came back. */
  hadSaidGoodbye(report: AgentReport, said: LateGoodbye): void {
    if (!this.#isStopped) this.#receiver.hadSaidGoodbye(report, said)
  }

  /** What an agent had said of its config, and a front tells of late: it counts unless the agent was heard of since. */
  hadSaidOfConfig(report: AgentReport, agoMs: number): void {
    if (!this.#isStopped) this.#receiver.hadSaidOfConfig(report, agoMs)
  }

  /**
   * Take an agent's effective config, which the front that it is connected to has read, and stores. `isLast`: it is the
   * one that the agent said last, and not one from before it.
   */
  effectiveConfigRead(uid: string, form: EffectiveForm, { isLast }: { isLast: boolean }): void {
    const instance = this.state.instances.get(uid)
    if (instance === undefined || this.#isStopped) return
    if (isLast) instance.configReader = null
    this.effectiveConfigs.takeForm(instance, form)
  }

  /** The texts of these effective configs, which no agent runs, are not stored any more. */
  textsRemoved(hashes: readonly string[]): void {
    this.effectiveConfigs.forget(hashes)
    this.#deps.textsGone(hashes)
  }

  /** The texts of these effective configs are not stored, though agents run them: some of these are asked for them. */
  async textsMissing(hashes: ReadonlySet<string>): Promise<void> {
    this.textsRemoved([...hashes])
    const asked = new Map<string, number>()
    for await (const some of inTurns(this.state.instances.values(), CHUNK))
      for (const instance of some) {
        const { reportedConfigHash: hash, connection } = instance
        const count = asked.get(hash) ?? 0
        if (connection === null || !hashes.has(hash) || count >= ASKED_FOR_TEXT) continue
        asked.set(hash, count + 1)
        this.effectiveConfigs.askAgain(instance)
      }
  }

  /** Note that these agents were heard of; they said nothing new. */
  heardOf(instances: Iterable<Instance>): void {
    const now = this.clock.now()
    const nowMs = this.clock.heardMs()
    const saidMs = this.clock.machine.monotonicMs()
    for (const instance of instances) {
      instance.lastMessageAt = now
      instance.lastMessageMs = nowMs
      instance.lastSaidMs = saidMs
      instance.isSaidAgain = false
      if (instance.workload === null) continue
      instance.workload.lastSeenAt = now
      this.writer.seen(instance.workload)
    }
  }

  /** The offer that was told to this connection last has left for its agent. */
  offerSent(connection: AgentConnection, uid: string): void {
    const instance = this.state.instances.get(uid)
    if (instance?.connection === connection) this.offers.noteLeft(instance)
  }

  /** An offer of this config did not reach its agent after all: make it due again. */
  offerNotSent(connection: AgentConnection, uid: string, hash: string): void {
    const instance = this.state.instances.get(uid)
    if (instance !== undefined) beginOffer({ deps: this.#deps, state: this.state }, instance)
    if (instance?.connection !== connection || instance.offer?.hash !== hash) return
    noteOfferNotSent(instance)
    this.state.outstanding.add(instance)
  }

  /** What became of pushes since the start, for the metrics. */
  get pushStats(): Readonly<FleetState['pushStats']> {
    return this.state.pushStats
  }

  /** How many agents and workloads there may be. */
  get limits(): AgentLimits {
    return this.#deps.agentLimits
  }

  /** How many messages were refused because there was no room for another agent or workload. */
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

  /** Whether nobody knows yet if a workload is away: this process has just started, and its agents may be on their way. */
  isAwaited(workload: Workload): boolean {
    return isAwaited(workload, this.#deps.clock.heardMs())
  }

  /**
   * Resolves once it is known of these workloads whether they are away, and all agents of theirs are here that are known
   * from before (`#waitForKnown`): right after the start of this process that takes as long as the grace at most.
   */
  async waitForAgents(workloads: readonly Workload[]): Promise<void> {
    const { timers, graceMs } = this.#deps
    const { machine } = this.clock
    const untilMs = machine.monotonicMs() + graceMs
    await this.#waitForKnown(workloads)
    const isOpen = (workload: Workload) => workload.status !== 'disconnected' && this.isAwaited(workload)
    const isAnyOpen = async () => (await countInTurns(workloads, CHUNK, isOpen)) > 0
    while (!this.#isStopped && machine.monotonicMs() < untilMs && (await isAnyOpen()))
      await new Promise<void>((resolve) => timers.after(TICK_MS, resolve))
  }

  /**
   * Whether an agent of this workload can take a config now. Right after the start of this process, and after it heard
   * nobody for a while, its agents are on their way: then it waits for them (`#waitForKnown`).
   */
  async canTakeConfig(workload: Workload): Promise<boolean> {
    await this.#waitForKnown([workload])
    const isAwaited = () =>
      this.isAwaited(workload) || (this.#mayAgentsReturn && workload.graceUntilMs !== null)
    const mayCome = () => workload.status !== 'disconnected' && isAwaited()
    await this.#waitWhile(() => !hasCapableInstance(workload) && mayCome())
    return hasCapableInstance(workload)
  }

  /**
   * Resolves once all agents of these workloads are here that are known from before, or were here a moment ago; where some
   * do not come, `AGENTS_AWAITED_MS` after this process could hear them. What is decided of the first ones alone would be said of all:
   * that a push is applied, which share of them a stage is, or what they run.
   */
  async #waitForKnown(workloads: readonly Workload[]): Promise<void> {
    const unheard = await this.#unheardOf(workloads)
    let at = 0
    await this.#waitWhile(() => {
      while (at < unheard.length && !this.#isOnItsWay(unheard[at]!)) at++
      return at < unheard.length
    })
  }

  /**
   * How many agents of each of these workloads may be on their way, by workload: for as long as `#waitForKnown` would wait
   * for them.
   */
  async countAwaited(workloads: readonly Workload[]): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>()
    for (const uid of await this.#unheardOf(workloads)) {
      const id = this.state.homes.get(uid) ?? ''
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  }

  async #unheardOf(workloads: readonly Workload[]): Promise<string[]> {
    if (!this.#mayAgentsCome) return []
    const ids = new Set<string>()
    for await (const some of inTurns(workloads, CHUNK))
      for (const { id, status } of some) if (status !== 'disconnected') ids.add(id)
    if (ids.size === 0) return []
    const unheard: string[] = []
    for await (const some of inTurns(this.state.knownAtStart, CHUNK))
      for (const uid of some) if (ids.has(this.state.homes.get(uid) ?? '')) unheard.push(uid)
    if (!this.#mayAgentsReturn) return unheard
    for await (const some of inTurns(this.state.away, CHUNK))
      for (const { uid, workload, hasDeparted } of some)
        if (!hasDeparted && ids.has(workload?.id ?? '')) unheard.push(uid)
    return unheard
  }

  /** Wait while this holds, as long as agents that are known from before may be on their way. */
  async #waitWhile(holds: () => boolean): Promise<void> {
    const untilMs = this.clock.machine.monotonicMs() + AGENTS_AWAITED_MS
    while (this.#mayAgentsCome && this.clock.machine.monotonicMs() < untilMs && holds())
      await new Promise<void>((resolve) => this.#deps.timers.after(AGENTS_LOOK_MS, resolve))
  }

  #isOnItsWay(uid: string): boolean {
    const { instances, away, knownAtStart } = this.state
    const instance = instances.get(uid)
    return knownAtStart.has(uid) || (instance !== undefined && away.has(instance))
  }

  /** Did this process begin to decide a moment ago, or hear nobody a moment ago? */
  get #mayAgentsCome(): boolean {
    const isNew = this.clock.heardMs() < this.#openSinceMs + AGENTS_AWAITED_MS
    return !this.#isStopped && (isNew || this.#mayAgentsReturn)
  }

  /** Could nobody be heard a moment ago? Then who is away may have had nobody to come back to. */
  get #mayAgentsReturn(): boolean {
    return this.clock.isUnheard || this.clock.heardMs() < this.#unheardMs + AGENTS_AWAITED_MS
  }

  /** Live instances, by pod, connection time and uid. */
  liveInstances(workload: Workload): Instance[] {
    return [...workload.live.instances()].sort(compareInstances)
  }

  /** Can this instance run the push's config, as far as its component list says? */
  isCompatible(instance: Instance, followed: FollowedPush): boolean {
    return isCompatible(this.#deps, instance, followed)
  }

  /** Make a config a workload's assignment; see `PushEngine.push`, whose two forms a method would have to repeat. */
  get push(): PushEngine['push'] {
    return this.#pushes.push.bind(this.#pushes)
  }

  /** Make configs the assignments of several workloads at once; see `PushEngine.pushTogether`. */
  readonly pushTogether: PushEngine['pushTogether'] = (name, actor, requests, alongside) =>
    this.#pushes.pushTogether(name, actor, requests, alongside)

  /** Archive a disconnected workload and resolve its alerts; archiving it twice changes nothing. */
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

  /** Forget these agents where they are away; see `WorkloadLeaving.forgetAgents`. */
  forgetAgents(agents: readonly { instanceUid: string; workloadId: string }[]): void {
    this.#leaving.forgetAgents(agents)
  }

  /** These agents may be forgotten in the database; see `WorkloadLeaving.doubtAgents`. */
  doubtAgents(uids: readonly string[]): void {
    this.#leaving.doubtAgents(uids)
  }

  /**
   * Take over what operators set or deleted, and agents that were forgotten, where memory differs from the database; see
   * `WorkloadSettings.adopt`.
   */
  async #adoptStored(): ReturnType<WorkloadSettings['adopt']> {
    await this.#leaving.settleDoubted()
    return this.#settings.adopt()
  }

  /** The label rules have changed: give every workload the labels that they give now. */
  relabel(): ReturnType<WorkloadSettings['relabel']> {
    return this.#settings.relabel()
  }

  /** Replace the labels that operators set on a workload. */
  setTrustedLabels(
    ...of: Parameters<WorkloadSettings['setTrustedLabels']>
  ): ReturnType<WorkloadSettings['setTrustedLabels']> {
    return this.#settings.setTrustedLabels(...of)
  }

  /** Replace the labels that operators set on a workload by what a function makes of them, unless it refuses. */
  changeTrustedLabels<Refused extends { ok: false }>(
    ...of: Parameters<typeof WorkloadSettings.prototype.changeTrustedLabels<Refused>>
  ): ReturnType<typeof WorkloadSettings.prototype.changeTrustedLabels<Refused>> {
    return this.#settings.changeTrustedLabels(...of)
  }

  /** Pin the config that failed pushes go back to, or unpin it with null, when `work` has stored that. */
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

  /** The config that an operator's rollback goes back to when none is named; null when nothing fits. */
  async findRollbackTarget(id: string): Promise<FoundRollback | null> {
    const workload = this.state.workloads.get(id)
    if (workload === undefined) return null
    const db = await this.#deps.db.upToDate()
    const live = this.state.liveInstances(workload)
    const from = workload.activeHash ?? ''
    return findRollback(db, this.#deps, workload, live, from, { by: 'person' })
  }

  /** What an operator would take the members of a workload's open rollout back to; null when there is nothing. */
  findRolloutRollback(workload: Workload, rollout: Rollout): Promise<FoundRollback | null> {
    const live = this.state.liveInstances(workload)
    const { hash } = rollout.followed.push
    return findRolloutRollback(this.#deps.db, this.#deps, workload, live, hash, { by: 'person' })
  }
}

/**
 * The instances of a workload in the order in which they are looked at after a push: first those that it is offered to,
 * then all others that are live by then. Some of these joined since the plan or report another config now, and those
 * that the push is not for may be assigned another push than before.
 */
function* inOrder(
  workload: Workload,
  followed: FollowedPush,
  targets: readonly PlannedTarget[],
): Generator<Instance> {
  for (const { instance, target } of targets) if (target.state !== 'applied') yield instance
  for (const instance of [...workload.live.instances()])
    if (instance.offer?.pushId !== followed.push.pushId) yield instance
}
