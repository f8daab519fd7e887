import type { Db } from './db.ts'

/** A workload as far as a report's scope needs it. */
export interface ScopedWorkload {
  id: string
  displayName: string
}

/** A workload as a group's selector sees it. */
export interface GroupableWorkload extends ScopedWorkload {
  type: string
  version: string
  labels: Readonly<Record<string, string>>
  trustedLabels: Readonly<Record<string, string>>
  acceptsRemoteConfig: boolean
  availableComponents: Readonly<Record<string, readonly string[]>> | null
}

interface Row {
  id: string
  display_name: string
}

const toScoped = (row: Row): ScopedWorkload => ({ id: row.id, displayName: row.display_name })

/** Those of some ids that exist, archived ones included. */
export async function listWorkloadsByIds(db: Db, ids: readonly string[]): Promise<ScopedWorkload[]> {
  const rows = await db.query<Row>('select id, display_name from workloads where id = any($1::text[])', [ids])
  return rows.map(toScoped)
}

/** Live workloads with a trusted label. */
export async function listWorkloadsByTrustedLabel(
  db: Db,
  key: string,
  value: string,
): Promise<ScopedWorkload[]> {
  const rows = await db.query<Row>(
    `select id, display_name from workloads where archived_at is null and trusted_labels ->> $1::text = $2`,
    [key, value],
  )
  return rows.map(toScoped)
}

/**
 * Live workloads that have every pair of a selector, as a label, a trusted label with its prefix, or a key that
 * identifies them.
 */
export async function listWorkloadsBySelector(
  db: Db,
  selector: Readonly<Record<string, string>>,
  trustedPrefix: string,
): Promise<ScopedWorkload[]> {
  const rows = await db.query<Row>(
    `select id, display_name from workloads
     where archived_at is null and not exists (
       select 1 from jsonb_each_text($1::jsonb) as wanted
       where labels ->> wanted.key is distinct from wanted.value
         and fingerprint_keys ->> wanted.key is distinct from wanted.value
         and (not starts_with(wanted.key, $2::text)
           or trusted_labels ->> substr(wanted.key, length($2::text) + 1) is distinct from wanted.value))`,
    [JSON.stringify(selector), trustedPrefix],
  )
  return rows.map(toScoped)
}

/** A page of the live workloads by id, with what a group's selector looks at. */
export async function listGroupableWorkloads(
  db: Db,
  afterId: string,
  limit: number,
): Promise<GroupableWorkload[]> {
  const rows = await db.query<
    Row & {
      type: string
      version: string
      trusted_labels: Record<string, string>
      accepts_remote_config: boolean
      components: Record<string, string[]> | null
    }
  >(
    `select id, display_name, type, version, trusted_labels, accepts_remote_config,
       available_components -> 'components' as components
     from workloads where archived_at is null and id > $1 order by id limit $2`,
    [afterId, limit],
  )
  return rows.map((row) => ({
    ...toScoped(row),
    type: row.type,
    version: row.version,
    // Groups look at trusted labels only.
    labels: {},
    trustedLabels: row.trusted_labels,
    acceptsRemoteConfig: row.accepts_remote_config,
    availableComponents: row.components,
  }))
}
