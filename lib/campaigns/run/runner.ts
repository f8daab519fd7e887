import { listCampaignsAtWork, type StoredCampaign } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { advance } from './advance.ts'
import { type CampaignRun, countRun, loadRun } from './run.ts'
import { settle } from './settle.ts'
import { endForgotten } from './sweep.ts'

const HOUR_MS = 60 * 60_000
/** Where nothing but catching up is left to do, campaigns are looked at less often. */
const QUIET_LOOK_MS = 5_000

/**
 * Carries approved campaigns to their workloads. Each step of one: read what stands, note what became of what was
 * started, then halt, catch up, go to the next wave, or start who is next, whichever comes first (`advance`).
 */
export class CampaignRunner {
  readonly #parts: CampaignParts
  readonly #runs = new Map<string, CampaignRun>()
  /** Told of every campaign that has moved. */
  readonly #changed: (campaignId: string) => void
  #nextLookMs = 0
  #nextSweepMs = 0

  constructor(parts: CampaignParts, changed: (campaignId: string) => void) {
    this.#parts = parts
    this.#changed = changed
  }

  /** Look at the campaigns at once: somebody decided something. */
  wake(): void {
    this.#nextLookMs = 0
  }

  /** Do what is due, until there is nothing to do at this moment. */
  async work(signal: AbortSignal): Promise<void> {
    await this.#sweep()
    while (!signal.aborted && this.#parts.clock.monotonicMs() >= this.#nextLookMs) {
      const campaigns = await listCampaignsAtWork(this.#parts.db)
      for (const id of this.#runs.keys()) if (!campaigns.some((one) => one.id === id)) this.#runs.delete(id)
      this.#nextLookMs = this.#nextLook(campaigns)
      let hasMoved = false
      for (const campaign of campaigns) {
        if (signal.aborted) return
        hasMoved = (await this.#stepSafely(campaign)) || hasMoved
      }
      if (!hasMoved) return
      this.#nextLookMs = 0
    }
  }

  /** When they are looked at next, unless something moves: seldom where there is none, but who decided may not know it. */
  #nextLook(campaigns: readonly StoredCampaign[]): number {
    const isQuiet = campaigns.every(({ status }) => status === 'done')
    return isQuiet ? this.#parts.clock.monotonicMs() + QUIET_LOOK_MS : 0
  }

  /** One campaign that breaks keeps no other from going on. */
  async #stepSafely(campaign: StoredCampaign): Promise<boolean> {
    try {
      return await this.#step(campaign)
    } catch (error) {
      const run = this.#runs.get(campaign.id)
      if (run !== undefined) run.isStale = true
      this.#parts.log.warn({ err: error, campaign: campaign.id }, 'campaign could not go on yet')
      return false
    }
  }

  /** Whether anything moved. */
  async #step(campaign: StoredCampaign): Promise<boolean> {
    const run = await this.#open(campaign.id)
    const hasSettled = await settle(this.#parts, campaign, run)
    const counts = await countRun(this.#parts, campaign.id)
    const hasMoved = await advance(this.#parts, campaign, run, counts)
    if (hasSettled || hasMoved) this.#changed(campaign.id)
    return hasSettled || hasMoved
  }

  /** What is kept of a campaign, read again where it may not be what the database knows. */
  async #open(campaignId: string): Promise<CampaignRun> {
    const known = this.#runs.get(campaignId)
    if (known !== undefined && !known.isStale) return known
    const run = await loadRun(this.#parts, campaignId, known)
    this.#runs.set(campaignId, run)
    return run
  }

  /** End what nobody goes on with, once an hour. */
  async #sweep(): Promise<void> {
    const { clock } = this.#parts
    if (clock.monotonicMs() < this.#nextSweepMs) return
    this.#nextSweepMs = clock.monotonicMs() + HOUR_MS
    for (const id of await endForgotten(this.#parts)) this.#changed(id)
  }
}
