import type { Connection } from '../../lib/store/connection.ts'
import { World } from './world.ts'

/** What came of one seed. */
export interface SeedResult {
  seed: number
  problems: readonly string[]
  trace: string
  pushes: number
  rollbacks: number
}

const TABLES = `workloads, config_contents, reported_configs, agent_workloads, workload_events, approvals, pushes,
  push_targets, quarantines, revision_labels, known_good_configs, rollouts, rollout_members`

/** Clear the database and let one world live: a stretch of trouble, then a stretch of rest. */
export async function runSeed(
  seed: number,
  connection: Connection,
  watcher: Connection,
): Promise<SeedResult> {
  await watcher.execute(`set session_replication_role = replica`)
  await watcher.execute(`truncate ${TABLES}, audit_events cascade`)
  const world = new World(seed, connection, watcher)
  const { dice, time } = world
  const groups = 1 + dice.int(2)
  const count = 2 + dice.int(5)
  for (let i = 0; i < count; i++) world.addAgent(i, `host-${dice.int(groups)}`)
  world.startService()
  // Some are late: they join after the first pushes.
  for (const agent of world.agents)
    time.after(dice.chance(0.7) ? dice.between(0, 2_000) : dice.between(30_000, 200_000), () => agent.start())
  const troubleMs = 300_000
  if (dice.chance(0.3)) world.setLostCommits(0.05)
  plan(world, troubleMs)
  await world.run(troubleMs)
  await rest(world)
  await world.watch.checkAtRest()
  const rows = await world.read<{ pushes: number; rollbacks: number }>(
    `select count(*)::int as pushes, (count(*) filter (where kind = 'auto-rollback'))::int as rollbacks from pushes`,
  )
  await world.crashService(1e12)
  return { seed, problems: world.watch.problems, trace: world.readTrace(), ...rows[0]! }
}

/** Throw the dice for everything that will happen. */
function plan(world: World, untilMs: number): void {
  const { dice, time } = world
  const often = (times: number, act: () => void) => {
    for (let i = 0; i < times; i++) time.after(dice.between(3_000, untilMs), act)
  }
  often(2 + dice.int(8), () => world.push())
  often(dice.int(6), () => world.steer())
  often(dice.int(4), () => void world.crashService(dice.between(100, 8_000)))
  often(dice.int(3), () => {
    world.setDatabaseAway(true)
    time.after(dice.between(100, 15_000), () => world.setDatabaseAway(false))
  })
  often(dice.int(10), () => dice.pick(world.agents).lose())
  often(dice.int(4), () => dice.pick(world.agents).restart(dice.between(10, 30_000)))
  often(dice.int(3), () => {
    const agent = dice.pick(world.agents)
    agent.stop()
    time.after(dice.between(100, 60_000), () => agent.start())
  })
  often(dice.int(5), () => dice.pick(world.agents).replay())
  often(dice.int(3), () => dice.pick(world.agents).lie())
}

/** No more trouble: everyone is on, everything is there, and there is time for every repetition. */
async function rest(world: World): Promise<void> {
  world.setDatabaseAway(false)
  world.setLostCommits(0)
  if (world.service() === null) await world.run(20_000)
  for (const agent of world.agents) agent.start()
  await world.run(1_100_000)
}
