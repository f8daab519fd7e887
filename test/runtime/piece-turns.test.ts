import { describe, expect, it } from 'vitest'
import { nextTurn } from '../../lib/turns.ts'
import { PieceTurns } from '../../runtime/piece-turns.ts'

const PIECES = 20

describe('answers that are sent in pieces', () => {
  it.each([
    ['all at one time', 100, async () => undefined],
    ['one after the other, each in a turn of its own', 100, nextTurn],
    ['alone', 1, async () => undefined],
  ])('take a few milliseconds of a turn of the loop together: asked for %s', async (_, count, pause) => {
    let nowMs = 0
    const turns = new PieceTurns({ monotonicMs: () => nowMs })
    let [made, longest, open] = [0, 0, 0]
    async function* pieces(answer: number) {
      for (let n = 0; n < PIECES; n++) {
        // Each takes a millisecond.
        nowMs++
        made++
        yield `${answer}.${n}`
      }
    }
    const read = async (answer: number) => {
      open++
      const all: string[] = []
      for await (const piece of turns.of(pieces(answer))) all.push(piece)
      open--
      return all
    }
    const answers: Promise<string[]>[] = []
    const begin = (async () => {
      for (let answer = 0; answer < count; answer++) {
        answers.push(read(answer))
        await pause()
      }
    })()
    while (open > 0) {
      const before = made
      await nextTurn()
      longest = Math.max(longest, made - before)
    }
    await begin
    // The end of one turn and the beginning of the next may lie between two looks.
    expect(longest).toBeLessThanOrEqual(10)
    for (const [answer, got] of (await Promise.all(answers)).entries())
      expect(got).toEqual(Array.from({ length: PIECES }, (_, n) => `${answer}.${n}`))
  })

  it('do not wait for one whose next piece is not there yet, and end it where nobody reads on', async () => {
    const turns = new PieceTurns({ monotonicMs: () => 0 })
    let isEnded = false
    let go: () => void = () => {}
    async function* slow() {
      try {
        await new Promise<void>((resolve) => {
          go = resolve
        })
        yield 'late'
        yield 'later'
      } finally {
        isEnded = true
      }
    }
    async function* quick() {
      yield* ['a', 'b']
    }
    const first = turns.of(slow())
    const late = first.next()
    const got: string[] = []
    for await (const piece of turns.of(quick())) got.push(piece)
    expect(got).toEqual(['a', 'b'])
    go()
    expect((await late).value).toBe('late')
    await first.return()
    expect(isEnded).toBe(true)
  })

  it('fail alone', async () => {
    const turns = new PieceTurns({ monotonicMs: () => 0 })
    async function* broken(): AsyncGenerator<string> {
      yield 'a'
      throw new Error('the database is away')
    }
    const read = async () => {
      for await (const _ of turns.of(broken()));
    }
    await expect(read()).rejects.toThrow('the database is away')
    async function* sound() {
      yield 'b'
    }
    expect((await turns.of(sound()).next()).value).toBe('b')
  })
})
