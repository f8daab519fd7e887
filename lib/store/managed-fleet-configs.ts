import type { CommitClaim } from './commit-authors.ts'
import type { Db } from './db.ts'
import { IS_FROM_GIT, KEPT_BY_FLEET } from './fleet-wishes.ts'

/** A fleet config that is kept in Git. */
export interface ManagedFleetConfig {
  fleetConfigId: string
  owner: string
  /** What Git asks for: text, variables and values together. */
  wishHash: string
  /** The version that was made of what Git asks for. */
  version: number
  /** The campaign that brings the version to workloads; null before there is one, and once it was removed. */
  campaignId: string | null
  /** Empty where nobody said. */
  commitSha: string
  commitAuthor: string
  appliedAt: Date
  /** The name of the account that asked for it, at that time. */
  appliedBy: string
  /** Null where that account is gone. */
  appliedById: string | null
}

const COLUMNS = `fleet_config_id as "fleetConfigId", owner, wish_hash as "wishHash", version,
  campaign_id as "campaignId", commit_sha as "commitSha", commit_author as "commitAuthor",
  applied_at as "appliedAt", applied_by as "appliedBy", applied_by_id as "appliedById"`

/** Every fleet config that is kept in Git. */
export async function listManagedFleetConfigs(db: Db): Promise<ManagedFleetConfig[]> {
  return db.query<ManagedFleetConfig>(`select ${COLUMNS} from managed_fleet_configs`)
}

/** A fleet config's entry in Git; null when no owner keeps it there. */
export async function findManagedFleetConfig(db: Db, id: string): Promise<ManagedFleetConfig | null> {
  const rows = await db.query<ManagedFleetConfig>(
    `select ${COLUMNS} from managed_fleet_configs where fleet_config_id = $1`,
    [id],
  )
  return rows[0] ?? null
}

/** The entry in Git of the fleet config whose version a campaign brings for it; null for all other campaigns. */
export async function findManagedOfCampaign(db: Db, campaignId: string): Promise<ManagedFleetConfig | null> {
  const rows = await db.query<ManagedFleetConfig>(
    `select ${COLUMNS} from managed_fleet_configs where campaign_id = $1`,
    [campaignId],
  )
  return rows[0] ?? null
}

/** The entry in Git of the fleet config by which a workload is kept there; null for none. */
export async function findFleetKeeper(db: Db, workloadId: string): Promise<ManagedFleetConfig | null> {
  const rows = await db.query<ManagedFleetConfig>(
    `select ${COLUMNS} from managed_fleet_configs
     where fleet_config_id = (select m.fleet_config_id ${KEPT_BY_FLEET} and f.workload_id = $1)`,
    [workloadId],
  )
  return rows[0] ?? null
}

/** The ids of all workloads that are kept in Git by the fleet config that they are under. */
export async function listKeptByFleet(db: Db): Promise<string[]> {
  const rows = await db.query<{ id: string }>(`select f.workload_id as id ${KEPT_BY_FLEET}`)
  return rows.map(({ id }) => id)
}

/** Whether a workload got a version of this fleet config that Git asked for since it keeps that. */
export async function hasBroughtFromGit(db: Db, fleetConfigId: string): Promise<boolean> {
  const rows = await db.query(
    `select from brought_versions b join managed_fleet_configs m on m.fleet_config_id = b.fleet_config_id
     where m.fleet_config_id = $1 and ${IS_FROM_GIT} limit 1`,
    [fleetConfigId],
  )
  return rows.length > 0
}

/**
 * SQL for whether every workload under a fleet config, but for those that Git keeps by themselves, got the version of this
 * number by itself or by campaigns that are done and that somebody else than the authors had to approve. One to which such a
 * campaign pushed nothing, as it was away, held or ran it already, or that came later, counts: somebody else had looked at all
 * of it. What authors approved themselves does not, wherever that is allowed: production may come under the fleet config
 * with, or after, what comes in its place.
 */
const isCarried = (fleetConfigId: string, number: string): string => {
  const carriers = `campaigns c where c.status = 'done' and c.change->>'kind' = 'version'
    and c.change->>'fleet_config_id' = ${fleetConfigId}::text and c.change->>'number' = ${number}::text
    and c.approvals @> '[{"rule":{"authorCounts":false}}]'`
  return `(exists (select from ${carriers}) and not exists (
    select from fleet_config_members f where f.fleet_config_id = ${fleetConfigId}
      and not exists (select from managed_configs o where o.workload_id = f.workload_id)
      and not exists (select from ${carriers} and (c.scope = '{}' and c.started_at < f.since or exists (
        select from campaign_targets t where t.campaign_id = c.id and t.workload_id = f.workload_id and (
          t.push_id is not null or t.verdict <> 'excluded' and t.reason is distinct from 'unreadable'))))
      and not exists (select from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id
        where t.workload_id = f.workload_id and a.fleet_config_id = ${fleetConfigId} and a.number = ${number})))`
}

const RAN = `(select case when ${isCarried('m.fleet_config_id', 'm.version')}
  then m.commit_sha else m.ran_commit_sha end)`

/**
 * By fleet config the commit that first asked for what was brought everywhere last; those of which that is not known are not
 * in it.
 */
export async function listRanCommits(db: Db): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; sha: string }>(
    `select m.fleet_config_id as id, ${RAN} as sha from managed_fleet_configs m`,
  )
  return new Map(rows.flatMap(({ id, sha }) => (sha === '' ? [] : [[id, sha]])))
}

/**
 * The hash, with its values, of the newest version of a fleet config that was brought everywhere and was not taken back since, of
 * those that an account asked for at its place and nobody has replaced yet (`unseen_texts`); null for none. To look at all
 * versions would take seconds in a large fleet.
 */
export async function findCarriedHash(
  db: Db,
  fleetConfigId: string,
  { place, byId }: Pick<CommitClaim, 'place' | 'byId'>,
): Promise<string | null> {
  const rows = await db.query<{ hash: string }>(
    `with asked as materialized (
       select v.fleet_config_id, v.number, v.content_hash as hash from fleet_config_versions v
       where v.fleet_config_id = $1 and exists (
         select from unseen_texts u where u.place = $2 and u.by_id = $3 and v.content_hash in (u.config_hash, u.replaced_by)))
     select hash from asked where ${isCarried('asked.fleet_config_id', 'asked.number')} order by asked.number desc limit 1`,
    [fleetConfigId, place, byId],
  )
  return rows[0]?.hash ?? null
}

/** Who keeps the fleet config of this name in Git; the owner is null where nobody does. Null without such a config. */
export async function findOwnerByName(db: Db, name: string): Promise<{ owner: string | null } | null> {
  const rows = await db.query<{ owner: string | null }>(
    `select managed_fleet_configs.owner from fleet_configs
     left join managed_fleet_configs on managed_fleet_configs.fleet_config_id = fleet_configs.id
     where fleet_configs.name = $1`,
    [name],
  )
  return rows[0] ?? null
}

/**
 * Store what Git asks for; false when the fleet config is another owner's. The campaign noted before stays, and so does
 * which commit's text ran, unless what was asked for until now was brought everywhere.
 */
export async function keepManagedFleetConfig(
  tx: Db,
  wish: Omit<ManagedFleetConfig, 'campaignId'>,
): Promise<boolean> {
  const rows = await tx.query<{ owner: string }>(
    `insert into managed_fleet_configs as m
       (fleet_config_id, owner, wish_hash, version, first_version, commit_sha, commit_author, applied_at, applied_by,
        applied_by_id)
     values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9)
     on conflict (fleet_config_id) do update set wish_hash = excluded.wish_hash, version = excluded.version,
       commit_sha = excluded.commit_sha, commit_author = excluded.commit_author, applied_at = excluded.applied_at,
       applied_by = excluded.applied_by, applied_by_id = excluded.applied_by_id,
       ran_commit_sha = ${RAN}
       where m.owner = excluded.owner
     returning owner`,
    [
      ...[wish.fleetConfigId, wish.owner, wish.wishHash, wish.version, wish.commitSha, wish.commitAuthor],
      ...[wish.appliedAt, wish.appliedBy, wish.appliedById],
    ],
  )
  return rows.length > 0
}

/**
 * Note the campaign that brings what Git asks for to workloads, in the place of a former one; false when Git asks for
 * another version by now, or another campaign was noted.
 */
export async function noteManagedCampaign(
  tx: Db,
  noted: { fleetConfigId: string; version: number; formerId: string | null; campaignId: string },
): Promise<boolean> {
  const touched = await tx.execute(
    `update managed_fleet_configs set campaign_id = $4
     where fleet_config_id = $1 and version = $2 and campaign_id is not distinct from $3`,
    [noted.fleetConfigId, noted.version, noted.formerId, noted.campaignId],
  )
  return touched === 1
}

/** Leave a fleet config to people again; false when this owner does not keep it. */
export async function deleteManagedFleetConfig(
  tx: Db,
  fleetConfigId: string,
  owner: string,
): Promise<boolean> {
  const touched = await tx.execute(
    `delete from managed_fleet_configs where fleet_config_id = $1 and owner = $2`,
    [fleetConfigId, owner],
  )
  return touched === 1
}
