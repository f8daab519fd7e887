import type { Db } from './db.ts'
import { BROUGHT } from './later-campaigns.ts'
import { APPROVED, onlyFailed } from './pushes.ts'

// Where a workload goes as what was brought to it is taken back. The roll-back itself, what a page says of it beforehand
// and a failed push all ask here.

/**
 * SQL for what each workload gets where a push is taken back that is to give it its former config: the config itself,
 * or, where that had been brought before and the campaign that brought it was rolled back while the workload ran what
 * this push brought, what it ran before that, and so on. Where several had brought it, the last one counts. One that is
 * not rolled back to its end yet counts where it has left this workload alone already, since it does not come back to
 * it; one that is cut to scopes which the workload has left takes nothing back there. `asked` is SQL for rows of `push_id`, `workload_id` and `hash`, the config that ran before the push; null for none.
 */
const ranBefore = (asked: string): string => `
  with recursive ${BROUGHT}, asked as (${asked}), before as (
    select a.push_id, a.workload_id, a.hash, b.started_at, 0 as steps
    from asked a left join brought b on b.push_id = a.push_id and b.workload_id = a.workload_id
    union all
    select before.push_id, before.workload_id, older.base_hash, older.started_at, steps + 1
    from before cross join lateral (
      select t.base_hash, t.started_at from brought t join campaigns c on c.id = t.back_id
        and ((c.status = 'rolled_back' and t.state <> 'left_scope') or (c.status = 'rolling_back' and t.state = 'moved_on'))
        and c.roll_back_started_at > before.started_at
      where t.workload_id = before.workload_id and t.result_hash = before.hash and t.base_hash is not null
        and t.started_at < before.started_at
      order by t.started_at desc limit 1) as older
  ), ran_before as (
    select distinct on (push_id) push_id, workload_id, hash from before order by push_id, steps desc
  )`

/**
 * SQL for `ways_back`: of each push of `asked` (see `ranBefore`) what its workload ran before, as `hash`, and why that
 * may not be brought back to take the push back, as `obstacle`: `none` where there is nothing, or nothing that is kept
 * and did not only fail there, `base_not_approved` where nobody ever approved it there; null where it may.
 */
export const waysBack = (asked: string): string => `${ranBefore(asked)}, ways_back as (
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
    `${ranBefore('select $1::uuid as push_id, $2::text as workload_id, $3::text as hash')}
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
    `${waysBack('select $1::uuid as push_id, $2::text as workload_id, $3::text as hash')}
     select hash, obstacle from ways_back`,
    [pushId, workloadId, hash],
  )
  return rows[0] ?? { hash: null, obstacle: 'none' }
}
