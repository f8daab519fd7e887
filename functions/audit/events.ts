import { optional, string, type } from 'superstruct'
import {
  countAuditRecords,
  listAuditRecords,
  listStepComments,
  listSubjectNames,
} from '../../lib/store/audit.ts'
import { decodeCursor, encodeCursor } from '../../lib/store/cursor.ts'
import { AuditPage } from '../../lib/wire/audit.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { nextLink, PAGE_ERRORS, pageQuery, readLimit } from '../../runtime/pagination.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import { auditQuery, FILTER_ERRORS, readFilter, toAuditEventRecord } from './_audit-query.ts'

const ORDER = 'audit.seq'
const LIMIT_DEFAULT = 50
const LIMIT_MAX = 500
const OFFSET_MAX = 1_000_000_000

/** The audit events that the filters match, newest first. */
export default defineHttp({
  route: 'GET /api/audit/events',
  summary: 'A page of audit events, newest first.',
  access: signedIn('audit:view', 'nothing'),
  gate: null,
  params: noParams,
  query: type({ ...auditQuery, ...pageQuery, offset: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The page.', json: AuditPage }],
  errors: [...PAGE_ERRORS, ...FILTER_ERRORS, 'invalid-offset'],
  async handle({ query, target }, ctx) {
    const limit = query.limit === undefined ? LIMIT_DEFAULT : readLimit(query.limit, LIMIT_MAX)
    if (limit === null) return problem('invalid-limit')
    const { offset: offsetText = '0' } = query
    if (!/^\d{1,15}$/.test(offsetText)) return problem('invalid-offset')
    const offset = Math.min(Number(offsetText), OFFSET_MAX)
    const after = query.cursor === undefined ? null : decodeCursor(ORDER, ['number'], query.cursor)
    if (query.cursor !== undefined && after === null) return problem('invalid-cursor')
    const filter = readFilter(query)
    if (!filter.ok) return problemOf(filter)

    const beforeSeq = after === null ? null : Math.trunc(Number(after[0]))
    // A cursor already stands where the offset would lead.
    const page = { beforeSeq, limit: limit + 1, offset: after === null ? offset : 0 }
    const records = await listAuditRecords(ctx.db, filter.filter, page)
    const shown = records.slice(0, limit)
    const cursor = records.length > limit ? encodeCursor(ORDER, [shown.at(-1)!.seq]) : null
    const names = await listSubjectNames(ctx.db, shown)
    const comments = await listStepComments(ctx.db, shown)
    const body: AuditPage = {
      available: true,
      events: shown.map((record) => {
        const name = names.get(record.id)
        const comment = comments.get(record.id)
        return {
          ...toAuditEventRecord(record),
          ...(name === undefined ? {} : { resource_name: name }),
          ...(comment === undefined ? {} : { comment }),
        }
      }),
      total: await countAuditRecords(ctx.db, filter.filter),
      limit,
      offset,
      ...(cursor === null ? {} : { next_cursor: cursor }),
    }
    return json(body, 200, cursor === null ? {} : nextLink(target, cursor))
  },
})
