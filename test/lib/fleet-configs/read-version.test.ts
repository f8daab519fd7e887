import { describe, expect, it } from 'vitest'
import { renderVersion } from '../../../lib/configs/render/render.ts'
import { readVersion, type VersionDraft } from '../../../lib/fleet-configs/read-version.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { StoredVariable } from '../../../lib/store/fleet-configs.ts'
import { countLoopTurns } from '../../support/loop-turns.ts'

const variable = (more: Partial<StoredVariable> = {}): StoredVariable => ({
  name: 'site',
  type: 'string',
  isRequired: true,
  pattern: null,
  fallback: null,
  description: '',
  label: null,
  ...more,
})
const DRAFT: VersionDraft = {
  body: `a: \${muster:site}`,
  variables: [variable()],
  valueTable: null,
  comment: 'the first',
}

type Engine = Parameters<typeof readVersion>[1]['configs']
const ENGINE: Engine = {
  render: async ({ text, variables, values }) => ({
    ok: true,
    rendering: renderVersion(text, variables, values),
  }),
}
const STILL: Parameters<typeof readVersion>[1]['clock'] = { monotonicMs: () => 0 }
const read = (more: Partial<VersionDraft> = {}, engine = ENGINE, clock = STILL) =>
  readVersion({ ...DRAFT, ...more }, { configs: engine, clock })
const table = (rows: Record<string, Record<string, string>>, label = 'muster/site') => ({
  valueTable: { label, rows },
})

describe('a version', () => {
  it('has the hash of its text, whatever fills it', async () => {
    const hash = configHash(DRAFT.body)
    expect(await read()).toEqual({ ok: true, hash, meaning: expect.any(String) })
    expect(await read({ comment: '', ...table({ paris: { site: 'p' } }) })).toMatchObject({ ok: true, hash })
  })

  it('can be rendered without knowing a value that fits the pattern of a variable', async () => {
    expect(await read({ variables: [variable({ pattern: 'site-[0-9]+' })] })).toMatchObject({ ok: true })
  })

  it.each(['string', 'integer', 'number', 'boolean', 'duration'] as const)(
    'is tried with a value of the kind %s',
    async (type) => expect(await read({ variables: [variable({ type })] })).toMatchObject({ ok: true }),
  )

  it('has a comment that can be kept, of so many characters and no more', async () => {
    expect(await read({ comment: 'x'.repeat(4_000) })).toMatchObject({ ok: true })
    for (const comment of ['x'.repeat(4_001), 'a\0b'])
      expect(await read({ comment })).toMatchObject({
        ok: false,
        code: 'version-comment-invalid',
        details: { max: 4_000 },
      })
  })

  it('has a text that can be kept and rendered; what is wrong is said with its line', async () => {
    for (const body of ['a: "\0"', '', 'a: b\nc: [', `a: \${muster:other}`])
      expect(await read({ body }), body).toMatchObject({ ok: false, code: 'version-text-invalid' })
    expect(await read({ body: 'a: b\nc: [' })).toMatchObject({ details: { line: 2 } })
    // YAML may have such a comment; the database cannot keep it.
    expect(await read({ body: 'a: b # \ud800' })).toMatchObject({ details: { why: 'text_unstorable' } })
  })

  it('is neither taken nor refused for its text while the config workers are busy', async () => {
    const busy: Engine = { render: async () => ({ ok: false, code: 'server-busy' }) }
    expect(await read({}, busy)).toMatchObject({ ok: false, code: 'server-busy' })
  })
})

describe('the label of a variable', () => {
  it.each<[string, string | null]>([
    ['muster/site', null],
    ['identity/host.name', null],
    ['env', '[a-z]+'],
  ])('can be %s', async (label, pattern) => {
    expect(await read({ variables: [variable({ label, pattern })] })).toMatchObject({ ok: true })
  })

  it.each<[string, string]>([
    ['env', 'variable_pattern_missing'],
    ['identity/colour', 'variable_label_unknown'],
    ['', 'variable_label_unknown'],
  ])('cannot be %j without a pattern', async (label, why) => {
    expect(await read({ variables: [variable({ label })] })).toMatchObject({
      ok: false,
      code: 'version-variables-invalid',
      details: { why },
    })
  })
})

describe('the table of values', () => {
  it.each([
    ['env', 'agents report'],
    ['identity/host.name', 'is what a workload is made of'],
    ['muster/', 'names nothing'],
  ])('is not keyed by %s, which %s', async (label) => {
    expect(await read(table({}, label))).toMatchObject({
      ok: false,
      code: 'version-variables-invalid',
      details: { why: 'table_label_unset' },
    })
  })

  it('has so many rows and no more, each with a key that a label can have', async () => {
    const rows = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, { site: 'p' }]))
    expect(await read(table(rows(1_000)))).toMatchObject({ ok: true })
    expect(await read(table(rows(1_001)))).toMatchObject({ details: { why: 'table_rows_too_many' } })
    for (const key of ['', 'x'.repeat(1_025), 'a\0'])
      expect(await read(table({ [key]: {} }))).toMatchObject({ details: { why: 'table_row_bad' } })
  })

  it('fills declared variables alone, each with a value of its kind that is no secret', async () => {
    expect(await read(table({ paris: { other: 'x' } }))).toMatchObject({
      details: { why: 'table_variable_undeclared' },
    })
    const wrong = { variables: [variable({ pattern: '[a-z]+' })] }
    for (const site of ['PARIS', 'two\nlines', `ghp_${'a1B2'.repeat(9)}`])
      expect(await read({ ...wrong, ...table({ paris: { site } }) }), site).toMatchObject({
        ok: false,
        code: 'version-variables-invalid',
      })
  })
})

describe('the values of a version', () => {
  const rows = (count: number, siteOf: (row: number) => string) =>
    table(Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, { site: siteOf(n) }])))

  it('are held to a pattern that is read once, however many there are', async () => {
    const readsWith = async (count: number) => {
      let reads = 0
      const watched = Object.defineProperty(variable(), 'pattern', {
        enumerable: true,
        get() {
          reads++
          return '[a-z0-9]+'
        },
      })
      const answer = await read({ variables: [watched], ...rows(count, (n) => `site${n}`) })
      expect(answer).toMatchObject({ ok: true })
      return reads
    }
    expect(await readsWith(500)).toBe(await readsWith(5))
  })

  it('are looked at once where they are equal, and others have their turn by the clock', async () => {
    const looksAt = async (siteOf: (row: number) => string) => {
      let looks = 0
      const clock = {
        monotonicMs() {
          looks++
          return looks * 5
        },
      }
      const turns = countLoopTurns()
      const given = { variables: [variable({ pattern: '[a-z0-9]+' })], ...rows(400, siteOf) }
      expect(await read(given, ENGINE, clock)).toMatchObject({ ok: true })
      return { looks, turns: turns.over() }
    }
    const [equal, distinct] = [await looksAt(() => 'paris'), await looksAt((n) => `site${n}`)]
    expect(equal.looks).toBeLessThan(20)
    expect(distinct.looks).toBeGreaterThanOrEqual(400)
    expect(distinct.turns).toBeGreaterThan(100)
  })

  it('are refused by the first that is wrong, wherever it stands', async () => {
    const pattern = { variables: [variable({ pattern: '[a-z0-9]+' })] }
    const answer = await read({ ...pattern, ...rows(400, (n) => (n === 399 ? 'NO' : 'paris')) })
    expect(answer).toMatchObject({ ok: false, details: { why: 'variable_unmatched' } })
    const bad = { variables: [variable({ isRequired: false, fallback: 'NO', pattern: '[a-z]+' })] }
    expect(await read(bad)).toMatchObject({
      ok: false,
      details: { why: 'variable_unmatched', within: 'default' },
    })
  })
})
