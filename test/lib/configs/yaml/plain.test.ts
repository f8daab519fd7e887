import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { parseAnyConfig, parseConfig } from '../../../../lib/configs/yaml/parse.ts'
import { readPlainConfig } from '../../../../lib/configs/yaml/plain.ts'

const fixture = (name: string) => readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url), 'utf8')

const readFully = (text: string) => {
  const read = parseAnyConfig(text)
  return read.ok ? read.document.root : null
}

describe('a plainly written config', () => {
  test.each([
    ['keys below keys', 'a:\n  b:\n    c: 1\n  d: x\ne: y\n'],
    ['lists below, beside and left of their keys', 'a:\n  - 1\n  - x\nb:\n- y\nc: [1, x, "2", \'3\']\n'],
    [
      'mappings and lists in lists',
      'a:\n  - b: 1\n    c:\n      - d\n    e:\n    - f\n  -\n    g: 2\n  - - h\n    - i\n',
    ],
    ['nothing at all', 'a:\nb: ~\nc: null\nd:\n  -\n  - # nothing\n  -\ne: # nothing\n'],
    ['empty mappings and lists', 'a: {}\nb: []\nc: { }\nd: [ ]\n'],
    ['brackets in brackets', 'a: [[b], {c: [d, 1], e: {}}]\nf: {g: "h, i", j: k:1}\n'],
    ['other scripts', '# naïve → no\na: e é ñ # …\n"é": b\n'],
    ['comments', '# one\na: 1 # two\n  # three\nb: # four\n# five\n  c: d#e\n\n  # six'],
    ['quoted texts', 'a: "1"\nb: \'true\'\n"c d": ""\n\'e\': "f: g # h"\n'],
    [
      'numbers and words',
      'a: 017\nb: 0x1F\nc: 1_000\nd: -1.5e3\ne: yes\nf: True\ng: .inf\nh: 12345678901234567890\n',
    ],
    [
      'texts with colons',
      'a: localhost:4317\nb: ${env:HOST}:4317\nc: http://x/y?z#q\nd: [a:1, http://x/y]\n',
    ],
    ['names of prototypes', '__proto__: 1\nconstructor:\n  toString: 2\n'],
    ['no end of the last line', 'a:\n  b: c'],
  ])('is read as the full reader reads it: %s', (_, text) => {
    const plain = readPlainConfig(text)
    expect(plain).not.toBeNull()
    expect(JSON.stringify(plain)).toBe(JSON.stringify(readFully(text)))
  })

  it.each(['opamp/good.yaml', 'opamp/bad.yaml'])('is what people write: %s', (name) => {
    expect(JSON.stringify(readPlainConfig(fixture(name)))).toBe(JSON.stringify(readFully(fixture(name))))
  })

  it('still says where things are', () => {
    const text = '# a config\nreceivers:\n  otlp:\n    protocols: {}\n'
    expect(readPlainConfig(text)).not.toBeNull()
    const read = parseConfig(text)
    if (!read.ok) throw new Error(read.problem.message)
    expect(read.document.placeOf('receivers.otlp.protocols')).toEqual({ line: 4, column: 5 })
    expect(read.document.lineOf('receivers.otlp')).toBe(3)
    expect(read.document.lineOf('exporters')).toBeNull()
  })
})

describe('what is not plainly written is left to the full reader', () => {
  test.each([
    ['nothing', ''],
    ['comments only', '# a\n'],
    ['a list', '- a\n'],
    ['a text', 'a\n'],
    ['keys that are all indented', '  a: 1\nb: 2\n'],
    ['documents', 'a: 1\n---\nb: 2\n'],
    ['a document end', 'a: 1\n...\n'],
    ['anchors', 'a: &x 1\nb: *x\n'],
    ['tags', 'a: !!str 1\n'],
    ['merge keys', 'a:\n  <<: b\n'],
    ['quoted merge keys', 'a:\n  "<<": b\n'],
    ['a key twice', 'a: 1\nb: 2\na: 3\n'],
    ['a key twice, once in quotes', '1: a\n"1": b\n'],
    ['text on several lines', 'a: b\n  c\n'],
    ['text below its key', 'a:\n  b\n'],
    ['block texts', 'a: |\n  b\n'],
    ['quotes in quotes', "a: 'b''c'\n"],
    ['escapes', 'a: "b\\n"\n'],
    ['quotes over lines', 'a: "b\n  c"\n'],
    ['brackets over lines', 'a: [b,\n  c]\n'],
    ['a key twice in brackets', 'a: {b: c, b: d}\n'],
    ['keys without values in brackets', 'a: {b, c: }\n'],
    ['a comma too many', 'a: [b, ]\n'],
    ['pairs in brackets', 'a: [b: c]\n'],
    ['quoted keys in brackets', 'a: {"b": c}\n'],
    ['templates', 'a: {{ b }}\n'],
    ['a key behind a key', 'a: b: c\n'],
    ['a colon at the end', 'a: b:\n'],
    ['something behind a quoted text', 'a: "b" c\n'],
    ['something behind brackets', 'a: [b] c\n'],
    ['deeper keys behind a value', 'a: 1\n  b: 2\n'],
    ['keys between two depths', 'a:\n    b: 1\n  c: 2\n'],
    ['an entry behind keys', 'a: 1\n- b\n'],
    ['a key behind entries', 'a:\n  - b\n  c: 1\n'],
    ['tabs', 'a:\tb\n'],
    ['carriage returns', 'a: b\r\n'],
    ['unusual blanks', 'a: b\u00a0\n'],
    ['line ends of other scripts', 'a: b\u2028\n'],
    ['what needs two units', 'a: 😀\n'],
    ['explicit keys', '? a\n: b\n'],
    ['depth', Array.from({ length: 100 }, (_, n) => `${' '.repeat(n)}a:\n`).join('')],
  ])('%s', (_, text) => {
    expect(readPlainConfig(text)).toBeNull()
  })
})
