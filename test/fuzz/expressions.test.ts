import { describe, expect, test } from 'vitest'
import { type Attack, attacksOn, attackText } from '../support/regex/attacks.ts'
import { findRegexes } from '../support/regex/sources.ts'
import { type CountedRegex, countRegex } from '../support/regex/steps.ts'

// The regular expressions that read texts from agents, browsers, files and other processes, some on the main thread.
// Each is run by an engine that backtracks as the real one does and counts its steps, so that no clock is needed.
const ROOT = new URL('../../', import.meta.url)
const found = findRegexes(ROOT, ['lib/', 'functions/', 'runtime/'])

/**
 * Steps that one character of a text may cost: far more than a harmless pattern takes, far less than one with
 * overlapping repetitions.
 */
const STEPS_PER_CHARACTER_MAX = 150
/** When a text doubles, the steps for each character may grow by a third at most; with quadratic work they double. */
const GROWTH_MAX = 1.34
const SHORT = 128
const LONG = 3_000

describe('regular expressions', () => {
  test('are found in the sources, and none is made at run time out of anybody’s sight', () => {
    expect(found.literals.length).toBeGreaterThan(200)
    expect(found.literals.map(({ regex }) => regex.source)).toContain('\\p{Surrogate}')
    expect(found.made).toEqual([])
  })

  test.each([
    ['a start at every character', /\beyJ[\w-]{5,}\./g],
    ['two loops over the same', /^([^=\s]+)\s*=\s*(.+)$/],
    ['a loop before an end', /\s+$/],
    ['a loop in a loop', /^(?:a+)+b/],
    ['alternatives that overlap', /^(?:a|a|b)*c/],
    ['three loops one after another', /[a-z]+[a-z]+@/],
  ])('that are slow would be seen: %s', (_, regex) => {
    expect(slowest(regex)).not.toBeNull()
  })

  test.each([[/^[a-z0-9]+(_[a-z0-9]+)*$/], [/"[^"]*"/g], [/(?<![\w-])[\w-]{2,80}=/g], [/a|b|\d{1,10}/]])(
    'that are fast are left alone: %s',
    (regex) => {
      expect(slowest(regex)).toBeNull()
    },
  )

  const distinct = new Map(found.literals.map(({ file, regex }) => [String(regex), { file, regex }]))
  test.each([...distinct.values()])('$regex of $file takes time in proportion to the text', ({ regex }) => {
    expect(slowest(regex)).toBeNull()
  })
})

/**
 * The first attack text on which a pattern takes more than linear time, or too many steps for each character; null when
 * there is none.
 */
function slowest(regex: RegExp): (Attack & { steps: string }) | null {
  const counted = countRegex(regex)
  for (const attack of attacksOn(regex)) {
    // A pattern that is slow at thousands of characters is already slower at a hundred.
    const short = perCharacter(counted, attack, SHORT)
    if (short <= STEPS_PER_CHARACTER_MAX && perCharacter(counted, attack, 2 * SHORT) <= short * 1.2) continue
    const half = perCharacter(counted, attack, LONG)
    const whole = perCharacter(counted, attack, 2 * LONG)
    if (half > STEPS_PER_CHARACTER_MAX || whole > half * GROWTH_MAX)
      return {
        ...attack,
        steps: `${half.toFixed(1)} a character, ${whole.toFixed(1)} when it is twice as long`,
      }
  }
  return null
}

function perCharacter(counted: CountedRegex, attack: Attack, length: number): number {
  const text = attackText(attack, length)
  return counted.steps(text, 2 * STEPS_PER_CHARACTER_MAX * text.length) / text.length
}
