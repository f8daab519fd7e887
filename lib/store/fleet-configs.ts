import type { Selector } from '../wire/selectors.ts'
import { keepAuthorsOfFleetConfig } from './authors-of-removed.ts'
import { columns } from './columns.ts'
import type { Page } from './cursor.ts'
import type { Db } from './db.ts'
import { authorsOf } from './text-authors.ts'

/** A named config for many workloads. */
export interface StoredFleetConfig {
  id: string
  name: string
  /** Empty when there is none. */
  description: string
  selector: Selector
  /** The highest counts where several select one workload. */
  priority: number
  /** The number of the newest version; 0 before the first. */
  newestVersion: number
  /** An e-mail. */
  createdBy: string
  createdAt: Date
  updatedAt: Date
}

/** A variable that a version declares. */
export interface StoredVariable {
  name: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'duration'
  isRequired: boolean
  pattern: string | null
  fallback: string | null
  description: string
  /** The label that it takes its value from where none is given: identity, trusted or reported; null for none. */
  label: string | null
}

/** Values by the value of a trusted label: `{label: 'muster/site', rows: {paris: {region: 'eu'}}}`. */
export interface StoredValueTable {
  label: string
  rows: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** A version without its text, variables and values, which may be large. It never changes. */
export interface StoredVersionSummary {
  fleetConfigId: string
  number: number
  /** SHA-256 of the text. */
  hash: string
  comment: string
  /** An e-mail. */
  author: string
  authorId: string
  createdAt: Date
}

/** A version with its text. */
export interface StoredVersion extends StoredVersionSummary {
  variables: readonly StoredVariable[]
  valueTable: StoredValueTable | null
  body: string
}

const FLEET_CONFIG = columns<keyof StoredFleetConfig>({
  id: 'id',
  name: 'name',
  description: 'description',
  selector: 'selector',
  priority: 'priority',
  newestVersion: 'newest_version',
  createdBy: 'created_by',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})

const SUMMARY = {
  fleetConfigId: 'fleet_config_id',
  number: 'number',
  hash: 'hash',
  comment: 'comment',
  author: 'author',
  authorId: 'author_id',
  createdAt: 'created_at',
}
const VERSION_SUMMARY = columns<keyof StoredVersionSummary>(SUMMARY)
const VERSION = columns<keyof StoredVersion>({
  ...SUMMARY,
  variables: 'variables',
  valueTable: 'value_table',
  body: 'body',
})

/**
 * SQL for whether two versions of one fleet config push the same: by what they mean, or, of those stored before that was
 * kept, by text, variables and values. It expects rows of fleet_config_versions as `v` and `same`.
 */
export const SAYS_THE_SAME = `same.fleet_config_id = v.fleet_config_id and (same.meaning = v.meaning
    or same.hash = v.hash and same.variables = v.variables and same.value_table is not distinct from v.value_table)`

/** All fleet configs, the oldest first. */
export async function listFleetConfigs(db: Db): Promise<StoredFleetConfig[]> {
  return db.query<StoredFleetConfig>(
    `select ${FLEET_CONFIG.select()} from fleet_configs order by created_at, id`,
  )
}

/** Store a new fleet config; false when its name is taken. */
export async function insertFleetConfig(tx: Db, config: StoredFleetConfig): Promise<boolean> {
  const touched = await tx.execute(
    `insert into fleet_configs (${FLEET_CONFIG.names}) values (${FLEET_CONFIG.places}) on conflict (name) do nothing`,
    FLEET_CONFIG.valuesOf(config),
  )
  return touched === 1
}

/** What of a fleet config may change. */
export type FleetConfigChange = Pick<
  StoredFleetConfig,
  'id' | 'name' | 'description' | 'selector' | 'priority' | 'updatedAt'
>

/** Replace what may change of a fleet config; false when another one has the name, or there is none. */
export async function updateFleetConfig(tx: Db, change: FleetConfigChange): Promise<boolean> {
  const touched = await tx.execute(
    `update fleet_configs set name = $2, description = $3, selector = $4::jsonb, priority = $5, updated_at = $6
     where id = $1 and not exists (select from fleet_configs other where other.name = $2 and other.id <> $1)`,
    [
      change.id,
      change.name,
      change.description,
      JSON.stringify(change.selector),
      change.priority,
      change.updatedAt,
    ],
  )
  return touched === 1
}

/** Hold a fleet config as it is until the transaction ends; null when there is none. */
export async function lockFleetConfig(tx: Db, id: string): Promise<StoredFleetConfig | null> {
  const rows = await tx.query<StoredFleetConfig>(
    `select ${FLEET_CONFIG.select()} from fleet_configs where id = $1 for update`,
    [id],
  )
  return rows[0] ?? null
}

/**
 * Remove a fleet config with its versions, whose authors are kept; false when a workload is under it, or there is none.
 * Its row must be locked.
 */
export async function deleteFleetConfig(tx: Db, id: string): Promise<boolean> {
  await keepAuthorsOfFleetConfig(tx, id)
  const touched = await tx.execute(
    `delete from fleet_configs where id = $1
       and not exists (select from fleet_config_members where fleet_config_id = $1)`,
    [id],
  )
  return touched === 1
}

/** Store the next version of a fleet config and return its number; null when there is no such fleet config. */
export async function insertVersion(
  tx: Db,
  { meaning, ...version }: Omit<StoredVersion, 'number'> & { meaning: string },
): Promise<number | null> {
  const rows = await tx.query<{ newest_version: number }>(
    `update fleet_configs set newest_version = newest_version + 1, updated_at = $2 where id = $1
     returning newest_version`,
    [version.fleetConfigId, version.createdAt],
  )
  const number = rows[0]?.newest_version
  if (number === undefined) return null
  await tx.execute(
    `insert into fleet_config_versions (${VERSION.names}, author_ids, meaning)
     values (${VERSION.places}, ${authorsOf('$11')}, $12)`,
    // Variables are JSON here, not a list of PostgreSQL.
    [
      ...VERSION.valuesOf({ ...version, number, variables: JSON.stringify(version.variables) }),
      version.authorId,
      meaning,
    ],
  )
  return number
}

/** The bytes that the versions take, as they are stored, which an account has made since a time. */
export async function measureVersionsOf(tx: Db, authorId: string, since: Date): Promise<number> {
  const rows = await tx.query<{ bytes: number }>(
    `select coalesce(sum(pg_column_size(body) + pg_column_size(variables) + coalesce(pg_column_size(value_table), 0)
       + 1024), 0)::float8 as bytes
     from fleet_config_versions where author_id = $1 and created_at > $2`,
    [authorId, since],
  )
  return rows[0]!.bytes
}

/** Versions of a fleet config without their texts, variables and values, the newest first; the page's key is the number. */
export async function listVersions(
  db: Db,
  fleetConfigId: string,
  page: Page,
): Promise<StoredVersionSummary[]> {
  return db.query<StoredVersionSummary>(
    `select ${VERSION_SUMMARY.select()} from fleet_config_versions
     where fleet_config_id = $1 and ($2::integer is null or number < $2) order by number desc limit $3`,
    [fleetConfigId, page.after?.[0] ?? null, page.limit],
  )
}

/** The numbers and hashes of the newest versions of a fleet config, the newest first, without their texts and values. */
export const listVersionHashes = (
  db: Db,
  fleetConfigId: string,
  limit: number,
): Promise<{ number: number; hash: string }[]> =>
  db.query(
    `select number, hash from fleet_config_versions where fleet_config_id = $1 order by number desc limit $2`,
    [fleetConfigId, limit],
  )

/** One version with its text; null when there is none. */
export async function findVersion(
  db: Db,
  fleetConfigId: string,
  number: number,
): Promise<StoredVersion | null> {
  const rows = await db.query<StoredVersion>(
    `select ${VERSION.select()} from fleet_config_versions where fleet_config_id = $1 and number = $2`,
    [fleetConfigId, number],
  )
  return rows[0] ?? null
}

/**
 * The hash of what a version says, its values with it (that of its text where it has none), and when it was written; null
 * when there is no such version.
 */
export async function findContent(
  db: Db,
  fleetConfigId: string,
  number: number,
): Promise<{ hash: string; createdAt: Date } | null> {
  const rows = await db.query<{ hash: string; createdAt: Date }>(
    `select content_hash as hash, created_at as "createdAt" from fleet_config_versions
     where fleet_config_id = $1 and number = $2`,
    [fleetConfigId, number],
  )
  return rows[0] ?? null
}

/** Under which fleet config each workload was last seen. */
export async function listMembers(db: Db): Promise<Map<string, string>> {
  const rows = await db.query<{ workload_id: string; fleet_config_id: string }>(
    `select workload_id, fleet_config_id from fleet_config_members`,
  )
  return new Map(rows.map((row) => [row.workload_id, row.fleet_config_id]))
}

/** Store which fleet config each workload is under now, where both still exist; returns the workloads stored. */
export async function storeMembers(
  tx: Db,
  members: readonly { workloadId: string; fleetConfigId: string }[],
  since: Date,
): Promise<string[]> {
  const rows = await tx.query<{ workload_id: string }>(
    `insert into fleet_config_members (workload_id, fleet_config_id, since)
     select m.workload, m.config, $3
     from unnest($1::text[], $2::uuid[]) as m (workload, config)
     join workloads w on w.id = m.workload
     join fleet_configs f on f.id = m.config
     on conflict (workload_id) do update
       set fleet_config_id = excluded.fleet_config_id, since = excluded.since
     returning workload_id`,
    [members.map((one) => one.workloadId), members.map((one) => one.fleetConfigId), since],
  )
  await tx.execute(
    `insert into fleet_config_moves (workload_id, fleet_config_id)
     select workload_id, fleet_config_id from fleet_config_members where workload_id = any($1::text[])
     on conflict (workload_id) do update set
       came_at = case when fleet_config_moves.fleet_config_id = excluded.fleet_config_id
         then fleet_config_moves.came_at else $2::timestamptz end,
       fleet_config_id = excluded.fleet_config_id`,
    [rows.map((row) => row.workload_id), since],
  )
  return rows.map((row) => row.workload_id)
}

/** Take workloads out from under any fleet config; `fleet_config_moves` remembers the one they were under. */
export async function removeMembers(tx: Db, workloadIds: readonly string[]): Promise<void> {
  await tx.execute(`delete from fleet_config_members where workload_id = any($1::text[])`, [workloadIds])
}
