import { array, optional, string, type } from 'superstruct'
import type { Workload } from '../../lib/fleet/state/model.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { compareByName } from '../../lib/model/name-order.ts'
import { rightsOn } from '../../lib/model/scopes.ts'
import { decodeCursor, encodeCursor } from '../../lib/store/cursor.ts'
import { note } from '../../lib/wire/structs.ts'
import { WorkloadRecord } from '../../lib/wire/workloads.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { PIECE_BYTES } from '../../runtime/json-stream.ts'
import { nextLink, PAGE_ERRORS, pageQuery, readLimit } from '../../runtime/pagination.ts'
import { bytes, problem } from '../../runtime/reply.ts'

const ORDER = 'workloads.display_name'

/** All workloads by name. The records are kept as bytes until they change. */
export default defineHttp({
  route: 'GET /api/workloads',
  summary: 'List the workloads, by display name.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({
    ...pageQuery,
    include_archived: optional(string()),
    pressing: note(
      'With `true` only those that are looked at first: nothing of it is connected, instances are unhealthy, or the newest push failed or failed on some. Who lists the worst first need not wait for the rest.',
      optional(string()),
    ),
  }),
  body: noBody,
  replies: [{ status: 200, description: 'The workloads.', json: array(WorkloadRecord) }],
  errors: PAGE_ERRORS,
  handle({ query, target, actor }, ctx) {
    const after = query.cursor === undefined ? null : decodeCursor(ORDER, ['string', 'string'], query.cursor)
    if (query.cursor !== undefined && after === null) return problem('invalid-cursor')
    const limit = query.limit === undefined ? null : readLimit(query.limit)
    if (query.limit !== undefined && limit === null) return problem('invalid-limit')

    const from = after === null ? null : { displayName: String(after[0]), id: String(after[1]) }
    const withArchived = query.include_archived === 'true'
    const isWanted = query.pressing === 'true' ? isPressing : () => true
    const rows = chooseRows(
      ctx.fleet.state.workloadsByName(),
      (workload) =>
        (withArchived || workload.archivedAt === null) &&
        isWanted(workload) &&
        (from === null || compareByName(workload, from) > 0),
    )
    const everywhere = sightOf(actor.permissions)
    const isEverywhere = actor.permissions.has('config:read_content')
    const sightAt = ({ trustedLabels }: Workload) =>
      isEverywhere ? everywhere : sightOf(rightsOn(actor.grants, trustedLabels))
    const toBytes = (workload: Workload) => ctx.views.workloadBytes(workload, sightAt(workload))
    if (limit === null) return bytes(streamArray(rows, toBytes), 'application/json')
    const page = takeUpTo(limit, rows)
    const last = page.at(-1)
    const isAll = last === undefined || rows.next().done === true
    const headers = isAll ? {} : nextLink(target, encodeCursor(ORDER, [last.displayName, last.id]))
    return bytes(joinArray(page.map(toBytes), ['[', ']\n']), 'application/json', headers)
  },
})

/** Whether something of a workload may be urgent; told without making its record, since all are asked. */
const isPressing = ({ status, live, newestPush }: Workload): boolean =>
  status !== 'connected' ||
  live.unhealthy.size > 0 ||
  newestPush?.status === 'failed' ||
  (newestPush?.counts.failed ?? 0) > 0

function* chooseRows(
  all: readonly Workload[],
  isWanted: (workload: Workload) => boolean,
): Generator<Workload, void> {
  for (const workload of all) if (isWanted(workload)) yield workload
}

function takeUpTo(count: number, rows: Iterator<Workload>): Workload[] {
  const taken: Workload[] = []
  while (taken.length < count) {
    const next = rows.next()
    if (next.done === true) break
    taken.push(next.value)
  }
  return taken
}

async function* streamArray(
  rows: Iterator<Workload>,
  toBytes: (workload: Workload) => Uint8Array,
): AsyncIterable<Uint8Array> {
  for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
    const records: Uint8Array[] = []
    for (let length = 0; length < PIECE_BYTES && !isLast; length += records.at(-1)?.length ?? 0) {
      const next = rows.next()
      if (next.done === true) isLast = true
      else records.push(toBytes(next.value))
    }
    const separator = records.length === 0 ? '' : ','
    yield joinArray(records, [isFirst ? '[' : separator, isLast ? ']\n' : ''])
  }
}

/** A piece of a JSON array, between what opens and what closes it. */
function joinArray(records: readonly Uint8Array[], [open, close]: readonly [string, string]): Uint8Array {
  const separators = Math.max(0, records.length - 1)
  const length = records.reduce((sum, record) => sum + record.length, separators + open.length + close.length)
  const joined = Buffer.allocUnsafe(length)
  let at = joined.write(open, 'latin1')
  records.forEach((record, index) => {
    if (index > 0) joined[at++] = 0x2c
    joined.set(record, at)
    at += record.length
  })
  joined.write(close, at, 'latin1')
  return joined
}
