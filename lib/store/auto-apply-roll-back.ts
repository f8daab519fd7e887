import type { AutoApplyTargetState } from '../wire/auto-apply.ts'
import type { CampaignTargetState } from '../wire/campaigns.ts'
import { AUTO_APPLY_TARGET_COLUMNS, type StoredAutoApplyTarget } from './auto-apply-targets.ts'
import { type CampaignTargetEnd, MAY_RUN_RESULT } from './campaign-targets.ts'
import type { Db } from './db.ts'
import { SAYS_THE_SAME } from './fleet-configs.ts'
import { broughtAgain, waysBack } from './ran-before.ts'

// What the roll-back of a campaign does with workloads to which its version was brought by itself.

/** A campaign that brings a version of a fleet config. */
export interface VersionCampaign {
  campaignId: string
  fleetConfigId: string
  number: number
}

/**
 * The newest push by which each workload outside of a campaign got the campaign's version by itself, as `t`. A workload
 * to which the campaign pushed is the campaign's own target, unless that had nothing to go back to.
 */
const BROUGHT_BY_ITSELF = `
  from json_to_recordset($1::json) as n (campaign_id text, fleet_config_id text, number int)
    join fleet_config_versions v on v.fleet_config_id::text = n.fleet_config_id and v.number = n.number
    join fleet_config_versions same on ${SAYS_THE_SAME}
    join auto_applies a on a.fleet_config_id = same.fleet_config_id and a.number = same.number
    join auto_apply_targets t on t.auto_apply_id = a.id
    join workloads w on w.id = t.workload_id and w.archived_at is null
  where not exists (select from campaign_targets c
    where c.campaign_id = n.campaign_id and c.workload_id = t.workload_id and c.push_id is not null
      and c.base_hash is not null)`

/** SQL for whether what was brought is what the workload is to run, and nobody else has brought the same again since. */
const RUNS_IT = `(w.active_config_hash = t.result_hash and not exists (
    select from pushes own join pushes p on ${broughtAgain('own', 'n.campaign_id')} where own.push_id = t.push_id))`

const namesOf = (campaigns: readonly VersionCampaign[]): string =>
  JSON.stringify(
    campaigns.map(({ campaignId, fleetConfigId, number }) => ({
      campaign_id: campaignId,
      fleet_config_id: fleetConfigId,
      number,
    })),
  )

/** A workload that a version was brought to by itself and that is to run that still. */
export interface KeptByItself
  extends Pick<StoredAutoApplyTarget, 'workloadId' | 'workloadName' | 'workloadPlace' | 'isNewcomer'> {
  campaignId: string
  hasBase: boolean
  /** What came of taking it back; null where that was not begun. */
  back: AutoApplyTargetState | null
  cause: string | null
}

/**
 * For each of some campaigns the workloads outside of it to which its version was brought by itself, and which are to
 * run what it brought, so that nobody else brought that again: how many, how many of them have nothing to go back to, and the first of them by id.
 */
export async function listKeptByItself(
  db: Db,
  campaigns: readonly VersionCampaign[],
  limit: number,
): Promise<(KeptByItself & { count: number; withoutBase: number })[]> {
  if (campaigns.length === 0) return []
  return db.query(
    `${waysBack(`select distinct t.push_id, t.workload_id, t.base_hash as hash ${BROUGHT_BY_ITSELF}
       and ${RUNS_IT}`)}
     select * from (
       select kept.*, count(*) over (partition by "campaignId")::int as count,
         (count(*) filter (where not "hasBase") over (partition by "campaignId"))::int as "withoutBase",
         row_number() over (partition by "campaignId" order by "workloadId") as place
       from (
         select distinct on (n.campaign_id, t.workload_id) n.campaign_id as "campaignId", t.workload_id as "workloadId",
           t.workload_name as "workloadName", t.workload_place as "workloadPlace", t.is_newcomer as "isNewcomer",
           exists (select from ways_back b where b.push_id = t.push_id and b.obstacle is null) as "hasBase", t.cause,
           case when t.rolled_back_by is not null and t.state <> all($3::text[]) then t.state end as back
         ${BROUGHT_BY_ITSELF} and ${RUNS_IT}
         order by n.campaign_id, t.workload_id, t.started_at desc) as kept) as placed
     where place <= $2 order by "campaignId", "workloadId"`,
    [namesOf(campaigns), limit, ['started', ...MAY_RUN_RESULT]],
  )
}

/** The workloads outside of a campaign that run its version because it was brought to them by itself, with what they ran before. */
export async function listWaysBackByItself(
  db: Db,
  campaign: VersionCampaign,
): Promise<{ workloadId: string; hash: string }[]> {
  return db.query(
    `${waysBack(`select distinct t.push_id, t.workload_id, t.base_hash as hash ${BROUGHT_BY_ITSELF}
       and ${RUNS_IT}`)}
     select workload_id as "workloadId", hash from ways_back where obstacle is null order by workload_id`,
    [namesOf([campaign])],
  )
}

/** The workloads that may run a campaign's version because it was brought to them by itself, with their pushes. */
export async function listBroughtByItself(
  tx: Db,
  campaign: VersionCampaign,
): Promise<Pick<StoredAutoApplyTarget, 'autoApplyId' | 'workloadId'>[]> {
  return tx.query(
    `select * from (
       select distinct on (t.workload_id) t.auto_apply_id as "autoApplyId", t.workload_id as "workloadId", t.state,
         t.rolled_back_by
       ${BROUGHT_BY_ITSELF} order by t.workload_id, t.started_at desc) as newest
     where state = any($2::text[]) and rolled_back_by is null`,
    [namesOf([campaign]), ['started', ...MAY_RUN_RESULT]],
  )
}

/** Let the roll-back of a campaign take these back. Rows are locked as by `endAutoApplyTargets`. */
export async function claimByItself(
  tx: Db,
  campaignId: string,
  claimed: readonly Pick<StoredAutoApplyTarget, 'autoApplyId' | 'workloadId'>[],
): Promise<void> {
  if (claimed.length === 0) return
  await tx.execute(
    `with claimed as (
       select t.auto_apply_id, t.workload_id from auto_apply_targets t
         join unnest($2::text[], $3::text[]) as c (auto_apply_id, workload_id)
           on t.auto_apply_id = c.auto_apply_id and t.workload_id = c.workload_id
       order by t.auto_apply_id, t.workload_id for no key update of t)
     update auto_apply_targets t set rolled_back_by = $1 from claimed c
     where t.auto_apply_id = c.auto_apply_id and t.workload_id = c.workload_id`,
    [campaignId, claimed.map(({ autoApplyId }) => autoApplyId), claimed.map(({ workloadId }) => workloadId)],
  )
}

/**
 * Leave these, which may run the version, to the roll-backs of others: they have left the scopes of this one. Rows are
 * locked as by `endAutoApplyTargets`.
 */
export async function releaseByItself(
  tx: Db,
  campaignId: string,
  workloadIds: readonly string[],
): Promise<void> {
  await tx.execute(
    `with released as (
       select t.auto_apply_id, t.workload_id from auto_apply_targets t
       where t.rolled_back_by = $1 and t.workload_id = any($2::text[]) and t.state = any($3::text[])
       order by t.auto_apply_id, t.workload_id for no key update of t)
     update auto_apply_targets t set rolled_back_by = null from released r
     where t.auto_apply_id = r.auto_apply_id and t.workload_id = r.workload_id`,
    [campaignId, workloadIds, MAY_RUN_RESULT],
  )
}

/** Those in some states that the roll-back of a campaign takes back, in one order. */
export async function listTakenBack(
  db: Db,
  campaignId: string,
  states: readonly (AutoApplyTargetState | CampaignTargetState)[],
  limit: number,
): Promise<StoredAutoApplyTarget[]> {
  return db.query<StoredAutoApplyTarget>(
    `select ${AUTO_APPLY_TARGET_COLUMNS} from auto_apply_targets
     where rolled_back_by = $1 and state = any($2::text[]) order by started_at, workload_id limit $3`,
    [campaignId, states, limit],
  )
}

/** Those of a fleet config that the roll-back of a campaign takes back, the last started first. */
export async function listTargetsTakenBack(
  db: Db,
  { fleetConfigId, rolledBackBy }: { fleetConfigId: string; rolledBackBy: string },
  { after, limit }: { after: { startedAt: Date; workloadId: string } | null; limit: number },
): Promise<StoredAutoApplyTarget[]> {
  return db.query<StoredAutoApplyTarget>(
    `select ${AUTO_APPLY_TARGET_COLUMNS} from auto_apply_targets
     where rolled_back_by = $1 and auto_apply_id in (select id from auto_applies where fleet_config_id::text = $2)
       and ($3::timestamptz is null or started_at < $3 or (started_at = $3 and workload_id > $4))
     order by started_at desc, workload_id limit $5`,
    [rolledBackBy, fleetConfigId, after?.startedAt ?? null, after?.workloadId ?? null, limit],
  )
}

/** How many the roll-backs of campaigns take back, by campaign and state. */
export async function countTakenBack(
  db: Db,
  campaignIds: readonly string[],
): Promise<{ campaignId: string; state: AutoApplyTargetState; count: number }[]> {
  if (campaignIds.length === 0) return []
  return db.query(
    `select rolled_back_by as "campaignId", state, count(*)::int as count from auto_apply_targets
     where rolled_back_by = any($1::text[]) group by 1, 2`,
    [campaignIds],
  )
}

/** Note, in the transaction of its push, that one is taken back; false when it was before, or need not be. */
export async function markByItselfRollingBack(
  tx: Db,
  back: { campaignId: string; workloadId: string; pushId: string },
): Promise<boolean> {
  const touched = await tx.execute(
    `update auto_apply_targets set state = 'rolling_back', rollback_push_id = $3, ended_at = null
     where rolled_back_by = $1 and workload_id = $2 and state = any($4::text[]) and rollback_push_id is null`,
    [back.campaignId, back.workloadId, back.pushId, MAY_RUN_RESULT],
  )
  return touched === 1
}

/**
 * Write what came of taking some back; those that are in none of `from` any more stay as they are. Rows are locked as
 * by `endAutoApplyTargets`.
 */
export async function endTakenBack(
  tx: Db,
  campaignId: string,
  from: readonly string[],
  ends: readonly CampaignTargetEnd[],
  now: Date,
): Promise<void> {
  if (ends.length === 0) return
  await tx.execute(
    `with e as (
       select t.auto_apply_id, t.workload_id, e.state, e.cause, e.title from auto_apply_targets t
         join unnest($3::text[], $5::text[], $6::text[], $7::text[]) as e (workload_id, state, cause, title)
           on t.workload_id = e.workload_id
       where t.rolled_back_by = $1 and t.state = any($2::text[])
       order by t.auto_apply_id, t.workload_id for no key update of t)
     update auto_apply_targets t set state = e.state, cause = coalesce(e.cause, t.cause),
       title = coalesce(e.title, t.title), ended_at = $4
     from e where t.auto_apply_id = e.auto_apply_id and t.workload_id = e.workload_id
       and t.rolled_back_by = $1 and t.state = any($2::text[])`,
    [
      campaignId,
      from,
      ends.map(({ workloadId }) => workloadId),
      now,
      ends.map(({ state }) => state),
      ends.map(({ cause }) => cause ?? null),
      ends.map(({ title }) => title ?? null),
    ],
  )
}
