import { optional, string } from 'superstruct'
import { type CursorKey, decodeCursor, encodeCursor, type Page } from '../lib/store/cursor.ts'
import { json, jsonText, problem, type Reply } from './reply.ts'

/** The query fields of every list: `query: type({ ...pageQuery, … })`. */
export const pageQuery = { limit: optional(string()), cursor: optional(string()) }

/** What `listReply` refuses: `errors: [...PAGE_ERRORS, …]`. */
export const PAGE_ERRORS = ['invalid-cursor', 'invalid-limit'] as const

/** How a list is paged. `Item` is what the wire shows. */
export interface ListSpec<Item> {
  /** Names the list and its order inside the cursor; change it when the order changes. */
  order: string
  /** The types of the cursor's key, the id last. */
  key: readonly ('string' | 'number')[]
  /** The rows after a key, in the list's order. */
  fetch(page: Page): Promise<readonly Item[]>
  keyOf(item: Item): CursorKey
  toWire(item: Item): unknown
}

/** The most that one page holds; a higher `limit` is cut to it. */
export const PAGE_MAX = 1_000
/** Rows in one statement of a streamed whole list. */
const CHUNK = 500

/**
 * Answer a list: an array. With `limit` one page of it, the next named by `Link: <…>; rel="next"`; without, the
 * whole list (from `cursor` on), streamed. `target` is the request's own path and query.
 */
export async function listReply<Item>(
  query: { limit?: string | undefined; cursor?: string | undefined },
  target: { path: string; query: string },
  list: ListSpec<Item>,
): Promise<Reply> {
  const after = query.cursor === undefined ? null : decodeCursor(list.order, list.key, query.cursor)
  if (query.cursor !== undefined && after === null) return problem('invalid-cursor')
  if (query.limit === undefined) {
    // The first rows come before the status line, so that a failure is still a status of its own.
    const first = await list.fetch({ after, limit: CHUNK })
    return jsonText(streamArray(list, first))
  }
  const limit = readLimit(query.limit)
  if (limit === null) return problem('invalid-limit')
  const rows = await list.fetch({ after, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const headers =
    rows.length > limit ? nextLink(target, encodeCursor(list.order, list.keyOf(page.at(-1)!))) : {}
  return json(page.map(list.toWire), 200, headers)
}

/** A `limit` as sent, cut to `max`; null when it is no whole number from 1. */
export function readLimit(text: string, max: number = PAGE_MAX): number | null {
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1) return null
  return Math.min(Number(text), max)
}

/** The `Link` header that leads to the next page: the same request with another cursor. */
export function nextLink(target: { path: string; query: string }, cursor: string): Record<string, string> {
  const query = new URLSearchParams(target.query)
  query.set('cursor', cursor)
  return { Link: `<${target.path}?${query}>; rel="next"` }
}

async function* streamArray<Item>(list: ListSpec<Item>, first: readonly Item[]): AsyncIterable<string> {
  let rows = first
  let separator = '['
  while (rows.length > 0) {
    yield separator + rows.map((row) => JSON.stringify(list.toWire(row))).join(',')
    separator = ','
    rows = rows.length < CHUNK ? [] : await list.fetch({ after: list.keyOf(rows.at(-1)!), limit: CHUNK })
  }
  yield separator === '[' ? '[]\n' : ']\n'
}
