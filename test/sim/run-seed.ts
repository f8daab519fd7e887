import type { SimStore } from './database/sim-store.ts'
import { concludeCampaigns } from './plan-campaigns.ts'
import { planTrouble } from './plan-trouble.ts'
import type { Flaw } from './service/sim-service.ts'
import type { Trouble } from './troubles.ts'
import { World } from './world.ts'

/** The outcome of one seed. */
export interface SeedResult {
  seed: number
  problems: readonly string[]
  /** The kinds of trouble that its world had. */
  troubles: readonly string[]
  trace: string
  /** A digest of all that happened, for comparing two runs of one seed. */
  course: string
  pushes: number
  rollbacks: number
}

/** Options for running a seed. */
export interface SeedOptions {
  /** Names of the kinds of trouble that the world is to have, separated by commas; the seed's own choice by default. */
  troubles?: string
  flaw?: Flaw | null
  /** Kinds of trouble that the world is not to have; none by default. */
  without?: readonly Trouble[]
}

/** How long the trouble of a world lasts. */
export const TROUBLE_MS = 300_000
/** A world rests for this long at least, and then until nothing is under way. */
const REST_MS = 300_000
/**
 * A world rests for this long at most. The longest wait is for an offer that an agent says it is applying: it is
 * repeated three times.
 */
const REST_MAX_MS = 1_800_000
/**
 * At most, where some agent polls slowly: the service needs several polls to know its interval, to tell two agents under
 * one uid apart, and to hear of each of the three losses that end an offer.
 */
const SLOW_REST_MAX_MS = 7_200_000
const LOOK_MS = 60_000
/** For how long agents come and go at most while the others rest: for longer than silent targets are waited for in all. */
const RESTLESS_MAX_MS = 5_400_000
/** What agents that come and go keep open is seen open within this time. */
const CLOSED_MS = 300_000

/** Clear the database and let one world live: a stretch of trouble, then a stretch of rest. */
export async function runSeed(
  seed: number,
  store: SimStore,
  { troubles = process.env['SIM_TROUBLES'], flaw = null, without = [] }: SeedOptions = {},
): Promise<SeedResult> {
  await store.clear()
  const world = new World(seed, store, { troubles, flaw, without })
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
    seed,
    troubles: had,
    problems: world.promises.problems,
    trace: world.readTrace(),
    course: world.readCourse(),
    ...rows[0]!,
  }
}

/** Let the world come to rest: end all trouble, start all agents, and give every repetition its time. */
export async function rest(world: World): Promise<void> {
  world.setDatabaseAway(false)
  world.database.lostCommitChance = 0
  world.database.lateCommitChance = 0
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
  if (world.troubles.campaigns) concludeCampaigns(world)
  world.promises.rests()
  await world.run(REST_MS)
  await calmDown(world)
  const most = world.agents.some(({ nature }) => nature.pollMs > 100_000) ? SLOW_REST_MAX_MS : REST_MAX_MS
  let rested = REST_MS
  const settle = async () => {
    for (; rested < most && !(await world.isQuiet()); rested += LOOK_MS) await world.run(LOOK_MS)
  }
  await settle()
  if (!world.troubles.campaigns) return
  // What operators began last comes to its end as well.
  world.isLeftAlone = true
  await world.run(LOOK_MS)
  void world.campaigning.withdrawAll()
  await world.run(LOOK_MS)
  await settle()
}

/**
 * Where agents come and go, let every push and rollout end all the same; then let these agents stay. What is not seen open
 * for a while has ended: a moment in which nobody is there who is waited for says nothing.
 */
async function calmDown(world: World): Promise<void> {
  const restless = world.agents.filter(({ isRestless }) => isRestless)
  if (restless.length === 0) return
  let open: readonly string[] = []
  let closedMs = 0
  for (let passed = 0; passed < RESTLESS_MAX_MS && closedMs < CLOSED_MS; passed += LOOK_MS) {
    const seen = await world.listLastingEnds()
    closedMs = seen.length > 0 ? 0 : closedMs + LOOK_MS
    if (seen.length > 0) open = seen
    await world.run(LOOK_MS)
  }
  if (closedMs < CLOSED_MS)
    for (const problem of open) world.promises.report(`while agents come and go, ${problem}`)
  for (const agent of restless) {
    agent.isRestless = false
    agent.start()
  }
  await world.run(REST_MS)
}
