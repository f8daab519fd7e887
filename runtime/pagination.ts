import { optional, string } from 'superstruct'
import { type CursorKey, decodeCursor, encodeCursor, type Page } from '../lib/store/cursor.ts'
import { OUTSIDE_HEADER } from '../lib/wire/values.ts'
import { joinPieces } from './json-stream.ts'
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
  /**
   * The rows after a key, in the list's order: fewer than `limit` at the end only, unless it says up to where it has
   * looked.
   */
  fetch(page: Page): Promise<readonly Item[] | Looked<Item>>
  /** Leaves out what the caller is not shown; a page says how many (`OUTSIDE_HEADER`). Absent where all is shown. */
  isSeen?: ((item: Item) => boolean) | null
  /** Counts all rows that are not shown, for an answer that holds the whole list; absent where all is shown. */
  countOutside?: (() => Promise<number>) | null
  keyOf(item: Item): CursorKey
  toWire(item: Item): unknown
}

/** Rows that were found in a stretch that was looked through. */
export interface Looked<Item> {
  items: readonly Item[]
  /** The key of the last row that was looked at; null where that was the end of the list. */
  lookedTo: CursorKey | null
}

/** The most that one page holds; a higher `limit` is cut to it. */
export const PAGE_MAX = 1_000
/** Rows in one statement of a streamed whole list. */
const CHUNK = 500
/** How often a page is looked for further where what was found is not shown; then the next page goes on from there. */
const LOOKS_MAX = 10

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
    const first = await look(list, after, CHUNK)
    const outside = list.countOutside ? await list.countOutside() : null
    return jsonText(streamArray(list, first), outside === null ? {} : { [OUTSIDE_HEADER]: String(outside) })
  }
  const limit = readLimit(query.limit)
  if (limit === null) return problem('invalid-limit')
  const { page, leftOut, next } = await findPage(list, after, limit)
  const headers = {
    ...(next === null ? {} : nextLink(target, encodeCursor(list.order, next))),
    ...(list.isSeen ? { [OUTSIDE_HEADER]: String(leftOut) } : {}),
  }
  return json(page.map(list.toWire), 200, headers)
}

/** The next rows, and up to where they were looked for. */
async function look<Item>(
  list: ListSpec<Item>,
  after: CursorKey | null,
  limit: number,
): Promise<Looked<Item>> {
  const found = await list.fetch({ after, limit })
  if ('items' in found) return found
  return { items: found, lookedTo: found.length < limit ? null : list.keyOf(found.at(-1)!) }
}

/** One page of what is shown, how many rows before its end are not, and the key after which the next one begins. */
async function findPage<Item>(
  list: ListSpec<Item>,
  after: CursorKey | null,
  limit: number,
): Promise<{ page: Item[]; leftOut: number; next: CursorKey | null }> {
  const page: Item[] = []
  let [leftOut, leftOutBefore, from] = [0, 0, after]
  const looks = list.isSeen ? LOOKS_MAX : 1
  for (let looked = 0; looked < looks; looked++) {
    const { items, lookedTo } = await look(list, from, limit + 1)
    for (const item of items) {
      if (list.isSeen && !list.isSeen(item)) leftOut++
      else if (page.length === limit) return { page, leftOut: leftOutBefore, next: list.keyOf(page.at(-1)!) }
      else {
        page.push(item)
        leftOutBefore = leftOut
      }
    }
    from = lookedTo
    if (from === null) break
  }
  return { page, leftOut, next: from }
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

async function* streamArray<Item>(list: ListSpec<Item>, first: Looked<Item>): AsyncIterable<string> {
  yield* joinPieces(textsOf(list, first))
  yield '\n'
}

/** The JSON of each row that is shown, read on as it is asked for. */
async function* textsOf<Item>(list: ListSpec<Item>, first: Looked<Item>): AsyncIterable<string> {
  let found = first
  for (;;) {
    for (const row of found.items)
      if (!list.isSeen || list.isSeen(row)) yield JSON.stringify(list.toWire(row))
    if (found.lookedTo === null) return
    found = await look(list, found.lookedTo, CHUNK)
  }
}
