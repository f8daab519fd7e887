import type { Db } from './db.ts'
import { keptByFleetConfig } from './fleet-wishes.ts'

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

/** The entry in Git of the fleet config by which a workload is kept there; null for none. */
export async function findFleetKeeper(db: Db, workloadId: string): Promise<ManagedFleetConfig | null> {
  const rows = await db.query<ManagedFleetConfig>(
    `select ${COLUMNS} from managed_fleet_configs where fleet_config_id = ${keptByFleetConfig('$1')}`,
    [workloadId],
  )
  return rows[0] ?? null
}

/** Whether a campaign has brought what Git asks for to its end: the one that is noted may have carried a version before. */
const IS_CARRIED = `exists (select from campaigns c
  where c.id = m.campaign_id and c.status = 'done' and c.change->>'number' = m.version::text)`

const RAN = `(select case when ${IS_CARRIED}
  then m.commit_sha else m.ran_commit_sha end)`

/**
 * By fleet config the commit that first asked for what a campaign brought last to its end; those of which that is not known
 * are not in it.
 */
export async function listRanCommits(db: Db): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; sha: string }>(
    `select m.fleet_config_id as id, ${RAN} as sha from managed_fleet_configs m`,
  )
  return new Map(rows.flatMap(({ id, sha }) => (sha === '' ? [] : [[id, sha]])))
}

/** SQL for whether a campaign has brought the version `v` to its end, whoever asked for it. */
const IS_BROUGHT = `exists (select from campaigns c where c.status = 'done'
  and c.change->>'fleet_config_id' = v.fleet_config_id::text and c.change->>'number' = v.number::text)`

/**
 * The hashes, with their values, of what Git asked for before of a fleet config, or asked for last before it let go of it,
 * and of what ran before that and was taken back since: those that no campaign has brought to its end, or that none has
 * left there. None while what was asked for last runs.
 */
export async function listUnseenHashes(db: Db, id: string): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    `select distinct v.content_hash as hash
     from fleet_config_versions v left join managed_fleet_configs m on m.fleet_config_id = v.fleet_config_id
     where v.fleet_config_id = $1 and case
       when m.version is null then v.number = (
         select max(w.number) from fleet_config_versions w where w.fleet_config_id = $1 and (
           exists (select from commit_claims l where l.config_hash = w.content_hash and l.place = w.fleet_config_id::text)
           or exists (select from commit_authors c where c.config_hash = w.content_hash and c.by_id = ''))) and not ${IS_BROUGHT}
       when ${IS_CARRIED} then false
       else v.number = m.version or v.number = m.ran_version and not ${IS_BROUGHT} end`,
    [id],
  )
  return rows.map(({ hash }) => hash)
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
 * which commit's text and which version ran, unless that campaign has brought what was asked for until now to its end.
 */
export async function keepManagedFleetConfig(
  tx: Db,
  wish: Omit<ManagedFleetConfig, 'campaignId'>,
): Promise<boolean> {
  const rows = await tx.query<{ owner: string }>(
    `insert into managed_fleet_configs as m
       (fleet_config_id, owner, wish_hash, version, commit_sha, commit_author, applied_at, applied_by,
        applied_by_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (fleet_config_id) do update set wish_hash = excluded.wish_hash, version = excluded.version,
       commit_sha = excluded.commit_sha, commit_author = excluded.commit_author, applied_at = excluded.applied_at,
       applied_by = excluded.applied_by, applied_by_id = excluded.applied_by_id,
       ran_commit_sha = ${RAN}, ran_version = case when ${IS_CARRIED} then m.version else m.ran_version end
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
