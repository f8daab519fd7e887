import { describe, expect, it } from 'vitest'
import { useStore } from '../check-seeds.ts'
import { LINK_FLAWS } from './link-flaws.ts'
import { runLinkedSeed } from './run-linked-seed.ts'

const SEEDS_MAX = 25

describe('a fault that is put into the links is found by some seed', () => {
  const store = useStore()

  it.each(Object.entries(LINK_FLAWS))('when %s', { timeout: 600_000 }, async (_, planted) => {
    let found = ''
    const { from = 1 } = planted
    for (let seed = from; seed < from + SEEDS_MAX && found === ''; seed++) {
      const { problems } = await runLinkedSeed(seed, store(), planted)
      if (problems.length > 0) found = `seed ${seed}: ${problems[0]}`
    }
    console.info(found)
    expect(found).not.toBe('')
  })
})
