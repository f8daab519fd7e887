import { optional, string, type } from 'superstruct'
import type { Workload } from '../../lib/fleet/model.ts'
import { compareByName, sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { decodeCursor, encodeCursor } from '../../lib/store/cursor.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { nextLink, pageQuery, readLimit } from '../../runtime/pagination.ts'
import { jsonText, problem } from '../../runtime/reply.ts'

const ORDER = 'workloads.display_name'
/** Records joined into one piece of the answer. */
const CHUNK = 100

/** All workloads by name. The records are made once and kept as text until they change. */
export default defineHttp({
  route: 'GET /api/workloads',
  summary: 'List the workloads, by display name.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ ...pageQuery, include_archived: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The workloads.', contentType: 'application/json' }],
  errors: ['bad-request'],
  handle({ query, target, actor }, ctx) {
    const after = query.cursor === undefined ? null : decodeCursor(ORDER, ['string', 'string'], query.cursor)
    if (query.cursor !== undefined && after === null)
      return problem('bad-request', { error: 'invalid cursor' })
    const limit = query.limit === undefined ? null : readLimit(query.limit)
    if (query.limit !== undefined && limit === null) return problem('bad-request', { error: 'invalid limit' })

    const from = after === null ? null : { displayName: String(after[0]), id: String(after[1]) }
    const withArchived = query.include_archived === 'true'
    const rows = ctx.views
      .ordered()
      .filter((workload) => withArchived || workload.archivedAt === null)
      .filter((workload) => from === null || compareByName(workload, from) > 0)
    const sight = sightOf(actor.permissions)
    const toText = (workload: Workload) => ctx.views.workloadText(workload, sight)
    if (limit === null) return jsonText(streamRecords(rows, toText))
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const headers =
      last === undefined || rows.length <= limit
        ? {}
        : nextLink(target, encodeCursor(ORDER, [last.displayName, last.id]))
    return jsonText(`[${page.map(toText).join(',')}]\n`, headers)
  },
})

async function* streamRecords(
  rows: readonly Workload[],
  toText: (workload: Workload) => string,
): AsyncIterable<string> {
  if (rows.length === 0) yield '[]\n'
  for (let start = 0; start < rows.length; start += CHUNK) {
    const end = Math.min(start + CHUNK, rows.length)
    const texts = rows.slice(start, end).map(toText).join(',')
    yield `${start === 0 ? '[' : ','}${texts}${end === rows.length ? ']\n' : ''}`
    // Other requests and agents get their turn between two pieces.
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}
