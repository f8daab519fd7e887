import { statusesThat } from '../model/campaign-states.ts'
import type { AutoApplyHold } from '../wire/auto-apply.ts'
import { IN_FORCE } from './auto-apply.ts'
import { isStatusThat } from './campaign-status.ts'
import type { Db } from './db.ts'

/** The ids of the campaigns that muster halted. */
export async function listHaltedCampaigns(db: Db): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from campaigns where status = 'halted' and halt is not null order by id`,
  )
  return rows.map(({ id }) => id)
}

/** Whether a campaign `c` is taken back, or is being so: its alert does not tell any more of who had failed of it. */
const IS_TAKEN_BACK = isStatusThat('c.status', 'goes-back')

/**
 * Whether something is left of what a target `t` failed of: the workload is still to run that, as there was nothing to go
 * back to, or it failed to go back.
 */
const IS_LEFT = `(exists (select from workloads w where w.id = t.workload_id and w.active_config_hash = t.result_hash)
    or exists (select from pushes b where b.workload_id = t.workload_id and b.rollback_of_push_id = t.push_id
      and b.status = 'failed'))`

/** A campaign of which failures are left: how many of how many, the first few by name, and the cause of most. */
export interface CampaignFailures {
  id: string
  name: string
  count: number
  total: number
  leftOut: number
  workloads: string[]
  workloadIds: string[]
  cause: string
  title: string
  /** When the newest of all its failures was, also where nothing is left of that one. */
  lastFailedAt: Date | null
  isDone: boolean
}

/**
 * The campaigns of which failures are left and that are not halted for these: workloads that are still in the fleet and have applied
 * nothing since, other than what took the failure back by itself. Of a campaign that is taken back only those count that
 * could not be.
 */
export async function listCampaignsWithFailures(db: Db): Promise<CampaignFailures[]> {
  return db.query<CampaignFailures>(
    `select c.id, c.name, count(*)::int as count, coalesce(mode() within group (order by t.title), '') as title,
       coalesce(mode() within group (order by t.cause), '') as cause,
       (array_agg(t.workload_name || case when t.workload_place = '' then '' else ' (' || t.workload_place || ')' end
         order by t.position))[1:3] as workloads,
       (array_agg(t.workload_id order by t.position))[1:3] as "workloadIds",
       (select count(*)::int from campaign_targets a where a.campaign_id = c.id and a.state <> 'left_out') as total,
       (select count(*)::int from campaign_targets a where a.campaign_id = c.id and a.state = 'left_out') as "leftOut",
       (select max(a.ended_at) from campaign_targets a where a.campaign_id = c.id
         and a.state in ('failed', 'rollback_failed')) as "lastFailedAt",
       c.status = 'done' as "isDone"
     from campaign_targets t join campaigns c on c.id = t.campaign_id
       join workloads w on w.id = t.workload_id and w.archived_at is null
       join pushes f on f.push_id = coalesce(t.rollback_push_id, t.push_id)
     where t.state in ('failed', 'rollback_failed')
       and (c.status <> 'halted' or c.halt->>'gate' is distinct from 'failed')
       and (t.state = 'rollback_failed' or not ${IS_TAKEN_BACK})
       and not exists (select from pushes p where p.workload_id = t.workload_id and p.seq >= f.seq
         and p.status = 'applied' and p.kind <> 'auto-rollback')
     group by c.id order by c.id`,
  )
}

/** A version that applied by itself until muster stopped it. */
export interface HeldAutoApply {
  id: string
  fleetConfigId: string
  name: string
  number: number
  heldAt: Date
  hold: AutoApplyHold
}

/** The versions that applied by themselves until muster stopped them. */
export async function listHeldAutoApplies(db: Db): Promise<HeldAutoApply[]> {
  return db.query(
    `select id, fleet_config_id as "fleetConfigId", fleet_config_name as name, number, updated_at as "heldAt", hold
     from auto_applies where status = 'held' and hold is not null`,
  )
}

/** A version that was paused long ago and ends soon, or that ended as nobody continued it. */
export interface LeftStopped {
  id: string
  fleetConfigId: string
  name: string
  number: number
  status: 'paused' | 'ended'
  updatedAt: Date
}

/**
 * The versions that have been paused since `pausedSince`, and those that ended after `endedSince` as nobody continued them, of fleet
 * configs for which nothing else is in force. Those that stopped by themselves are told of as such.
 */
export async function listLeftStopped(
  db: Db,
  { pausedSince, endedSince }: { pausedSince: Date; endedSince: Date },
): Promise<LeftStopped[]> {
  return db.query<LeftStopped>(
    `select a.id, a.fleet_config_id as "fleetConfigId", a.fleet_config_name as name, a.number, a.status,
       a.updated_at as "updatedAt"
     from auto_applies a join fleet_configs f on f.id = a.fleet_config_id
     where (a.status = 'paused' and a.updated_at < $1)
       or (a.status = 'ended' and a.end_cause = 'not_continued' and a.ended_at > $2 and not exists (
         select from auto_applies later where later.fleet_config_id = a.fleet_config_id
           and (later.active_since > a.ended_at or later.status = any($3::text[]))))
     order by a.id`,
    [pausedSince, endedSince, IN_FORCE],
  )
}

/**
 * Of which of these pushes a campaign tells, or is about to: what they did is a failure of its target, or will be one of it
 * once they have ended. What fails of a change after its campaign was aborted or taken back, its workload tells of, and
 * what had failed before and is not undone once the campaign is taken back: that does not tell of it any more.
 */
export async function listPushesOfCampaigns(db: Db, pushIds: readonly string[]): Promise<Set<string>> {
  if (pushIds.length === 0) return new Set()
  const rows = await db.query<{ id: string }>(
    `select ids.id::text as id from unnest($1::uuid[]) as ids (id) where exists (
       select from campaign_targets t join campaigns c on c.id = t.campaign_id
       where t.workload_id = (select p.workload_id from pushes p where p.push_id = ids.id)
         and ((t.push_id = ids.id and (t.state in ('started', 'rolling_back', 'rollback_failed')
             or (t.state in ('applied', 'no_answer') and c.status = any($2::text[]))
             or (t.state = 'failed' and not (${IS_TAKEN_BACK} and ${IS_LEFT}))))
           or (t.rollback_push_id = ids.id and t.state in ('rolling_back', 'rollback_failed'))))`,
    [pushIds, statusesThat('stands')],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Who is an administrator only because nobody else is one. */
export async function listKeptAdministrators(db: Db): Promise<{ id: string; email: string }[]> {
  return db.query('select id::text as id, email from users where is_kept_administrator order by id')
}

/** When the local user of an e-mail (`toEmailKey`) last signed in; null where none ever did. */
export async function findLastLogin(
  db: Db,
  emailKey: string,
): Promise<{ id: string; email: string; at: Date } | null> {
  const rows = await db.query<{ id: string; email: string; at: Date }>(
    `select id::text as id, email, last_login_at as at from users where email_key = $1 and last_login_at is not null`,
    [emailKey],
  )
  return rows[0] ?? null
}
