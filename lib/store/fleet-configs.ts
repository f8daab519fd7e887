import type { Selector } from '../wire/selectors.ts'
import type { Page } from './cursor.ts'
import type { Db } from './db.ts'

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

/** A version without its text. It never changes. */
export interface StoredVersionSummary {
  fleetConfigId: string
  number: number
  /** SHA-256 of the text. */
  hash: string
  variables: readonly StoredVariable[]
  valueTable: StoredValueTable | null
  comment: string
  /** An e-mail. */
  author: string
  authorId: string
  createdAt: Date
}

export interface StoredVersion extends StoredVersionSummary {
  body: string
}

interface ConfigRow {
  id: string
  name: string
  description: string
  selector: Selector
  priority: number
  newest_version: number
  created_by: string
  created_at: Date
  updated_at: Date
}

interface VersionRow {
  fleet_config_id: string
  number: number
  hash: string
  variables: StoredVariable[]
  value_table: StoredValueTable | null
  comment: string
  author: string
  author_id: string
  created_at: Date
}

const CONFIG_COLUMNS =
  'id, name, description, selector, priority, newest_version, created_by, created_at, updated_at'
const VERSION_COLUMNS =
  'fleet_config_id, number, hash, variables, value_table, comment, author, author_id, created_at'

const toConfig = (row: ConfigRow): StoredFleetConfig => ({
  id: row.id,
  name: row.name,
  description: row.description,
  selector: row.selector,
  priority: row.priority,
  newestVersion: row.newest_version,
  createdBy: row.created_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toVersion = (row: VersionRow): StoredVersionSummary => ({
  fleetConfigId: row.fleet_config_id,
  number: row.number,
  hash: row.hash,
  variables: row.variables,
  valueTable: row.value_table,
  comment: row.comment,
  author: row.author,
  authorId: row.author_id,
  createdAt: row.created_at,
})

/** All fleet configs, the oldest first. */
export async function listFleetConfigs(db: Db): Promise<StoredFleetConfig[]> {
  const rows = await db.query<ConfigRow>(
    `select ${CONFIG_COLUMNS} from fleet_configs order by created_at, id`,
  )
  return rows.map(toConfig)
}

/** Store a new fleet config; false when its name is taken. */
export async function insertFleetConfig(tx: Db, config: StoredFleetConfig): Promise<boolean> {
  const touched = await tx.execute(
    `insert into fleet_configs (${CONFIG_COLUMNS}) values ($1, $2, $3, $4::jsonb, $5, $6, $7, $8, $9)
     on conflict (name) do nothing`,
    [
      config.id,
      config.name,
      config.description,
      JSON.stringify(config.selector),
      config.priority,
      config.newestVersion,
      config.createdBy,
      config.createdAt,
      config.updatedAt,
    ],
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

/** Remove a fleet config with its versions; false when a workload is under it, or there is none. */
export async function deleteFleetConfig(tx: Db, id: string): Promise<boolean> {
  const touched = await tx.execute(
    `delete from fleet_configs where id = $1
       and not exists (select from fleet_config_members where fleet_config_id = $1)`,
    [id],
  )
  return touched === 1
}

/** Store the next version of a fleet config, whose number comes back; null when there is no such config. */
export async function insertVersion(tx: Db, version: Omit<StoredVersion, 'number'>): Promise<number | null> {
  const rows = await tx.query<{ newest_version: number }>(
    `update fleet_configs set newest_version = newest_version + 1, updated_at = $2 where id = $1
     returning newest_version`,
    [version.fleetConfigId, version.createdAt],
  )
  const number = rows[0]?.newest_version
  if (number === undefined) return null
  await tx.execute(
    `insert into fleet_config_versions (${VERSION_COLUMNS}, body)
     values ($1, $2, $3, $4::jsonb, $5::jsonb, $6, $7, $8, $9, $10)`,
    [
      version.fleetConfigId,
      number,
      version.hash,
      JSON.stringify(version.variables),
      version.valueTable === null ? null : JSON.stringify(version.valueTable),
      version.comment,
      version.author,
      version.authorId,
      version.createdAt,
      version.body,
    ],
  )
  return number
}

/** Versions of a fleet config without their texts, the newest first; the page's key is the number. */
export async function listVersions(
  db: Db,
  fleetConfigId: string,
  page: Page,
): Promise<StoredVersionSummary[]> {
  const rows = await db.query<VersionRow>(
    `select ${VERSION_COLUMNS} from fleet_config_versions
     where fleet_config_id = $1 and ($2::integer is null or number < $2) order by number desc limit $3`,
    [fleetConfigId, page.after?.[0] ?? null, page.limit],
  )
  return rows.map(toVersion)
}

/** One version with its text; null when there is none. */
export async function findVersion(
  db: Db,
  fleetConfigId: string,
  number: number,
): Promise<StoredVersion | null> {
  const rows = await db.query<VersionRow & { body: string }>(
    `select ${VERSION_COLUMNS}, body from fleet_config_versions where fleet_config_id = $1 and number = $2`,
    [fleetConfigId, number],
  )
  return rows[0] === undefined ? null : { ...toVersion(rows[0]), body: rows[0].body }
}

/** Under which fleet config each workload was last seen. */
export async function listMembers(db: Db): Promise<Map<string, string>> {
  const rows = await db.query<{ workload_id: string; fleet_config_id: string }>(
    `select workload_id, fleet_config_id from fleet_config_members`,
  )
  return new Map(rows.map((row) => [row.workload_id, row.fleet_config_id]))
}

/** Write down under which fleet configs workloads are now; whose row, or whose config, is there is answered. */
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
  return rows.map((row) => row.workload_id)
}

/** Workloads are under no fleet config any more. */
export async function removeMembers(tx: Db, workloadIds: readonly string[]): Promise<void> {
  await tx.execute(`delete from fleet_config_members where workload_id = any($1::text[])`, [workloadIds])
}
