import { expect, it } from 'vitest'
import { useStore } from '../check-seeds.ts'
import { runLinkedSeed } from './run-linked-seed.ts'
import { OCCASIONS } from './stand-stills.ts'

const SEEDS_MAX = 12

const store = useStore()

it('keeps its promises where an owner or a front stands still for half a minute at each step of a push', {
  timeout: 60_000 + SEEDS_MAX * 60_000,
}, async () => {
  const left = new Set(OCCASIONS)
  for (let seed = 1; seed <= SEEDS_MAX && left.size > 0; seed++) {
    const { problems, stoodStill } = await runLinkedSeed(seed, store(), {
      troubles: ['stages', 'rollbacks', 'stillAtSteps', 'frontBrowsers'],
      stillOn: [...left],
    })
    expect({ seed, problems }).toEqual({ seed, problems: [] })
    for (const occasion of stoodStill) left.delete(occasion)
  }
  expect([...left]).toEqual([])
})
