import { describe, expect, it } from 'vitest'
import { PIECE_BYTES, streamArray, streamObject } from '../../runtime/json-stream.ts'

async function collect(pieces: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}
const text = async (pieces: AsyncIterable<string>) => (await collect(pieces)).join('')
const many = Array.from({ length: 1_000 }, (_, n) => ({ n, name: `ü "${n}"` }))

describe('streamed JSON', () => {
  it.each([
    ['nothing', {}],
    ['values of all kinds', { a: 1, b: 'ü"', c: null, d: true, e: { f: 'g' }, h: undefined }],
    ['long and empty lists', { many, none: [], after: 1 }],
    ['lists below other objects', { summary: { total: 1, many, deeper: { many: [], n: 2 } }, end: [1] }],
  ])('of an object is what JSON.stringify writes: %s', async (_name, object) => {
    expect(await text(streamObject(object))).toBe(`${JSON.stringify(object)}\n`)
  })

  it('of a list is what JSON.stringify writes', async () => {
    expect(await text(streamArray(many))).toBe(`${JSON.stringify(many)}\n`)
    expect(await text(streamArray([]))).toBe('[]\n')
  })

  it('takes items from a generator when they are due', async () => {
    let made = 0
    function* items() {
      for (let n = 0; n < 100_000; n++) {
        made++
        yield n
      }
    }
    const pieces = streamObject({ items: items() })[Symbol.asyncIterator]()
    await pieces.next()
    await pieces.next()
    expect(made).toBeLessThan(50_000)
  })

  it('cuts what is long into pieces, wherever it is', async () => {
    const heavy = Array.from({ length: 300 }, (_, n) => ({ n, text: 'x'.repeat(5_000) }))
    const pieces = await collect(streamObject({ summary: { heavy } }))
    expect(pieces.join('')).toBe(`${JSON.stringify({ summary: { heavy } })}\n`)
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(PIECE_BYTES + 5_100)
  })
})
