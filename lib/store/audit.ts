import { columns } from './columns.ts'
import type { Db } from './db.ts'
import { LOCK_SPACE } from './lock-statements.ts'

const AUDIT_LOCK = 2

/** Make audit writers take turns until their transactions end. */
export async function lockAuditChain(tx: Db): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${AUDIT_LOCK})`)
}

/** The last record's place and hash. */
export async function readAuditHead(db: Db): Promise<AuditHead> {
  const rows = await db.query<{ seq: number; event_hash: string }>(
    'SELECT seq, event_hash FROM audit_events ORDER BY seq DESC LIMIT 1',
  )
  return rows[0] ? { seq: rows[0].seq, hash: rows[0].event_hash } : EMPTY_HEAD
}

/** Append records, in their order, by one statement. */
export async function insertAuditRecords(tx: Db, records: readonly AuditRecord[]): Promise<void> {
  await tx.execute(
    `INSERT INTO audit_events (${RECORD.names}) SELECT ${RECORD.namesOf('r')} FROM ${RECORD.unnested('r')} ORDER BY seq`,
    RECORD.listsOfRows(records),
  )
}

/**
 * Filters, exact but for `person` and `workload`; an absent one lets everything through. `from` and `to` are inclusive.
 */
export interface AuditFilter {
  /** User id or e-mail, whichever fits. */
  user?: string
  userId?: string
  email?: string
  action?: string
  /** Any of these. */
  actions?: readonly string[]
  /** A part of the e-mail, whatever its case. */
  person?: string
  /** A workload's id, or a part of its name, whatever its case; one that was deleted has no name any more. */
  workload?: string
  resourceId?: string
  workloadId?: string
  configHash?: string
  from?: Date
  to?: Date
}

const RECORD = columns<keyof AuditRecord>({
  seq: 'seq bigint',
  id: 'id uuid',
  occurredAt: 'occurred_at timestamptz',
  action: 'action text',
  userId: 'user_id text',
  email: 'email text',
  resource: 'resource text',
  resourceId: 'resource_id text',
  workloadId: 'workload_id text',
  configHash: 'config_hash text',
  detail: 'detail text',
  prevHash: 'prev_hash text',
  eventHash: 'event_hash text',
})

function whereOf(filter: AuditFilter): { where: string; params: unknown[] } {
  const params: unknown[] = []
  const conditions: string[] = []
  const add = (condition: string, value: unknown) => {
    if (value === undefined) return
    params.push(value)
    conditions.push(condition.replaceAll('?', `$${params.length}`))
  }
  add('(user_id = ? OR email = ?)', filter.user)
  add('user_id = ?', filter.userId)
  add('email = ?', filter.email)
  add('action = ?', filter.action)
  add('action = any(?::text[])', filter.actions)
  add('position(lower(?::text) in lower(email)) > 0', filter.person)
  add(
    `(workload_id = ? OR workload_id IN (SELECT id FROM workloads
       WHERE position(lower(?::text) in lower(coalesce(nullif(display_name, ''), fingerprint_keys->>'name', id))) > 0))`,
    filter.workload,
  )
  add('resource_id = ?', filter.resourceId)
  add('workload_id = ?', filter.workloadId)
  add('config_hash = ?', filter.configHash)
  add('occurred_at >= ?', filter.from)
  add('occurred_at <= ?', filter.to)
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '', params }
}

/** Records that fit, newest first: those before `beforeSeq` where it is given, after skipping `offset`. */
export async function listAuditRecords(
  db: Db,
  filter: AuditFilter,
  page: { beforeSeq: number | null; limit: number; offset: number },
): Promise<AuditRecord[]> {
  const { where, params } = whereOf(filter)
  const before =
    page.beforeSeq === null ? '' : `${where === '' ? 'WHERE' : 'AND'} seq < $${params.length + 3}`
  return db.query<AuditRecord>(
    `SELECT ${RECORD.select()} FROM audit_events ${where} ${before} ORDER BY seq DESC
     LIMIT $${params.length + 1} OFFSET $${params.length + 2}`,
    [...params, page.limit, page.offset, ...(page.beforeSeq === null ? [] : [page.beforeSeq])],
  )
}

/** Names by kind and id; what the log is about and what people know by a name. */
const NAMED: Readonly<Record<string, string>> = {
  user: `select id::text as id, email as name from users where kind <> 'service'`,
  service_account: `select id::text as id, regexp_replace(email, '^[^:]*:', '') as name from users where kind = 'service'`,
  campaign: 'select id::text as id, name from campaigns',
  fleet_config: 'select id::text as id, name from fleet_configs',
  group: 'select id::text as id, name from groups',
  push_group: 'select id::text as id, name from push_groups',
}

/** What the subjects of these records are called now, by the record's id; those that are gone have no name. */
export async function listSubjectNames(
  db: Db,
  records: readonly Pick<AuditRecord, 'id' | 'resource' | 'resourceId'>[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const [resource, named] of Object.entries(NAMED)) {
    const about = records.filter((record) => record.resource === resource && record.resourceId !== '')
    if (about.length === 0) continue
    const ids = [...new Set(about.map(({ resourceId }) => resourceId))]
    const rows = await db.query<{ id: string; name: string }>(
      `select id, name from (${named}) named where id = any($1::text[])`,
      [ids],
    )
    const found = new Map(rows.map(({ id, name }) => [id, name]))
    for (const { id, resourceId } of about) if (found.has(resourceId)) names.set(id, found.get(resourceId)!)
  }
  return names
}

/** The request of a record of one of its steps, whose detail begins with the id. */
const REQUEST_STEP = /^config\.approval\.(request|approve|reject|withdraw|push|break_glass_push)$/

/**
 * What was said with each of these records of a step of a request, as the request still has it, by the record's id: the
 * log keeps which request it was.
 */
export async function listStepComments(
  db: Db,
  records: readonly Pick<AuditRecord, 'id' | 'action' | 'userId' | 'detail'>[],
): Promise<Map<string, string>> {
  const steps = records.flatMap(({ id, action, userId, detail }) => {
    const [, step] = REQUEST_STEP.exec(action) ?? []
    return step === undefined ? [] : [{ id, step, user_id: userId, approval_id: detail.split(':', 1)[0]! }]
  })
  if (steps.length === 0) return new Map()
  const rows = await db.query<{ id: string; comment: string | null }>(
    `select s.id, case s.step
         when 'request' then a.request_comment
         when 'approve' then v.comment
         when 'push' then a.push_comment
         when 'break_glass_push' then a.push_comment
         else a.close_comment end as comment
       from jsonb_to_recordset($1::jsonb) as s (id text, step text, user_id text, approval_id text)
       join approvals a on a.id = s.approval_id
       left join approval_votes v on v.approval_id = a.id and v.user_id::text = s.user_id
       where a.id = any($2::text[])`,
    [JSON.stringify(steps), [...new Set(steps.map(({ approval_id: id }) => id))]],
  )
  return new Map(rows.flatMap(({ id, comment }) => (comment ? [[id, comment] as const] : [])))
}

/** Those of the records with these ids that are there, in the chain's order. */
export async function findAuditRecords(db: Db, ids: readonly string[]): Promise<AuditRecord[]> {
  return db.query<AuditRecord>(
    `SELECT ${RECORD.select()} FROM audit_events WHERE id = any($1::uuid[]) ORDER BY seq`,
    [ids],
  )
}

/** How many records fit. */
export async function countAuditRecords(db: Db, filter: AuditFilter): Promise<number> {
  const { where, params } = whereOf(filter)
  const rows = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM audit_events ${where}`,
    params,
  )
  return rows[0]!.count
}

/** Records in the chain's order, after `afterSeq`. */
export async function listAuditChain(db: Db, afterSeq: number, limit: number): Promise<AuditRecord[]> {
  return db.query<AuditRecord>(
    `SELECT ${RECORD.select()} FROM audit_events WHERE seq > $1 ORDER BY seq LIMIT $2`,
    [afterSeq, limit],
  )
}

/** An event with its place in the chain. Absent texts are empty. */
export interface AuditRecord {
  /** From 1, without gaps. */
  seq: number
  id: string
  occurredAt: Date
  action: string
  userId: string
  email: string
  resource: string
  resourceId: string
  workloadId: string
  configHash: string
  detail: string
  /** The former record's `eventHash`; 64 zeros for the first. Lower-case hex. */
  prevHash: string
  eventHash: string
}

/** The last record of the chain: cutting records off the end changes it. */
export interface AuditHead {
  seq: number
  hash: string
}

/** The `prevHash` of the first record. */
export const GENESIS_HASH = '0'.repeat(64)

/** The head of a chain without records. */
export const EMPTY_HEAD: AuditHead = { seq: 0, hash: GENESIS_HASH }
