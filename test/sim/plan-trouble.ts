import { AGENT_CAPABILITIES } from '../../lib/opamp/report.ts'
import { chooseComponents } from './agents/agent-nature.ts'
import type { SimAgent } from './agents/sim-agent.ts'
import { planCampaigns } from './plan-campaigns.ts'
import type { World } from './world.ts'

/** Schedule all trouble and all acts of operators of a world, chosen by its dice, until `untilMs`. */
export function planTrouble(world: World, untilMs: number): void {
  planPopulation(world)
  const often = (most: number, act: () => void) => {
    const times = world.dice.int(most + 1)
    for (let i = 0; i < times; i++) world.time.after(world.dice.between(3_000, untilMs), act)
  }
  planService(world, often)
  planDatabase(world, often)
  planAgents(world, often)
  planChanges(world, often)
  planOperators(world, often)
  if (world.troubles.campaigns) planCampaigns(world, often, untilMs)
}

type Often = (most: number, act: () => void) => void

/** Add the agents, one service or two, and the browsers. */
function planPopulation(world: World): void {
  const { dice, time, troubles } = world
  const groups = (troubles.campaigns ? 5 : 1) + dice.int(2)
  const count = (troubles.campaigns ? 5 : 2) + dice.int(5)
  for (let i = 0; i < count; i++)
    world.addAgent(i, `host-${troubles.campaigns && i < groups ? i : dice.int(groups)}`)
  // Three workloads get some more, so that they have three or four at least.
  if (world.hasStagedTargets) for (let i = count; i < count + 7; i++) world.addAgent(i, `host-${i % 3}`)
  if (troubles.twins) world.addTwin(dice.pick(world.agents))
  world.startService()
  if (troubles.standby) time.after(1_000, () => world.startService())
  // Some agents start late, so that they join after the first pushes. Where there are campaigns some start only when
  // the trouble is over, as newcomers for the versions that apply by themselves.
  const late: readonly [number, number] = troubles.campaigns ? [60_000, 800_000] : [30_000, 200_000]
  for (const agent of world.agents)
    time.after(dice.chance(0.7) ? dice.between(0, 2_000) : dice.between(...late), () => agent.start())
  if (!troubles.browsers) return
  for (let i = 0; i < 1 + dice.int(2); i++)
    time.after(dice.between(0, 200_000), () => {
      world.addBrowser().isSlow = dice.chance(0.3)
    })
}

function planService(world: World, often: Often): void {
  const { dice, troubles, time } = world
  if (troubles.crashes) often(3, () => world.crashService(dice.between(100, 8_000)))
  if (troubles.standby) often(2, () => world.upgradeService())
  if (troubles.suspensions) often(1, () => world.suspendService(dice.between(2_000, 60_000)))
  if (troubles.clockJumps) often(3, () => time.jumpWall(dice.between(-600_000, 600_000)))
  if (!troubles.busyWorkers) return
  often(3, () => {
    world.busyChance = 0.7
    time.after(dice.between(1_000, 20_000), () => {
      world.busyChance = 0
    })
  })
}

function planDatabase(world: World, often: Often): void {
  const { dice, time, troubles, database } = world
  if (troubles.lostCommits) database.lostCommitChance = 0.05
  if (troubles.lateCommits) database.lateCommitChance = 0.03
  if (troubles.refusedStatements) database.refusalChance = 0.01
  if (troubles.brokenSessions) often(8, () => database.cutOne())
  if (!troubles.outages) return
  often(2, () => {
    world.setDatabaseAway(true)
    time.after(dice.between(100, 15_000), () => world.setDatabaseAway(false))
  })
}

function planAgents(world: World, often: Often): void {
  const { dice, time, troubles } = world
  const anyone = (): SimAgent => dice.pick(world.agents)
  if (troubles.droppedSends) world.dropChance = 0.15
  if (troubles.pollers) world.lossChance = 0.1
  often(9, () => anyone().loseConnection())
  often(3, () => anyone().restart(dice.between(10, 30_000)))
  often(2, () => {
    const agent = anyone()
    agent.stop()
    time.after(dice.between(100, 60_000), () => agent.start())
  })
  often(4, () => anyone().replay())
  often(2, () => anyone().lie())
  if (troubles.moves) often(6, () => anyone().move(200 + dice.int(3)))
  if (troubles.selfRollbacks) often(3, () => anyone().revert())
  if (troubles.goodbyes)
    for (const agent of world.agents)
      if (dice.chance(0.6)) time.after(dice.between(0, 60_000), () => agent.comeAndGo())
  if (troubles.lastingIllness) often(3, () => anyone().feel(false))
  if (!troubles.badHealth) return
  often(5, () => {
    const agent = anyone()
    agent.feel(false)
    time.after(dice.between(100, 120_000), () => agent.feel(true))
  })
}

/** Agents change: another version, host, capabilities or components. */
function planChanges(world: World, often: Often): void {
  const { dice, troubles } = world
  if (!troubles.changingNatures) return
  const with_ = (agent: SimAgent, key: string, value: string) =>
    new Map(agent.nature.attributes).set(key, value)
  often(3, () => {
    const agent = dice.pick(world.agents)
    agent.change({ attributes: with_(agent, 'service.version', `0.${100 + dice.int(4)}.1`) })
  })
  often(2, () => {
    const agent = dice.pick(world.agents)
    agent.change({ attributes: with_(agent, 'host.name', `host-${dice.int(3)}`) })
  })
  often(2, () => {
    const agent = dice.pick(world.agents)
    const { acceptsRemoteConfig, reportsRemoteConfig } = AGENT_CAPABILITIES
    const bit = dice.pick([acceptsRemoteConfig, reportsRemoteConfig])
    agent.change({ capabilities: agent.nature.capabilities ^ bit })
  })
  often(2, () => {
    const agent = dice.pick(world.agents)
    if (agent.nature.components !== null)
      agent.change({ components: chooseComponents(dice) ?? agent.nature.components })
  })
}

function planOperators(world: World, often: Often): void {
  const { dice, troubles, pushing, inventory } = world
  const onSome = (act: (workloadId: string) => void) => () => {
    const id = world.pickWorkload()
    if (id !== null) act(id)
  }
  const push = onSome((id) => {
    void pushing.push(id, world.configs.make(world.agents.length, troubles))
  })
  for (let i = 0; i < 2; i++) world.time.after(dice.between(3_000, 290_000), push)
  often(7, push)
  if (troubles.stages) often(5, () => void pushing.steer())
  const onHash = (act: (id: string, hash: string) => Promise<void>) =>
    onSome((id) => void world.pickHash(id).then((hash) => (hash === null ? undefined : act(id, hash))))
  if (troubles.rollbacks) {
    often(
      2,
      onHash((id, hash) => pushing.rollBack(id, hash)),
    )
    often(
      2,
      onSome((id) => void pushing.rollBack(id, null)),
    )
    often(
      2,
      onHash((id, hash) => inventory.pin(id, hash)),
    )
    often(
      1,
      onSome((id) => void inventory.unpin(id)),
    )
  }
  if (!troubles.inventory) return
  often(
    1,
    onSome((id) => void inventory.remove(id)),
  )
  often(
    2,
    onSome((id) => void inventory.archive(id)),
  )
  often(
    3,
    onSome((id) => void inventory.setLabels(id)),
  )
  often(
    2,
    onHash((id, hash) => inventory.nameRevision(id, hash)),
  )
  often(3, () => void world.pickAlert().then((id) => (id === null ? undefined : inventory.resolveAlert(id))))
}
