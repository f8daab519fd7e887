import { describe, expect, it, vi } from 'vitest'
import { useStore } from './check-seeds.ts'
import { FLAWS } from './flaws.ts'
import { runSeed } from './run-seed.ts'
import type { Flaw } from './service/sim-service.ts'
import type { Trouble } from './troubles.ts'

const SEEDS_MAX = 120
const rules = vi.hoisted(() => ({ resolveNothing: false }))

vi.mock('../../lib/alerts/rules.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../lib/alerts/rules.ts')>()
  const decideAlerts: typeof original.decideAlerts = (...asked) =>
    original.decideAlerts(...asked).filter(({ kind }) => !rules.resolveNothing || kind !== 'resolve')
  return { ...original, decideAlerts }
})

describe('a fault that is put into a process is found by some seed', () => {
  const store = useStore()

  /** The first problem found by the first seed that finds one; null when no seed does. */
  async function find(troubles: readonly Trouble[], flaw: Flaw | null): Promise<string | null> {
    for (let seed = 1; seed <= SEEDS_MAX; seed++) {
      const { problems } = await runSeed(seed, store(), { troubles: troubles.join(','), flaw })
      if (problems.length > 0) return `seed ${seed}: ${problems[0]}`
    }
    return null
  }

  it.each(Object.entries(FLAWS))('when it %s', { timeout: 300_000 }, async (_, { troubles, flaw }) => {
    const found = await find(troubles, flaw)
    console.info(found)
    expect(found).not.toBeNull()
  })

  it('when it resolves no alert', { timeout: 300_000 }, async () => {
    rules.resolveNothing = true
    const found = await find(['badHealth'], null).finally(() => {
      rules.resolveNothing = false
    })
    console.info(found)
    expect(found).toContain('for nothing')
  })
})
