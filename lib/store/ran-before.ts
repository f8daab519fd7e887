import { TRUSTED_PREFIX } from '../model/labels.ts'
import { isStatusThat } from './campaign-status.ts'
import type { Db } from './db.ts'
import { APPROVED, onlyFailed } from './pushes.ts'

// Where a workload goes as what was brought to it is taken back. The roll-back itself, what a page says of it beforehand
// and a failed push all ask here.

/** SQL for whether the workload `w` lies within a scope that the campaign `c` is cut to; one that is cut to none is everywhere. */
export const IS_IN_CUT = `(c.scope->'cut_to' is null or exists (
  select from jsonb_array_elements(c.scope->'cut_to') as cut
  where starts_with(cut->>'key', '${TRUSTED_PREFIX}')
    and (cut->'values') ? ((w.rule_labels || w.trusted_labels)->>substr(cut->>'key', ${TRUSTED_PREFIX.length + 1}))))`

/**
 * SQL for whether the push `p` came to its workload: one in stages that was given up, or overtaken before its last stage,
 * left that as it was, and one that was overtaken before anybody applied it ran nowhere. Who cannot tell what became of
 * an offer counts as having applied it.
 */
const REACHED = `(p.phase <> 'aborted' and (p.phase <> 'superseded'
  or (p.applied_count > 0 or exists (
      select from push_targets x where x.push_id = p.push_id and x.state = 'cannot_report'))
    and not exists (select from rollouts r where r.push_id = p.push_id and r.status <> 'succeeded')))`

/**
 * SQL for whether somebody brought a config with the push `p`, after what had brought it before was taken back at
 * `t.back_at`, or before that: by a request, a campaign or a version that applies by itself, and afterwards by an own
 * rollback too. Before it a rollback only returned to what had been brought.
 */
const BRINGS = `((p.kind = 'approval' and ${REACHED})
  or (p.kind = 'rollback' and p.campaign_id is null and p.submitted_at > t.back_at))`

/**
 * SQL for `taken`: what was brought to the workloads of `these` by a campaign, or by its version by itself, that was rolled
 * back since, or is being so, and is not cut to other scopes: with the push, when the roll-back began, until when it could
 * have taken that back and did not (`left_at`; null where it did, or could not), and whether it still may (`is_over` where
 * not). `these` is SQL for ids.
 */
const taken = (these: string): string => `taken as materialized (
    select t.workload_id, t.base_hash, t.result_hash, p.seq, p.submitted_at as at,
      c.roll_back_started_at as back_at,
      case when t.state in ('rolled_back', 'rollback_failed', 'no_way_back') then null
        when t.state = 'moved_on' then t.ended_at else coalesce(c.ended_at, 'infinity') end as left_at,
      c.status = 'rolled_back' or t.state <> all('{applied,started,rolling_back}') as is_over
    from campaigns c join lateral (
        select workload_id, push_id, base_hash, result_hash, state, ended_at from campaign_targets
        where campaign_id = c.id and push_id is not null
        union all
        select workload_id, push_id, base_hash, result_hash, state, ended_at from auto_apply_targets
        where rolled_back_by = c.id
      ) as t on true
      join pushes p on p.push_id = t.push_id and p.workload_id = t.workload_id
      join workloads w on w.id = t.workload_id
    where ${isStatusThat('c.status', 'goes-back')} and t.state <> 'left_scope' and t.workload_id in (${these})
      -- What became of the workload there is decided by where it was then; only what is undecided asks where it is now.
      and (t.state = any('{moved_on,rolled_back,rollback_failed,no_way_back}') or ${IS_IN_CUT})
  )`

/**
 * SQL for what each workload gets where a push is taken back that is to give it its former config: the config itself, or,
 * where what had brought that last before the push was taken back since (or was to be, as the push came), what the workload
 * ran before that, and so on. What a campaign is still about to take back there, as it simply applied that, is brought back:
 * it is that campaign's to go on.
 * `asked` is SQL for rows of `push_id`, `workload_id` and `hash`, the config that ran before the push; null for none.
 * `these` is SQL for the ids of its workloads.
 */
const ranBefore = (asked: string, these = 'select workload_id from asked'): string => `
  with recursive asked as materialized (${asked}), ${taken(these)}, before as (
    select a.push_id, a.workload_id, a.hash, p.seq, p.submitted_at as at, 0 as steps
    from asked a left join pushes p on p.push_id = a.push_id and p.workload_id = a.workload_id
    union all
    select before.push_id, before.workload_id, t.base_hash, t.seq, t.at, steps + 1
    from before join taken t on t.workload_id = before.workload_id and t.result_hash = before.hash
      and t.is_over and t.base_hash is not null and t.seq < before.seq
      and (t.back_at > before.at or t.left_at > before.at)
    where not exists (select from pushes p where p.workload_id = before.workload_id and p.config_hash = before.hash
      and p.seq > t.seq and p.seq < before.seq and ${BRINGS})
  ), ran_before as (
    select distinct on (push_id, workload_id) push_id, workload_id, hash
    from before order by push_id, workload_id, steps desc
  )`

/**
 * SQL for `ways_back`: of each push of `asked` (see `ranBefore`) what its workload ran before, as `hash`, and why that
 * may not be brought back to take the push back, as `obstacle`: `none` where there is nothing, or nothing that is kept
 * and did not only fail there, `base_not_approved` where nobody ever approved it there; null where it may.
 */
export const waysBack = (asked: string, these?: string): string => `${ranBefore(asked, these)}, ways_back as (
    select r.push_id, r.workload_id, r.hash, case
      when r.hash is null or ${onlyFailed('r.workload_id', 'r.hash')}
        or not exists (select from config_contents k where k.hash = r.hash) then 'none'
      when not exists (select from pushes p where p.workload_id = r.workload_id and p.config_hash = r.hash
        and ${APPROVED}) then 'base_not_approved' end as obstacle
    from ran_before r
  )`

/** A push that is taken back, with what its workload ran before it. */
interface Brought {
  pushId: string
  workloadId: string
  hash: string
}

/** What ran on a workload before what a push brought there is taken back; see `ranBefore`. */
export async function findWhatRanBefore(db: Db, { pushId, workloadId, hash }: Brought): Promise<string> {
  const rows = await db.query<{ hash: string }>(
    `${ranBefore('select $1::uuid as push_id, $2::text as workload_id, $3::text as hash', '$2::text')}
     select hash from ran_before`,
    [pushId, workloadId, hash],
  )
  return rows[0]?.hash ?? hash
}

/** What a workload goes back to where people take back what a push brought there, or why it does not. */
export type WayBack =
  | { hash: string; obstacle: null }
  | { hash: string | null; obstacle: 'none' | 'base_not_approved' }

/** Where a workload goes as people take back what a push brought there. */
export async function findWayBack(db: Db, { pushId, workloadId, hash }: Brought): Promise<WayBack> {
  const rows = await db.query<WayBack>(
    `${waysBack('select $1::uuid as push_id, $2::text as workload_id, $3::text as hash', '$2::text')}
     select hash, obstacle from ways_back`,
    [pushId, workloadId, hash],
  )
  return rows[0] ?? { hash: null, obstacle: 'none' }
}

/**
 * The configs of which what brought them to a workload last was taken back there, or is being so. What is pinned there as
 * known-good is not among them: failed pushes are to go back to that, as somebody said by name.
 */
export async function listHashesTakenBack(db: Db, workloadId: string): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    `with ${taken('$1::text')}
     select distinct t.result_hash as hash from taken t where not exists (
       select from pushes p where p.workload_id = $1 and p.config_hash = t.result_hash and p.seq > t.seq and ${BRINGS})
     and not exists (select from known_good_configs k where k.workload_id = $1 and k.config_hash = t.result_hash)`,
    [workloadId],
  )
  return rows.map(({ hash }) => hash)
}

/**
 * Whether somebody brought to a workload, after a push of a campaign, the same config again: what runs there is not the
 * campaign's then. A version of the campaign's fleet config that came by itself is.
 */
export async function wasBroughtAgain(
  db: Db,
  campaignId: string,
  { pushId, workloadId }: { pushId: string; workloadId: string },
): Promise<boolean> {
  const rows = await db.query(
    `select from pushes own join pushes p on ${broughtAgain('own', '$1')}
     where own.push_id = $2::uuid and own.workload_id = $3 limit 1`,
    [campaignId, pushId, workloadId],
  )
  return rows.length > 0
}

/**
 * SQL for whether the push `p` brought again what the push `own` of this campaign had brought, and was not taken back
 * itself. That somebody went back to it is no bringing.
 */
export const broughtAgain = (own: string, campaignId: string): string => `(p.workload_id = ${own}.workload_id
  and p.config_hash = ${own}.config_hash and p.seq > ${own}.seq and p.kind = 'approval' and ${REACHED}
  and not exists (select from campaign_targets x join campaigns c on c.id = x.campaign_id
    where x.push_id = p.push_id
      and (x.rollback_push_id is not null or (c.status = 'rolled_back' and x.state <> 'left_scope')))
  and not exists (select from auto_apply_targets x where x.push_id = p.push_id and x.rollback_push_id is not null)
  and (p.auto_apply_id is null or p.auto_apply_id not in (
    select a.id from auto_applies a join campaigns c on c.id = ${campaignId}
    where a.fleet_config_id::text = c.change->>'fleet_config_id')))`
