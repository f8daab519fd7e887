import { givenByAnother } from './commit-authors.ts'
import type { Db } from './db.ts'
import { settersOf } from './text-authors.ts'

// Rows are written in order, so that of two removals of the same texts one waits for the other.
const STAYS = 'on conflict (hash, content_hash, author_id) do update set removed_at = excluded.removed_at'

/** Keep who asked for texts on a workload that is about to be removed with these requests. Its row must be locked. */
export async function keepAuthorsOfWorkload(tx: Db, id: string): Promise<void> {
  await tx.execute(
    `insert into authors_of_removed (hash, content_hash, author_id)
     select distinct draft_hash, '', unnest(author_ids || array[requester_id]) from approvals where workload_id = $1
     order by 1, 3 ${STAYS}`,
    [id],
  )
}

/**
 * Keep who wrote the versions of a fleet config that is about to be removed, or had campaigns bring them, and when somebody
 * approved what was claimed of them in Git: campaigns and versions say that only for as long as both are there.
 */
export async function keepAuthorsOfFleetConfig(tx: Db, id: string): Promise<void> {
  await tx.execute(
    `with brought as (
       select v.hash, v.content_hash, ${settersOf('c.')} as ids from fleet_config_versions v
       join campaigns c on c.change->>'fleet_config_id' = v.fleet_config_id::text and c.change->>'number' = v.number::text
       where v.fleet_config_id = $1),
     written as (
       select hash, content_hash, author_ids || array[author_id] as ids from fleet_config_versions
       where fleet_config_id = $1
       union all select hash, content_hash, ids from brought)
     insert into authors_of_removed (hash, content_hash, author_id)
     select distinct hash, content_hash, unnest(ids) from written
     order by 1, 2, 3 ${STAYS}`,
    [id],
  )
  await tx.execute(
    `with decided as (
       select change->>'number' as number, approvals, started_at, author_ids from campaigns
       where change->>'fleet_config_id' = $1
       union all select number::text, approvals, null, author_ids from auto_applies where fleet_config_id::text = $1),
     approved as (
       select number, (g.given->>'at')::timestamptz as at from decided, lateral ${givenByAnother('decided.')} as g
       union all select number, started_at from decided where approvals = '[]')
     update commit_claims l set approved_at = greatest(l.approved_at, (
       select max(d.at) from fleet_config_versions v join approved d on d.number = v.number::text
       where v.fleet_config_id::text = $1 and v.content_hash = l.config_hash and v.created_at >= l.since
         and d.at >= coalesce(l.claimed_at, l.since)))
     where l.place = $1`,
    [id],
  )
}
