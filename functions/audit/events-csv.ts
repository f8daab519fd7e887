import { csvCell } from '../../lib/reports/csv.ts'
import { type AuditFilter, type AuditRecord, listAuditRecords } from '../../lib/store/audit.ts'
import type { Db } from '../../lib/store/db.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { bytes, problemOf } from '../../runtime/reply.ts'
import { AuditQuery, FILTER_ERRORS, readFilter } from './_audit-query.ts'

const COLUMNS = [
  'id',
  'occurred_at',
  'action',
  'user_id',
  'email',
  'resource',
  'resource_id',
  'workload_id',
  'config_hash',
  'detail',
  'prev_hash',
  'event_hash',
  'immutable_ref',
]
const CHUNK = 500

/** Every event that the filter matches, as CSV, streamed; newest first. */
export default defineHttp({
  route: 'GET /api/audit/events.csv',
  summary: 'The audit events as CSV.',
  access: signedIn('audit:view', 'nothing'),
  gate: null,
  params: noParams,
  query: AuditQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The events.', contentType: 'text/csv; charset=utf-8' }],
  errors: FILTER_ERRORS,
  async handle({ query }, ctx) {
    const filter = readFilter(query)
    if (!filter.ok) return problemOf(filter)
    const first = await fetchChunk(ctx.db, filter.filter, null)
    return bytes(streamCsv(ctx.db, filter.filter, first), 'text/csv; charset=utf-8', {
      'Content-Disposition': 'attachment; filename="audit-events.csv"',
    })
  },
})

const fetchChunk = (db: Db, filter: AuditFilter, beforeSeq: number | null) =>
  listAuditRecords(db, filter, { beforeSeq, limit: CHUNK, offset: 0 })

async function* streamCsv(db: Db, filter: AuditFilter, first: AuditRecord[]): AsyncIterable<string> {
  yield `${COLUMNS.join(',')}\n`
  for (let records = first; records.length > 0; ) {
    yield records.map(toLine).join('')
    records = records.length < CHUNK ? [] : await fetchChunk(db, filter, records.at(-1)!.seq)
  }
}

function toLine(record: AuditRecord): string {
  const cells = [
    record.id,
    record.occurredAt.toISOString(),
    record.action,
    record.userId,
    record.email,
    record.resource,
    record.resourceId,
    record.workloadId,
    record.configHash,
    record.detail,
    record.prevHash,
    record.eventHash,
    '',
  ]
  return `${cells.map(csvCell).join(',')}\n`
}
