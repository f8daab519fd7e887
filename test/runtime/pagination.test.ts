import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor, type Page } from '../../lib/store/cursor.ts'
import { type ListSpec, listReply, nextLink, PAGE_MAX, readLimit } from '../../runtime/pagination.ts'
import type { Reply } from '../../runtime/reply.ts'

interface Row {
  at: number
  id: string
}

const rowsOf = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ at: index >> 1, id: String(index).padStart(6, '0') }))

function listOf(rows: Row[]): ListSpec<Row> {
  return {
    order: 'rows',
    key: ['number', 'string'],
    async fetch({ after, limit }: Page) {
      const [at, id] = (after ?? [-1, '']) as [number, string]
      return rows.filter((row) => row.at > at || (row.at === at && row.id > id)).slice(0, limit)
    },
    keyOf: (row) => [row.at, row.id],
    toWire: (row) => row.id,
  }
}

async function bodyOf(reply: Reply): Promise<string[]> {
  if (typeof reply.body === 'string') return JSON.parse(reply.body)
  let text = ''
  for await (const part of reply.body as AsyncIterable<string>) text += part
  return JSON.parse(text)
}

const target = { path: '/api/rows', query: 'limit=2&kind=a%2Fb' }

describe('list replies', () => {
  it('streams the whole list without a limit, an empty one too', async () => {
    const rows = rowsOf(1_234)
    expect(await bodyOf(await listReply({}, target, listOf(rows)))).toEqual(rows.map((row) => row.id))
    expect(await bodyOf(await listReply({}, target, listOf([])))).toEqual([])
  })

  it('visits each row once when the links are followed, whatever the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 1, max: 12 }),
        async (count, limit) => {
          const list = listOf(rowsOf(count))
          const seen: string[] = []
          let cursor: string | undefined
          do {
            const reply = await listReply({ limit: String(limit), cursor }, target, list)
            seen.push(...(await bodyOf(reply)))
            const link = /<([^>]+)>; rel="next"/.exec(reply.headers['Link'] ?? '')?.[1]
            cursor = link && (new URL(link, 'http://h').searchParams.get('cursor') ?? undefined)
          } while (cursor)
          expect(seen).toEqual(rowsOf(count).map((row) => row.id))
        },
      ),
      { seed: 7 },
    )
  })

  it('keeps the other parameters in the link', () => {
    expect(nextLink(target, 'c')).toEqual({ Link: '</api/rows?limit=2&kind=a%2Fb&cursor=c>; rel="next"' })
  })

  it('refuses limits and cursors that are none', async () => {
    const list = listOf(rowsOf(3))
    for (const limit of ['0', '-1', 'x', '1.5', '']) {
      expect(await listReply({ limit }, target, list)).toMatchObject({ status: 400 })
    }
    const foreign = encodeCursor('other', [1, 'a'])
    for (const cursor of [
      '',
      'x',
      foreign,
      encodeCursor('rows', ['1', 'a']),
      encodeCursor('rows', [1, '\0']),
    ]) {
      const reply = await listReply({ limit: '1', cursor }, target, list)
      expect(reply).toMatchObject({
        status: 400,
        body: '{"error":"invalid cursor","code":"invalid_cursor"}\n',
      })
    }
  })

  it('cuts a limit to the most that a page holds', () => {
    expect(readLimit('999999')).toBe(PAGE_MAX)
    expect(readLimit('600', 500)).toBe(500)
  })
})

describe('cursors', () => {
  it('come back as they went', () => {
    expect(decodeCursor('o', ['number', 'string'], encodeCursor('o', [12, 'ü']))).toEqual([12, 'ü'])
  })
})
