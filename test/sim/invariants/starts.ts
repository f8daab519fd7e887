import type { Workload } from '../../../lib/fleet/state/model.ts'
import type { CampaignLimits, CampaignPlan } from '../../../lib/wire/campaigns.ts'
import type { ShownTarget } from '../operator/campaigns.ts'
import type { ApprovedVersion } from '../operator/fleet-configs.ts'
import type { SimService } from '../service/sim-service.ts'
import { type Report, short } from './finding.ts'
import { isFrozenBy } from './frozen.ts'
import { classOf } from './production.ts'

/** What operators approved, as they were shown it. */
export interface Approved {
  campaigns: ReadonlyMap<string, { planHash: string; targets: readonly ShownTarget[] }>
  versions: ReadonlyMap<string, ApprovedVersion>
  /** When it was told that a campaign is started, in ms of virtual time; absent where no answer came. */
  startedMs: ReadonlyMap<string, number>
}

/** A push that a transaction is about to commit, with who brings it and what stands in its way. */
interface Start {
  push_id: string
  workload_id: string
  config_hash: string
  campaign_id: string | null
  wave: number
  campaign_status: string
  campaign_wave: number
  plan_hash: string
  is_production: boolean
  retries: boolean
  back_of: string | null
  back_status: string
  auto_id: string | null
  auto_status: string
  auto_number: number
  auto_plan_hash: string
  auto_production: boolean
  is_newcomer: boolean
  has_open_campaign: boolean
  is_archived: boolean
  is_held: boolean
  is_quarantined: boolean
  has_former: boolean
  freeze: string | null
}

/**
 * A target has just been begun where it is still `started`: taking it back changes it, too, and closes its push, in the
 * transaction of the push that brings its base.
 */
const STARTS = `
  select p.push_id, p.workload_id, p.config_hash,
    c.id as campaign_id, t.wave, c.status as campaign_status, c.wave as campaign_wave, c.plan_hash, t.is_production,
    coalesce((c.rules->>'retryQuarantined')::boolean, false) as retries,
    bc.id as back_of, bc.status as back_status,
    a.id as auto_id, a.status as auto_status, a.number as auto_number, a.plan_hash as auto_plan_hash,
    a.reaches_production as auto_production, at.is_newcomer,
    exists (select from campaigns o where o.change->>'fleet_config_id' = a.fleet_config_id::text
      and o.status in ('requested', 'approved', 'running', 'paused', 'halted', 'rolling_back')) as has_open_campaign,
    w.archived_at is not null as is_archived,
    exists (select from workload_holds h where h.workload_id = p.workload_id) as is_held,
    exists (select from quarantines q where q.workload_id = p.workload_id and q.config_hash = p.config_hash)
      as is_quarantined,
    exists (select from campaign_targets o where o.campaign_id = c.id and o.workload_id <> p.workload_id
      and o.wave < t.wave and o.state in ('waiting', 'started')) as has_former,
    (select value from settings where name = 'freeze') as freeze
  from pushes p join workloads w on w.id = p.workload_id
    left join campaign_targets t on t.push_id = p.push_id and t.state = 'started' left join campaigns c on c.id = t.campaign_id
    left join campaign_targets b on b.rollback_push_id = p.push_id left join auto_apply_targets bt on bt.rollback_push_id = p.push_id
    left join campaigns bc on bc.id = coalesce(b.campaign_id, bt.rolled_back_by)
    left join auto_apply_targets at on at.push_id = p.push_id and at.state = 'started' left join auto_applies a on a.id = at.auto_apply_id
  where pg_current_xact_id()::xid in (t.xmin, b.xmin, at.xmin, bt.xmin) and p.xmin = pg_current_xact_id()::xid
  order by p.push_id`

/**
 * Pushes to targets that were away when their campaign was planned, with each later campaign that changed the workload,
 * tried to, waited for it in vain or is yet to come to it. What was aborted before that, or taken back, does not count.
 */
const LATER = `
  select p.workload_id, c.id as older, n.id as newer, nt.state
  from pushes p join campaign_targets t on t.push_id = p.push_id and t.state = 'started' and t.verdict = 'offline'
    join campaigns c on c.id = t.campaign_id
    join campaigns n on (n.started_at, n.id) > (c.started_at, c.id) and n.status not in ('rolling_back', 'rolled_back')
    join campaign_targets nt on nt.campaign_id = n.id and nt.workload_id = p.workload_id
      and nt.verdict in ('changes', 'offline', 'same') and nt.state <> 'cancelled'
  where t.xmin = pg_current_xact_id()::xid and p.xmin = pg_current_xact_id()::xid
  order by p.push_id, n.id`
/** A target is judged at most this long before its push is written. */
const JUDGED_MS = 60_000

/** How many instances of each campaign are being changed, with those of this transaction. */
const IN_FLIGHT = `
  select t.campaign_id as id, (c.rules->>'maxInFlight')::int as most,
    sum(greatest(1, t.instance_count))::int as instances, max(greatest(1, t.instance_count))::int as largest
  from campaign_targets t join campaigns c on c.id = t.campaign_id
  where t.state in ('started', 'rolling_back') group by 1, 2`

/** The first waves of campaigns that have gone on to a later one. The pushes of a workload go with it when it is deleted. */
const FIRST_WAVES = `
  select c.id, c.plan, c.rules->'limits' as asked, c.raised,
    count(*) filter (where applied)::int as applied,
    count(*) filter (where not applied and coalesce(p.status, '') <> 'failed' and t.state not in ('failed', 'cancelled'))::int as untried
  from campaigns c join campaign_targets t on t.campaign_id = c.id and t.wave = 0
    left join pushes p on p.push_id = t.push_id
    cross join lateral (
      select p.applied_at is not null or t.state = 'applied' and p.status is distinct from 'failed' as applied) a
  where c.status = 'running' and c.wave > 0 group by c.id`

/**
 * Nothing is pushed by a campaign, or by a version that applies by itself, but what was approved, while it may: looked
 * at inside each transaction that makes such pushes, just before it is committed.
 */
export class StartPromises {
  readonly #report: Report
  readonly #approved: Approved
  /** When a workload became production by its labels, by process and workload; in ms of virtual time. */
  readonly #productionSinceMs = new Map<string, number | null>()
  readonly #latestWallSince: (sinceMs: number) => Date

  /** `latestWallSince`: the latest that the wall clock has shown since a virtual time. */
  constructor(report: Report, approved: Approved, latestWallSince: (sinceMs: number) => Date) {
    this.#report = report
    this.#approved = approved
    this.#latestWallSince = latestWallSince
  }

  /** A process told how a workload is now. */
  workloadTold(process: string, workload: Workload, nowMs: number): void {
    const key = `${process}/${workload.id}`
    const isProduction = classOf(workload) === 'production'
    if (!isProduction) this.#productionSinceMs.set(key, null)
    else if (!this.#productionSinceMs.get(key)) this.#productionSinceMs.set(key, nowMs)
  }

  /** A transaction that holds new pushes, and began at `beganMs`, is about to be committed; `read` reads inside it. */
  async committing(
    service: SimService | null,
    beganMs: number,
    read: <Row extends object>(text: string) => Promise<Row[]>,
  ): Promise<void> {
    const starts = await read<Start>(STARTS)
    if (starts.length === 0) return
    for (const start of starts) {
      if (start.campaign_id !== null) this.#checkTarget(start)
      if (start.auto_id !== null) this.#checkReached(start)
      if (start.back_of !== null && start.back_status !== 'rolling_back')
        this.#report(`${start.workload_id} is taken back by ${start.back_of}, which is ${start.back_status}`)
      if (start.back_of === null) this.#checkGates(start, service, beganMs)
    }
    if (starts.some(({ campaign_id: id }) => id !== null)) await this.#checkOrder(beganMs, read)
    for (const { id, most, instances, largest } of await read<{
      id: string
      most: number
      instances: number
      largest: number
    }>(IN_FLIGHT))
      if (instances - largest >= most)
        this.#report(`${id} changes ${instances} instances at once, of ${most}`)
    if (starts.some(({ campaign_id, wave }) => campaign_id !== null && wave > 0))
      await this.#checkFirstWaves(read)
  }

  /** What was approved is pushed, once the waves before are over, by a campaign that runs or catches up. */
  #checkTarget(start: Start): void {
    const { campaign_id: id, workload_id: workloadId, campaign_status: status } = start
    const say = (problem: string) => this.#report(`${id} pushes to ${workloadId} ${problem}`)
    if (status !== 'running' && status !== 'done') say(`while it is ${status}`)
    if (status === 'running' && start.wave > start.campaign_wave) say('before its wave has begun')
    if (status === 'running' && start.has_former) say('before the waves before are over')
    const shown = this.#approved.campaigns.get(id!)
    if (shown?.planHash !== start.plan_hash) say('by a plan that nobody approved')
    const target = shown?.targets.find((one) => one.workload_id === workloadId)
    if (target === undefined || target.wave === null) {
      say('outside the approved set')
      return
    }
    if (target.result_hash !== start.config_hash)
      say(`${short(start.config_hash)}, and ${short(target.result_hash ?? '')} was approved`)
    if (target.wave !== start.wave) say(`in wave ${start.wave}, and wave ${target.wave} was approved`)
  }

  /** Who was away gets of several campaigns what the newest brings that decided about it, and nothing older. */
  async #checkOrder(
    beganMs: number,
    read: <Row extends object>(text: string) => Promise<Row[]>,
  ): Promise<void> {
    const rows = await read<{ workload_id: string; older: string; newer: string; state: string }>(LATER)
    for (const { workload_id: workloadId, older, newer, state } of rows) {
      const startedMs = this.#approved.startedMs.get(newer)
      // One that was started just now was not there yet when the target was looked at.
      if (startedMs === undefined || startedMs + JUDGED_MS > beganMs) continue
      this.#report(
        `${older} pushes to ${workloadId}, which was away, although the later ${newer} has it ${state}`,
      )
    }
  }

  /** A version applies by itself only while it is in force, and only as it was approved. */
  #checkReached(start: Start): void {
    const { auto_id: id, workload_id: workloadId, auto_status: status } = start
    const say = (problem: string) => this.#report(`${id} pushes to ${workloadId} ${problem}`)
    if (status !== 'active') say(`while it is ${status}`)
    const approved = this.#approved.versions.get(id!)
    if (approved === undefined || approved.planHash !== start.auto_plan_hash) say('and nobody approved it')
    else if (approved.number !== start.auto_number) say('another version than was approved')
    if (!start.is_newcomer && start.has_open_campaign)
      say('although it is no newcomer and a campaign is open')
  }

  /** Holds, freezes, quarantines, the archive and labels that became production keep campaigns and versions away. */
  #checkGates(start: Start, service: SimService | null, beganMs: number): void {
    const { workload_id: workloadId } = start
    const say = (problem: string) =>
      this.#report(`${start.campaign_id ?? start.auto_id} pushes to ${workloadId}, which ${problem}`)
    if (start.is_held) say('is held')
    if (start.is_archived) say('is archived')
    if (start.is_quarantined && !start.retries) say(`failed ${short(start.config_hash)} before`)
    const workload = service?.fleet.workload(workloadId) ?? null
    // A freeze that was over when the transaction looked does not count, also where the wall clock jumped back since.
    if (isFrozenBy(start.freeze, workload, this.#latestWallSince(beganMs))) say('is frozen')
    const sinceMs = this.#productionSinceMs.get(`${service?.name}/${workloadId}`) ?? null
    const mayProduction = start.campaign_id !== null ? start.is_production : start.auto_production
    if (sinceMs !== null && sinceMs < beganMs && !mayProduction) say('became production')
  }

  /**
   * No wave follows on a first one in which nobody applied the change, unless as many as did not try it were allowed,
   * or nobody was there to try it when the plan was made.
   */
  async #checkFirstWaves(read: <Row extends object>(text: string) => Promise<Row[]>): Promise<void> {
    const rows = await read<{
      id: string
      plan: CampaignPlan
      asked: CampaignLimits
      raised: CampaignLimits
      applied: number
      untried: number
    }>(FIRST_WAVES)
    for (const { id, plan, asked, raised, applied, untried } of rows) {
      const allowed = Math.max(asked.silent ?? 0, raised.silent ?? 0)
      if (applied === 0 && (plan.verdicts['changes'] ?? 0) > 0 && untried > allowed)
        this.#report(`${id} goes on after a first wave that nobody applied`)
    }
  }
}
