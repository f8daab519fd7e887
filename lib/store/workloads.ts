import type { AvailableComponents } from '../model/components.ts'
import type { WORKLOAD_STATUSES } from '../wire/values.ts'
import { keepAuthorsOfWorkload } from './authors-of-removed.ts'
import { columns } from './columns.ts'
import type { Database, Db } from './db.ts'
import type { AgentError } from './pushes.ts'
import { textsOf } from './readable-workload.ts'

/** Whether a workload counts as connected and as healthy, as `lib/fleet/state/derive.ts` judges it. */
export type WorkloadStatus = (typeof WORKLOAD_STATUSES)[number]

/** A workload's stored record. */
export interface StoredWorkload {
  readonly id: string
  fingerprintSource: 'k8s' | 'host' | 'uid'
  fingerprintKeys: Readonly<Record<string, string>>
  displayName: string
  type: 'collector' | 'sdk'
  version: string
  status: WorkloadStatus
  lastSeenAt: Date
  labels: Readonly<Record<string, string>>
  /** Trusted labels that operators set by hand; they win over `ruleLabels`. */
  handLabels: Readonly<Record<string, string>>
  /** Trusted labels that the label rules give. */
  ruleLabels: Readonly<Record<string, string>>
  acceptsRemoteConfig: boolean
  remoteConfigStatus: {
    status: 'applying' | 'applied' | 'failed'
    configHash: string
    updatedAt: string
    error: AgentError | null
  } | null
  availableComponents: AvailableComponents | null
  activeHash: string | null
  activePushId: string | null
  rolloutPushId: string | null
  generation: number
  pushSeq: number
  disconnectedAt: Date | null
  archivedAt: Date | null
  createdAt: Date
}

/** The columns that `upsertReportedWorkloads` writes, with their types: what agents report and what follows from it. */
const REPORTED = {
  id: 'id text',
  fingerprintSource: 'fingerprint_source text',
  fingerprintKeys: 'fingerprint_keys jsonb',
  displayName: 'display_name text',
  type: 'type text',
  version: 'version text',
  status: 'status text',
  lastSeenAt: 'last_seen_at timestamptz',
  labels: 'labels jsonb',
  ruleLabels: 'rule_labels jsonb',
  acceptsRemoteConfig: 'accepts_remote_config boolean',
  remoteConfigStatus: 'remote_config_status jsonb',
  availableComponents: 'available_components jsonb',
  disconnectedAt: 'disconnected_at timestamptz',
  archivedAt: 'archived_at timestamptz',
  createdAt: 'created_at timestamptz',
}
const REPORT = columns<keyof typeof REPORTED>(REPORTED)
const COLUMNS = columns<keyof StoredWorkload>({
  ...REPORTED,
  handLabels: 'trusted_labels',
  activeHash: 'active_config_hash',
  activePushId: 'active_push_id',
  rolloutPushId: 'rollout_push_id',
  generation: 'generation',
  pushSeq: 'push_seq',
}).select()
/** A new report changes these. */
const CHANGING = REPORT.replaced(
  'displayName',
  'type',
  'version',
  'status',
  'lastSeenAt',
  'labels',
  'ruleLabels',
  'acceptsRemoteConfig',
  'remoteConfigStatus',
  'availableComponents',
  'disconnectedAt',
)

/** Every workload, archived ones included. */
export async function listWorkloads(db: Db): Promise<StoredWorkload[]> {
  return db.query<StoredWorkload>(`select ${COLUMNS} from workloads order by id`)
}

/** One workload; null when there is none. */
export async function findWorkload(db: Db, id: string): Promise<StoredWorkload | null> {
  const rows = await db.query<StoredWorkload>(`select ${COLUMNS} from workloads where id = $1`, [id])
  return rows[0] ?? null
}

/** One workload, locked until the transaction ends. */
export async function lockWorkload(tx: Db, id: string): Promise<StoredWorkload | null> {
  const rows = await tx.query<StoredWorkload>(`select ${COLUMNS} from workloads where id = $1 for update`, [
    id,
  ])
  return rows[0] ?? null
}

/** Wait until every transaction under way that has locked this workload has ended. */
export async function waitForWorkload(db: Database, id: string): Promise<void> {
  await db.transaction('workload.wait', (tx) => lockWorkload(tx, id))
}

/** Several workloads, locked by id until the transaction ends; those that are gone are left out. */
export async function lockWorkloadRows(tx: Db, ids: readonly string[]): Promise<StoredWorkload[]> {
  return tx.query<StoredWorkload>(
    `select ${COLUMNS} from workloads where id = any($1::text[]) order by id for update`,
    [ids],
  )
}

/**
 * Write what agents report of many workloads, and the labels that rules give them, in one statement; new ones are
 * created. What operators and pushes decide (labels set by hand, active config, seq) is not touched here.
 */
export async function upsertReportedWorkloads(tx: Db, workloads: readonly StoredWorkload[]): Promise<void> {
  await tx.execute(
    `insert into workloads (${REPORT.names}, trusted_labels, generation, push_seq)
     select ${REPORT.namesOf('r')}, '{}', 0, 0 from ${REPORT.unnested('r')}
     order by id
     on conflict (id) do update set ${CHANGING},
       -- Only a workload that lives again leaves the archive; archiving has a statement of its own.
       archived_at = case when excluded.status = 'disconnected' then workloads.archived_at end`,
    REPORT.listsOfRows(workloads),
  )
}

/** The labels that operators set on some workloads, as stored. */
export async function listHandLabels(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Readonly<Record<string, string>>>> {
  const rows = await db.query<{ id: string; labels: unknown }>(
    'select id, trusted_labels as labels from workloads where id = any($1::text[])',
    [ids],
  )
  return new Map(rows.map(({ id, labels }) => [id, textsOf(labels)]))
}

/** Lock workloads that several statements of a transaction are going to write, by id, as every transaction does. */
export async function lockWorkloads(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.execute(`select from workloads where id = any($1::text[]) order by id for no key update`, [ids])
}

/** Write only when many workloads were last heard of. */
export async function touchWorkloads(
  tx: Db,
  seen: readonly { id: string; lastSeenAt: Date }[],
): Promise<void> {
  await tx.execute(
    `update workloads w set last_seen_at = s.seen
     from unnest($1::text[], $2::timestamptz[]) as s (id, seen)
     where w.id = s.id and w.last_seen_at < s.seen`,
    [seen.map((s) => s.id), seen.map((s) => s.lastSeenAt)],
  )
}

/** What a workload is assigned from now on. */
export interface NewAssignment {
  workloadId: string
  hash: string
  pushId: string
  generation: number
  seq: number
}

/**
 * Make pushes the assignments of their workloads, in the place of rollouts too. The rows must be locked by this
 * transaction.
 */
export async function assignPushes(tx: Db, assigned: readonly NewAssignment[]): Promise<void> {
  if (assigned.length === 0) return
  await tx.execute(
    `update workloads w set active_config_hash = a.hash, active_push_id = a.push_id, generation = a.generation,
       push_seq = a.seq, rollout_push_id = null
     from unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[], $5::bigint[])
       as a (workload_id, hash, push_id, generation, seq)
     where w.id = a.workload_id and w.id = any($1::text[])`,
    [
      assigned.map(({ workloadId }) => workloadId),
      assigned.map(({ hash }) => hash),
      assigned.map(({ pushId }) => pushId),
      assigned.map(({ generation }) => generation),
      assigned.map(({ seq }) => seq),
    ],
  )
}

/** Archive a workload if it is disconnected; false when it is not, or is not there. */
export async function archiveIfDisconnected(tx: Db, id: string, now: Date): Promise<boolean> {
  const touched = await tx.execute(
    `update workloads set archived_at = coalesce(archived_at, $2) where id = $1 and status = 'disconnected'`,
    [id, now],
  )
  return touched === 1
}

/** What operators have set on a workload, the push that it is assigned, and how many pushes it has had. */
export interface OperatorSettings {
  activePushId: string | null
  pushSeq: number
  handLabels: Readonly<Record<string, string>>
  /** Some of them are no texts, and are left out. */
  hasUnreadableLabels: boolean
  /** Null when none is pinned. */
  knownGoodHash: string | null
  archivedAt: Date | null
}

/** What operators have set, by workload; of one workload when its id is given. */
export async function listOperatorSettings(
  db: Db,
  id: string | null = null,
): Promise<Map<string, OperatorSettings>> {
  const rows = await db.query<{
    id: string
    active_push_id: string | null
    push_seq: number
    trusted_labels: Record<string, string>
    config_hash: string | null
    archived_at: Date | null
  }>(
    `select w.id, w.active_push_id, w.push_seq, w.trusted_labels, w.archived_at, k.config_hash
     from workloads w left join known_good_configs k on k.workload_id = w.id
     where $1::text is null or w.id = $1`,
    [id],
  )
  return new Map(
    rows.map((row) => [
      row.id,
      {
        activePushId: row.active_push_id,
        pushSeq: row.push_seq,
        handLabels: textsOf(row.trusted_labels),
        hasUnreadableLabels: textsOf(row.trusted_labels) !== row.trusted_labels,
        knownGoodHash: row.config_hash,
        archivedAt: row.archived_at,
      },
    ]),
  )
}

/** Remove a workload with everything that belongs to it but for who asked for what; false when there was none. */
export async function deleteWorkload(tx: Db, id: string): Promise<boolean> {
  await lockWorkload(tx, id)
  await keepAuthorsOfWorkload(tx, id)
  return (await tx.execute(`delete from workloads where id = $1`, [id])) === 1
}

/** The same of one that was archived before `before`; false when it was not, or is not there. */
export async function deleteIfArchived(tx: Db, id: string, before: Date): Promise<boolean> {
  await lockWorkload(tx, id)
  await keepAuthorsOfWorkload(tx, id)
  const removed = await tx.execute(
    `delete from workloads where id = $1 and status = 'disconnected' and archived_at < $2`,
    [id, before],
  )
  return removed === 1
}

/**
 * Remove a disconnected workload that was never pushed to, has no labels set by hand, and for which nobody ever
 * requested a config; false when it is not such a workload, or is not there.
 */
export async function deleteIfUntouched(tx: Db, id: string): Promise<boolean> {
  const removed = await tx.execute(
    `delete from workloads w where w.id = $1 and w.status = 'disconnected' and w.push_seq = 0
       and w.trusted_labels = '{}' and not exists (select from approvals a where a.workload_id = w.id)
       and not exists (select from workload_holds h where h.workload_id = w.id)
       and not exists (select from workload_variables v where v.workload_id = w.id)
       and not exists (select from managed_configs m where m.workload_id = w.id)`,
    [id],
  )
  return removed === 1
}

/** Replace the labels that operators set on a workload by hand; false when there is no such workload. */
export async function setTrustedLabels(
  tx: Db,
  id: string,
  labels: Readonly<Record<string, string>>,
): Promise<boolean> {
  return (
    (await tx.execute(`update workloads set trusted_labels = $2::jsonb where id = $1`, [
      id,
      JSON.stringify(labels),
    ])) === 1
  )
}
