import { type Clock, systemClock } from '../../lib/clock.ts'
import { deriveMemberKey } from '../../lib/cluster/member-key.ts'
import { Membership } from '../../lib/cluster/membership.ts'
import { IDLE_IN_TRANSACTION_MS } from '../../lib/cluster/timing.ts'
import { systemTimers } from '../../lib/fleet/state/timers.ts'
import { randomHex, systemRandom } from '../../lib/ids.ts'
import { DatabaseUnavailable, type Db } from '../../lib/store/db.ts'
import { sessionNameOf } from '../../lib/store/members.ts'
import { migrate, readMigrations } from '../../lib/store/migrate.ts'
import { openPool, type Pool } from '../../lib/store/pool.ts'
import { openProcessLock, type ProcessLock } from '../../lib/store/process-lock.ts'
import type { ClusterConfig } from '../config.ts'
import { type LoadedFunctions, loadFunctions } from '../loader.ts'
import { FUNCTIONS } from '../manifest.generated.ts'
import { type Owner, startOwner } from '../owner.ts'
import { createProxyPolicy, type ProxyPolicy } from '../proxies.ts'
import { startSchedules } from '../scheduler.ts'
import { createApiHandlers, startOpampListener } from '../server.ts'
import type { ServiceOptions } from '../service.ts'
import { SocketRoom } from '../socket-room.ts'
import { loadStaticFiles } from '../static-files.ts'
import { type Listener, type ListenerHandlers, listen } from '../uws.ts'
import { VERSION } from '../version.ts'
import { type BrowserPipes, createBrowserPipes } from './browser-pipes.ts'
import { createFrontApiHandlers } from './front-api.ts'
import { startInternalListener } from './internal-listener.ts'
import { membersAsProxies, type Self } from './member-headers.ts'
import { OwnerDoor } from './owner-door.ts'

/** The version of what members say to each other. */
const LINK_VERSION = 1
/** A member is ready while there is an owner, and for so long after: nobody is to wait for a hand-over. */
const READY_AFTER_MS = 10_000
const GOING_AWAY = 1001
const DRAIN_MS = 5_000

/** A process that is one of several and runs. */
export interface RunningMember {
  apiPort: number
  /** Null while this process does not own. */
  owner(): Owner | null
  stop(): Promise<void>
}

/** What a process decides with while it owns. */
interface Owning {
  owner: Owner
  /** For the requests of its own clients, and for those that members pass on. */
  own: ListenerHandlers
  passedOn: ListenerHandlers
  opamp: Listener
  schedules: ReturnType<typeof startSchedules>
}

/** Start a process that serves whoever comes to it, and decides when it is its turn. */
export async function startMember(options: ServiceOptions, cluster: ClusterConfig): Promise<RunningMember> {
  const member = new Member(options, cluster)
  try {
    await member.start()
  } catch (error) {
    await member.stop()
    throw error
  }
  return member
}

class Member implements RunningMember {
  readonly #options: ServiceOptions
  readonly #cluster: ClusterConfig
  readonly #clock: Clock
  readonly #functions: LoadedFunctions = loadFunctions(FUNCTIONS)
  readonly #pool: Pool
  readonly #membership: Membership
  readonly #lock: ProcessLock
  readonly #self: Self
  readonly #door: OwnerDoor
  readonly #proxies: ProxyPolicy
  readonly #pipes: BrowserPipes
  readonly #room: SocketRoom
  readonly #stopping = new AbortController()
  #api: Listener | null = null
  #internal: Listener | null = null
  #owning: Owning | null = null
  #claiming: Promise<void> = Promise.resolve()
  /** When there was an owner last, and which epoch the browsers were led to. */
  #ownedMs = Number.NEGATIVE_INFINITY
  #epoch = 0

  constructor(options: ServiceOptions, cluster: ClusterConfig) {
    const { config, log } = options
    const clock = options.clock ?? systemClock
    const memberId = randomHex(8, systemRandom)
    const pool = openPool({
      dsn: config.databaseDsn,
      maxOpen: config.databaseMaxOpen,
      maxIdle: config.databaseMaxIdle,
      idleTimeoutMs: config.databaseIdleTimeoutMs,
      lifetimeMs: config.databaseLifetimeMs,
      applicationName: sessionNameOf(memberId),
      idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
      reserved: 2,
      ...{ clock, log },
    })
    const key = deriveMemberKey(config.jwtSecret)
    const self: Self = { memberId, key, now: () => clock.now() }
    const membership = new Membership({
      self: {
        id: memberId,
        address: cluster.advertiseAddress,
        version: VERSION,
        linkVersion: LINK_VERSION,
        startedAt: clock.now(),
      },
      connect: () => pool.openReserved('members'),
      ...{ clock, timers: systemTimers, log },
      onRenewed: () => this.#lookAtOwner(),
      onLate: () => this.#discard(),
      onOwnershipLost: () => options.onFatal('another process owns the fleet'),
    })
    const door = new OwnerDoor({
      owner: () => membership.owner,
      lookAgain: () => membership.refresh(),
      ...{ self, tls: cluster.tls, clock },
    })
    const proxies = createProxyPolicy(config.trustedProxies, (entry) =>
      log.warn({ entry }, 'MUSTER_TRUSTED_PROXIES holds an entry that is no address and no block'),
    )
    const room = new SocketRoom(config.socketLimits)
    this.#options = options
    this.#cluster = cluster
    this.#clock = clock
    this.#pool = pool
    this.#membership = membership
    this.#self = self
    this.#door = door
    this.#proxies = proxies
    this.#room = room
    this.#pipes = createBrowserPipes({ door, proxies, room, log })
    this.#lock = openProcessLock({
      connect: () => pool.openReserved('control'),
      ...{ clock, log },
      onLost: () => options.onFatal('another process owns the fleet'),
      mayClaim: (connection, isHeld) => membership.mayClaim(connection, isHeld),
    })
  }

  get apiPort(): number {
    return this.#api!.port
  }

  owner(): Owner | null {
    return this.#owning?.owner ?? null
  }

  async start(): Promise<void> {
    const { config, files, log, onFatal } = this.#options
    this.#internal = startInternalListener({
      ...{ cluster: this.#cluster, functions: this.#functions, self: this.#self },
      owned: () => this.#owning?.passedOn ?? null,
      routes: [],
    })
    const api = createFrontApiHandlers({
      ...{ functions: this.#functions, proxies: this.#proxies, room: this.#room, door: this.#door },
      staticFiles: loadStaticFiles(files.ui),
      browsers: this.#pipes.route,
      owned: () => this.#owning?.own ?? null,
      isReady: () => this.#isReady(),
    })
    this.#api = listen(config.listenAddress, api)
    // A database that is not there, or too old, is told at once, as it is to a process that is alone.
    await (await this.#pool.openReserved('control')).close()
    this.#membership.start()
    log.info({ api_port: this.#api.port, member: this.#self.memberId }, 'muster is one of several')
    this.#claiming = this.#claim().catch((error) => {
      if (this.#stopping.signal.aborted) return
      log.error({ err: error }, 'could not become the owner')
      onFatal('could not become the owner')
    })
  }

  /** Wait for the lock, and decide from then on. */
  async #claim(): Promise<void> {
    const { files, log } = this.#options
    const clock = this.#clock
    await this.#lock.acquire(this.#stopping.signal)
    await migrate(this.#lock.connection(), await readMigrations(files.migrations), { clock, log })
    await this.#membership.own(this.#lock.epoch, clock.now())
    const owner = await startOwner({
      options: this.#options,
      functions: this.#functions,
      pool: this.#pool,
      lock: this.#lock,
      clock,
      fence: { checkEpoch: (tx) => this.#checkEpoch(tx), mayOffer: () => this.#mayAct() },
    })
    if (this.#stopping.signal.aborted) {
      await owner.halt()
      return owner.close()
    }
    this.#owning = this.#open(owner)
    this.#lookAtOwner()
  }

  #open(owner: Owner): Owning {
    const { files } = this.#options
    const { ctx } = owner
    const staticFiles = loadStaticFiles(files.ui)
    const functions = this.#functions
    return {
      owner,
      own: createApiHandlers(functions, staticFiles, ctx, this.#proxies),
      passedOn: createApiHandlers(functions, staticFiles, ctx, membersAsProxies),
      opamp: startOpampListener(functions, ctx, this.#proxies),
      schedules: startSchedules(functions.schedules, ctx),
    }
  }

  /** The lock tells of another owner, the renewals of a process that stood still. */
  #mayAct(): boolean {
    return this.#lock.isHeld() && this.#membership.mayAct()
  }

  async #checkEpoch(tx: Db): Promise<void> {
    if (!this.#membership.mayAct())
      throw new DatabaseUnavailable('this process has not renewed itself: another may own by now')
    await this.#lock.checkEpoch(tx)
  }

  #lookAtOwner(): void {
    const { owner } = this.#membership
    if (owner === null) return
    if (owner.id !== this.#self.memberId || this.#owning !== null) this.#ownedMs = this.#clock.monotonicMs()
    if (owner.epoch > this.#epoch) {
      this.#door.ownerChanged(owner.epoch)
      this.#pipes.ownerChanged(owner.epoch)
    }
    this.#epoch = owner.epoch
  }

  /** What is under way was written before this process stood still. */
  #discard(): void {
    this.#options.log.warn({}, 'this process stood still: it confirms that it owns before it goes on')
  }

  #isReady(): boolean {
    return this.#membership.isInTime && this.#clock.monotonicMs() - this.#ownedMs < READY_AFTER_MS
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    const owning = this.#owning
    this.#api?.stopListening()
    owning?.opamp.stopListening()
    const schedules = owning?.schedules.stop() ?? Promise.resolve()
    await Promise.race([schedules, new Promise((resolve) => setTimeout(resolve, 2_000))])
    await this.#drain()
    owning?.owner.ctx.hub.flush()
    for (const socket of this.#api?.sockets() ?? []) socket.close(GOING_AWAY, 'server is stopping')
    // From here on members ask elsewhere.
    this.#owning = null
    await owning?.owner.halt()
    await this.#claiming
    // Agents are cut without a Close frame, which would strand some of them.
    for (const socket of owning?.opamp.sockets() ?? []) socket.drop()
    owning?.opamp.destroy()
    await this.#membership.stop()
    await this.#lock.release()
    this.#internal?.destroy()
    this.#api?.destroy()
    this.#door.close()
    await owning?.owner.close()
    await this.#pool.close()
  }

  async #drain(): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + DRAIN_MS
    const inFlight = () => (this.#api?.inFlight() ?? 0) + (this.#internal?.inFlight() ?? 0)
    while (inFlight() > 0 && this.#clock.monotonicMs() < untilMs)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
