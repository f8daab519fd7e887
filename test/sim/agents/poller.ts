import type { AgentReport } from '../../../lib/opamp/report.ts'
import { encodeReport } from '../../support/agent-report.ts'
import type { AgentsService, AgentWorld, Hearer, Link } from './link.ts'
import { readServerWords } from './server-words.ts'

const TIMEOUT_MS = 5_000
const EAGER_MS = 50

/** The link of an agent that polls over HTTP: one request at a time, each pollMs, and repeated when no answer came. */
export class Poller implements Link {
  readonly #world: AgentWorld
  readonly #agent: Hearer
  readonly #source: string
  readonly #pollMs: number
  readonly #isEager: boolean
  /** Makes the report of a poll that has nothing new to say. */
  readonly #bare: () => AgentReport
  #waiting: AgentReport | null = null
  #isUnderWay = false
  /** The next poll is due at the regular interval, and not because there is something new to report. */
  #isRegular = false
  #round = 0
  #requests = 0
  isOpen = true
  /** How many regular polls in a row the same service process has decided the answers of. */
  regular = 0
  #answeredBy: unknown = null

  constructor(parts: {
    world: AgentWorld
    agent: Hearer
    source: string
    pollMs: number
    isEager: boolean
    bare: () => AgentReport
  }) {
    this.#world = parts.world
    this.#agent = parts.agent
    this.#source = parts.source
    this.#pollMs = parts.pollMs
    this.#isEager = parts.isEager
    this.#bare = parts.bare
    this.#schedule(parts.world.dice.between(1, 50))
  }

  /** Keep a report for the next poll. Of several that wait, the newest value of each part is sent. */
  say(report: AgentReport): void {
    this.#waiting = this.#waiting === null ? report : merge(this.#waiting, report)
    if (!this.#isEager && !report.isDisconnect) return
    this.#isRegular = false
    this.#schedule(EAGER_MS)
  }

  stop(): void {
    this.isOpen = false
  }

  #schedule(delayMs: number): void {
    const round = ++this.#round
    this.#world.time.after(delayMs, () => {
      if (this.isOpen && round === this.#round) this.#poll()
    })
  }

  #poll(): void {
    if (this.#isUnderWay) {
      this.#schedule(EAGER_MS)
      return
    }
    this.#isUnderWay = true
    const report = this.#waiting ?? this.#bare()
    this.#waiting = null
    this.#request(encodeReport(report), report)
  }

  /** Send one body, and send it again every five seconds until it is answered. */
  #request(body: Uint8Array, report: AgentReport): void {
    const { time, dice, lossChance } = this.#world
    const request = ++this.#requests
    time.after(TIMEOUT_MS, () => {
      if (!this.isOpen || request !== this.#requests || !this.#isUnderWay) return
      this.regular = 0
      this.#request(body, report)
    })
    const isRequestLost = lossChance > 0 && dice.chance(lossChance / 2)
    const isAnswerLost = lossChance > 0 && dice.chance(lossChance / 2)
    const service = this.#world.service()
    if (service === null || isRequestLost) return
    const arrive = () => {
      service.ctx.opamp.answerBody(body, this.#source).then((answer) => {
        if (isAnswerLost || service.isDead) return
        time.after(dice.between(0.5, 30), () => {
          if (request === this.#requests && this.#isUnderWay) this.#take(service, answer, report)
        })
      })
    }
    time.after(dice.between(0.5, 30), arrive, service.client)
  }

  #take(service: AgentsService, answer: Uint8Array, report: AgentReport): void {
    this.#isUnderWay = false
    const decidedBy = service.decidedBy?.() ?? service
    this.regular = decidedBy === this.#answeredBy ? this.regular + Number(this.#isRegular) : 0
    this.#answeredBy = decidedBy
    if (!this.isOpen) return
    if (report.isDisconnect) {
      this.isOpen = false
      return
    }
    const hasNews = this.#waiting !== null && this.#isEager
    this.#schedule(hasNews ? EAGER_MS : this.#pollMs)
    this.#isRegular = !hasNews
    const { uid, message } = readServerWords(answer)
    if (message.remoteConfig !== undefined)
      this.#world.offered(
        uid,
        Buffer.from(message.remoteConfig.hash).toString('hex'),
        message.remoteConfig.body,
      )
    this.#agent.hear(message)
  }
}

/** Join two reports into one; where both have a part, that of the later one is sent. */
function merge(before: AgentReport, after: AgentReport): AgentReport {
  return {
    ...after,
    attributes: after.attributes ?? before.attributes,
    health: after.health ?? before.health,
    effectiveConfig: after.effectiveConfig ?? before.effectiveConfig,
    remoteConfigStatus: after.remoteConfigStatus ?? before.remoteConfigStatus,
    components: after.components ?? before.components,
  }
}
