import { describe, expect, it } from 'vitest'
import { columns, type Listed } from '../../../lib/store/columns.ts'
import { seededRandom } from '../../support/fakes.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

const ROW = columns<'text' | 'at' | 'count' | 'isOn' | 'detail'>({
  text: 'a_text text',
  at: 'an_at timestamptz',
  count: 'a_count int',
  isOn: 'is_on boolean',
  detail: 'a_detail jsonb',
})
type Row = Record<'text' | 'at' | 'count' | 'isOn' | 'detail', Listed>

/** What PostgreSQL makes of rows that are given as lists, in their order. */
const readBack = (lists: string[]): Promise<Row[]> =>
  database.pool.query<Row>(`select ${ROW.select('r')} from ${ROW.unnested('r')}`, lists)

const NOTHING: Row = { text: null, at: null, count: null, isOn: null, detail: null }

describe('rows that are given as lists', () => {
  it('arrive as they were, whatever their texts hold', async () => {
    const texts = [
      '',
      ' ',
      'NULL',
      'null',
      '"',
      '\\',
      '\\"',
      '{a,b}',
      'a,b',
      "'",
      '\n\t\r',
      'é😀\u2028',
      '$1',
      '\\N',
    ]
    const at = new Date('2026-03-04T05:06:07.089Z')
    const rows = texts.map((text, n) => ({
      text,
      at,
      count: n - 3,
      isOn: n % 2 === 0,
      detail: { [text]: [text] },
    }))
    expect(await readBack(ROW.listsOfRows(rows))).toEqual(rows)
  })

  it('arrive as they were, made of any characters', async () => {
    const random = seededRandom(5)
    const of = '{}",\\ \n\'NUL$é😀'
    const characters = [...of]
    const anyText = () =>
      Array.from(random.bytes(12), (byte) => characters[byte % characters.length]!).join('')
    const rows = Array.from({ length: 300 }, () => ({
      ...NOTHING,
      text: anyText(),
      detail: { it: anyText() },
    }))
    expect(await readBack(ROW.listsOfRows(rows))).toEqual(rows)
  })

  it('may lack any value, and be none', async () => {
    expect(await readBack(ROW.listsOfRows([NOTHING, NOTHING]))).toEqual([NOTHING, NOTHING])
    expect(await readBack(ROW.listsOfRows([]))).toEqual([])
  })

  it('have each their own time, also where the one before has the same or none', async () => {
    const times = ['2026-01-01', '2026-01-01', null, '2026-01-02', '2026-01-01'].map((day) =>
      day === null ? null : new Date(`${day}T00:00:00Z`),
    )
    const rows = times.map((at) => ({ ...NOTHING, at }))
    expect((await readBack(ROW.listsOfRows(rows))).map(({ at }) => at)).toEqual(times)
  })
})
