import { statusesThat } from '../model/campaign-states.ts'
import type { Scope } from '../model/scopes.ts'
import type { CampaignStatus, CampaignTargetState, CampaignVerdict } from '../wire/campaigns.ts'
import { isStatusThat } from './campaign-status.ts'
import { MAY_BE_TAKEN_BACK } from './campaign-targets.ts'
import type { Db } from './db.ts'
import { SAYS_THE_SAME } from './fleet-configs.ts'
import { broughtAgain } from './ran-before.ts'

/** What a campaign that was started later says of a workload. */
export interface LaterTarget {
  workloadId: string
  campaignId: string
  status: CampaignStatus
  verdict: CampaignVerdict
  state: CampaignTargetState
}

/** What the campaigns that were started after this one say of some workloads, the newest last. */
export async function listLaterTargets(
  db: Db,
  campaignId: string,
  workloadIds: readonly string[],
): Promise<LaterTarget[]> {
  return db.query<LaterTarget>(
    `select t.workload_id as "workloadId", later.id as "campaignId", later.status, t.verdict, t.state
     from campaigns c join campaigns later on (later.started_at, later.id) > (c.started_at, c.id)
       join campaign_targets t on t.campaign_id = later.id and t.workload_id = any($2::text[])
     where c.id = $1 order by later.started_at, later.id`,
    [campaignId, workloadIds],
  )
}

/** The newest campaign before this one that still waits for each of some workloads to come back. */
export async function listOlderWaiting(
  db: Db,
  campaignId: string,
  workloadIds: readonly string[],
): Promise<{ workloadId: string; campaignId: string }[]> {
  return db.query(
    `select distinct on (t.workload_id) t.workload_id as "workloadId", older.id as "campaignId"
     from campaigns c join campaigns older on older.id <> c.id and older.started_at is not null
         and (c.started_at is null or (older.started_at, older.id) < (c.started_at, c.id))
         and older.status = any($3::text[])
       join campaign_targets t on t.campaign_id = older.id and t.workload_id = any($2::text[]) and t.state = 'offline'
     where c.id = $1 order by t.workload_id, older.started_at desc, older.id desc`,
    [campaignId, workloadIds, statusesThat('stands')],
  )
}

/**
 * Let targets of older campaigns wait again that this one, which was rolled back, had overtaken while they were away: they
 * run again what they ran when they were planned, and the campaign still waits for those that were away.
 */
export async function letWaitAgain(tx: Db, campaignId: string, now: Date): Promise<void> {
  // An older one that is being aborted would have passed over what it is given here.
  await tx.query(
    `select from campaigns older where older.id in (
       select t.campaign_id from campaign_targets t
         join campaign_targets reached on reached.workload_id = t.workload_id and reached.push_id is not null
       where reached.campaign_id = $1 and t.campaign_id <> $1 and t.state = 'overtaken' and t.push_id is null)
     order by older.id for share`,
    [campaignId],
  )
  await tx.execute(
    `update campaign_targets t set state = 'offline', reason = null, ended_at = null
     from campaigns back
       join campaign_targets reached on reached.campaign_id = back.id and reached.push_id is not null
       join campaigns older on (older.started_at, older.id) < (back.started_at, back.id)
         and older.status = any($3::text[])
       join workloads w on w.id = reached.workload_id
     where greatest(older.started_at, t.away_since) + (older.rules->>'catchUpSeconds')::int * interval '1 second' >= $2
       and back.id = $1 and t.campaign_id = older.id and t.workload_id = reached.workload_id
       and t.state = 'overtaken' and t.reason = 'overtaken' and t.push_id is null
       and w.active_config_hash is not distinct from t.base_hash`,
    [campaignId, now, statusesThat('stands')],
  )
}

/**
 * SQL for what campaigns, and versions by themselves, pushed to the workload `$1`, each with the campaign whose roll-back
 * takes it back.
 */
const BROUGHT = `brought as (
    select push_id, base_hash, result_hash, state, campaign_id as back_id from campaign_targets
    where workload_id = $1 and push_id is not null
    union all
    select push_id, base_hash, result_hash, state, rolled_back_by from auto_apply_targets
    where workload_id = $1)`

/**
 * Whether another campaign that is being rolled back is about to give a workload this config back: it leaves one alone to
 * which somebody has brought the same again since.
 */
export async function isAboutToGet(
  db: Db,
  campaignId: string,
  { workloadId, hash }: { workloadId: string; hash: string },
): Promise<boolean> {
  const rows = await db.query(
    `with ${BROUGHT}
     select from brought t join campaigns c on c.id = t.back_id and c.status = 'rolling_back'
       join workloads w on w.id = $1 and w.active_config_hash = t.result_hash
     where t.back_id <> $2 and t.base_hash = $3 and t.state = any($4::text[]) and not exists (
       select from pushes own join pushes p on ${broughtAgain('own', 't.back_id')} where own.push_id = t.push_id)`,
    [workloadId, campaignId, hash, MAY_BE_TAKEN_BACK],
  )
  return rows.length > 0
}

/**
 * Where what a campaign brings was taken back, or is being so, by the roll-back of others since it was started: the
 * scopes that each of these is cut to, null for one that is cut to none. A version that says the same counts as the same.
 */
export async function listTakenBackSince(
  db: Db,
  campaignId: string,
): Promise<{ cutTo: readonly Scope[] | null }[]> {
  return db.query(
    `select back.scope->'cut_to' as "cutTo" from campaigns c join campaigns back on back.id <> c.id
       and ${isStatusThat('back.status', 'goes-back')} and back.roll_back_started_at > c.started_at
     where c.id = $1 and (back.change->>'hash' = c.change->>'hash' or exists (
       select from fleet_config_versions v join fleet_config_versions same on ${SAYS_THE_SAME}
       where v.fleet_config_id::text = back.change->>'fleet_config_id' and v.number = (back.change->>'number')::int
         and same.fleet_config_id::text = c.change->>'fleet_config_id'
         and same.number = (c.change->>'number')::int))`,
    [campaignId],
  )
}
