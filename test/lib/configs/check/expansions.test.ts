import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { referencesOf } from '../../../../lib/configs/check/expansions.ts'
import { expandLikeCollector } from '../../../support/collector-expansion.ts'

const areHarmless = (value: string) => referencesOf('', { key: value }).areHarmless

/** The schemes that a collector opens while it expands a text, except `env` and `yaml`. */
function opened(text: string): string[] {
  const schemes: string[] = []
  try {
    expandLikeCollector(text, (scheme) => {
      schemes.push(scheme)
      return ''
    })
  } catch {
    // The collector refuses the config, but what it opened before counts.
  }
  return schemes
}

/** Each of these made a collector open the file. */
const ATTACKS = [
  '${file:/path}',
  '${yaml:verbosity: "\\x24\\x7bfile:/path\\x7d"}',
  '${yaml:verbosity: "\\u0024\\u007bfile:/path\\u007d"}',
  '${env:NOPE:-verbosity: "\\x24\\x7bfile:/path\\x7d"}',
  '${yaml:verbosity: !!binary JHtmaWxlOi9wYXRofQ==}',
  '${env:NOPE:-[!!binary JHtmaWxlOi9wYXRofQ==]}',
  '${env:NOPE:-$}{file:/path}',
  '${fi${env:NOPE:-le:}/path}',
  '${fi${env:NOPE}le:/path}',
  '${env:NOPE}$${env:NOPE}{file:/path}',
  '${env:NOPE:-a}-${yaml:fi}-${${env:NOPE:-file}:/path}',
]

describe('the references of a config', () => {
  it.each(ATTACKS)('are not harmless in %s', (attack) => {
    expect(areHarmless(attack)).toBe(false)
  })

  it.each(ATTACKS.filter((attack) => !attack.includes(':-$}') && !attack.startsWith('${env:NOPE:-a}')))(
    'that a collector would follow to a file: %s',
    (attack) => {
      expect(opened(attack)).toContain('file')
    },
  )

  it.each([
    'no dollar',
    'a $ b {c}',
    '${env:PORT}',
    '${PORT}',
    'http://${env:HOST:-localhost:4317}/v1/${env:PATH_OF:-x}',
    '${env:A:-${env:B:-${env:C:-z}}}',
    '${yaml:verbosity: detailed}',
    'set(attributes["a"], Concat(["$${1}", "$$2"], ""))',
    '$$${env:A}',
  ])('are harmless in %s', (text) => {
    expect(areHarmless(text)).toBe(true)
    expect(opened(text)).toEqual([])
  })

  it('are looked for in keys and lists, and in what a tag decodes', () => {
    expect(referencesOf('', { a: [{ '${file:/path}': 1 }] }).areHarmless).toBe(false)
    expect(referencesOf('', { a: ['x', ['${http:x}']] }).areHarmless).toBe(false)
    expect(referencesOf('a: !!binary JHtmaWxlOi9wYXRofQ==', { a: 'JHt' }).areHarmless).toBe(false)
    expect(referencesOf('a: !<tag:yaml.org,2002:bin%61ry> JHt', { a: 'JHt' }).areHarmless).toBe(false)
    expect(referencesOf('a: !!str 5\nb: !!int "3"', { a: '5', b: 3 }).areHarmless).toBe(true)
    expect(referencesOf('', { a: '${env:X}', b: ['${file:x}', '${yaml:y}'] }).providers).toEqual([
      'env',
      'file',
      'yaml',
    ])
  })

  it('lead a collector nowhere when they are harmless, whatever they are made of', () => {
    const piece = fc.constantFrom(
      ...[
        '$',
        '$$',
        '{',
        '}',
        '${',
        '$${',
        '\\',
        '!!binary JHtmaWxlOi9wfQ==',
        '"',
        ': ',
        ':',
        ':-',
        '-',
        ',',
      ],
      ...[
        'file:/p',
        'fi',
        'le',
        'le:',
        '/p',
        'env:',
        'env:A',
        'env:A:-',
        '${env:A}',
        '${A}',
        '${yaml:',
        'yaml:',
      ],
      ...[
        '"\\x24\\x7bfile:/p\\x7d"',
        '\\x24',
        '{file:/p}',
        'a: ',
        '&a ',
        '*a',
        '[',
        ']',
        '\n',
        ' ',
        "'",
        '\ue001',
      ],
    )
    let harmless = 0
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        if (!areHarmless(text)) return
        if (text.includes('${')) harmless++
        expect(opened(text)).toEqual([])
      }),
      { seed: 41, numRuns: 60_000 },
    )
    expect(harmless).toBeGreaterThan(1_000)
  })

  it('are read in a time that grows with their length', () => {
    const nested = '${env:A:-'.repeat(100_000)
    expect(areHarmless(`${nested}${'}'.repeat(100_000)}`)).toBe(false)
    expect(areHarmless(`${'${env:'}${'A'.repeat(500_000)}`)).toBe(false)
    expect(areHarmless('${env:A}'.repeat(100_000))).toBe(true)
  })
})
