import { describe, expect, it, test } from 'vitest'
import { normalForm } from '../../../../lib/configs/effective/normal-form.ts'
import { parseConfig } from '../../../../lib/configs/yaml/parse.ts'

const readValue = (text: string): unknown => {
  const result = parseConfig(text)
  return result.ok ? JSON.parse(JSON.stringify(result.document.root)) : result.problem
}
const codeOf = (text: string): string => {
  const result = parseConfig(text)
  return result.ok ? 'ok' : result.problem.code
}

describe('texts that are read', () => {
  test.each([
    ['anchors and aliases', 'a: &x {k: 1}\nb: *x\n', { a: { k: 1 }, b: { k: 1 } }],
    [
      'merge keys, which own keys overrule',
      'a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n',
      { a: { k: 1, l: 2 }, b: { k: 3, l: 2 } },
    ],
    ['a merge key with a tag', 'a: &x {k: 1}\nb: {!!merge <<: *x}\n', { a: { k: 1 }, b: { k: 1 } }],
    ['a merge key with the tag of none', 'a: &x {k: 1}\nb: {! <<: *x}\n', { a: { k: 1 }, b: { k: 1 } }],
    ['a key that looks like a merge key', 'b: {"<<": {k: 1}}\n', { b: { '<<': { k: 1 } } }],
    [
      'several merged mappings, the first of which wins',
      'a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y]}\n',
      { a: { k: 1 }, b: { k: 2, l: 2 }, c: { k: 1, l: 2 } },
    ],
    ['the first document only, however broken the rest', 'a: 1\n---\nb: [\n', { a: 1 }],
    ['root keys up to one that is less indented than the first', '  a: 1\nb: 2\n', { a: 1 }],
    ['yes and on as texts', 'a: yes\nb: on\nc: True\n', { a: 'yes', b: 'on', c: true }],
    [
      'numbers of either YAML version',
      'a: 0x10\nb: 0o17\nc: 017\nd: 1_000\ne: 1.5e3\n',
      { a: 16, b: 15, c: 15, d: 1000, e: 1500 },
    ],
    [
      'numbers that JSON cannot hold, as texts',
      'a: .inf\nb: 12345678901234567890\nc: .nan\n',
      { a: '.inf', b: '12345678901234567890', c: '.nan' },
    ],
    ['a key that is no text', '1: a\ntrue: b\n', { 1: 'a', true: 'b' }],
    ['a tab between a value and a comment', 'a: b\t# note\n', { a: 'b' }],
    ['a tab inside brackets', 'a: [b,\n  \tc]\n', { a: ['b', 'c'] }],
    ['a tab inside a literal block', 'a: |\n  b\n  \tc\n', { a: 'b\n\tc\n' }],
    ['explicit tags', 'a: !!str 5\nb: !!int "5"\nc: !custom x\n', { a: '5', b: 5, c: 'x' }],
    ['Windows line ends', 'a:\r\n  b: 1\r\n', { a: { b: 1 } }],
    ['a quoted text that goes on less indented', 'a:\n  b: "c\nd"\n', { a: { b: 'c d' } }],
    ['brackets that go on less indented', 'a:\n  b: [c,\n# note: [\nd,\n]\n', { a: { b: ['c', 'd'] } }],
    ['a byte order mark', '\ufeffa: 1\n', { a: 1 }],
  ])('%s', (_, text, expected) => {
    expect(readValue(text)).toEqual(expected)
  })

  it('keeps a key named __proto__ as a key', () => {
    const result = parseConfig('__proto__: {polluted: yes}\n')
    expect(result.ok && Object.keys(result.document.root)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('lines', () => {
  const text = 'a:\n  b.c:\n    - x\n    - {d: 1}\n  b:\n    c: 2\n'
  const lineOf = (path: string) => {
    const result = parseConfig(text)
    return result.ok ? result.document.lineOf(path) : 'unread'
  }

  test.each([
    ['a', 1],
    ['a.b.c[0]', 3],
    ['a.b.c[1].d', 4],
    ['a.b', 5],
    ['a.none.deeper', 1],
    ['none', null],
  ])('of %s', (path, line) => {
    expect(lineOf(path)).toBe(line)
  })
})

describe('texts that the collector refuses', () => {
  test.each([
    ['a line with only a tab', 'a:\n\t\n  b: 1\n'],
    ['a tab as indentation', 'a:\n\tb: 1\n'],
    ['a comment behind a tab', 'a: 1\n\t# note\nb: 2\n'],
    ['a tab behind a dash', 'a:\n-\tb\n'],
    ['a tab before the text of a literal block', 'a: |\n  \tb\n'],
    ['a tab-only line inside a literal block', 'a: |\n  b\n\t\n  c\n'],
    ['a template that was not filled in', 'a: {{ .Values.port }}\n'],
    ['a template line', '{{ if .x }}\na: 1\n'],
    ['a key that is defined twice', 'a: 1\na: 2\n'],
    ['a key that is defined twice in other quotes', 'a: {1: x, "1": y}\n'],
    ['two merge keys', 'a: &x {k: 1}\nb:\n  <<: *x\n  <<: *x\n'],
    ['an unknown anchor', 'a: *nowhere\n'],
    ['an anchor that contains itself', 'a: &x [*x]\n'],
    ['a merge of something that is no mapping', 'a: {<<: [1]}\n'],
    ['an open bracket', 'a: [1, 2\n'],
    ['an open quote', 'a: "b\n'],
    ['a reserved character', 'a: @b\n'],
    ['two values on one line', 'a: b: c\n'],
    ['a mapping in a mapping at another column', 'a:\n    b: 1\n  c: 2\n'],
    ['a reserved character behind the last root key', '  a: 1\n@b: 2\n'],
    ['a key over two lines behind the last root key', '  a: 1\nb\n  c: 2\n'],
    ['an open quote behind the last root key', '  a: 1\n"b: 2\n'],
    ['a document end before any document', '# note\n...\na: 1\n'],
    ['a root that is a list', '- a\n'],
    ['a root that is a text', 'hello\n'],
    ['a bare tab', '\t'],
    ['U+0000', 'a: "b\u0000"\n'],
    ['a lone surrogate', 'a: "\ud800"\n'],
  ])('%s', (_, text) => {
    expect(codeOf(text)).toBe('yaml_parse')
  })

  // What stands behind such a comment would be read by nobody but the collector.
  test.each([
    ['a carriage return alone', 'a: 1 # note\rb: 2\n'],
    ['a next line (NEL)', 'a: 1 # note\u0085b: 2\n'],
    ['a line separator', 'a: 1 # note\u2028b: 2\n'],
    ['a paragraph separator', 'a: 1 # note\u2029b: 2\n'],
    ['a byte order mark where a line begins', 'a: 1\n\ufeffb: 2\n'],
    ['a tag that does not fit', 'a: !!int x\n'],
  ])('a line that only the collector ends there: %s', (_, text) => {
    expect(codeOf(text)).toBe('yaml_parse')
  })

  test.each([
    ['nothing but blank lines', ' \n\n'],
    ['comments', '# a\n'],
    ['null', 'null\n'],
    ['a tilde', '~'],
  ])('as empty: %s', (_, text) => {
    expect(codeOf(text)).toBe('empty_config')
  })

  it('an alias bomb, without writing it out', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(10).fill(`*l${i}`).join(', ')}]`,
    )
    expect(codeOf(`l0: &l0 x\n${levels.join('\n')}\n`)).toBe('yaml_parse')
  })

  it('brackets that are nested without end', () => {
    expect(codeOf(`a: ${'['.repeat(100_000)}`)).toBe('yaml_parse')
  })

  // Deep values are refused: walking one takes stack, and an engine that runs out of stack while it compiles a regular
  // expression ends the process.
  it.each([
    ['blocks', Array.from({ length: 400 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
    ['lists on one line', `a: \n${'- '.repeat(5_000)}x`],
    ['questions', '? '.repeat(5_000)],
    ['braces', `a: ${'{b: '.repeat(5_000)}`],
    [
      'aliases of aliases',
      Array.from({ length: 40 }, (_, i) => {
        const [open, close] = ['['.repeat(90), ']'.repeat(90)]
        return `a${i}: &a${i} ${open}${i === 0 ? 'x' : `*a${i - 1}`}${close}\n`
      }).join(''),
    ],
  ])('%s that are nested deeper than any config', (_, text) => {
    const read = parseConfig(text)
    expect(read.ok ? null : read.problem.message).toContain('nested too deeply')
  })

  it('nothing that is nested as deep as a config may be', () => {
    const text = `a: ${'['.repeat(150)}x${']'.repeat(150)}\n`
    expect(parseConfig(text).ok).toBe(true)
    expect(normalForm(text)).not.toBeNull()
  })

  // A fault of the past: after a bracket too many the rest of the config was silently not read.
  it.each([
    ['behind a list', 'a:\n  b: [x]]\nc: 1\n', 2],
    ['in the place of a value', 'a:\n  b: ]\nc: 1\n', 2],
    ['behind a mapping', 'a:\n  b: {x: y}}\nc: 1\n', 2],
    ['in a list', 'a:\n- x\n- ]\nc: 1\n', 3],
    ['at the end', 'a: 1\n]\n', 2],
  ])('a bracket too many %s', (_, text, line) => {
    expect(parseConfig(text)).toMatchObject({ ok: false, problem: { code: 'yaml_parse', line } })
  })

  // Line numbers are those of the collector (yaml.v3), except for brackets, where it says one less.
  it.each([
    ['a quoted text', 'a:\n  b: "x\nc: 1\nd: 2\n', 2],
    ['a text in single quotes', "a:\n  b: 'x\nc: 1\n\n\nd: 2\n", 2],
    ['a list', 'a: 1\nb:\n  c: [1,\n    2\nd: 3\n', 3],
    ['a mapping in brackets', 'a: 1\nb: {c: 1,\n\n\nd: 3\n', 2],
    ['the inner one of two lists', 'a: [1]\nb: [2,\n  [3,\n  4\n', 3],
  ])('%s that is left open, where it begins', (_, text, line) => {
    expect(parseConfig(text)).toMatchObject({ ok: false, problem: { line } })
  })

  it('a text of more than 2 MiB', () => {
    expect(codeOf(`a: ${'x'.repeat(2_097_152)}`)).toBe('yaml_parse')
  })

  it('with a line and a column, and without a word of the text', () => {
    const result = parseConfig('exporters:\n  otlp:\n    api_key: hunter2\n    api_key: hunter2\n')
    expect(result.ok).toBe(false)
    if (result.ok) return
    expect(result.problem).toMatchObject({ code: 'yaml_parse', line: 4, column: 5 })
    expect(result.problem.message).not.toMatch(/api_key|hunter2/)
  })
})
