import { describe, expect, it, vi } from 'vitest'
import { CAMPAIGN_FLAWS } from './campaign-flaws.ts'
import { useStore } from './check-seeds.ts'
import { FLAWS } from './flaws.ts'
import { runSeed } from './run-seed.ts'
import type { Flaw } from './service/sim-service.ts'
import { STAGED_FLAWS } from './staged-flaws.ts'
import type { Trouble } from './troubles.ts'

const SEEDS_MAX = 250
const rules = vi.hoisted(() => ({ resolveNothing: false }))

vi.mock('../../lib/alerts/rules.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../lib/alerts/rules.ts')>()
  const decideAlerts: typeof original.decideAlerts = (...asked) =>
    original.decideAlerts(...asked).filter(({ kind }) => !rules.resolveNothing || kind !== 'resolve')
  return { ...original, decideAlerts }
})

describe('a fault that is put into a process is found by some seed', () => {
  const store = useStore()

  /** The first problem of this kind that some seed finds, from `first` on; null when no seed does. */
  async function find(
    troubles: readonly Trouble[],
    flaw: Flaw | null,
    { says = /^/, first = 1 } = {},
  ): Promise<string | null> {
    for (let seed = first; seed < first + SEEDS_MAX; seed++) {
      const { problems } = await runSeed(seed, store(), { troubles: troubles.join(','), flaw })
      const problem = problems.find((one) => says.test(one))
      if (problem !== undefined) return `seed ${seed}: ${problem}`
    }
    return null
  }

  it.each(Object.entries(FLAWS))('when it %s', { timeout: 600_000 }, async (_, { troubles, ...planted }) => {
    const found = await find(troubles, planted.flaw, planted)
    console.info(found)
    expect(found).not.toBeNull()
  })

  it.each(Object.entries(CAMPAIGN_FLAWS))('when it %s', { timeout: 600_000 }, async (_, planted) => {
    const found = await find(['campaigns'], planted.flaw, planted)
    console.info(found)
    expect(found).not.toBeNull()
  })

  it.each(Object.entries(STAGED_FLAWS))('when it %s', { timeout: 600_000 }, async (_, planted) => {
    const found = await find(['campaigns', 'stagedTargets'], planted.flaw, planted)
    console.info(found)
    expect(found).not.toBeNull()
  })

  it('when it resolves no alert', { timeout: 600_000 }, async () => {
    rules.resolveNothing = true
    const found = await find(['badHealth'], null).finally(() => {
      rules.resolveNothing = false
    })
    console.info(found)
    expect(found).toContain('for nothing')
  })
})
