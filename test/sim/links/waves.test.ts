import { expect, it } from 'vitest'
import { useStore } from '../check-seeds.ts'
import { runLinkedSeed } from './run-linked-seed.ts'
import { WAVE_OCCASIONS } from './stand-stills.ts'

// In these worlds fronts stand still and are killed as in all with links, and processes that decide are killed as well.

const SEEDS_MAX = 8

const store = useStore()

it('carries the waves of campaigns on where the owner stands still for half a minute at each step of them, and fronts die', {
  timeout: 60_000 + SEEDS_MAX * 60_000,
}, async () => {
  const left = new Set(WAVE_OCCASIONS.filter((occasion) => occasion.includes('owner')))
  for (let seed = 1; seed <= SEEDS_MAX && left.size > 0; seed++) {
    const { problems, stoodStill } = await runLinkedSeed(seed, store(), {
      troubles: ['campaigns', 'crashes', 'stillAtSteps'],
      stillOn: [...left],
    })
    expect({ seed, problems }).toEqual({ seed, problems: [] })
    for (const occasion of stoodStill) left.delete(occasion)
  }
  expect([...left]).toEqual([])
})
