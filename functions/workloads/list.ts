import { optional, string, type } from 'superstruct'
import type { Workload } from '../../lib/fleet/model.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { compareByName } from '../../lib/fleet/views/name-order.ts'
import { decodeCursor, encodeCursor } from '../../lib/store/cursor.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { nextLink, pageQuery, readLimit } from '../../runtime/pagination.ts'
import { bytes, problem } from '../../runtime/reply.ts'

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
      .filter(
        (workload) =>
          (withArchived || workload.archivedAt === null) &&
          (from === null || compareByName(workload, from) > 0),
      )
    const sight = sightOf(actor.permissions)
    const toBytes = (workload: Workload) => ctx.views.workloadBytes(workload, sight)
    if (limit === null) return bytes(streamArray(rows, toBytes), 'application/json')
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const headers =
      last === undefined || rows.length <= limit
        ? {}
        : nextLink(target, encodeCursor(ORDER, [last.displayName, last.id]))
    return bytes(joinArray(page, toBytes, 'whole'), 'application/json', headers)
  },
})

async function* streamArray(
  rows: readonly Workload[],
  toBytes: (workload: Workload) => Uint8Array,
): AsyncIterable<Uint8Array> {
  if (rows.length <= CHUNK) return yield joinArray(rows, toBytes, 'whole')
  for (let start = 0; start < rows.length; start += CHUNK) {
    const isLast = start + CHUNK >= rows.length
    yield joinArray(
      rows.slice(start, start + CHUNK),
      toBytes,
      start === 0 ? 'first' : isLast ? 'last' : 'middle',
    )
    // Other requests and agents get their turn between two pieces.
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}

const ENDS = {
  whole: ['[', ']\n'],
  first: ['[', ''],
  middle: [',', ''],
  last: [',', ']\n'],
} as const

/** A piece of a JSON array. */
function joinArray(
  rows: readonly Workload[],
  toBytes: (workload: Workload) => Uint8Array,
  place: keyof typeof ENDS,
): Uint8Array {
  const [open, close] = ENDS[place]
  const records = rows.map(toBytes)
  const length = records.reduce((sum, record) => sum + record.length + 1, open.length + close.length)
  const joined = Buffer.allocUnsafe(length)
  let at = joined.write(open, 'latin1')
  records.forEach((record, index) => {
    if (index > 0) joined[at++] = 0x2c
    joined.set(record, at)
    at += record.length
  })
  at += joined.write(close, at, 'latin1')
  return joined.subarray(0, at)
}
