import { describe, it } from 'vitest'
import { checkMany, seedsOf, useWorlds } from './check-seeds.ts'

describe('a fleet under every kind of trouble, one half of the seeds', () => {
  const check = useWorlds()
  const seeds = seedsOf(0)

  it('keeps its promises', { timeout: 60_000 + seeds.length * 30_000 }, async () => {
    await checkMany(check, seeds)
  })
})
