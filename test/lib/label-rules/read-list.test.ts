import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LIST_LINES_MAX, readLabelList } from '../../../lib/label-rules/read-list.ts'
import { countLoopTurns } from '../../support/loop-turns.ts'

const entries = async (text: string) => {
  const read = await readLabelList(text)
  return read.ok ? Object.fromEntries(read.value.labels) : read.fault.reason
}

describe('a list of hosts', () => {
  it.each([
    ['host.name,site\nweb-1,paris\n', { 'web-1': { site: 'paris' } }],
    ['\ufeffidentity/host.name;muster/site;env\r\nweb-1;paris;\r\n', { 'web-1': { site: 'paris' } }],
    ['name,a\n"x ""y"", z","1\n"\nw,2', { 'x "y", z': { a: '1' }, w: { a: '2' } }],
    ['host.name,a\n\n  web-1 , 1 \n\n', { 'web-1': { a: '1' } }],
  ])('%j is read', async (text, labels) => {
    expect(await entries(text)).toEqual(labels)
  })

  it.each([
    ['', 'the list needs a heading and a line'],
    ['host.name,a', 'the list needs a heading and a line'],
    ['hostname,a\nx,1', 'the first column must be one of'],
    ['host.name\nx', 'the list needs 1 to 20 columns of labels'],
    ['host.name,a,a\nx,1,2', 'a column stands there twice'],
    ['host.name,\nx,2', 'a column is no name of a label'],
    ['host.name,a\nx,1\n\nx,2', 'line 4: x stands there twice'],
    ['host.name,a\nx', 'line 2: 1 cells, expected 2'],
    ['host.name,a\n,1', 'line 2: the first cell names nothing'],
    ['host.name,a\nx,"1', 'line 2: a quote stands where none can be'],
    ['host.name,a\nx,a"b', 'line 2: a quote stands where none can be'],
    ['host.name,a\nx,1\u0007', 'line 2: a cell is no label'],
    [`host.name,a\nx,${'y'.repeat(300)}`, 'line 2: a cell is no label'],
    [`host.name,a\n${'x,'.repeat(50)}`, 'line 2: more than 21 cells'],
    [
      `host.name,a\n${Array.from({ length: LIST_LINES_MAX + 1 }, (_, at) => `h${at},1`).join('\n')}`,
      'more than',
    ],
    [`host.name,a\n${'x'.repeat(1_100_000)}`, 'the list exceeds'],
  ])('is refused with the line that is meant (%#)', async (text, reason) => {
    expect(await entries(text)).toContain(reason)
  })

  it('is read back as it was written, whatever stands in it', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', 'é', '"', ',', ';', ' ', "'"),
      minLength: 1,
      maxLength: 8,
    })
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    await fc.assert(
      fc.asyncProperty(fc.dictionary(cell, cell, { maxKeys: 9 }), async (labels) => {
        const kept = new Map(
          Object.entries(labels).flatMap(([name, value]) =>
            name.trim() === '' ? [] : [[name.trim(), value.trim()]],
          ),
        )
        if (kept.size === 0) return
        const text = `host.name,a\n${[...kept].map((pair) => pair.map(quoted).join(',')).join('\n')}`
        expect(await entries(text)).toEqual(
          Object.fromEntries([...kept].map(([name, value]) => [name, value === '' ? {} : { a: value }])),
        )
      }),
    )
  })

  it('lets others have their turn, which one of 20,000 lines or 20 columns took half a second from', async () => {
    const columns = Array.from({ length: 20 }, (_, at) => `c${at}`)
    const wide = Array.from({ length: 16_000 }, (_, at) => `h${at},${columns.map(() => 'a').join(',')}`)
    const long = Array.from({ length: LIST_LINES_MAX }, (_, at) => `h${at},production`)
    for (const [head, lines] of [
      [`host.name,${columns.join(',')}`, wide],
      ['host.name,env', long],
    ] as const) {
      const turns = countLoopTurns()
      const read = await readLabelList([head, ...lines].join('\n'))
      expect(turns.over()).toBeGreaterThan(lines.length / 300)
      expect(read).toMatchObject({ ok: true })
    }
  })
})
