import { describe, expect, it } from 'vitest'
import { useWorlds } from './check-seeds.ts'
import {
  KEPT_CAMPAIGN_SEEDS,
  KEPT_LATE_SEEDS,
  KEPT_NEWEST_SEEDS,
  KEPT_SEEDS,
  KEPT_STAGED_SEEDS,
  OPEN_SEEDS,
} from './kept-seeds.ts'
import type { Trouble } from './troubles.ts'

/** Kinds of trouble that no world had when these seeds failed. */
const NEW: readonly Trouble[] = ['lateDeaths', 'goodbyes']

describe('a fleet under every kind of trouble that once broke a promise', () => {
  const check = useWorlds()

  it.each(KEPT_SEEDS)('keeps its promises at seed %i: %s', { timeout: 600_000 }, async (seed) => {
    // Worlds had no campaigns when these seeds failed, and no commits that came late.
    await check(seed, { without: ['campaigns', 'lateCommits', ...NEW] })
  })

  it.each(KEPT_CAMPAIGN_SEEDS)('keeps its promises at seed %i: %s', { timeout: 600_000 }, async (seed) => {
    // Nor did campaigns go in stages when these did.
    await check(seed, { without: ['stagedTargets', 'lateCommits', ...NEW] })
  })

  it.each(KEPT_STAGED_SEEDS)('keeps its promises at seed %i: %s', { timeout: 600_000 }, async (seed) => {
    await check(seed, { without: ['lateCommits', ...NEW] })
  })

  it.each(KEPT_LATE_SEEDS)('keeps its promises at seed %i: %s', { timeout: 600_000 }, async (seed) => {
    // Worlds had commits that came late only where they were asked for when these did.
    await check(seed, { troubles: 'lateCommits,campaigns' })
  })

  it.each(KEPT_NEWEST_SEEDS)('keeps its promises at seed %i: %s', { timeout: 600_000 }, async (seed) => {
    await check(seed)
  })

  it.each(OPEN_SEEDS)('breaks one still at seed %i: %s', { timeout: 600_000 }, async (seed) => {
    await expect(check(seed)).rejects.toThrow(`seed ${seed} (`)
  })
})
