import type { Db } from './db.ts'

/** What Git asks for a workload by the fleet config that it is under. */
export interface FleetWish {
  workloadId: string
  /** The config that the workload got of Git's version; null where it got none of it yet. */
  hash: string | null
  /** Since when Git asks this of it: since the version was written, or the workload came under the fleet config. */
  since: Date
  /** The campaigns and versions that apply by themselves that bring the fleet config's versions. */
  carriers: ReadonlySet<string>
}

/** The wishes of all fleet configs that are kept in Git, for the workloads that are under them. */
export async function listFleetWishes(db: Db): Promise<FleetWish[]> {
  const kept = await db.query<{ id: string; carriers: string[] }>(
    `select m.fleet_config_id as id, array(
       select c.id from campaigns c
         where c.change->>'kind' = 'version' and c.change->>'fleet_config_id' = m.fleet_config_id::text
       union all select a.id from auto_applies a where a.fleet_config_id = m.fleet_config_id
     ) as carriers
     from managed_fleet_configs m`,
  )
  if (kept.length === 0) return []
  const rows = await db.query<Omit<FleetWish, 'carriers'> & { id: string }>(
    `with brought as (
       select m.fleet_config_id as id, t.workload_id, t.result_hash, t.started_at
         from managed_fleet_configs m
         join campaigns c on c.change->>'kind' = 'version' and c.change->>'fleet_config_id' = m.fleet_config_id::text
           and (c.change->>'number')::integer = m.version
         join campaign_targets t on t.campaign_id = c.id and t.push_id is not null
       union all
       select m.fleet_config_id, t.workload_id, t.result_hash, t.started_at
         from managed_fleet_configs m
         join auto_applies a on a.fleet_config_id = m.fleet_config_id and a.number = m.version
         join auto_apply_targets t on t.auto_apply_id = a.id
     ), newest as (
       select distinct on (id, workload_id) id, workload_id, result_hash from brought
         order by id, workload_id, started_at desc
     )
     select f.fleet_config_id as id, f.workload_id as "workloadId", n.result_hash as hash,
       greatest(f.since, v.created_at) as since
     from fleet_config_members f
     join managed_fleet_configs m on m.fleet_config_id = f.fleet_config_id
     join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number = m.version
     left join newest n on n.id = f.fleet_config_id and n.workload_id = f.workload_id`,
  )
  const carriersOf = new Map(kept.map(({ id, carriers }) => [id, new Set(carriers)]))
  return rows.flatMap(({ id, ...wish }) => {
    const carriers = carriersOf.get(id)
    return carriers === undefined ? [] : [{ ...wish, carriers }]
  })
}
