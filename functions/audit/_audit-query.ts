import { optional, string, type } from 'superstruct'
import { type Refusal, refuse } from '../../lib/model/refusal.ts'
import { readTime } from '../../lib/model/times.ts'
import type { AuditFilter, AuditRecord } from '../../lib/store/audit.ts'
import type { AuditEventRecord } from '../../lib/wire/audit.ts'

const text = optional(string())

/**
 * The filters of the audit page. Exact but for `person`, a part of an e-mail, and `workload`, a part of a name;
 * `actions` are several, separated by commas; `from` and `to` are RFC 3339.
 */
export const auditQuery = {
  user: text,
  user_id: text,
  email: text,
  action: text,
  actions: text,
  person: text,
  workload: text,
  resource_id: text,
  workload_id: text,
  config_hash: text,
  from: text,
  to: text,
}

/** The query of an endpoint that answers all matching events. */
export const AuditQuery = type(auditQuery)

type Query = { [name in keyof typeof auditQuery]?: string | undefined }

/** Actions that one filter can name; there are not as many kinds. */
const ACTIONS_MAX = 100

const readBound = (value: string | undefined): Date | null | undefined =>
  value === undefined || value === '' ? undefined : readTime(value)

/** What a filter can be refused for. */
export const FILTER_ERRORS = ['invalid-time', 'too-many-actions'] as const
type AuditQueryRefusal = Refusal<(typeof FILTER_ERRORS)[number]>

/** The filter that a query asks for; an empty parameter is absent. */
export function readFilter(query: Query): { ok: true; filter: AuditFilter } | AuditQueryRefusal {
  const from = readBound(query.from)
  if (from === null) return refuse('invalid-time', { parameter: 'from' })
  const to = readBound(query.to)
  if (to === null) return refuse('invalid-time', { parameter: 'to' })
  const given = (value: string | undefined) => value || undefined
  const actions = given(query.actions)?.split(',')
  if (actions !== undefined && actions.length > ACTIONS_MAX) return refuse('too-many-actions')
  const filter = {
    user: given(query.user),
    userId: given(query.user_id),
    email: given(query.email),
    action: given(query.action),
    actions,
    person: given(query.person),
    workload: given(query.workload),
    resourceId: given(query.resource_id),
    workloadId: given(query.workload_id),
    configHash: given(query.config_hash),
    from,
    to,
  }
  return { ok: true, filter }
}

/** A record as the wire shows it; what is empty is left out. */
export function toAuditEventRecord(record: AuditRecord): AuditEventRecord {
  const filled = {
    user_id: record.userId,
    email: record.email,
    resource: record.resource,
    resource_id: record.resourceId,
    workload_id: record.workloadId,
    config_hash: record.configHash,
    detail: record.detail,
    prev_hash: record.prevHash,
    event_hash: record.eventHash,
  }
  return {
    id: record.id,
    seq: record.seq,
    occurred_at: record.occurredAt.toISOString(),
    action: record.action,
    ...Object.fromEntries(Object.entries(filled).filter(([, value]) => value !== '')),
  }
}
