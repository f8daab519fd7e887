import type { Db } from './db.ts'

/** What Git asks for a workload by the fleet config that it is under. */
export interface FleetWish {
  workloadId: string
  /** The config that the workload got of Git's version; null where it got none of it yet. */
  hash: string | null
  /**
   * Since when Git asks this of it: since the version was brought there last, or else since it was written, or the workload
   * came under the fleet config.
   */
  since: Date
  /**
   * The campaigns and versions that apply by themselves that bring what Git asks for, or were started before it did, these
   * until a campaign has brought it.
   */
  carriers: ReadonlySet<string>
}

/** SQL for whether Git asked for the version `b`, which was brought to a workload, since it keeps its fleet config `m`. */
export const IS_FROM_GIT = 'b.number >= coalesce(m.first_version, 0)'

/**
 * SQL for the workloads `f` that Git keeps by a fleet config `m`, but for those that it keeps by themselves: a version of the
 * fleet config was brought there (`brought_versions`, which triggers keep) that Git asked for since it keeps that. Until then it keeps
 * nobody from changing the workload, or whoever may only ask could take what people carried by hand.
 */
export const KEPT_BY_FLEET = `from fleet_config_members f
    join managed_fleet_configs m on m.fleet_config_id = f.fleet_config_id
    join brought_versions b on b.workload_id = f.workload_id and b.fleet_config_id = f.fleet_config_id
      and ${IS_FROM_GIT}
  where not exists (select from managed_configs o where o.workload_id = f.workload_id)`

/**
 * The wishes of all fleet configs that are kept in Git, or of one, for all workloads that are under them, or one. Those that
 * Git keeps by themselves have a wish of their own, and are not in it.
 */
export async function listFleetWishes(
  db: Db,
  {
    fleetConfigId = null,
    workloadId = null,
  }: { fleetConfigId?: string | null; workloadId?: string | null } = {},
): Promise<FleetWish[]> {
  const kept = await db.query<{ id: string; carriers: string[] }>(
    `select m.fleet_config_id as id, array(
       select c.id from campaigns c
         where c.change->>'kind' = 'version' and c.change->>'fleet_config_id' = m.fleet_config_id::text
           and c.change->>'number' is not null
           and ((c.change->>'number')::integer = m.version or c.started_at <= v.created_at)
       union all select a.id from auto_applies a where a.fleet_config_id = m.fleet_config_id
         and (a.number = m.version or a.active_since <= v.created_at and not exists (
           select from campaigns c where c.status = 'done' and c.change->>'kind' = 'version'
             and c.change->>'fleet_config_id' = m.fleet_config_id::text and c.change->>'number' = m.version::text))
     ) as carriers
     from managed_fleet_configs m
     join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number = m.version
     where $1::uuid is null or m.fleet_config_id = $1`,
    [fleetConfigId],
  )
  if (kept.length === 0) return []
  // What applies by itself is pushed in the moment in which a workload comes, and so is after that.
  const rows = await db.query<Omit<FleetWish, 'carriers'> & { id: string }>(
    `with brought as (
       select m.fleet_config_id as id, t.workload_id, t.result_hash, t.started_at
         from managed_fleet_configs m
         join campaigns c on c.change->>'kind' = 'version' and c.change->>'fleet_config_id' = m.fleet_config_id::text
           and (c.change->>'number')::integer = m.version
         join campaign_targets t on t.campaign_id = c.id and t.push_id is not null
         where ($1::uuid is null or m.fleet_config_id = $1) and ($2::text is null or t.workload_id = $2)
       union all
       select m.fleet_config_id, t.workload_id, t.result_hash, t.started_at
         from managed_fleet_configs m
         join auto_applies a on a.fleet_config_id = m.fleet_config_id and a.number = m.version
         join auto_apply_targets t on t.auto_apply_id = a.id
         where ($1::uuid is null or m.fleet_config_id = $1) and ($2::text is null or t.workload_id = $2)
     ), newest as (
       select distinct on (id, workload_id) id, workload_id, result_hash, started_at from brought
         order by id, workload_id, started_at desc
     )
     select f.fleet_config_id as id, f.workload_id as "workloadId", n.result_hash as hash,
       coalesce(n.started_at, greatest(f.since - interval '1 millisecond', v.created_at)) as since
     from fleet_config_members f
     join managed_fleet_configs m on m.fleet_config_id = f.fleet_config_id
     join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number = m.version
     left join newest n on n.id = f.fleet_config_id and n.workload_id = f.workload_id
     where ($1::uuid is null or m.fleet_config_id = $1) and ($2::text is null or f.workload_id = $2)
       and not exists (select from managed_configs o where o.workload_id = f.workload_id)`,
    [fleetConfigId, workloadId],
  )
  const carriersOf = new Map(kept.map(({ id, carriers }) => [id, new Set(carriers)]))
  return rows.flatMap(({ id, ...wish }) => {
    const carriers = carriersOf.get(id)
    return carriers === undefined ? [] : [{ ...wish, carriers }]
  })
}
