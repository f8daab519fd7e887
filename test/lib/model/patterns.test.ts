import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPattern } from '../../../lib/model/patterns.ts'

const matches = (source: string, text: string) => {
  const read = readPattern(source)
  if (!read.ok) throw new Error(read.error)
  return read.pattern.matches(text)
}

describe('a pattern', () => {
  it('matches as a regular expression that must match the whole does', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '[a-c]',
      '\\d',
      '\\.',
      '(a|bc)',
      '(?:b)?',
      '(a*b)',
    )
    const counted = fc
      .tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{0,}'))
      .map(([one, count]) => (one.endsWith('?') ? one : one + count))
    const source = fc.array(counted, { maxLength: 5 }).map((parts) => parts.join(''))
    const text = fc.string({ unit: fc.constantFrom(...'abc.1'), maxLength: 8 })
    fc.assert(
      fc.property(source, source, text, (one, other, value) => {
        const pattern = `${one}|${other}`
        expect(matches(pattern, value)).toBe(new RegExp(`^(?:${pattern})$`, 'u').test(value))
      }),
      { numRuns: 3_000 },
    )
  })

  it('takes bounded time where an expression would go on for ever', () => {
    expect(matches('(a*)*b', 'a'.repeat(1_024))).toBe(false)
    expect(matches('.*.*.*.*.*.*.*.*x', 'a'.repeat(1_024))).toBe(false)
  })

  it.each(['(((((){256}){256}){256}){256}){256}a', '(((((()()){256}){256}){256}){256}){256}a'])(
    'reads a count of what is empty once, however deep such counts stand: %s',
    (source) => {
      expect(matches(source, 'a')).toBe(true)
      expect(matches(source, 'aa')).toBe(false)
    },
  )

  it('has no more parts for counts without end within counts', () => {
    expect(readPattern('((((((){3,}){256}){256}){256}){256}){256}')).toEqual({
      ok: false,
      error: 'pattern has too many counted parts',
    })
  })

  it('may say that it means the whole', () => {
    expect(matches('^eu-[0-9]$', 'eu-1')).toBe(true)
    expect(matches('^eu-[0-9]$', 'eu-12')).toBe(false)
  })

  it.each([
    ['(', 'pattern has a ( that is not closed'],
    [')', 'pattern has a ) that closes nothing'],
    ['[a', 'pattern has a [ that is not closed'],
    ['*', 'pattern has a * where nothing can be counted; write \\*'],
    ['a{b', 'pattern has a { that is no count; write \\{'],
    ['a{300}', 'pattern has a count that is not within 0 and 256'],
    ['a{3,1}', 'pattern has a count that is not within 0 and 256'],
    ['a++', 'pattern has two counts in a row'],
    ['(?=a)', 'pattern has a group of an unknown kind'],
    ['\\b', 'pattern has the unknown escape \\b'],
    ['[z-a]', 'pattern has the range z-a'],
    ['((a{99}){99}){99}', 'pattern has too many counted parts'],
    ['a'.repeat(257), 'pattern is longer than 256 characters'],
    ['\\', 'pattern ends with a backslash'],
  ])('%j is refused: %s', (source, error) => {
    expect(readPattern(source)).toEqual({ ok: false, error })
  })
})
