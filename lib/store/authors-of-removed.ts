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

/** Keep who wrote the versions of a fleet config that is about to be removed, or had campaigns bring them. */
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
}
