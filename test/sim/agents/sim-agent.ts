import {
  AGENT_CAPABILITIES,
  type AgentReport,
  type HealthNode,
  type ServerMessage,
} from '../../../lib/opamp/report.ts'
import { HEALTHY, reportOf } from '../../support/agent-report.ts'
import type { AgentNature } from './agent-nature.ts'
import type { AgentWorld, Hearer, Link } from './link.ts'
import { Poller } from './poller.ts'
import { effectiveOf, fateOf } from './sim-configs.ts'
import { type Gateways, Rider } from './socket.ts'

interface Status {
  hash: string
  status: 'unset' | 'applied' | 'applying' | 'failed'
}

/** A config as it was offered; both fields are '' for the agent's own default. */
interface Offered {
  hash: string
  body: string
}

const ILL: HealthNode = {
  ...HEALTHY,
  healthy: false,
  status: 'StatusRecoverableError',
  lastError: 'no route',
}

/** A config that ended the process this often is not started again, as if somebody had removed it by hand. */
const CRASHES_MAX = 6
/** How long it lives with a config that kills it, and how long it then takes to come back without it. */
const DIES_AFTER_MS = [1_000, 60_000] as const
const BACK_AFTER_MS = [100, 40_000] as const
/** How long one that comes and goes stays, and how long it is away: less or more than the grace. */
const STAYS_MS = [30_000, 90_000] as const
const AWAY_MS = [1_000, 40_000] as const
const NOTHING: Offered = { hash: '', body: '' }
const BEAT_MS = 30_000
const MADE_UP = 'made up'
/** After this many regular polls the service knows at which interval the agent polls. */
const POLLS_TO_KNOW = 4
const EXITED = 'Agent exited unexpectedly with exit code 1'

/**
 * An agent that behaves like a supervisor, well or badly. What it has stored outlives its process. It is a class of its
 * own beside the other agents of the tests because all that it does, lies and losses included, is decided by the dice
 * of one seed, in virtual time.
 */
export class SimAgent implements Hearer {
  readonly nature: AgentNature
  readonly #world: AgentWorld
  readonly #gateways: Gateways
  uid: string
  #link: Link | null = null
  #linkedAtMs = 0
  #sequence = 0
  #status: Status = { hash: '', status: 'unset' }
  /** What it runs, and what it ran before; '' for its own default. */
  #running = NOTHING
  #before = NOTHING
  #isOn = false
  #isEverStarted = false
  /** Counts its processes. */
  #processes = 0
  #applying = 0
  #lastOffer: Offered | null = null
  #beats = 0
  /** How often the config that it was offered last has ended its process. */
  #crashes = 0
  #health: HealthNode = HEALTHY
  #firstIllMs: number | null = null
  #unsentStatus: (() => void) | null = null
  /** It had something to report while it was not connected; it sends a full report once it is. */
  #hasUntold = false
  /** The config that it runs has changed since it last reported an effective config. */
  #hasUntoldConfig = false
  /** It sends no heartbeats: over a socket it says only what is new. */
  isQuiet = false
  /** It says goodbye and comes back over and over; how often it has come back so. */
  isRestless = false
  returns = 0
  /**
   * Hashes of configs that it left by itself or never took: the server can only know what the agent reports of them.
   */
  readonly leftByItself = new Set<string>()

  constructor(nature: AgentNature, uid: string, world: AgentWorld, gateways: Gateways) {
    this.nature = nature
    this.uid = uid
    this.#world = world
    this.#gateways = gateways
  }

  /**
   * Whether it is connected and has been so for long enough that the service knows it: its first messages have arrived,
   * and the interval of its polls is known.
   */
  get isSettled(): boolean {
    if (this.#link === null || this.#asksUid) return false
    if (this.#link instanceof Poller) return this.#link.regular >= POLLS_TO_KNOW
    return this.#world.time.nowMs - this.#linkedAtMs > 1_000
  }

  /** When it last connected or moved to another connection, in ms of virtual time. */
  get linkedAtMs(): number {
    return this.#linkedAtMs
  }

  get running(): string {
    return this.#running.hash
  }

  get status(): Status {
    return this.#status
  }

  get isHealthy(): boolean {
    return this.#health.healthy
  }

  get health(): HealthNode {
    return this.#health
  }

  /**
   * When it first reported that it is unhealthy, in ms of virtual time; null when it never did. The service may hear
   * late that it is healthy again, so only the first time counts.
   */
  get firstIllMs(): number | null {
    return this.#firstIllMs
  }

  get effective(): string | null {
    const reports = (this.nature.capabilities & AGENT_CAPABILITIES.reportsEffectiveConfig) !== 0
    // The supervisor's config names a port that is another one for each connection; it must not count as another
    // config.
    return reports ? effectiveOf(this.#running.body, this.uid, 4_000 + this.#beats) : null
  }

  start(): void {
    if (this.#isOn) return
    this.#isOn = true
    this.#asksUid = this.nature.asksForUid && !this.#isEverStarted
    this.#isEverStarted = true
    this.#processes++
    this.#mayDie()
    this.#connect(0)
  }

  /** It asked the server for a uid and has not got one yet. */
  #asksUid = false

  /** Disconnect as the protocol wants it, with an `agent_disconnect` message. */
  stop(): void {
    if (!this.#isOn) return
    this.#isOn = false
    this.#applying++
    this.#processes++
    const link = this.#link
    if (link === null) return
    this.#say({ isDisconnect: true })
    this.#link = null
    if (link instanceof Rider) this.#world.time.after(40, () => link.leave())
  }

  /** Be killed, and come back after `delayMs` as a new process with the same storage. */
  restart(delayMs: number): void {
    this.#applying++
    this.#processes++
    this.#mayDie()
    this.#sequence = 0
    this.#unsentStatus = null
    this.#isOn = true
    const link = this.#link
    this.#link = null
    if (link instanceof Rider) link.leave()
    if (link instanceof Poller) link.stop()
    this.#connect(delayMs)
  }

  /** Send heartbeats from now on. */
  speakUp(): void {
    if (!this.isQuiet) return
    this.isQuiet = false
    if (this.#link instanceof Rider) this.#beat(this.#beats)
  }

  /** The connection breaks. */
  loseConnection(): void {
    if (this.#link instanceof Rider) this.#link.socket.lose()
  }

  /** What has its socket at the other end; null where it has none. */
  get socketService(): unknown {
    return this.#link instanceof Rider ? this.#link.socket.service : null
  }

  /** The connection breaks, and the server takes it for open for so long. */
  loseConnectionUnnoticed(forMs: number): void {
    if (this.#link instanceof Rider) this.#link.socket.die(forMs)
  }

  linkLost(link: Link): void {
    if (this.#link !== link) return
    this.#link = null
    if (this.#isOn) this.#connect(this.#world.dice.between(10, 3_000), false)
  }

  /** Go on over another socket; messages that it sent over the former one may still be on their way. */
  move(gateway: number): void {
    const link = this.#link
    if (!(link instanceof Rider)) return
    const next = this.#gateways.connect(gateway, this)
    if (next === null) return
    this.#link = next
    this.#linkedAtMs = this.#world.time.nowMs
    this.#world.time.after(this.#world.dice.between(0, 2_000), () => link.leave())
    this.#say(this.nature.isTerse ? {} : this.#fullReport())
  }

  /** Say goodbye after a while and come back after another, over and over, for as long as it is restless. */
  comeAndGo(): void {
    this.isRestless = true
    const { time, dice } = this.#world
    const next = () => {
      if (!this.isRestless) return
      this.stop()
      time.after(dice.between(...AWAY_MS), () => {
        if (!this.isRestless) return
        this.returns++
        this.start()
        time.after(dice.between(...STAYS_MS), next)
      })
    }
    time.after(dice.between(...STAYS_MS), next)
  }

  /** Send a full report again, as an agent does that reads its last report from disk. */
  replay(): void {
    this.#say(this.#fullReport())
  }

  /** Its last config status was made up by `lie`. */
  hasLied = false

  /** Report that a config has failed which nobody ever offered. */
  lie(): void {
    this.hasLied = true
    this.#say({ remoteConfigStatus: { hash: 'f'.repeat(64), status: 'failed', errorMessage: MADE_UP } })
  }

  /** Run the config from before again, as when somebody on its machine puts it back by hand. */
  revert(): void {
    if (this.#running.hash === '' || this.#before.hash === '' || this.#before.hash === this.#running.hash)
      return
    this.#applying++
    this.leftByItself.add(this.#running.hash)
    // The config that it was applying is given up; an agent that does not report config statuses cannot say so.
    const isMute = (this.nature.capabilities & AGENT_CAPABILITIES.reportsRemoteConfig) === 0
    if (isMute && this.#status.status === 'applying') this.leftByItself.add(this.#status.hash)
    this.#world.trace(`${this.uid.slice(0, 4)} is put back to ${this.#before.hash.slice(0, 6)}`)
    ;[this.#running, this.#before] = [this.#before, this.#running]
    this.#report({ hash: this.#running.hash, status: 'applied' })
  }

  /** Report that it is unhealthy, or healthy again. */
  feel(isHealthy: boolean): void {
    this.ail({ ...(isHealthy ? HEALTHY : ILL), children: this.#health.children })
  }

  /** Report this health, with that of its components. */
  ail(health: HealthNode): void {
    this.#health = health
    if (!health.healthy) this.#firstIllMs ??= this.#world.time.nowMs
    this.#say({ health })
  }

  /** Say that it can do these things from now on, and nothing else. */
  can(capabilities: number): void {
    this.nature.capabilities = capabilities
    this.#world.trace(`${this.uid.slice(0, 4)} can ${capabilities.toString(16)}`)
    this.#say({})
  }

  /** Change what the agent is like, and report it. */
  change(next: Partial<AgentNature>): void {
    Object.assign(this.nature, next)
    const { attributes, capabilities, components } = this.nature
    const built =
      components === null ? '' : ` with ${[...components].map(([, types]) => types.length).join('+')}`
    this.#world.trace(
      `${this.uid.slice(0, 4)} is ${[...attributes.values()].join(' ')}, can ${capabilities.toString(16)}${built}`,
    )
    this.#say(this.#fullReport())
  }

  #connect(delayMs: number, isNewProcess = true): void {
    this.#world.time.after(delayMs, () => {
      if (!this.#isOn || this.#link !== null) return
      const link = this.#open()
      if (link === null) {
        this.#connect(this.#world.dice.between(200, 2_000), isNewProcess)
        return
      }
      this.#link = link
      if (!this.isRestless) this.#world.stirred()
      this.#linkedAtMs = this.#world.time.nowMs
      this.#beats++
      const isFull = isNewProcess || this.#hasUntold || !this.nature.isTerse
      this.#hasUntold = false
      this.#say(isFull ? this.#fullReport() : {})
      if (link instanceof Rider && !this.isQuiet) this.#beat(this.#beats)
      // A new process applies the config that the former one had not finished applying.
      const isInterrupted = isNewProcess && this.#status.status === 'applying' && this.#lastOffer !== null
      if (isInterrupted && this.#crashes < CRASHES_MAX) this.#apply(this.#lastOffer!)
    })
  }

  #open(): Link | null {
    const { nature } = this
    if (nature.transport === 'socket') return this.#gateways.connect(nature.gateway, this)
    if (this.#world.service() === null) return null
    return new Poller({
      world: this.#world,
      agent: this,
      source: `10.0.0.${nature.index}`,
      pollMs: nature.pollMs,
      isEager: nature.isEager,
      bare: () => this.#makeReport(this.#beatPart()),
    })
  }

  #beat(round: number): void {
    this.#world.time.after(BEAT_MS, () => {
      if (round !== this.#beats || this.#link === null) return
      this.#say(this.#beatPart())
      this.#beat(round)
    })
  }

  /** What it says with a heartbeat, or a poll that has nothing new to say. */
  #beatPart(): Partial<AgentReport> {
    return this.nature.repeatsStatus ? { remoteConfigStatus: this.#reportedStatus } : {}
  }

  /** Its config status as it reports it; null where it reports none. */
  get #reportedStatus(): AgentReport['remoteConfigStatus'] {
    const reports = (this.nature.capabilities & AGENT_CAPABILITIES.reportsRemoteConfig) !== 0
    return reports ? { ...this.#status, errorMessage: this.#errorMessage() } : null
  }

  #fullReport(): Partial<AgentReport> {
    return {
      attributes: this.nature.attributes,
      health: this.#health,
      remoteConfigStatus: this.#reportedStatus,
      components: this.#announce(this.nature.tells === 'at-once'),
      effectiveConfig: this.#effectiveConfig(),
    }
  }

  #effectiveConfig(): AgentReport['effectiveConfig'] {
    const text = this.effective
    if (text === null) return null
    return { files: new Map([['', { body: Buffer.from(text), contentType: 'text/yaml' }]]) }
  }

  /** Its list of components with the hash of it, or the hash alone. */
  #announce(isList: boolean): AgentReport['components'] {
    const { components } = this.nature
    if (components === null) return null
    const names = [...components].map(([category, types]) => `${category}=${types.join('+')}`)
    const hash = Buffer.from(names.join(';')).toString('hex').padEnd(64, '0').slice(0, 64)
    return { hash, components: isList ? components : null }
  }

  #errorMessage(): string {
    return this.#status.status === 'failed' ? EXITED : ''
  }

  #makeReport(part: Partial<AgentReport>): AgentReport {
    const { capabilities } = this.nature
    return reportOf(this.uid, this.#sequence++, { capabilities, requestsInstanceUid: this.#asksUid, ...part })
  }

  #say(part: Partial<AgentReport>): void {
    if (this.#link === null) {
      this.#hasUntold = true
      return
    }
    if (part.remoteConfigStatus != null && part.remoteConfigStatus.errorMessage !== MADE_UP)
      this.hasLied = false
    if (part.attributes != null) this.#world.described(this.uid, part.attributes.get('host.name') ?? '')
    this.#link.say(this.#makeReport(part))
  }

  hear(message: ServerMessage): void {
    if (!this.#isOn) return
    if (message.newInstanceUid !== undefined) this.#takeUid(message.newInstanceUid)
    if (message.reportFullState === true) this.#say(this.#fullReport())
    if (message.reportAvailableComponents === true && this.nature.tells !== 'never')
      this.#world.time.after(this.#world.dice.between(1, 5_000), () =>
        this.#say({ components: this.#announce(true) }),
      )
    if (message.remoteConfig === undefined) return
    const { hash, body } = message.remoteConfig
    this.#apply({
      hash: Buffer.from(hash).toString('hex'),
      body: Buffer.from(body).toString('utf8'),
    })
  }

  #takeUid(uid: Uint8Array): void {
    this.#asksUid = false
    const next = Buffer.from(uid).toString('hex')
    this.#world.trace(`${this.uid.slice(0, 6)} is ${next.slice(0, 6)}${next.slice(-4)} from now on`)
    this.uid = next
    // The service does not know yet at which interval an agent with this uid polls.
    if (this.#link instanceof Poller) this.#link.regular = 0
    this.#say(this.#fullReport())
  }

  #apply(offered: Offered): void {
    const { time, dice } = this.#world
    const { hash, body } = offered
    const fate = fateOf(body, this.nature.index)
    const wasApplying = this.#status.status === 'applying' ? this.#lastOffer : null
    const round = ++this.#applying
    const settle = (status: 'applied' | 'failed') => {
      if (round !== this.#applying) return
      if (status === 'applied') this.#run(offered)
      this.#report({ hash, status })
    }
    if (this.#lastOffer?.hash !== hash) this.#crashes = 0
    this.#lastOffer = offered
    const isRunning = this.#status.hash === hash && this.#status.status === 'applied'
    const failsAtOnce = fate === 'fails' && dice.chance(0.3)
    if (isRunning || failsAtOnce) {
      settle(isRunning ? 'applied' : 'failed')
      return
    }
    if (!this.nature.skipsApplying) this.#report({ hash, status: 'applying' })
    if (this.nature.isRacy && wasApplying !== null && wasApplying.hash !== hash) {
      this.#finishLate(wasApplying, offered)
      return
    }
    if (fate === 'hangs') return
    const delayMs = dice.between(20, 6_000)
    time.after(delayMs, () => {
      if (round !== this.#applying) return
      if (fate === 'crashes') this.#crash()
      else if (fate === 'reverts') this.#refuse(hash)
      else settle(fate === 'works' || fate === 'kills' ? 'applied' : 'failed')
    })
  }

  #crash(): void {
    this.#crashes++
    this.restart(this.#world.dice.between(100, 5_000))
  }

  /** A config that kills ends the process that runs it, a while after it has said that it applied it. */
  #mayDie(): void {
    if (fateOf(this.#running.body, this.nature.index) !== 'kills') return
    const { time, dice } = this.#world
    const { hash } = this.#running
    const process = this.#processes
    time.after(dice.between(...DIES_AFTER_MS), () => {
      if (process !== this.#processes || this.#running.hash !== hash) return
      this.#world.trace(`${this.uid.slice(0, 4)} dies of ${hash.slice(0, 6)}`)
      this.#running = NOTHING
      this.#before = NOTHING
      this.#lastOffer = null
      this.#status = { hash: '', status: 'unset' }
      this.restart(dice.between(...BACK_AFTER_MS))
    })
  }

  /**
   * The older config, which it was still applying, is run instead of the newer one; about the newer it reports no more.
   */
  #finishLate(former: Offered, offered: Offered): void {
    const { time, dice } = this.#world
    const round = ++this.#applying
    time.after(dice.between(5, 500), () => {
      if (round !== this.#applying) return
      this.leftByItself.add(offered.hash)
      this.#run(former)
      this.#report({ hash: former.hash, status: 'applied' })
    })
  }

  /** It does not take the config: it goes on with the one that it ran, and reports that one as applied. */
  #refuse(hash: string): void {
    this.leftByItself.add(hash)
    this.#report({ hash: this.#running.hash, status: this.#running.hash === '' ? 'unset' : 'applied' })
  }

  #run(offered: Offered): void {
    this.leftByItself.delete(offered.hash)
    if (this.#running.hash === offered.hash) return
    this.#before = this.#running
    this.#running = offered
    this.#mayDie()
  }

  #report(status: Status): void {
    this.#hasUntoldConfig ||= status.status === 'applied'
    this.#status = status
    const say = () => {
      this.#unsentStatus = null
      this.#say({
        remoteConfigStatus: this.#reportedStatus,
        effectiveConfig: this.#hasUntoldConfig ? this.#effectiveConfig() : null,
      })
      this.#hasUntoldConfig = false
    }
    if (this.nature.coalesceMs === 0) {
      say()
      return
    }
    if (this.#unsentStatus !== null) return
    this.#unsentStatus = say
    this.#world.time.after(this.nature.coalesceMs, () => this.#unsentStatus?.())
  }
}
