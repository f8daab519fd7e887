import type { Clock } from '../../../lib/clock.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import type { SimAgent } from '../agents/sim-agent.ts'
import type { ShowingBrowser } from '../browser/sim-browser.ts'
import type { Client } from '../database/sim-database.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Troubles } from '../troubles.ts'
import { type AgentsAtRest, checkAgents, checkConnections } from './agents.ts'
import { checkAlerts, checkTopicAlerts } from './alerts.ts'
import { checkAutoApply } from './auto-apply.ts'
import { checkCampaignEndings } from './campaign-endings.ts'
import { checkCampaigns } from './campaigns.ts'
import { DelayPromises } from './delays.ts'
import { checkEndings } from './endings.ts'
import { checkFleetConfigMemory } from './fleet-configs.ts'
import { checkMemory, checkTallies } from './memory.ts'
import { OfferPromises } from './offers.ts'
import { PatiencePromises } from './patience.ts'
import { ProcessPromises } from './processes.ts'
import { PushPromises } from './pushes.ts'
import { checkStages, StagePromises } from './stages.ts'
import { type Approved, StartPromises } from './starts.ts'

/** What the promises read of the world. */
export interface WatchedWorld {
  agents: readonly SimAgent[]
  browsers: readonly ShowingBrowser[]
  minAgentVersion: string
  troubles: Troubles
  approved: Approved
  time: { clock: Clock; latestWallSince(sinceMs: number): Date }
  service(): SimService | null
  body(hash: string): string
  normalHash: AgentsAtRest['normalHash']
  isDeleted(workloadId: string): boolean
  nameOf(client: Client): string
  trace(line: string): void
}

const TALLIES_EVERY = 8
const PUSHES_EVERY = 400

/** All promises of the fleet, checked while a world runs and once it has come to rest. */
export class Promises {
  readonly #world: WatchedWorld
  readonly #watcher: Connection
  readonly problems: string[] = []
  readonly offers: OfferPromises
  readonly pushes: PushPromises
  readonly patience: PatiencePromises
  readonly processes: ProcessPromises
  readonly delays: DelayPromises
  readonly starts: StartPromises
  readonly stages: StagePromises
  #steps = 0

  constructor(world: WatchedWorld, watcher: Connection) {
    this.#world = world
    this.#watcher = watcher
    this.offers = new OfferPromises(watcher, this.report)
    this.pushes = new PushPromises(watcher, this.report, (id) => world.isDeleted(id))
    this.patience = new PatiencePromises(watcher, this.report)
    const { lostCommits, lateCommits } = world.troubles
    this.delays = new DelayPromises(this.report, lostCommits || lateCommits)
    const latestWallSince = (sinceMs: number) => world.time.latestWallSince(sinceMs)
    this.starts = new StartPromises(this.report, world.approved, latestWallSince)
    this.stages = new StagePromises(this.report, world.approved, latestWallSince)
    this.processes = new ProcessPromises(this.report, (client) => world.nameOf(client))
  }

  readonly report = (problem: string): void => {
    this.#world.trace(`PROBLEM ${problem}`)
    this.problems.push(problem)
  }

  async afterStep(): Promise<void> {
    this.#steps++
    const service = this.#world.service()
    if (service !== null && this.#steps % TALLIES_EVERY === 0) {
      checkTallies(service, this.report)
      checkConnections(service, this.report)
    }
    await this.offers.check()
    await this.patience.check()
    if (this.#steps % PUSHES_EVERY === 0) await this.pushes.check()
  }

  /** From now on nothing but agents disturbs the world. */
  rests(): void {
    this.offers.rests()
    this.patience.rests(this.#world.service())
  }

  /** What must hold once the world has come to rest. */
  async checkAtRest(): Promise<void> {
    const world = this.#world
    const service = world.service()
    if (service === null) {
      this.report('no service is running at the end')
      return
    }
    await this.pushes.checkAtRest()
    this.patience.checkAtRest(service)
    await checkEndings(this.#watcher, this.report)
    await checkMemory(service, this.#watcher, this.report)
    await checkAgents(world, service, this.report)
    if (world.troubles.campaigns) await this.#checkCampaigns(service)
    await checkAlerts(service, this.#watcher, world, this.report)
    for (const browser of world.browsers)
      for (const difference of browser.picture.differences(service))
        this.report(`a browser shows ${difference}`)
  }

  async #checkCampaigns(service: SimService): Promise<void> {
    const { approved } = this.#world
    const watcher = this.#watcher
    await checkCampaignEndings(watcher, this.report)
    await checkCampaigns(watcher, approved, (id) => this.#world.isDeleted(id), this.report)
    await checkStages(watcher, this.report)
    await checkAutoApply(service, watcher, this.report)
    await checkTopicAlerts(watcher, this.report)
    await checkFleetConfigMemory(service, watcher, this.report)
  }
}
