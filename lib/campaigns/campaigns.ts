import { readApprovalHelp } from '../changes/approval-help.ts'
import { tallyOf } from '../changes/judge-approvals.ts'
import { campaignIs } from '../model/campaign-states.ts'
import { isStepFrom } from '../model/campaign-steps.ts'
import type { Scope } from '../model/scopes.ts'
import { countTakenBack, listKeptByItself, type VersionCampaign } from '../store/auto-apply-roll-back.ts'
import { countWayBack, findSlow, listAppliedInPart } from '../store/campaign-outcome.ts'
import {
  type CampaignSummary,
  findCampaign,
  findCampaignSummary,
  listCampaignsById,
} from '../store/campaigns.ts'
import { listComments } from '../store/comments.ts'
import { listOfTakenBackVersions } from '../store/fleet-config-history.ts'
import type { CampaignRecord, KeptByItself } from '../wire/campaigns.ts'
import { type CampaignStanding, readCampaignRule, readCampaignStanding } from './approval.ts'
import { countAftermaths } from './failed-since.ts'
import type { CampaignParts } from './judge/parts.ts'
import { unreadableOf, withoutColumns } from './judge/readable-campaign.ts'
import { isInOneOf } from './judge/scope.ts'
import { CampaignPlanner } from './plan/planner.ts'
import { type CampaignFacts, toCampaignRecord, toKeptRecord } from './record.ts'
import { lookAtHalt } from './run/halt-holds.ts'
import { findHeldUp, type HeldUp } from './run/held-up.ts'
import { waitsUntil } from './run/note-ends.ts'
import { countRun, countRuns, type RunCounts } from './run/run.ts'
import { CampaignRunner } from './run/runner.ts'
import { countHaltedStages } from './run/stop-staged.ts'
import { findUnwellNow } from './unwell-now.ts'
import { findUnwellSince } from './unwell-since.ts'

/** Who is shown a campaign, and whether with the texts that it carries. */
export interface CampaignReader {
  userId: string
  withTexts: boolean
  /** Whether a workload that the campaign names is shown; null for all. */
  sees: ((workloadId: string) => boolean) | null
  /** Also say who could approve it, which costs several statements. */
  withHelp: boolean
}

/** Workloads that got a campaign's version by itself and that are named at most. */
const KEPT_NAMED_MAX = 50
/** Workloads that a campaign reached in part and that are named. */
const IN_PART_NAMED_MAX = 3
/** After how long a target that is being changed is told of, with the instances that have not applied it. */
const SLOW_MS = 60_000
/** Of those, so many are looked at to say until when they are waited for. */
const SLOW_LOOKED_AT_MAX = 200
/** More than a process holds workloads. */
const ALL = 2_000_000_000

/** The campaigns of this process: the planner that makes their plans, and the runner that carries them out. */
export class Campaigns {
  readonly planner: CampaignPlanner
  readonly #runner: CampaignRunner
  readonly #toldUnreadable = new Set<string>()
  readonly parts: CampaignParts

  constructor(parts: CampaignParts) {
    this.parts = parts
    const tell = (id: string) => void this.#tell(id)
    this.planner = new CampaignPlanner(parts, tell)
    this.#runner = new CampaignRunner(parts, tell, (campaign) => this.#unreadable(campaign).length === 0)
  }

  /** Do what is due now. */
  work(signal: AbortSignal): Promise<void> {
    return this.#runner.work(signal)
  }

  /** Commits whose answers were lost have ended: read what they stored at the next call of `work`. */
  doubtsEnded(): void {
    this.#runner.doubtsEnded()
  }

  /**
   * Call this after an operator decided something about a campaign: browsers are told, and the runner looks at it at
   * once.
   */
  decided({ id }: CampaignSummary): void {
    this.#runner.wake()
    void this.#tell(id)
  }

  /**
   * Campaigns as the wire shows them, in their order. A plan may have ended since its row was read: where none is being
   * made, the row is read again, so that nobody is told of a draft that is planned by no one. All of a page are asked
   * for together; only a campaign that waits for approval costs statements of its own.
   */
  async records(
    read: readonly CampaignSummary[],
    readerOf: (campaign: CampaignSummary) => CampaignReader,
  ): Promise<CampaignRecord[]> {
    const { db } = this.parts
    const planning = new Map(read.map(({ id }) => [id, this.planner.progress(id)]))
    const stale = read.filter(({ id, status }) => planning.get(id) === null && campaignIs(status, 'unasked'))
    const again = await listCampaignsById(
      db,
      stale.map(({ id }) => id),
    )
    const newest = await Promise.all(read.map((before) => this.#newest(before, again.get(before.id))))
    const unreadable = new Map(newest.map((campaign) => [campaign.id, this.#unreadable(campaign)]))
    const campaigns = newest.map((campaign) => withoutColumns(campaign, unreadable.get(campaign.id)!))
    const counts = await countRuns(
      this.parts,
      campaigns.map(({ id }) => id),
    )
    const byItself = await this.#readByItself(campaigns)
    const versionsTakenBack = await listOfTakenBackVersions(
      db,
      campaigns.map(({ id }) => id),
    )
    const inPart = await listAppliedInPart(
      db,
      campaigns.flatMap(({ id, startedAt }) => (startedAt === null ? [] : [id])),
      IN_PART_NAMED_MAX,
    )
    const records: CampaignRecord[] = []
    for (const campaign of campaigns) {
      const { id } = campaign
      const reader = readerOf(campaign)
      const missing = unreadable.get(id)!
      const isWhole = missing.length === 0
      records.push({
        ...(isWhole ? {} : { unreadable: missing }),
        ...toCampaignRecord(campaign, {
          planning: planning.get(id) ?? null,
          counts: counts.get(id)!,
          // Of a part of what is stored nobody can say how it stands.
          ...(isWhole ? await this.#approval(campaign, reader) : { tally: null, help: null, rule: null }),
          ...(reader.withHelp && isWhole
            ? await this.#standing(campaign, counts.get(id)!)
            : { haltNow: null, failedSince: null, slow: null, wayBack: null }),
          ...(await this.#findUnwell(campaign, isWhole ? reader : null)),
          heldUp: isWhole ? await findHeldUp(this.parts, campaign, counts.get(id)!) : null,
          stagesHalted: countHaltedStages(this.parts, { campaignId: id }),
          appliedInPart: inPart.get(id) ?? null,
          versionRolledBackBy: versionsTakenBack.get(campaign.id) ?? null,
          byItself: byItself.kept.get(id) ?? null,
          takenBack: byItself.takenBack.get(id) ?? null,
          comments: reader.withHelp ? await listComments(db, 'campaign', [id]) : [],
          withTexts: reader.withTexts,
          sees: reader.sees,
        }),
      })
    }
    return records
  }

  /** What keeps those of these campaigns from going on that run and stand still. */
  async heldUp(ids: readonly string[]): Promise<ReadonlyMap<string, HeldUp['reason']>> {
    const held = new Map<string, HeldUp['reason']>()
    const counts = await countRuns(this.parts, ids)
    for (const campaign of (await listCampaignsById(this.parts.db, ids)).values()) {
      if (unreadableOf(campaign).length > 0) continue
      const found = await findHeldUp(this.parts, campaign, counts.get(campaign.id)!)
      if (found !== null) held.set(campaign.id, found.reason)
    }
    return held
  }

  /** The columns of a campaign that cannot be read; named in the log the first time. */
  #unreadable(campaign: CampaignSummary): string[] {
    const { id } = campaign
    const fields = unreadableOf(campaign)
    if (fields.length === 0 || this.#toldUnreadable.has(id)) return fields
    this.#toldUnreadable.add(id)
    this.parts.log.error({ table: 'campaigns', id, fields }, 'a stored campaign cannot be read in whole')
    return fields
  }

  /** How a campaign's halt stands now, what became of those that failed, and what taking it back would do. */
  async #standing(
    campaign: CampaignSummary,
    counts: RunCounts,
  ): Promise<Pick<CampaignFacts, 'haltNow' | 'failedSince' | 'slow' | 'wayBack'>> {
    const { db } = this.parts
    const { id, status, startedAt } = campaign
    const canGoBack = startedAt !== null && isStepFrom('roll-back', { status, counts: {} })
    return {
      haltNow: status === 'halted' ? await lookAtHalt(this.parts, campaign, counts) : null,
      failedSince: (counts.all.failed ?? 0) > 0 ? await countAftermaths(this.parts, id) : null,
      slow: (counts.all.started ?? 0) > 0 ? await this.#findSlow(id) : null,
      wayBack: canGoBack ? await countWayBack(db, id) : null,
    }
  }

  /**
   * Who became unhealthy since a campaign came to them, and who is not well before it comes to them. Lists colour one that
   * goes on by the former; else only its own page says it.
   */
  async #findUnwell(
    campaign: CampaignSummary,
    reader: CampaignReader | null,
  ): Promise<Pick<CampaignFacts, 'becameUnhealthy' | 'unwellNow'>> {
    const { parts } = this
    if (reader === null) return { becameUnhealthy: null, unwellNow: null }
    return {
      becameUnhealthy:
        reader.withHelp || campaign.status === 'running'
          ? await findUnwellSince(parts, campaign, reader)
          : null,
      unwellNow: reader.withHelp ? await findUnwellNow(parts, campaign, reader) : null,
    }
  }

  /** Whom a campaign has been waiting for, and until when at the latest. */
  async #findSlow(id: string): Promise<CampaignFacts['slow']> {
    const slowSince = new Date(this.parts.clock.now().getTime() - SLOW_MS)
    const found = await findSlow(this.parts.db, id, {
      named: IN_PART_NAMED_MAX,
      slowSince,
      most: SLOW_LOOKED_AT_MAX,
    })
    if (found === null) return null
    const ends = found.last.flatMap((target) => waitsUntil(this.parts, target)?.getTime() ?? [])
    const isBounded = ends.length === found.last.length
    return { ...found, until: isBounded ? new Date(Math.max(...ends)) : null }
  }

  /** A campaign as it is by now, with what it carries where it was read with that. */
  async #newest(before: CampaignSummary, now: CampaignSummary | undefined): Promise<CampaignSummary> {
    if (now === undefined) return before
    if (now.edition === before.edition) return { ...now, change: before.change }
    const isWhole = 'yaml' in before.change || 'patch' in before.change
    return (isWhole ? await findCampaign(this.parts.db, before.id) : now) ?? before
  }

  /**
   * By campaign: who got its version by itself and is to run it still, and what came of taking such workloads back.
   * Nobody for a campaign that has not started.
   */
  async #readByItself(campaigns: readonly CampaignSummary[]): Promise<{
    kept: Map<string, KeptByItself>
    takenBack: Map<string, Record<string, number>>
  }> {
    const { db } = this.parts
    const kept = new Map<string, KeptByItself>()
    const takenBack = new Map<string, Record<string, number>>()
    const asked = campaigns.flatMap(({ id, change, startedAt }) =>
      change.kind !== 'version' || startedAt === null
        ? []
        : [{ campaignId: id, fleetConfigId: change.fleet_config_id, number: change.number }],
    )
    for (const row of await listKeptByItself(db, asked, KEPT_NAMED_MAX)) {
      const { campaignId, count, withoutBase } = row
      const known = kept.get(campaignId) ?? { count, without_base: withoutBase, workloads: [] }
      known.workloads.push(toKeptRecord(row))
      kept.set(campaignId, known)
    }
    await this.#countInCut(campaigns, asked, kept)
    const backs = campaigns.filter(({ status }) => campaignIs(status, 'goes-back'))
    for (const { campaignId, state, count } of await countTakenBack(
      db,
      backs.map(({ id }) => id),
    ))
      takenBack.set(campaignId, { ...takenBack.get(campaignId), [state]: count })
    return { kept, takenBack }
  }

  /** Say of campaigns that are cut to scopes how many of those that got their version by itself lie there. */
  async #countInCut(
    campaigns: readonly CampaignSummary[],
    asked: readonly VersionCampaign[],
    kept: ReadonlyMap<string, KeptByItself>,
  ): Promise<void> {
    const { db, fleet } = this.parts
    const cut = new Map<string, { to: readonly Scope[]; inCut: NonNullable<KeptByItself['in_cut']> }>()
    for (const { id, scope } of campaigns) {
      const known = kept.get(id)
      if (known === undefined || scope.cut_to === undefined) continue
      known.in_cut = { count: 0, without_base: 0 }
      cut.set(id, { to: scope.cut_to, inCut: known.in_cut })
    }
    const asking = asked.filter(({ campaignId }) => cut.has(campaignId))
    for (const { campaignId, workloadId, hasBase } of await listKeptByItself(db, asking, ALL)) {
      const { to, inCut } = cut.get(campaignId)!
      const workload = fleet.workload(workloadId)
      if (workload === null || !isInOneOf(to, workload)) continue
      inCut.count++
      if (!hasBase) inCut.without_base++
    }
  }

  /**
   * How far a campaign is approved that waits to be approved or started, who could, and by which rule, which one that is
   * planned is told as well; nothing of any other.
   */
  async #approval(
    campaign: CampaignSummary,
    { userId, sees, withHelp }: CampaignReader,
  ): Promise<Pick<CampaignFacts, 'tally' | 'help' | 'rule'>> {
    const { db, clock } = this.parts
    const ruleFor = (standing: CampaignStanding | null) =>
      withHelp ? readCampaignRule(db, campaign, standing) : null
    if (campaign.status === 'planned') return { tally: null, help: null, rule: await ruleFor(null) }
    if (campaign.status !== 'requested' && campaign.status !== 'approved')
      return { tally: null, help: null, rule: null }
    const standing = await readCampaignStanding(db, campaign, clock.now(), [userId])
    const reader = { userId, sees: sees ?? (() => true) }
    return {
      tally: tallyOf(standing, userId),
      help: withHelp ? await readApprovalHelp(db, standing, reader) : null,
      rule: await ruleFor(standing),
    }
  }

  async #tell(id: string): Promise<void> {
    try {
      // Before the row: a plan that ends in between is in it.
      const planning = this.planner.progress(id)
      const campaign = await findCampaignSummary(this.parts.db, id)
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
      this.parts.log.warn({ err: error, campaign_id: id }, 'browsers were not told of a campaign')
    }
  }
}
