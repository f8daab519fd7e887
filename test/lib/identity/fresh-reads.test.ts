import { describe, expect, it } from 'vitest'
import { FreshReads } from '../../../lib/identity/fresh-reads.ts'
import { fakeClock } from '../../support/fakes.ts'

/** Reads of one thing, each of which a test answers when it likes. */
function setUp(isKept?: (value: string | null) => boolean) {
  const clock = fakeClock()
  const reads = new FreshReads<string | null>(clock, isKept)
  const answers: ((value: string | null) => void)[] = []
  const ask = () => reads.read('x', () => new Promise((resolve) => answers.push(resolve)))
  return { clock, reads, answers, ask }
}

describe('what is read of a credential', () => {
  it('counts for 30 s from when its read began, and those who ask at once share it', async () => {
    const { clock, answers, ask } = setUp()
    const asked = [ask(), ask()]
    clock.advance(10_000)
    answers[0]!('a')
    expect(await Promise.all(asked)).toEqual(['a', 'a'])
    clock.advance(19_999)
    expect(await ask()).toBe('a')
    expect(answers).toHaveLength(1)
    clock.advance(1)
    const later = ask()
    answers[1]!('b')
    expect(await later).toBe('b')
  })

  it('does not count where it was forgotten while it was read, but for whoever had asked before', async () => {
    const { reads, answers, ask } = setUp()
    const before = ask()
    reads.forget()
    const after = ask()
    expect(answers).toHaveLength(2)
    answers[1]!('after')
    answers[0]!('before')
    expect(await Promise.all([before, after])).toEqual(['before', 'after'])
    // The read that ended last is the older one.
    const next = ask()
    expect(answers).toHaveLength(3)
    answers[2]!('next')
    expect(await next).toBe('next')
    expect(await ask()).toBe('next')
  })

  it('is known for longer than it counts, and not remembered where it is not kept', async () => {
    const { clock, reads, answers, ask } = setUp((value) => value !== null)
    const first = ask()
    answers[0]!('a')
    await first
    clock.advance(60_000)
    reads.forget()
    expect(reads.isKnown('x')).toBe(true)
    const gone = ask()
    answers[1]!(null)
    expect(await gone).toBe(null)
    expect(reads.isKnown('x')).toBe(false)
    void ask()
    expect(answers).toHaveLength(3)
  })

  it('that could not be read is read again by the next', async () => {
    const { reads } = setUp()
    await expect(reads.read('x', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect(await reads.read('x', async () => 'a')).toBe('a')
  })
})
