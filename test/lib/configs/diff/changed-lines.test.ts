import { describe, expect, it } from 'vitest'
import { changeKey, withoutValues } from '../../../../lib/configs/diff/changed-lines.ts'

const base = (head = '') => `${head}receivers:
  otlp:
    protocols: {grpc: {}}
    timeout: 5s
exporters:
  otlp:
    endpoint: core:4317
    timeout: 5s
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters:
      - otlp
    logs:
      receivers: [otlp]
      exporters:
      - otlp
`
const key = (before: string, after: string, values = {}) => changeKey(before, after, values)
/** The text with the occurrence `at`, from 0, of a line replaced. */
const withLine = (text: string, at: number, from: string, to: string): string => {
  let seen = 0
  return text
    .split('\n')
    .map((line) => (line.trim() === from && seen++ === at ? line.replace(from, to) : line))
    .join('\n')
}

describe('the key of a change', () => {
  it('puts in the name of a variable once, also where the name holds the value of another one', () => {
    // Put in one after the other, each name would hold the next value many times over: 30^7 names.
    const values = Object.fromEntries(
      Array.from({ length: 8 }, (_, n) => [
        `${'abcdefgh'[n]!.repeat(2)}_`.repeat(10),
        'hgfedcba'[n]!.repeat(2),
      ]),
    )
    const named = Object.keys(values)[0]!
    expect(withoutValues('to hh, aa and zz', values)).toBe(
      `to \${muster:${named}}, \${muster:${Object.keys(values)[7]!}} and zz`,
    )
  })

  it('takes a value as it is written, and the longest where one is part of another', () => {
    expect(withoutValues('a.c abc a.c.d', { short: 'a.c', long: 'a.c.d' })).toBe(
      '${muster:short} abc ${muster:long}',
    )
  })

  it('is the same for equal lines at the same place of the config, wherever in the text that is', () => {
    const long = base('# a comment\n# of two lines\nextensions:\n  health_check: {}\n')
    const change = (text: string) => withLine(text, 0, 'timeout: 5s', 'timeout: 9s')
    expect(key(base(), change(base()))).toBe(key(long, change(long)))
  })

  it.each([
    ['a setting of another component', 'timeout: 5s', 'timeout: 9s'],
    ['an entry of another pipeline', '- otlp', '- debug'],
  ])('is another one for %s', (_, from, to) => {
    const text = base()
    expect(key(text, withLine(text, 0, from, to))).not.toBe(key(text, withLine(text, 1, from, to)))
  })

  it('has the names of variables in place of their values', () => {
    const to = (value: string) => base().replace('core:4317', `${value}:4317`)
    expect(key(base(), to('paris'), { site: 'paris' })).toBe(key(base(), to('tokyo'), { site: 'tokyo' }))
  })
})
