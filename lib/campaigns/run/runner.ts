import { type CampaignSummary, listCampaignsAtWork } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { advance } from './advance.ts'
import { KeptRuns } from './kept-runs.ts'
import { noteEnds } from './note-ends.ts'
import { noteFailures } from './note-failures.ts'
import { noteResumed } from './note-resumed.ts'
import { type CampaignRun, countRun, loadRun } from './run.ts'
import { listAmidStages } from './stop-staged.ts'
import { endForgotten } from './sweep.ts'

const HOUR_MS = 60 * 60_000
/**
 * How often campaigns are looked at while all of them are done, as targets that were away may be back, and while there
 * is nothing to do in any. An operator's decision, and a commit that got no answer, have them looked at at once.
 */
const DONE_LOOK_MS = 5_000
export const QUIET_LOOK_MS = 60_000

/**
 * Carries approved campaigns to their workloads. One step of a campaign: read its run, note how started pushes ended
 * (`noteEnds`), then do the first of these that is due (`advance`): halt, catch up, go to the next wave, start the next
 * targets.
 */
export class CampaignRunner {
  readonly #parts: CampaignParts
  readonly #runs = new KeptRuns<CampaignRun>()
  /** Called for every campaign of which something changed. */
  readonly #changed: (campaignId: string) => void
  /** Whether all that is stored of a campaign can be read. */
  readonly #isWhole: (campaign: CampaignSummary) => boolean
  /** Since when this process carries campaigns; heard time. Null before it did. */
  #sinceMs: number | null = null
  #nextLookMs = 0
  #nextSweepMs = 0

  constructor(
    parts: CampaignParts,
    changed: (campaignId: string) => void,
    isWhole: (campaign: CampaignSummary) => boolean,
  ) {
    this.#parts = parts
    this.#changed = changed
    this.#isWhole = isWhole
  }

  /** Look at the campaigns at the next call of `work`: an operator decided something. */
  wake(): void {
    this.#nextLookMs = 0
  }

  /** Read all runs again and look at the campaigns: commits whose answers were lost have ended by now. */
  doubtsEnded(): void {
    this.#runs.doubtsEnded()
    this.wake()
  }

  /** Do what is due, until there is nothing to do at this moment. */
  async work(signal: AbortSignal): Promise<void> {
    this.#sinceMs ??= this.#parts.fleet.clock.heardMs()
    await this.#sweep()
    while (!signal.aborted && this.#parts.fleet.clock.heardMs() >= this.#nextLookMs) {
      // Set first: a decision during the statement has them looked at once more.
      this.#nextLookMs = Number.POSITIVE_INFINITY
      const campaigns = await this.#read()
      this.#runs.keepOnly(campaigns)
      if (this.#nextLookMs > 0) this.#nextLookMs = this.#nextLook(campaigns)
      let hasMoved = false
      for (const campaign of campaigns) {
        if (signal.aborted) return
        hasMoved = (await this.#stepSafely(campaign)) || hasMoved
      }
      if (!hasMoved) return
      this.#nextLookMs = 0
    }
  }

  /** The campaigns that are to be looked at. One that cannot be read in whole is left as it is: its limits may be what is not. */
  async #read(): Promise<CampaignSummary[]> {
    try {
      const amidStages = listAmidStages(this.#parts, 'campaignId')
      return (await listCampaignsAtWork(this.#parts.db, amidStages)).filter(this.#isWhole)
    } catch (error) {
      this.#nextLookMs = 0
      throw error
    }
  }

  /**
   * When campaigns are looked at next, unless something changes: after a while where all are done or there are none.
   */
  #nextLook(campaigns: readonly CampaignSummary[]): number {
    if (campaigns.some(({ status }) => status !== 'done')) return 0
    return this.#parts.fleet.clock.heardMs() + (campaigns.length > 0 ? DONE_LOOK_MS : QUIET_LOOK_MS)
  }

  /** Do one step of a campaign. An error is logged, and keeps no other campaign from going on. */
  async #stepSafely(campaign: CampaignSummary): Promise<boolean> {
    try {
      return await this.#step(campaign)
    } catch (error) {
      this.#runs.doubt(campaign.id)
      this.#parts.log.warn({ err: error, campaign_id: campaign.id }, 'campaign could not go on yet')
      return false
    }
  }

  /** Do one step of a campaign; answers whether anything changed. */
  async #step(campaign: CampaignSummary): Promise<boolean> {
    const run = await this.#open(campaign.id)
    const hasResumed = await noteResumed(this.#parts, campaign, run)
    const hasEnds = await noteEnds(this.#parts, campaign, run)
    const hasFailures = await noteFailures(this.#parts, campaign, run)
    const counts = await countRun(this.#parts, campaign.id)
    // The end of another campaign lets targets wait again.
    if ((counts.all.offline ?? 0) > run.offline.size) run.isStale = true
    const hasMoved = await advance(this.#parts, campaign, run, counts)
    const hasChanged = hasResumed || hasEnds || hasFailures || hasMoved
    if (hasChanged) this.#changed(campaign.id)
    return hasChanged
  }

  /** The run of a campaign, read from the database where there is none yet or it is stale. */
  #open(campaignId: string): Promise<CampaignRun> {
    const sinceMs = this.#sinceMs ?? this.#parts.fleet.clock.heardMs()
    return this.#runs.open(campaignId, (former) => loadRun(this.#parts, campaignId, { former, sinceMs }))
  }

  /** End forgotten campaigns, once an hour. */
  async #sweep(): Promise<void> {
    const { clock } = this.#parts
    if (clock.monotonicMs() < this.#nextSweepMs) return
    this.#nextSweepMs = clock.monotonicMs() + HOUR_MS
    for (const id of await endForgotten(this.#parts)) this.#changed(id)
  }
}
