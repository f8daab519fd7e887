import { findCampaign, type StoredCampaign } from '../store/campaigns.ts'
import type { CampaignRecord } from '../wire/campaigns.ts'
import type { CampaignParts } from './judge/parts.ts'
import { CampaignPlanner } from './plan/planner.ts'
import { toCampaignRecord } from './record.ts'
import { countRun } from './run/run.ts'
import { CampaignRunner } from './run/runner.ts'

/** The campaigns of a process: its plans under way, and what carries them out. */
export class Campaigns {
  readonly planner: CampaignPlanner
  readonly #runner: CampaignRunner
  readonly parts: CampaignParts

  constructor(parts: CampaignParts) {
    this.parts = parts
    const tell = (id: string) => void this.#tell(id)
    this.planner = new CampaignPlanner(parts, tell)
    this.#runner = new CampaignRunner(parts, tell)
  }

  /** Do what is due now. */
  work(signal: AbortSignal): Promise<void> {
    return this.#runner.work(signal)
  }

  /** Somebody has decided something about a campaign: browsers hear of it, and it is looked at. */
  decided({ id }: StoredCampaign): void {
    this.#runner.wake()
    void this.#tell(id)
  }

  /** A campaign as the wire shows it. */
  async record(campaign: StoredCampaign, { withTexts }: { withTexts: boolean }): Promise<CampaignRecord> {
    const counts = await countRun(this.parts, campaign.id)
    return toCampaignRecord(campaign, { planning: this.planner.progress(campaign.id), counts, withTexts })
  }

  async #tell(id: string): Promise<void> {
    try {
      const campaign = await findCampaign(this.parts.db, id)
      if (campaign === null) return
      const { all } = await countRun(this.parts, id)
      const planning = this.planner.progress(id)
      this.parts.hub.broadcast({
        type: 'campaign_update',
        campaign: {
          ...{
            id,
            status: campaign.status,
            wave: campaign.wave,
            counts: { ...all } as Record<string, number>,
          },
          ...(planning === null ? {} : { planning: { ...planning } }),
          updated_at: campaign.updatedAt.toISOString(),
        },
      })
    } catch (error) {
      this.parts.log.warn({ err: error, campaign: id }, 'browsers were not told of a campaign')
    }
  }
}
