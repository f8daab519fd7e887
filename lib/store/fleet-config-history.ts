import type { Scope } from '../model/scopes.ts'
import type { AutoApplyTargetState } from '../wire/auto-apply.ts'
import type { CampaignTargetState, CampaignVerdict } from '../wire/campaigns.ts'
import { isStatusThat } from './campaign-status.ts'
import type { Db } from './db.ts'
import { SAYS_THE_SAME } from './fleet-configs.ts'

/** What a campaign, or a version that applies by itself, did with a workload. */
export interface BroughtVersion {
  workloadId: string
  /** Null for a campaign. */
  autoApplyId: string | null
  number: number
  resultHash: string | null
  verdict: CampaignVerdict
  state: CampaignTargetState | AutoApplyTargetState
  isPushed: boolean
  at: Date
}

/** Most campaigns' rows read of one workload, the newest; older ones were overtaken by these. */
const PER_WORKLOAD = 20

/**
 * What the started campaigns and the versions that apply by themselves, of one fleet config, did with workloads; by
 * workload, the newest first.
 */
export async function listBroughtVersions(
  db: Db,
  fleetConfigId: string,
  workloadIds: readonly string[],
): Promise<BroughtVersion[]> {
  return db.query<BroughtVersion>(
    `select "workloadId", "autoApplyId", number, "resultHash", verdict, state, "isPushed", at from (
       select b.*, row_number() over (partition by "workloadId" order by at desc) as place from (
         select t.workload_id as "workloadId", null as "autoApplyId", (c.change->>'number')::int as number,
           t.result_hash as "resultHash", t.verdict, t.state, t.push_id is not null as "isPushed",
           coalesce(t.started_at, c.started_at) as at
         from campaign_targets t join campaigns c on c.id = t.campaign_id
         where t.workload_id = any($2::text[]) and c.started_at is not null
           and c.change->>'kind' = 'version' and c.change->>'fleet_config_id' = $1
         union all
         select t.workload_id, a.id, a.number, t.result_hash, 'changes', t.state, true, t.started_at
         from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id
         where t.workload_id = any($2::text[]) and a.fleet_config_id::text = $1) as b) as placed
     -- A version that applies by itself does so once: all of their rows count, whatever came after them.
     where place <= $3 or "autoApplyId" is not null order by "workloadId", at desc`,
    [fleetConfigId, workloadIds, PER_WORKLOAD],
  )
}

/** When workloads last came from one fleet config to another; those that never did are missing. */
export async function listArrivals(db: Db, workloadIds: readonly string[]): Promise<Map<string, Date>> {
  const rows = await db.query<{ workload_id: string; came_at: Date }>(
    'select workload_id, came_at from fleet_config_moves where workload_id = any($1::text[]) and came_at is not null',
    [workloadIds],
  )
  return new Map(rows.map((row) => [row.workload_id, row.came_at]))
}

const OF_VERSION = `change->>'kind' = 'version' and change->>'fleet_config_id' = $1`

/** Whether a campaign that brings a version of the fleet config is under way, or waits for an operator. */
export async function hasOpenCampaign(db: Db, fleetConfigId: string): Promise<boolean> {
  const rows = await db.query(
    `select from campaigns where ${OF_VERSION}
       and ${isStatusThat('status', 'open')} limit 1`,
    [fleetConfigId],
  )
  return rows.length > 0
}

/** Versions that say the same as one whose campaign was rolled back: by text, variables and values. */
const ROLLED_BACK = `from campaigns join fleet_config_versions v
    on v.fleet_config_id::text = $1 and v.number = (change->>'number')::int
  join fleet_config_versions same on ${SAYS_THE_SAME}
  where ${OF_VERSION} and ${isStatusThat('status', 'goes-back')}`

/**
 * Whether a whole campaign with this version was ever rolled back, or is being so, that reached workloads everywhere. One
 * that says the same counts as this version; one with another table of values does not.
 */
export async function wasVersionRolledBack(db: Db, fleetConfigId: string, number: number): Promise<boolean> {
  return (await listTakenBackVersions(db, fleetConfigId)).has(number)
}

/** The versions of which `wasVersionRolledBack` is true, by number, with the campaign that took each back last. */
export async function listTakenBackVersions(
  db: Db,
  fleetConfigId: string,
): Promise<ReadonlyMap<number, string>> {
  const rows = await db.query<{ number: number; campaignId: string }>(
    `select distinct on (same.number) same.number, campaigns.id as "campaignId"
     ${ROLLED_BACK} and scope->'cut_to' is null
     order by same.number, roll_back_started_at desc nulls last, campaigns.id`,
    [fleetConfigId],
  )
  return new Map(rows.map(({ number, campaignId }) => [number, campaignId]))
}

/**
 * Which of some campaigns carry a version of which `wasVersionRolledBack` is true, by id, each with the other campaign
 * that took it back last: not one that is itself the only campaign which did.
 */
export async function listOfTakenBackVersions(
  db: Db,
  campaignIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ id: string; backId: string }>(
    `select distinct on (asked.id) asked.id, back.id as "backId" from campaigns asked
       join fleet_config_versions same on asked.change->>'kind' = 'version'
         and same.fleet_config_id::text = asked.change->>'fleet_config_id' and same.number = (asked.change->>'number')::int
       join campaigns back on back.id <> asked.id and back.change->>'kind' = 'version'
         and back.change->>'fleet_config_id' = asked.change->>'fleet_config_id'
         and ${isStatusThat('back.status', 'goes-back')} and back.scope->'cut_to' is null
       join fleet_config_versions v on v.fleet_config_id = same.fleet_config_id
         and v.number = (back.change->>'number')::int and ${SAYS_THE_SAME}
     where asked.id = any($1)
     order by asked.id, back.roll_back_started_at desc nulls last, back.id`,
    [campaignIds],
  )
  return new Map(rows.map(({ id, backId }) => [id, backId]))
}

/**
 * The number of the version that each workload was given with the config that is assigned to it, by a campaign or by
 * what applies by itself: its text has the workload's own values in it, so its hash is no version's.
 */
export async function listGivenVersions(
  db: Db,
  fleetConfigId: string,
  assigned: readonly { workloadId: string; hash: string }[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ workload_id: string; number: number }>(
    `select distinct on (asked.workload_id) asked.workload_id, given.number
     from unnest($2::text[], $3::text[]) as asked (workload_id, hash)
     join lateral (
       select (c.change->>'number')::int as number, t.started_at
       from campaign_targets t join campaigns c on c.id = t.campaign_id
       where t.workload_id = asked.workload_id and t.result_hash = asked.hash and t.started_at is not null and ${OF_VERSION}
       union all
       select a.number, t.started_at
       from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id
       where t.workload_id = asked.workload_id and t.result_hash = asked.hash and a.fleet_config_id::text = $1
     ) as given on true
     order by asked.workload_id, given.started_at desc`,
    [fleetConfigId, assigned.map(({ workloadId }) => workloadId), assigned.map(({ hash }) => hash)],
  )
  return new Map(rows.map((row) => [row.workload_id, row.number]))
}

/** The scopes within which campaigns with this version, cut to them, were rolled back, or are being so. */
export async function listScopesRolledBack(db: Db, fleetConfigId: string, number: number): Promise<Scope[]> {
  return db.query<Scope>(
    `select distinct cut->>'key' as key, cut->'values' as values
     from (select jsonb_array_elements(scope->'cut_to') as cut ${ROLLED_BACK} and same.number = $2) as cuts`,
    [fleetConfigId, number],
  )
}

/** The last 20 campaigns that are done and brought a version to some workload, or one in production where asked. */
export async function listDoneCampaigns(
  db: Db,
  fleetConfigId: string,
  number: number,
  inProduction: boolean,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from campaigns c where ${OF_VERSION} and (change->>'number')::int = $2 and status = 'done'
       and exists (select from campaign_targets t where t.campaign_id = c.id and t.state = 'applied'
         and (t.is_production or not $3::boolean))
     order by ended_at desc, id limit 20`,
    [fleetConfigId, number, inProduction],
  )
  return rows.map(({ id }) => id)
}
