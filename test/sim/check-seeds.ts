import { afterAll, beforeAll, expect } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { openSimStore, type SimStore } from './database/sim-store.ts'
import { OPEN_SEEDS } from './kept-seeds.ts'
import { runSeed, type SeedOptions, type SeedResult } from './run-seed.ts'

/** One test database in which many worlds are run one after the other. Call it in a `describe`. */
export function useStore(): () => SimStore {
  let database: TestDatabase
  let store: SimStore
  beforeAll(async () => {
    database = await createTestDatabase()
    store = await openSimStore(database.dsn)
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })
  return () => store
}

/**
 * Runs the world of a seed and fails the test when a promise was broken. Call it in a `describe`; the database is its
 * own.
 */
export function useWorlds(): (seed: number, options?: SeedOptions) => Promise<SeedResult> {
  const store = useStore()
  return async (seed, options) => {
    const result = await runSeed(seed, store(), options)
    if (result.problems.length > 0)
      expect.fail(
        `seed ${seed} (${result.troubles.join(', ')}):\n${result.problems.join('\n')}\n\nwhat happened:\n${result.trace}`,
      )
    return result
  }
}

const SEEDS = Number(process.env['SIM_SEEDS'] ?? 40)
const FIRST = Number(process.env['SIM_FIRST'] ?? 1)
/** These alone, where CI runs once more what failed; separated by commas. */
const ONLY = process.env['SIM_ONLY'] || null
/** How many test files share the seeds, so that vitest runs them in parallel. */
const SHARES = 2

/** The seeds of one share (counted from 0) among `SIM_SEEDS` seeds from `SIM_FIRST` on, without those known to fail. */
export function seedsOf(share: number): number[] {
  const all = ONLY?.split(',').map(Number) ?? Array.from({ length: SEEDS }, (_, index) => FIRST + index)
  const isOpen = (seed: number) => OPEN_SEEDS.some(([open]) => open === seed)
  return all.filter((seed) => (seed - FIRST) % SHARES === share && !isOpen(seed))
}

/** Run many seeds. The failure names every seed that failed, and has the whole trace of the first. */
export async function checkMany(
  check: (seed: number) => Promise<SeedResult>,
  seeds: readonly number[],
): Promise<void> {
  let pushes = 0
  let rollbacks = 0
  const faults: string[] = []
  const before = process.cpuUsage()
  for (const seed of seeds) {
    try {
      const result = await check(seed)
      pushes += result.pushes
      rollbacks += result.rollbacks
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error)
      const text = said.startsWith(`seed ${seed} (`) ? said : `seed ${seed} (was given up):\n${said}`
      faults.push(faults.length === 0 ? text : text.split('\n\n')[0]!)
    }
  }
  const { user, system } = process.cpuUsage(before)
  console.info(
    `${seeds.length} seeds took ${((user + system) / 1e6 / seeds.length).toFixed(2)} s of a core each, PostgreSQL apart`,
  )
  if (faults.length > 0) expect.fail(`${faults.length} of ${seeds.length} seeds failed\n${faults.join('\n')}`)
  if (ONLY !== null) return
  // Without enough pushes and rollbacks the seeds would show nothing.
  expect(pushes).toBeGreaterThanOrEqual(seeds.length)
  expect(rollbacks).toBeGreaterThanOrEqual(Math.floor(seeds.length / 20))
}
