import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { Membership } from '../../lib/cluster/membership.ts'
import { deriveFleetKeys, type FleetKeys, type OwnerName } from '../../lib/cluster/proofs.ts'
import { IDLE_IN_TRANSACTION_MS } from '../../lib/cluster/timing.ts'
import { systemTimers } from '../../lib/fleet/state/timers.ts'
import { openTokens } from '../../lib/identity/sessions/tokens.ts'
import { randomHex, systemRandom } from '../../lib/ids.ts'
import type { FrontAgents } from '../../lib/links/front-agents.ts'
import { LINK_VERSIONS, type LinkVersions } from '../../lib/links/link-versions.ts'
import { OwnerLinks } from '../../lib/links/owner-links.ts'
import type { Log } from '../../lib/log.ts'
import { DatabaseUnavailable, type Db } from '../../lib/store/db.ts'
import { sessionNameOf } from '../../lib/store/members.ts'
import { DatabaseTooNew, type Migration, migrate, newestOf, readMigrations } from '../../lib/store/migrate.ts'
import type { Pool } from '../../lib/store/pool.ts'
import { EpochLost, openProcessLock, type ProcessLock } from '../../lib/store/process-lock.ts'
import type { ClusterConfig } from '../config.ts'
import type { ClusterFacts } from '../context.ts'
import type { Descriptors } from '../descriptor-room.ts'
import { drain } from '../drain.ts'
import { type HealthListener, startHealthListener } from '../health-listener.ts'
import type { Listener, ListenerHandlers } from '../listener.ts'
import { type LoadedFunctions, loadFunctions } from '../loader.ts'
import type { LoopWatch } from '../loop-watch.ts'
import { FUNCTIONS } from '../manifest.generated.ts'
import { processMetrics, renderMetrics, writeMetrics } from '../metrics.ts'
import { type MetricsListener, startMetricsListener } from '../metrics-listener.ts'
import { listenerMetrics } from '../metrics-pressure.ts'
import { type Owner, startOwner } from '../owner.ts'
import {
  openConfiguredPool,
  openDescriptors,
  readProxyPolicy,
  warnOfMissingWalls,
  warnOfOpenDoor,
  watchProcessMemory,
} from '../process-parts.ts'
import type { ProxyPolicy } from '../proxies.ts'
import { problem, type Reply } from '../reply.ts'
import { startSchedules } from '../scheduler.ts'
import { createApiHandlers, type StaticFiles } from '../server.ts'
import type { ServiceOptions } from '../service.ts'
import { SocketRoom } from '../socket-room.ts'
import { openStaticFiles } from '../static-files.ts'
import { listen } from '../uws.ts'
import { VERSION } from '../version.ts'
import { type BrowserPipes, createBrowserPipes } from './browser-pipes.ts'
import { CertificateWatch, LOOK_AT_FILES_MS } from './certificate-watch.ts'
import { Condition, READY_AFTER_MS } from './condition.ts'
import { sendElsewhere } from './cut-off.ts'
import { FailedClaims } from './failed-claims.ts'
import { createFrontApiHandlers } from './front-api.ts'
import { FrontLink } from './front-link.ts'
import { frontMetrics } from './front-metrics.ts'
import { type FrontOpamp, startFrontOpamp } from './front-opamp.ts'
import { startInternalListener } from './internal-listener.ts'
import type { LeavingCause } from './leaving.ts'
import { createLinkRoute } from './link-route.ts'
import { MemberAddresses } from './member-addresses.ts'
import { memberOf, membersAsProxies, type Self } from './member-headers.ts'
import { OwnerDoor } from './owner-door.ts'
import { isReady } from './readiness.ts'
import { Standing } from './standing.ts'

const GOING_AWAY = 1001
/** How long after its beginning a stop still waits for answers to the process's own clients, and to members at last. */
const OWN_DRAIN_MS = 5_000
const LAST_DRAIN_MS = 6_000
/** How long members that are told to ask another process wait for the answers to what they have asked here. */
const PASSED_ON_DRAIN_MS = 500
/** How long the schedules of an owner that ends may take to stop. */
const SCHEDULES_STOP_MS = 2_000
const LEAVES: Record<LeavingCause, string> = {
  unreached: 'no process reaches this one at MUSTER_ADVERTISE_ADDR, and another one can be the owner',
  unfollowed:
    'other processes run, had links to the owner, and have none to this one: they may not reach it, and another one is to decide',
}
const UNREACHED_ALONE =
  'no process reaches this one at MUSTER_ADVERTISE_ADDR, and the others wait for it to stop'
const NOT_ASKED = 'cannot ask the process that decides'
const WAITS = 'waits to decide until members of older versions have stopped'
const OUTDATED = 'a newer version has changed the database in a way that breaks this one'

/** A running process among several. */
export interface RunningMember {
  apiPort: number
  opampPort: number
  /** Its agents, and what it has counted of them. */
  agents: FrontAgents
  /** Null while this process does not own. */
  owner(): Owner | null
  stop(): Promise<void>
}

/** What a process has only while it is the owner. */
interface Owning {
  owner: Owner
  /** For the requests of its own clients, and for those that members pass on. */
  own: ListenerHandlers
  passedOn: ListenerHandlers
  links: OwnerLinks
  schedules: ReturnType<typeof startSchedules>
}

/**
 * Start a process that serves agents, browsers and the API from the start, and becomes the owner when it gets the
 * lock.
 */
export async function startMember(
  options: ServiceOptions,
  cluster: ClusterConfig,
  versions: LinkVersions = LINK_VERSIONS,
  lookAtFilesMs: number = LOOK_AT_FILES_MS,
): Promise<RunningMember> {
  const migrations = readMigrations(options.files.migrations)
  const member = new Member(options, cluster, versions, migrations, lookAtFilesMs)
  try {
    await member.start()
  } catch (error) {
    await member.stop()
    throw error
  }
  return member
}

class Member implements RunningMember {
  readonly #memberId = randomHex(8, systemRandom)
  readonly #options: ServiceOptions
  readonly #cluster: ClusterConfig
  readonly #versions: LinkVersions
  readonly #migrations: readonly Migration[]
  readonly #clock: Clock
  readonly #functions: LoadedFunctions = loadFunctions(FUNCTIONS)
  readonly #staticFiles: StaticFiles
  readonly #pool: Pool
  readonly #membership: Membership
  readonly #addresses: MemberAddresses
  readonly #lock: ProcessLock
  readonly #self: Self
  /** Null without TLS between processes. */
  readonly #certificate: CertificateWatch | null
  readonly #door: OwnerDoor
  readonly #proxies: ProxyPolicy
  readonly #pipes: BrowserPipes
  readonly #room: SocketRoom
  readonly #descriptors: Descriptors
  readonly #stopping = new AbortController()
  #api: Listener | null = null
  #internal: Listener | null = null
  #opamp: FrontOpamp | null = null
  #memory: ReturnType<typeof watchProcessMemory> | null = null
  #metrics: MetricsListener | null = null
  #health: HealthListener | null = null
  readonly #link: FrontLink
  readonly #standing: Standing
  #owning: Owning | null = null
  #claiming: Promise<void> = Promise.resolve()
  /** Resolves once this owner has left the fleet to another process; null while it does not. */
  #handingOver: Promise<void> | null = null
  /** Why this process, which is about to be the owner, cannot be it any more; null where it can. */
  #lostClaim: string | null = null
  readonly #failedClaims = new FailedClaims()
  /** The epoch of the owner that browsers and requests go to. */
  #epoch = 0
  readonly #condition: Condition
  /** This process is stopping: requests that members pass on from now on are for the next owner. */
  #refersMembers = false

  constructor(
    options: ServiceOptions,
    cluster: ClusterConfig,
    versions: LinkVersions,
    migrations: readonly Migration[],
    lookAtFilesMs: number,
  ) {
    const { config, log } = options
    const clock = options.clock ?? systemClock
    this.#certificate = watchCertificate(cluster.tls, lookAtFilesMs, clock, log)
    this.#versions = versions
    this.#migrations = migrations
    this.#options = options
    this.#cluster = cluster
    this.#staticFiles = openStaticFiles(options.files.ui)
    const memberId = this.#memberId
    this.#pool = openConfiguredPool(config, {
      applicationName: sessionNameOf(memberId),
      idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
      reserved: 2,
      clock,
      log,
    })
    const keys = deriveFleetKeys(config.jwtSecret)
    const membership = this.#join(memberId, keys, this.#pool, clock)
    const self = this.#proveWith(keys, membership, clock)
    this.#descriptors = openDescriptors(config, log, options.descriptorLimit)
    const door = new OwnerDoor({
      owner: () => membership.owner,
      lookAgain: () => membership.refresh(),
      linkDownMs: () => this.#noWayMs(),
      self,
      trust: this.#certificate,
      keptMax: this.#descriptors.mostKept,
      clock,
      timers: systemTimers,
      log,
    })
    const proxies = readProxyPolicy(config, log)
    this.#clock = clock
    this.#membership = membership
    this.#addresses = new MemberAddresses(clock)
    this.#noteAddresses()
    this.#self = self
    this.#door = door
    this.#proxies = proxies
    this.#room = new SocketRoom(config.socketLimits)
    this.#pipes = createBrowserPipes({ door, proxies, room: this.#room, clock, timers: systemTimers, log })
    this.#link = this.#openLink()
    this.#standing = this.#openStanding()
    this.#condition = this.#readCondition()
    this.#lock = openProcessLock({
      connect: () => this.#pool.openReserved('control'),
      clock,
      log,
      onLost: (why) => this.#ownershipLost(why),
      mayClaim: (connection, holder) => membership.mayClaim(connection, holder),
    })
  }

  /** By what this process proves itself to the others: for a minute, by the clock of the database, which all share. */
  #proveWith(keys: FleetKeys, membership: Membership, clock: Clock): Self {
    return {
      memberId: this.#memberId,
      keys,
      isOverTls: this.#cluster.tls !== null,
      owned: () => this.#named(),
      now: () => new Date(clock.now().getTime() - membership.skewMs),
    }
  }

  /** What this process says of itself to the others, and what it hears of them. */
  #join(id: string, keys: FleetKeys, pool: Pool, clock: Clock): Membership {
    const { log, onFatal } = this.#options
    const { newest, breaking } = newestOf(this.#migrations)
    return new Membership({
      self: {
        id,
        address: this.#cluster.advertiseAddress,
        host: hostname(),
        pid: process.pid,
        version: VERSION,
        linkVersion: this.#versions.newest,
        startedAt: clock.now(),
        newestMigration: newest,
        newestBreaking: breaking,
      },
      keys,
      connect: () => pool.openReserved('members'),
      clock,
      timers: systemTimers,
      log,
      onRenewed: () => {
        this.#noteAddresses()
        this.#lookAtOwner()
        if (this.#owning !== null) this.#lock.probe()
      },
      onHeardAgain: (sinceMs) => pool.endUnheard(sinceMs),
      onLate: () => this.#discard(),
      suitOf: (id) => this.#condition.suitOf(id),
      onOwnershipLost: () => this.#ownershipLost('another process owns the fleet'),
      onOutdated: () => onFatal(OUTDATED),
    })
  }

  /** Whoever is a member now gets in at the internal port, this process itself as well. */
  #noteAddresses(): void {
    const others = this.#membership.members.map(({ address }) => address)
    this.#addresses.note([this.#cluster.advertiseAddress, ...others])
  }

  /** This process as the owner that others ask; null while it is none. */
  #named(): OwnerName | null {
    if (this.#owning === null) return null
    return { id: this.#self.memberId, address: this.#cluster.advertiseAddress, epoch: this.#lock.epoch }
  }

  /** What this process has as the owner; null where it is none, or requests are for the next one already. */
  #deciding(): Owning | null {
    return this.#handingOver === null ? this.#owning : null
  }

  /** For how long requests have had no way to the owner. Where versions alone keep it from a link, there is one. */
  #noWayMs(): number {
    return this.#link.isForeign ? 0 : this.#link.downMs
  }

  #openLink(): FrontLink {
    const membership = this.#membership
    return new FrontLink({
      door: this.#door,
      clock: this.#clock,
      timers: systemTimers,
      log: this.#options.log,
      agents: () => this.agents,
      owner: () => membership.owner,
      versions: this.#versions,
      lookAgain: () => membership.refresh(),
      onChange: (epoch) => {
        membership.link(epoch)
        this.#condition.linked(epoch)
      },
      onSilent: () => this.#pipes.ownerSilent(),
    })
  }

  #openStanding(): Standing {
    const { memberId } = this.#self
    return new Standing({
      self: { id: memberId, address: this.#cluster.advertiseAddress },
      others: () => this.#membership.members.filter(({ id }) => id !== memberId),
      asksOthers: () => this.#condition.asksOthers,
      ask: (member) => this.#door.askWho(member),
      onLooked: () => this.#lookAtStanding(),
      timers: systemTimers,
    })
  }

  #readCondition(): Condition {
    return new Condition({
      selfId: this.#self.memberId,
      membership: this.#membership,
      link: this.#link,
      standing: this.#standing,
      versions: this.#versions,
      clock: this.#clock,
      owning: () => (this.#owning === null ? null : { epoch: this.#lock.epoch, links: this.#owning.links }),
      unread: () => this.#opamp?.agents.unread ?? null,
    })
  }

  get apiPort(): number {
    return this.#api!.port
  }

  owner(): Owner | null {
    return this.#owning?.owner ?? null
  }

  async start(): Promise<void> {
    const { config, log } = this.#options
    this.#internal = startInternalListener({
      cluster: this.#cluster,
      functions: this.#functions,
      descriptors: this.#descriptors,
      self: this.#self,
      owned: () => (this.#refersMembers ? null : (this.#deciding()?.passedOn ?? null)),
      linkedEpoch: () => this.#condition.linkedEpoch,
      links: createLinkRoute(this.#self, () => this.#owning?.links ?? null, this.#versions),
      isOfMember: (address) => this.#addresses.has(address),
    })
    this.#certificate?.start(this.#internal)
    const api = createFrontApiHandlers({
      functions: this.#functions,
      proxies: this.#proxies,
      room: this.#room,
      descriptors: this.#descriptors,
      door: this.#door,
      tokens: openTokens(config.jwtSecret, this.#options.clock ?? systemClock),
      staticFiles: this.#staticFiles,
      browsers: this.#pipes.route,
      owned: () => this.#deciding()?.own ?? null,
      isReady: () => this.#isReady(),
      notes: () => this.#notes(),
    })
    this.#api = listen(config.listenAddress, api)
    this.#health = startHealthListener(config.healthAddress, api.handle)
    warnOfOpenDoor(config, log)
    this.#startAgents()
    this.#startWatching()
    // Rejects at once where the database is away or too old, as a process that is alone does.
    await (await this.#pool.openReserved('control')).close()
    this.#standing.start()
    this.#membership.start()
    this.#door.start()
    log.info(
      { api_port: this.#api.port, opamp_port: this.opampPort, member: this.#self.memberId },
      'muster is one of several',
    )
    this.#claiming = this.#claim()
  }

  get opampPort(): number {
    return this.#opamp!.listener.port
  }

  get agents(): FrontAgents {
    return this.#opamp!.agents
  }

  #startAgents(): void {
    this.#opamp = startFrontOpamp({
      options: this.#options,
      functions: this.#functions,
      proxies: this.#proxies,
      descriptors: this.#descriptors,
      pool: this.#pool,
      clock: this.#clock,
      isCutOff: () => this.#condition.isCutOff,
    })
    this.#link.start()
  }

  /** Start to watch the memory, and to answer on the metrics address where one is set. */
  #startWatching(): void {
    const { config, log } = this.#options
    const workers = () => [this.#opamp!.workers, ...Object.values(this.#owning?.owner.workers ?? {})]
    this.#memory = watchProcessMemory(log, workers, (sinceMs) => this.#opamp!.listener.cutQuiet(sinceMs))
    if (config.metricsAddress !== '')
      this.#metrics = startMetricsListener(config.metricsAddress, this.#clock, (loop) => this.#measure(loop))
  }

  async #measure(loop: LoopWatch): Promise<string> {
    const { config } = this.#options
    const listeners = { api: this.#api!, opamp: this.#opamp!.listener, internal: this.#internal! }
    const owner = this.owner()
    const own =
      owner === null
        ? writeMetrics([...processMetrics({ config }, loop), ...listenerMetrics(listeners)])
        : await renderMetrics(owner.ctx, { loop, pressure: { listeners, workers: owner.workers } })
    const facts = {
      ...this.agents.counts,
      isOwner: owner !== null,
      hasLink: this.#link.isUp,
      saidCount: this.#link.saidCount,
      skewMs: this.#membership.skewMs,
      ...this.#pipes.stats,
      downSumMs: this.#link.downSumMs,
      versions: this.#membership.members.map(({ version }) => version),
      unproven: this.#membership.unproven,
      ownedSince: this.#membership.owner?.since ?? null,
      certificateEnds: this.#certificate?.ends ?? null,
    }
    return own + writeMetrics(frontMetrics(facts))
  }

  #lookAtStanding(): void {
    const cause = this.#condition.look()
    if (this.#condition.isCutOff) sendElsewhere(this.#opamp?.listener.sockets() ?? [])
    if (cause === null || this.#handingOver !== null) return
    if (!this.#condition.canLeave) {
      if (cause === 'unreached') this.#options.onFatal(UNREACHED_ALONE)
      return
    }
    this.#options.log.warn({}, LEAVES[cause])
    this.#condition.left(cause)
    this.#handingOver = this.#handOver(this.#owning!).catch((error) => {
      this.#options.log.error({ err: error }, 'could not leave the fleet to another process')
      this.#options.onFatal(LEAVES[cause])
    })
  }

  /**
   * Leave the fleet to another process, and go on as a front with the sockets that this process has. What was asked until
   * now is answered; what comes from here on is asked of the next owner. This process may be that, where there is no other.
   */
  async #handOver(owning: Owning): Promise<void> {
    const asked = [this.#api!.mark(), this.#internal!.mark()]
    const untilMs = this.#clock.monotonicMs() + OWN_DRAIN_MS
    await stopSchedules(owning)
    await drain(asked, untilMs, this.#clock)
    owning.owner.ctx.hub.flush()
    this.#owning = null
    const halted = owning.owner.halt()
    // Members, and their browsers, find the next owner; what this one is told from here on it does not hear.
    for (const socket of this.#internal!.sockets()) socket.drop()
    await halted
    this.#membership.disown()
    await this.#lock.letGo()
    await owning.owner.close()
    this.#lostClaim = null
    this.#handingOver = null
    this.#claiming = this.#claim()
  }

  /** Another process owns the fleet, or may. One that only was about to be the owner stays a front. */
  #ownershipLost(why: string): void {
    if (this.#owning === null) this.#lostClaim = why
    else this.#options.onFatal(why)
  }

  /** Become the owner, sooner or later; a process that the database is too new for ends. */
  #claim(): Promise<void> {
    const { log, onFatal } = this.#options
    return this.#untilOwner().catch((error) => {
      if (this.#stopping.signal.aborted) return
      log.error({ err: error }, 'could not become the owner')
      onFatal('could not become the owner')
    })
  }

  /**
   * Become the owner. Whatever fails meanwhile, this process is a front again, with all its agents, and claims anew: were
   * each to end that cannot read what is stored, none would be left.
   */
  async #untilOwner(): Promise<void> {
    const { signal } = this.#stopping
    const { log } = this.#options
    for (;;) {
      try {
        await this.#lock.acquire(signal)
        return await this.#becomeOwner()
      } catch (error) {
        if (signal.aborted || error instanceof DatabaseTooNew) throw error
        this.#failedClaims.note(error)
        const isAway = error instanceof DatabaseUnavailable
        if (isAway) log.warn({ cause: error.message }, 'could not become the owner now')
        else log.error({ err: error }, 'could not become the owner, stays a front and tries again later')
        this.#membership.disown()
        await this.#lock.letGo()
        this.#lostClaim = null
        await pause(this.#failedClaims.pauseMs(error, this.#lock.hadLock), undefined, { signal })
      }
    }
  }

  /** Load what is stored and begin to decide, with the lock that was just taken. */
  async #becomeOwner(): Promise<void> {
    const { log } = this.#options
    const clock = this.#clock
    await migrate(this.#lock.connection(), this.#migrations, { clock, log })
    await this.#membership.own(this.#lock.epoch)
    await warnOfMissingWalls(this.#options.config, log)
    const { epoch } = this.#lock
    const owner = await startOwner({
      cluster: () => this.#facts(),
      textsGone: (hashes) => this.#owning?.links.forgetTexts(hashes),
      options: this.#options,
      functions: this.#functions,
      pool: this.#pool,
      lock: this.#lock,
      clock,
      fence: {
        mayBegin: () => this.#refuseUnlessFresh(epoch),
        checkEpoch: (tx) => this.#checkEpoch(tx, epoch),
        mayOffer: () => this.#mayAct(epoch),
        // It says nothing on its links then, and fronts pass on no more than they hear answers to.
        hears: () => this.#mayAct(epoch),
      },
    })
    if (this.#stopping.signal.aborted || this.#lostClaim !== null) {
      await owner.halt()
      await owner.close()
      if (this.#lostClaim !== null) throw new EpochLost(this.#lostClaim)
      return
    }
    this.#owning = this.#open(owner)
    this.#membership.decide(clock.now())
    this.#failedClaims.clear()
    this.#lookAtOwner()
  }

  #open(owner: Owner): Owning {
    const { ctx } = owner
    const { epoch } = this.#lock
    const handlersFor = (proxies: ProxyPolicy) =>
      createApiHandlers(this.#functions, this.#staticFiles, ctx, proxies, () => this.#whyUnsure(epoch))
    return {
      owner,
      own: handlersFor(this.#proxies),
      passedOn: handlersFor(membersAsProxies),
      links: new OwnerLinks({
        fleet: ctx.fleet,
        exchange: ctx.opamp,
        epoch,
        mayAct: () => this.#mayAct(epoch),
        clock: this.#clock,
        timers: systemTimers,
        log: this.#options.log,
      }),
      schedules: startSchedules(this.#functions.schedules, ctx),
    }
  }

  /**
   * What to answer instead of a refusal where this process cannot know that it still owns this epoch: it stood still, say,
   * sees no agents because it has cut its links since, and another process has all of them.
   */
  async #whyUnsure(epoch: number): Promise<Reply | null> {
    if (this.#mayAct(epoch)) return null
    await this.#membership.renewNow()
    if (this.#mayAct(epoch)) return null
    const isReplaced = this.#membership.owner?.id !== this.#self.memberId
    return isReplaced ? problem('no-owner', {}, { 'Retry-After': '3' }) : problem('database-unavailable')
  }

  /**
   * Whether this process may act as the owner of this epoch: the lock shows another owner, a missed renewal that this
   * process stood still. What an owner of here has left unfinished is no business of the one of here that follows.
   */
  #mayAct(epoch: number): boolean {
    return this.#lock.isHeld() && this.#lock.epoch === epoch && this.#membership.mayAct()
  }

  #refuseUnlessFresh(epoch: number): void {
    if (this.#lock.epoch !== epoch) throw new EpochLost(`this process owns epoch ${this.#lock.epoch} by now`)
    if (!this.#membership.mayAct())
      throw new DatabaseUnavailable('this process has not renewed itself: another may own by now')
  }

  async #checkEpoch(tx: Db, epoch: number): Promise<void> {
    this.#refuseUnlessFresh(epoch)
    await this.#lock.checkEpoch(tx)
  }

  #facts(): ClusterFacts {
    const { members, departures, owner, takeovers } = this.#membership
    const { epoch } = this.#lock
    const links = new Map(this.#owning?.links.list().map(({ memberId, ...link }) => [memberId, link]))
    return {
      epoch,
      ownedSince: owner?.since ?? this.#clock.now(),
      members: members.map((member) => ({
        ...member,
        isOwner: member.id === this.#self.memberId,
        waitsFor: this.#membership.awaitedBy(member),
        link: links.get(member.id) ?? null,
      })),
      departures,
      takeovers,
      servedBy: (header) => memberOf(header, this.#self) ?? this.#self.memberId,
    }
  }

  #lookAtOwner(): void {
    if (this.#condition.isCutOff) sendElsewhere(this.#opamp?.listener.sockets() ?? [])
    const { owner } = this.#membership
    if (owner === null) return
    if (owner.epoch > this.#epoch) {
      this.#door.ownerChanged(owner.epoch)
      this.#pipes.ownerChanged(owner.epoch)
      this.#link.ownerChanged(owner.epoch)
    }
    this.#epoch = owner.epoch
  }

  /** Drop what waits on the links: it was written before this process stood still, and may be out of date. */
  #discard(): void {
    this.#options.log.warn({}, 'this process stood still: what waited on its links is dropped')
    this.#link.cut()
    this.#owning?.links.dropAll()
  }

  /** What the text of `/readyz` says besides. */
  #notes(): string[] {
    const waits = this.#membership.olderMembers.length > 0 ? WAITS : null
    const cannotAsk = this.#canAsk() ? null : NOT_ASKED
    return [waits, cannotAsk, this.#failedClaims.said].filter((note) => note !== null)
  }

  /**
   * Whether what is asked here gets to the owner. A link may stand where no new connection does, as after the end of a
   * certificate, and each change takes a new one. Each owner has a while to be reached: a change of owner makes no front
   * unready.
   */
  #canAsk(): boolean {
    return this.#owning !== null || this.#door.unreachedMs < READY_AFTER_MS
  }

  #isReady(): boolean {
    return isReady({
      ...this.#condition.readiness,
      hasWay: this.#noWayMs() < READY_AFTER_MS && this.#canAsk(),
      hasFailed: this.#failedClaims.said !== null,
      version: VERSION,
    })
  }

  async stop(): Promise<void> {
    const startedMs = this.#clock.monotonicMs()
    this.#stopping.abort()
    this.#memory?.stop()
    this.#standing.stop()
    this.#certificate?.stop()
    this.#health?.stop()
    this.#api?.stopListening()
    this.#opamp?.listener.stopListening()
    await this.#handingOver
    const owning = this.#owning
    await stopSchedules(owning)
    // Members go on being answered until what was asked for until now is done: there is no other owner yet.
    const asked = this.#internal?.mark() ?? null
    await drain([this.#api, asked], startedMs + OWN_DRAIN_MS, this.#clock)
    // From here on members are told to ask another process, which they can do soon.
    this.#refersMembers = true
    await drain([this.#internal], this.#clock.monotonicMs() + PASSED_ON_DRAIN_MS, this.#clock)
    owning?.owner.ctx.hub.flush()
    for (const socket of this.#api?.sockets() ?? []) socket.close(GOING_AWAY, 'server is stopping')
    // This process cuts its own link from here on, and members ask another process.
    this.#link.stop()
    this.#owning = null
    await owning?.owner.halt()
    await this.#claiming
    // Agents are cut without a Close frame, which would strand some of them.
    for (const socket of this.#opamp?.listener.sockets() ?? []) socket.drop()
    await this.#membership.stop()
    await this.#lock.release()
    await this.#opamp?.close()
    // Answer members to the last: one that still asks here is told that this process is not the owner, and is not cut
    // off.
    this.#internal?.stopListening()
    const untilMs = Math.max(startedMs + LAST_DRAIN_MS, this.#clock.monotonicMs() + PASSED_ON_DRAIN_MS)
    await drain([this.#api, this.#internal], untilMs, this.#clock)
    this.#internal?.destroy()
    this.#api?.destroy()
    this.#metrics?.stop()
    this.#door.close()
    await owning?.owner.close()
    await this.#pool.close()
  }
}

/** Throws where there is TLS between processes, and its files are of no use. */
function watchCertificate(
  files: ClusterConfig['tls'],
  everyMs: number,
  clock: Clock,
  log: Log,
): CertificateWatch | null {
  return files === null ? null : new CertificateWatch({ files, everyMs, clock, timers: systemTimers, log })
}

/** Stop the schedules of an owner, as far as they stop in time. */
async function stopSchedules(owning: Owning | null): Promise<void> {
  if (owning === null) return
  const late = new Promise((resolve) => setTimeout(resolve, SCHEDULES_STOP_MS))
  await Promise.race([owning.schedules.stop(), late])
}
