import { describe, expect, it } from 'vitest'
import { useStore } from './check-seeds.ts'
import { runSeed } from './run-seed.ts'

/** The first has a standby, operators who pick among what is stored, and busy worker threads. The others are any. */
const SEED = 3003
const OTHERS = [3007, 3014]

describe('a seed', () => {
  const store = useStore()

  it('takes the same course whatever ran before it', { timeout: 180_000 }, async () => {
    const { course } = await runSeed(SEED, store())
    const courses = new Set<string>()
    for (const other of OTHERS) {
      courses.add((await runSeed(other, store())).course)
      expect((await runSeed(SEED, store())).course).toBe(course)
    }
    courses.add(course)
    expect(courses.size).toBe(1 + OTHERS.length)
  })
})
