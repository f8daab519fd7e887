import { describe, expect, it } from 'vitest'
import { useStore } from './check-seeds.ts'
import { runSeed } from './run-seed.ts'

/** The first has a standby, operators who pick among what is stored, and busy worker threads; the second campaigns. */
const SEEDS = [3003, 3008]
const OTHERS = [3007, 3014]

describe('a seed', () => {
  const store = useStore()

  it.each(SEEDS)('takes the same course whatever ran before it: %i', { timeout: 360_000 }, async (seed) => {
    const { course } = await runSeed(seed, store())
    const courses = new Set<string>()
    for (const other of OTHERS) {
      courses.add((await runSeed(other, store())).course)
      expect((await runSeed(seed, store())).course).toBe(course)
    }
    courses.add(course)
    expect(courses.size).toBe(1 + OTHERS.length)
  })
})
