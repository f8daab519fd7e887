import type { Db } from './db.ts'

/** A workload as far as a report's scope needs it. */
export interface ScopedWorkload {
  id: string
  displayName: string
}

/** A workload as a selector sees it. */
export interface GroupableWorkload extends ScopedWorkload {
  type: string
  version: string
  labels: Readonly<Record<string, string>>
  trustedLabels: Readonly<Record<string, string>>
  fingerprintKeys: Readonly<Record<string, string>>
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

/** The workloads with a trusted label, archived ones left out. */
export async function listWorkloadsByTrustedLabel(
  db: Db,
  key: string,
  value: string,
): Promise<ScopedWorkload[]> {
  const rows = await db.query<Row>(
    `select id, display_name from workloads where archived_at is null and (rule_labels || trusted_labels) ->> $1::text = $2`,
    [key, value],
  )
  return rows.map(toScoped)
}

/** A page of the workloads by id, archived ones left out, with what a selector looks at. */
export async function listGroupableWorkloads(
  db: Db,
  afterId: string,
  limit: number,
): Promise<GroupableWorkload[]> {
  const rows = await db.query<
    Row & {
      type: string
      version: string
      labels: Record<string, string>
      trusted_labels: Record<string, string>
      fingerprint_keys: Record<string, string>
      accepts_remote_config: boolean
      components: Record<string, string[]> | null
    }
  >(
    `select id, display_name, type, version, labels, rule_labels || trusted_labels as trusted_labels, fingerprint_keys, accepts_remote_config,
       available_components -> 'components' as components
     from workloads where archived_at is null and id > $1 order by id limit $2`,
    [afterId, limit],
  )
  return rows.map((row) => ({
    ...toScoped(row),
    type: row.type,
    version: row.version,
    labels: row.labels,
    trustedLabels: row.trusted_labels,
    fingerprintKeys: row.fingerprint_keys,
    acceptsRemoteConfig: row.accepts_remote_config,
    availableComponents: row.components,
  }))
}
