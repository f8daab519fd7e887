import { array, optional, string, type } from 'superstruct'
import { toEventRecord } from '../../lib/fleet/views/event.ts'
import { readTime } from '../../lib/model/times.ts'
import { decodeCursor, encodeCursor } from '../../lib/store/cursor.ts'
import { listEvents } from '../../lib/store/workload-events.ts'
import { WorkloadEventRecord } from '../../lib/wire/events.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { nextLink, pageQuery } from '../../runtime/pagination.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

const ORDER = 'workload_events.occurred_at'
const LIMIT_DEFAULT = 100
const LIMIT_MAX = 500

/** Anything but 1 to 500 stands for 100: this endpoint refuses no limit. */
function readEventLimit(text: string | undefined): number {
  const number = text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= LIMIT_MAX ? number : LIMIT_DEFAULT
}

/** The lifecycle log of a workload, newest first. */
export default defineHttp({
  route: 'GET /api/workloads/:id/events',
  summary: 'The lifecycle events of a workload, newest first.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: workloadParams,
  query: type({ ...pageQuery, since: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The events.', json: array(WorkloadEventRecord) }],
  errors: ['invalid-cursor', 'workload-not-found'],
  async handle({ params, query, target }, ctx) {
    if (findWorkload(ctx, params.id) === null) return problem('workload-not-found')
    const after = query.cursor === undefined ? null : decodeCursor(ORDER, ['number', 'number'], query.cursor)
    if (query.cursor !== undefined && after === null) return problem('invalid-cursor')
    const limit = readEventLimit(query.limit)
    // Events that wait to be written are written first: a browser that was told of a workload finds its event.
    const db = await ctx.db.upToDate()
    const rows = await listEvents(db, params.id, {
      since: query.since === undefined ? null : readTime(query.since),
      before:
        after === null ? null : { occurredAt: new Date(Number(after[0])), id: Math.trunc(Number(after[1])) },
      limit: limit + 1,
    })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const headers =
      last === undefined || rows.length <= limit
        ? {}
        : nextLink(target, encodeCursor(ORDER, [last.occurredAt.getTime(), last.id]))
    return json(page.map(toEventRecord), 200, headers)
  },
})
