import { tallyOf } from '../changes/judge-approvals.ts'
import { listKeptByItself } from '../store/auto-apply-targets.ts'
import { findCampaign, type StoredCampaign } from '../store/campaigns.ts'
import type { ApprovalTally } from '../wire/approvals.ts'
import type { CampaignRecord, KeptByItself } from '../wire/campaigns.ts'
import { readCampaignStanding } from './approval.ts'
import type { CampaignParts } from './judge/parts.ts'
import { CampaignPlanner } from './plan/planner.ts'
import { toCampaignRecord, toKeptRecord } from './record.ts'
import { countRun } from './run/run.ts'
import { CampaignRunner } from './run/runner.ts'

/** Who is shown a campaign, and whether with the texts that it carries. */
export interface CampaignReader {
  userId: string
  withTexts: boolean
  /** Whether a workload that the campaign names is shown; null for all. */
  sees: ((workloadId: string) => boolean) | null
}

/** Workloads that got a campaign's version by itself and that are named at most. */
const KEPT_NAMED_MAX = 50

/** The campaigns of this process: the planner that makes their plans, and the runner that carries them out. */
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

  /** Look at the campaigns at the next call of `work`: something may have been decided. */
  wake(): void {
    this.#runner.wake()
  }

  /**
   * Call this after an operator decided something about a campaign: browsers are told, and the runner looks at it at
   * once.
   */
  decided({ id }: StoredCampaign): void {
    this.#runner.wake()
    void this.#tell(id)
  }

  /**
   * A campaign as the wire shows it. A plan may have ended since its row was read: where none is being made, the row is
   * read again, so that nobody is told of a draft that is planned by no one.
   */
  async record(read: StoredCampaign, { userId, withTexts, sees }: CampaignReader): Promise<CampaignRecord> {
    const planning = this.planner.progress(read.id)
    const mayBeStale = planning === null && (read.status === 'draft' || read.status === 'planned')
    const campaign = (mayBeStale ? await findCampaign(this.parts.db, read.id) : null) ?? read
    const counts = await countRun(this.parts, campaign.id)
    const tally = await this.#tally(campaign, userId)
    const byItself = await this.#keptByItself(campaign)
    return toCampaignRecord(campaign, { planning, counts, tally, byItself, withTexts, sees })
  }

  /** Who got the campaign's version by itself and is to run it still; null for nobody, and before its start. */
  async #keptByItself({ id, change, startedAt }: StoredCampaign): Promise<KeptByItself | null> {
    if (change.kind !== 'version' || startedAt === null) return null
    const of = { campaignId: id, fleetConfigId: change.fleet_config_id, number: change.number }
    const { count, first } = await listKeptByItself(this.parts.db, of, KEPT_NAMED_MAX)
    return count === 0 ? null : { count, workloads: first.map(toKeptRecord) }
  }

  /** How far a campaign is approved that waits to be approved or started; null for any other. */
  async #tally(campaign: StoredCampaign, userId: string): Promise<ApprovalTally | null> {
    if (campaign.status !== 'requested' && campaign.status !== 'approved') return null
    const { db, clock } = this.parts
    return tallyOf(await readCampaignStanding(db, campaign, clock.now(), [userId]), userId)
  }

  async #tell(id: string): Promise<void> {
    try {
      // Before the row: a plan that ends in between is in it.
      const planning = this.planner.progress(id)
      const campaign = await findCampaign(this.parts.db, id)
      if (campaign === null) return
      const { all } = await countRun(this.parts, id)
      this.parts.hub.broadcast({
        type: 'campaign_update',
        campaign: {
          id,
          status: campaign.status,
          wave: campaign.wave,
          counts: { ...all } as Record<string, number>,
          ...(planning === null ? {} : { planning: { ...planning } }),
          updated_at: campaign.updatedAt.toISOString(),
        },
      })
    } catch (error) {
      this.parts.log.warn({ err: error, campaign: id }, 'browsers were not told of a campaign')
    }
  }
}
