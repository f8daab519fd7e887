import type { SimAgent } from '../agents/sim-agent.ts'
import type { SimStore } from '../database/sim-store.ts'
import { planTrouble } from '../plan-trouble.ts'
import { rest, type SeedResult, TROUBLE_MS } from '../run-seed.ts'
import { Dice } from '../time/dice.ts'
import type { Trouble } from '../troubles.ts'
import { chooseLinkTroubles, type LinkTrouble } from './link-troubles.ts'
import { LinkedWorld, type LinkFlaw } from './linked-world.ts'
import { planWords } from './plan-words.ts'
import { OCCASIONS, type Occasion } from './stand-stills.ts'

/** The outcome of one seed, with what its fronts counted. */
export interface LinkedSeedResult extends SeedResult {
  absorbed: number
  replayed: number
  offersNotSent: number
  /** Sockets that fronts cut because they had no link. */
  sentElsewhere: number
  /** After how many milliseconds each owner that stood still was replaced. */
  replacedMs: readonly number[]
  /** The occasions on which a process stood still at a step of a push. */
  stoodStill: readonly Occasion[]
}

/** Options for running a seed; every kind of trouble by default, as the seed chooses. */
export interface LinkedSeedOptions {
  troubles?: readonly (Trouble | LinkTrouble)[]
  /** Kinds of trouble of links that the world is not to have; none by default. */
  without?: readonly LinkTrouble[]
  flaw?: LinkFlaw
  /** On which occasions processes stand still where they do so at steps of a push; three of the dice's by default. */
  stillOn?: readonly Occasion[]
}

/** Longer than the time between two looks of the alerts' engine. */
const ALERTS_MS = 40_000

/** Clear the database and let one world of fronts and an owner live: a stretch of trouble, then a stretch of rest. */
export async function runLinkedSeed(
  seed: number,
  store: SimStore,
  { troubles, without = [], flaw = {}, stillOn }: LinkedSeedOptions = {},
): Promise<LinkedSeedResult> {
  await store.clear()
  const wanted = troubles?.join(',') ?? process.env['SIM_TROUBLES']
  const world = new LinkedWorld(seed, store, wanted, flaw)
  const dice = new Dice(seed).fork('links')
  const has = chooseLinkTroubles(dice, wanted?.split(',') ?? null, without)
  if (has.formerVersions) world.formerOwners = 1 + dice.fork('owners of a former version').int(2)
  for (let n = 2 + world.dice.int(2); n > 0; n--) world.startFront()
  planTrouble(world, TROUBLE_MS)
  planLinkTrouble(world, TROUBLE_MS)
  if (has.cutOffs) planCutOffs(world, dice.fork('planned cut-offs'), TROUBLE_MS)
  if (has.lostTogether) planLossesTogether(world, dice.fork('planned losses together'), TROUBLE_MS)
  if (has.stuckRenewals) planStuckRenewals(world, dice.fork('planned stuck renewals'), TROUBLE_MS)
  if (has.drains) planDrains(world, dice.fork('planned drains'), TROUBLE_MS)
  if (has.lateGoodbyes) planLateGoodbyes(world, dice.fork('planned late goodbyes'), TROUBLE_MS)
  if (has.deadSockets) planDeadSockets(world, dice.fork('planned dead sockets'), TROUBLE_MS)
  if (has.stillAtSteps) planStandStills(world, dice.fork('planned stand-stills'), TROUBLE_MS, stillOn)
  if (has.frontBrowsers) planBrowsers(world, dice.fork('planned browsers'), TROUBLE_MS)
  if (has.quietAgents) planQuiet(world, dice.fork('planned quiet agents'))
  if (has.lateFinders) planLateFinders(world, dice.fork('planned late finders'), TROUBLE_MS)
  if (has.gatewayReturns) planGatewayReturns(world, dice.fork('planned returns at gateways'), TROUBLE_MS)
  if (has.words) planWords(world, dice.fork('planned words'), TROUBLE_MS)
  await world.run(TROUBLE_MS)
  world.heal()
  await rest(world)
  // The alerts about what ended last.
  await world.run(ALERTS_MS)
  // What an agent has said just now is on its way.
  for (let n = 0; n < 10 && world.fronts.some(({ agents }) => !agents.hasToldAll); n++) await world.run(100)
  await world.promises.checkAtRest()
  await world.links.checkAtRest(store.watcher)
  const rows = await store.watcher.query<{ pushes: number; rollbacks: number }>(
    `select count(*)::int as pushes, (count(*) filter (where kind = 'auto-rollback'))::int as rollbacks from pushes`,
  )
  const counted = { absorbed: 0, replayed: 0, offersNotSent: 0, sentElsewhere: world.sentElsewhere }
  for (const { agents } of world.everyFront) {
    counted.absorbed += agents.counts.absorbed
    counted.replayed += agents.counts.replayed
    counted.offersNotSent += agents.counts.offersNotSent
  }
  for (const front of [...world.fronts]) world.database.bury(front.client)
  await world.end()
  const had = Object.entries({ ...world.troubles, ...has }).flatMap(([trouble, isOn]) =>
    isOn ? [trouble] : [],
  )
  return {
    seed,
    troubles: had,
    problems: world.promises.problems,
    trace: world.readTrace(),
    course: world.readCourse(),
    ...rows[0]!,
    ...counted,
    replacedMs: world.replacedMs,
    stoodStill: world.stills?.stood ?? [],
  }
}

/** Cut fronts off from the owner until `untilMs`, one after the other: others are to have a link meanwhile. */
function planCutOffs(world: LinkedWorld, dice: Dice, untilMs: number): void {
  for (let atMs = dice.between(3_000, 60_000); atMs < untilMs; atMs += dice.between(40_000, 120_000)) {
    const forMs = dice.between(25_000, 45_000)
    const isLetIn = dice.chance(0.5)
    world.time.after(atMs, () => {
      if (world.fronts.length > 1) world.cutOffFront(dice.pick(world.fronts), { forMs, isLetIn })
    })
  }
}

/** Lose the owner and the database together, now and then until `untilMs`. */
function planLossesTogether(world: LinkedWorld, dice: Dice, untilMs: number): void {
  for (let atMs = dice.between(20_000, 90_000); atMs < untilMs; atMs += dice.between(80_000, 200_000)) {
    const forMs = dice.between(32_000, 45_000)
    world.time.after(atMs, () => world.loseTogether(forMs))
  }
}

/** Let the renewals of whoever is the owner get stuck now and then, until `untilMs`. */
function planStuckRenewals(world: LinkedWorld, dice: Dice, untilMs: number): void {
  for (let atMs = dice.between(3_000, 40_000); atMs < untilMs; atMs += dice.between(20_000, 80_000)) {
    const forMs = dice.between(2_000, 12_000)
    world.time.after(atMs, () => world.stickRenewals(forMs))
  }
}

/** Stop all fronts, one soon after the other, now and then until `untilMs`. */
function planDrains(world: LinkedWorld, dice: Dice, untilMs: number): void {
  for (let atMs = dice.between(3_000, 40_000); atMs < untilMs; atMs += dice.between(20_000, 80_000)) {
    const everyMs = dice.between(500, 8_000)
    world.time.after(atMs, () => {
      for (const [index, front] of world.fronts.entries())
        world.time.after(index * everyMs, () => void world.drainFront(front))
    })
  }
}

/** Let the owner or a front stand still at steps of pushes until `untilMs`, and another process be there to follow. */
function planStandStills(
  world: LinkedWorld,
  dice: Dice,
  untilMs: number,
  occasions: readonly Occasion[] = [dice.pick(OCCASIONS), dice.pick(OCCASIONS), dice.pick(OCCASIONS)],
): void {
  world.standStillOn(occasions, untilMs)
  world.time.after(1_000, () => world.startService())
}

/** Let browsers connect to fronts, one after the other; some of them read slowly. */
function planBrowsers(world: LinkedWorld, dice: Dice, untilMs: number): void {
  for (let n = 1 + dice.int(3); n > 0; n--) {
    const isSlow = dice.chance(0.3)
    const own = dice.fork(`browser ${n}`)
    world.time.after(dice.between(0, untilMs / 6), () => {
      world.addBrowserAtFront(own).isSlow = isSlow
    })
  }
}

/** Let agents leave while nobody decides, now and then until `untilMs`; they come back. */
function planLateGoodbyes(world: LinkedWorld, dice: Dice, untilMs: number): void {
  const { time } = world
  for (let atMs = dice.between(3_000, 60_000); atMs < untilMs; atMs += dice.between(60_000, 150_000)) {
    const downMs = dice.between(500, 4_000)
    const leaving = [dice.pick(world.agents), dice.pick(world.agents)].map((agent) => ({
      agent,
      leavesMs: atMs + dice.between(1, downMs),
      returnsMs: atMs + downMs + dice.between(15_000, 60_000),
    }))
    time.after(atMs, () => world.crashService(downMs))
    for (const { agent, leavesMs, returnsMs } of leaving) {
      time.after(leavesMs, () => {
        world.trace(`${agent.uid} leaves while nobody decides`)
        agent.stop()
      })
      time.after(returnsMs, () => agent.start())
    }
  }
}

/** Let agents leave by way of another front than the one that has a dead socket of theirs, now and then until `untilMs`. */
function planDeadSockets(world: LinkedWorld, dice: Dice, untilMs: number): void {
  const { time } = world
  for (let atMs = dice.between(3_000, 40_000); atMs < untilMs; atMs += dice.between(70_000, 150_000)) {
    const [cutMs, deadMs] = [dice.between(12_000, 28_000), dice.between(40_000, 60_000)]
    const [leavesMs, returnsMs] = [dice.between(4_000, 10_000), dice.between(70_000, 90_000)]
    time.after(atMs, () => {
      const agent = dice.pick(world.agents)
      const front = world.fronts.find((one) => one === agent.socketService)
      if (front === undefined) return
      world.trace(`${agent.uid} leaves a dead socket at ${front.name}`)
      world.cutOffFront(front, { forMs: cutMs, isLetIn: false })
      agent.loseConnectionUnnoticed(deadMs)
      time.after(leavesMs, () => {
        world.trace(`${agent.uid} leaves`)
        agent.stop()
      })
      time.after(returnsMs, () => agent.start())
    })
  }
}

/** Let some agents send no heartbeats. */
function planQuiet(world: LinkedWorld, dice: Dice): void {
  for (const agent of world.agents) agent.isQuiet = dice.chance(0.5)
}

/** Let one front find each owner later than the others, until `untilMs`. */
function planLateFinders(world: LinkedWorld, dice: Dice, untilMs: number): void {
  world.onOwner.push(() => {
    if (world.time.nowMs > untilMs || world.fronts.length < 2 || dice.chance(0.3)) return
    const forMs = dice.chance(0.7) ? dice.between(2_000, 15_000) : dice.between(15_000, 120_000)
    world.cutOffFront(dice.pick(world.fronts), { forMs, isLetIn: false })
  })
}

/** The number of a socket that several agents share. */
const GATEWAY = 400

/** Let agents behind a gateway say goodbye while nobody decides, and be back soon after somebody does, until `untilMs`. */
function planGatewayReturns(world: LinkedWorld, dice: Dice, untilMs: number): void {
  const { time } = world
  // Nobody can tell two agents with one uid apart on one socket.
  const isAlone = ({ uid }: SimAgent) => world.agents.filter((other) => other.uid === uid).length === 1
  for (const agent of world.agents)
    if (agent.nature.transport === 'socket' && isAlone(agent) && dice.chance(0.5))
      agent.nature.gateway = GATEWAY
  const left = new Set<SimAgent>()
  for (let atMs = dice.between(3_000, 60_000); atMs < untilMs; atMs += dice.between(60_000, 120_000)) {
    const downMs = dice.between(500, 4_000)
    const leavesMs = dice.between(1, downMs)
    time.after(atMs, () => {
      const shares = (agent: SimAgent) =>
        agent.socketService !== null &&
        world.agents.some(
          (other) =>
            other !== agent && other.socketService !== null && other.nature.gateway === agent.nature.gateway,
        )
      const riding = world.agents.filter(shares)
      if (riding.length === 0) return
      const agent = dice.pick(riding)
      world.crashService(downMs)
      time.after(leavesMs, () => {
        world.trace(`${agent.uid} leaves its gateway while nobody decides`)
        agent.stop()
        left.add(agent)
      })
      // Where nobody begins to decide for as long.
      time.after(downMs + 60_000, () => agent.start())
    })
  }
  world.onOwner.push(() => {
    for (const agent of left) time.after(dice.between(2_000, 11_000), () => agent.start())
    left.clear()
  })
}

/** Schedule the trouble of fronts and links until `untilMs`. */
function planLinkTrouble(world: LinkedWorld, untilMs: number): void {
  const { dice, time } = world
  const often = (most: number, act: () => void) => {
    for (let n = dice.int(most + 1); n > 0; n--) time.after(dice.between(3_000, untilMs), act)
  }
  const onFront = (act: (front: LinkedWorld['fronts'][number]) => void) => () => {
    if (world.fronts.length > 0) act(dice.pick(world.fronts))
  }
  const onWire = (act: (wire: LinkedWorld['wires'][number]) => void) => () => {
    const { wires } = world
    if (wires.length > 0) act(dice.pick(wires))
  }
  often(
    4,
    onFront((front) => world.killFront(front, dice.between(100, 8_000))),
  )
  often(
    3,
    onFront((front) => world.suspendFront(front, dice.between(500, 40_000))),
  )
  often(
    5,
    onWire((wire) => {
      world.trace('a link breaks')
      wire.break()
    }),
  )
  often(
    5,
    onWire((wire) => {
      world.trace('a link stalls')
      wire.stalledUntilMs = time.nowMs + dice.between(200, 20_000)
    }),
  )
  if (dice.chance(0.3)) world.delayMsMax = 1_500
  // Agents say goodbye as the links break.
  often(3, () => {
    for (const wire of world.wires) time.after(dice.between(1, 30), () => wire.break())
    const agent = dice.pick(world.agents)
    world.trace(`${agent.uid} leaves as all links break`)
    agent.stop()
    time.after(dice.between(20_000, 60_000), () => agent.start())
  })
}
