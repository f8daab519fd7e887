import { optional, string, type } from 'superstruct'
import type { Workload } from '../../lib/fleet/model.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { decodeCursor, encodeCursor } from '../../lib/store/cursor.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { nextLink, pageQuery, readLimit } from '../../runtime/pagination.ts'
import { jsonText, problem } from '../../runtime/reply.ts'

const ORDER = 'workloads.display_name'
/** Records joined into one piece of the answer. */
const CHUNK = 250

type Key = Pick<Workload, 'displayName' | 'id'>

const compareKeys = (a: Key, b: Key): number =>
  a.displayName === b.displayName
    ? a.id < b.id
      ? -1
      : a.id > b.id
        ? 1
        : 0
    : a.displayName < b.displayName
      ? -1
      : 1

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
    const rows: Workload[] = []
    for (const workload of ctx.fleet.state.workloads.values()) {
      if (workload.archivedAt !== null && query.include_archived !== 'true') continue
      if (from === null || compareKeys(workload, from) > 0) rows.push(workload)
    }
    rows.sort(compareKeys)
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
