import { systemClock } from '../../../lib/clock.ts'
import { watchLoop } from '../../../runtime/loop-watch.ts'
import { Histogram, type Summary } from '../histogram.ts'
import { LoadAgent } from './agent.ts'
import { Frames, readServerWord, type Shape, uidOf } from './frames.ts'

/** Where the agents of a load connect, and how many they are. */
export interface LoadOptions extends Shape {
  host: string
  port: number
  agents: number
  /** The number of this load's first agent, where other loads have the ones before it; 0 by default. */
  first?: number
}

/** How many agents of each workload were connected at a moment; times are milliseconds since 1970. */
export interface OpenCounts {
  atMs: number
  open: number[]
}

const COUNT_EVERY_MS = 50

/** Counts and times of all agents since the last reset. */
export interface LoadStats {
  open: number
  answered: number
  applied: number
  offers: number
  offersMost: number
  fullStateRequests: number
  fullStateRequestsMost: number
  errors: number
  replies: Summary
  /** User and system CPU of this process, in seconds. */
  cpuSeconds: number
  /**
   * The longest that the event loop of this process was held, in ms: no time below it that this load measures means
   * anything.
   */
  heldMs: number
}

const DIALS = 64
const CAPABILITIES_TAG = 0x38

/** Many agents in one process. Each method is a command that the bench sends. */
export class Load {
  readonly #options: LoadOptions
  readonly #frames = new Frames()
  readonly #agents: LoadAgent[] = []
  readonly #replies = new Histogram()
  readonly #loop = watchLoop(systemClock)
  #errors = 0
  #answered = 0
  #next = 0
  #isFlooding = false
  #hasEnded = false
  /** Connected agents by workload. */
  readonly #openOf: number[]
  #reconnectMs: number | null = null
  #stopBeats: (() => void) | null = null
  #wake: (() => void) | null = null
  readonly #firstAnswers = new Set<LoadAgent>()

  constructor(options: LoadOptions) {
    this.#options = options
    this.#openOf = Array.from({ length: options.workloads }, () => 0)
    const first = options.first ?? 0
    for (let index = first; index < first + options.agents; index++) {
      this.#agents.push(
        new LoadAgent(index, uidOf(index), {
          opened: (agent) => this.#opened(agent),
          message: (agent, message) => this.#message(agent, message),
          closed: (agent, wasOpen) => this.#closed(agent, wasOpen),
        }),
      )
    }
  }

  /** Dial 64 at a time; resolves when every first report is answered. */
  async connect(): Promise<{ seconds: number }> {
    const startedAt = performance.now()
    this.#next = 0
    this.#firstAnswers.clear()
    for (const agent of this.#agents) this.#firstAnswers.add(agent)
    const done = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    for (let n = 0; n < DIALS; n++) this.#dialNext()
    await done
    return { seconds: (performance.now() - startedAt) / 1000 }
  }

  #dialNext(): void {
    const agent = this.#agents[this.#next++]
    if (agent !== undefined) agent.dial(this.#options.host, this.#options.port)
  }

  #opened(agent: LoadAgent): void {
    this.#openOf[agent.index % this.#openOf.length]!++
    // An agent that reconnects sends an empty message, as real clients do. Its answer is not timed as that of a beat.
    if (this.#reconnectMs !== null) agent.send(this.#frames.beat(agent.uid, agent.sequence++))
    else this.#sendReport(agent)
  }

  #sendReport(agent: LoadAgent): void {
    agent.sentAtMs = performance.now()
    agent.send(this.#frames.report(this.#options, agent.index, agent.uid, agent.sequence++, agent.hash))
  }

  beat(agent: LoadAgent): void {
    agent.sentAtMs = performance.now()
    agent.send(this.#frames.beat(agent.uid, agent.sequence++))
  }

  #message(agent: LoadAgent, message: Buffer): void {
    this.#answered++
    if (agent.sentAtMs >= 0) {
      this.#replies.add(performance.now() - agent.sentAtMs)
      agent.sentAtMs = -1
    }
    // An answer of this length is a bare acknowledgement, with or without capabilities.
    const isPlain = message.length === 19 || (message.length === 21 && message[19] === CAPABILITIES_TAG)
    if (!isPlain) this.#obey(agent, message)
    else if (this.#isFlooding) this.beat(agent)
    if (this.#firstAnswers.delete(agent)) {
      this.#dialNext()
      if (this.#firstAnswers.size === 0) this.#wake?.()
    }
  }

  #obey(agent: LoadAgent, message: Buffer): void {
    const word = readServerWord(message)
    if (word.isError) this.#errors++
    if (word.wantsFullState) {
      agent.fullStateRequests++
      this.#sendReport(agent)
    }
    if (word.offeredHash !== null) {
      agent.offers++
      agent.hash = word.offeredHash
      agent.send(this.#frames.applied(agent.uid, agent.sequence++, word.offeredHash))
    }
  }

  #closed(agent: LoadAgent, wasOpen: boolean): void {
    if (wasOpen) this.#openOf[agent.index % this.#openOf.length]!--
    if (this.#hasEnded) return
    if (this.#reconnectMs !== null) {
      const again = () => {
        if (!this.#hasEnded) agent.dial(this.#options.host, this.#options.port)
      }
      setTimeout(again, this.#reconnectMs)
      return
    }
    if (!this.#firstAnswers.has(agent)) return
    // The connection was refused or cut before the first answer: count an error, and try again.
    this.#errors++
    if (wasOpen || this.#errors < this.#agents.length)
      setTimeout(() => agent.dial(this.#options.host, this.#options.port), 1_000)
  }

  /** Let each connected agent send a beat once in each interval, evenly spread. */
  beats({ intervalMs }: { intervalMs: number }): void {
    this.stopBeats()
    const startedAt = performance.now()
    let sent = 0
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedAt) / intervalMs) * this.#agents.length)
      for (; sent < due; sent++) {
        const agent = this.#agents[sent % this.#agents.length]!
        if (agent.isOpen) this.beat(agent)
      }
    }, 5)
    this.#stopBeats = () => clearInterval(timer)
  }

  stopBeats(): void {
    this.#stopBeats?.()
    this.#stopBeats = null
  }

  /**
   * For some seconds let each agent send its next beat as soon as the last is answered; returns how many a second were
   * answered.
   */
  async flood({ seconds }: { seconds: number }): Promise<{ perSecond: number }> {
    this.#isFlooding = true
    const answered = this.#answered
    const startedAt = performance.now()
    for (const agent of this.#agents) if (agent.isOpen) this.beat(agent)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    this.#isFlooding = false
    return { perSecond: Math.round(((this.#answered - answered) / (performance.now() - startedAt)) * 1000) }
  }

  /**
   * Let each connected agent report another health, 64 of them at a time, in so many rounds; resolves when all are
   * answered.
   */
  async changeHealth({ rounds }: { rounds: number }): Promise<{ reports: number }> {
    let reports = 0
    for (let round = 1; round <= rounds; round++) {
      const open = this.#agents.filter((agent) => agent.isOpen)
      for (let at = 0; at < open.length; at += DIALS) {
        const some = open.slice(at, at + DIALS)
        for (const agent of some) {
          agent.sentAtMs = performance.now()
          agent.send(this.#frames.health(agent.uid, agent.sequence++, round))
        }
        reports += some.length
        while (some.some((agent) => agent.isOpen && agent.sentAtMs >= 0))
          await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
    return { reports }
  }

  /** From now on, agents that lose their connection or cannot connect try again after this many ms. */
  reconnectAfter({ ms }: { ms: number }): void {
    this.#reconnectMs = ms
  }

  /** Cut the connections of `count` agents from the agent with index `from` on. */
  cut({ from, count }: { from: number; count: number }): void {
    for (let n = 0; n < count; n++) this.#agents[(from + n) % this.#agents.length]!.cut()
  }

  /**
   * In each second cut about `perSecond` agents, one after the other; after `reconnectAfter` they come back. The number
   * differs from second to second, so that what a browser shows tells which second it is of. Returns how many were
   * connected when.
   */
  async churn({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<OpenCounts[]> {
    const counts: OpenCounts[] = []
    const count = () => counts.push({ atMs: Date.now(), open: [...this.#openOf] })
    count()
    const counting = setInterval(count, COUNT_EVERY_MS)
    let next = 0
    for (let second = 0; second < seconds; second++) {
      // Between half and one and a half times `perSecond`, in a fixed irregular order (multiples of the golden ratio
      // spread best).
      const many = Math.round(perSecond * (0.5 + ((second * 0.618_034) % 1)))
      const startedAt = performance.now()
      for (let cut = 0; cut < many; ) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        const due = Math.min(many, Math.floor(((performance.now() - startedAt) / 1_000) * many))
        this.cut({ from: next, count: due - cut })
        next = (next + due - cut) % this.#agents.length
        cut = due
      }
    }
    while (this.#agents.some((agent) => !agent.isOpen))
      await new Promise((resolve) => setTimeout(resolve, 20))
    count()
    clearInterval(counting)
    return counts
  }

  /** How many agents run each config, by its hash in hex; '' for agents without one. */
  running(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { hash } of this.#agents) {
      const key = hash?.toString('hex') ?? ''
      counts[key] = (counts[key] ?? 0) + 1
    }
    return counts
  }

  /** Cut every connection for good. */
  end(): void {
    this.stopBeats()
    this.#hasEnded = true
    for (const agent of this.#agents) agent.cut()
  }

  resetStats(): void {
    this.#replies.reset()
    this.#loop.takeLongestMs()
    this.#errors = 0
    for (const agent of this.#agents) {
      agent.offers = 0
      agent.fullStateRequests = 0
    }
  }

  stats(): LoadStats {
    const { user, system } = process.cpuUsage()
    const stats: LoadStats = {
      open: 0,
      applied: 0,
      offers: 0,
      offersMost: 0,
      fullStateRequests: 0,
      fullStateRequestsMost: 0,
      answered: this.#answered,
      errors: this.#errors,
      replies: this.#replies.summary(),
      heldMs: this.#loop.takeLongestMs(),
      cpuSeconds: (user + system) / 1e6,
    }
    for (const agent of this.#agents) {
      if (agent.isOpen) stats.open++
      if (agent.hash !== null) stats.applied++
      stats.offers += agent.offers
      stats.fullStateRequests += agent.fullStateRequests
      stats.offersMost = Math.max(stats.offersMost, agent.offers)
      stats.fullStateRequestsMost = Math.max(stats.fullStateRequestsMost, agent.fullStateRequests)
    }
    return stats
  }
}
