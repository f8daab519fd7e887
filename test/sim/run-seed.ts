import type { SimStore } from './database/sim-store.ts'
import { planTrouble } from './plan-trouble.ts'
import type { Flaw } from './service/sim-service.ts'
import { World } from './world.ts'

/** What came of one seed. */
export interface SeedResult {
  seed: number
  problems: readonly string[]
  /** Which kinds of trouble it had. */
  troubles: readonly string[]
  trace: string
  /** A digest of all that happened. */
  course: string
  pushes: number
  rollbacks: number
}

/** What is asked of a seed besides. */
export interface SeedOptions {
  /** The kinds of trouble it is to have, by comma; its own choice by default. */
  troubles?: string
  flaw?: Flaw | null
}

const TROUBLE_MS = 300_000
/** So long at least; then as long as something is under way. */
const REST_MS = 300_000
/** The longest that anything may take to end: three repeats of an offer that is said to be under way. */
const REST_MAX_MS = 1_800_000
/** The slowest pollers need as long to be known by their rhythm. */
const SLOW_REST_MAX_MS = 2_700_000
const LOOK_MS = 60_000

/** Clear the database and let one world live: a stretch of trouble, then a stretch of rest. */
export async function runSeed(
  seed: number,
  store: SimStore,
  { troubles = process.env['SIM_TROUBLES'], flaw = null }: SeedOptions = {},
): Promise<SeedResult> {
  await store.clear()
  const world = new World(seed, store, troubles, flaw)
  planTrouble(world, TROUBLE_MS)
  await world.run(TROUBLE_MS)
  await rest(world)
  await world.promises.checkAtRest()
  const rows = await store.watcher.query<{ pushes: number; rollbacks: number }>(
    `select count(*)::int as pushes, (count(*) filter (where kind = 'auto-rollback'))::int as rollbacks from pushes`,
  )
  await world.end()
  const had = Object.entries(world.troubles).flatMap(([trouble, isOn]) => (isOn ? [trouble] : []))
  return {
    ...{ seed, troubles: had, problems: world.promises.problems },
    ...{ trace: world.readTrace(), course: world.readCourse() },
    ...rows[0]!,
  }
}

/** No more trouble: everyone is on, everything is there, and there is time for every repetition. */
async function rest(world: World): Promise<void> {
  world.setDatabaseAway(false)
  world.database.lostCommitChance = 0
  world.database.refusalChance = 0
  world.busyChance = 0
  world.dropChance = 0
  world.lossChance = 0
  await world.run(60_000)
  for (const agent of world.agents) {
    agent.start()
    const staysIll = world.troubles.lastingIllness && world.dice.chance(0.5)
    if (!agent.isHealthy && !staysIll) agent.feel(true)
  }
  for (const browser of world.browsers) browser.isSlow = false
  await world.run(REST_MS)
  const most = world.agents.some(({ nature }) => nature.pollMs > 100_000) ? SLOW_REST_MAX_MS : REST_MAX_MS
  for (let rested = REST_MS; rested < most && !(await world.isQuiet()); rested += LOOK_MS)
    await world.run(LOOK_MS)
}
