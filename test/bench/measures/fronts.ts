import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { type RemoteLoad, startLoad } from '../load/process.ts'
import { cpuSeconds, memoryKib, pause, watchCpu } from '../machine.ts'
import type { Figure, MeasureResult } from '../results.ts'
import { type BenchService, startBenchService } from '../service.ts'
import type { Bench } from '../session.ts'
import { firstWorkload, pushConfig, untilApplied, untilLive } from './push.ts'

const FRONTS = 3
const ROUNDS = 3
const BEATING_MS = 20_000
/** Fronts compare with the owner each five seconds; by then every agent whose beats they may answer is known to be. */
const SETTLES_MS = 12_000
const CALLS = 30
/** Workloads of one instance each, for the inventory. */
const INVENTORY = 3_000

/** An owner without agents of its own, and fronts that have them all. */
interface Several {
  owner: BenchService
  fronts: BenchService[]
  loads: RemoteLoad[]
  agents: number
}

/**
 * What several processes cost and take: a changed report at a front and at the owner, absorbed beats, a push over three
 * fronts, an owner that is killed, what a new one learns, and the inventory through a front.
 */
export async function measureFronts(bench: Bench): Promise<MeasureResult> {
  const alone = await measureAlone(bench)
  const several = await startAll(bench)
  const { owner, fronts, loads, agents } = several
  try {
    const idle = await memoryKib(owner.pid())
    await Promise.all(loads.map((load) => load.connect()))
    await untilLive(owner, agents)
    bench.log('all are connected')
    const ownerKib = (await memoryKib(owner.pid())) - idle
    await pause(SETTLES_MS)
    const changed = await changeAll(several)
    bench.log('changed reports')
    const perBeat = await measureBeats(bench, several)
    bench.log('beats')
    const pushed = await measurePush(several)
    bench.log('push')
    const inventory = await measureInventory(several)
    bench.log('inventory')
    // The workloads of the inventory are stored: whoever follows has to load them, too.
    const followed = await measureFollower(several)
    bench.log('the owner was killed')
    const figures: Figure[] = [
      { name: 'CPU of the owner for a changed report', value: changed.ownerMs, unit: 'ms' },
      { name: 'CPU of its front for it', value: changed.frontMs, unit: 'ms' },
      { name: 'CPU for it where one process does all', value: alone, unit: 'ms' },
      { name: 'memory of the owner for an agent of a front', value: round(ownerKib / agents), unit: 'KiB' },
      { name: 'entries on links for a beat that a front answers', value: perBeat, unit: '', atMost: 0.01 },
      { name: 'push over three fronts to every APPLIED stored', value: pushed.seconds, unit: 's' },
      { name: 'load of the owner meanwhile', value: pushed.ofOwner, unit: '%', atMost: 60 },
      { name: 'load of the busiest front meanwhile', value: pushed.ofFront, unit: '%' },
      {
        name: `owner killed with ${INVENTORY} workloads, until a front serves again`,
        value: followed.servesSeconds,
        unit: 's',
        atMost: 3,
      },
      { name: 'owner killed, until all agents are known again', value: followed.liveSeconds, unit: 's' },
      { name: 'CPU of the new owner to learn an agent', value: followed.learnMs, unit: 'ms' },
      { name: 'agents that lost their socket', value: followed.lost, unit: '', atMost: 0 },
      {
        name: 'inventory through a front, of that at the owner',
        value: inventory,
        unit: 'times',
        atMost: 1.5,
      },
    ]
    return {
      id: 'fronts',
      title: 'an owner and three fronts',
      agents,
      busy: pushed.percent,
      figures,
      note: 'four processes, the load and PostgreSQL share the machine: the times are those of all of them together',
    }
  } finally {
    for (const load of loads) await load.stop()
    for (const one of [owner, ...fronts]) await one.end()
  }
}

async function startAll(bench: Bench): Promise<Several> {
  const start = async (joins: boolean) =>
    startBenchService({
      database: bench.database,
      name: 'fronts',
      nodeArguments: bench.nodeArguments,
      joins,
      env: { MUSTER_INTERNAL_ADDR: `127.0.0.1:${await findFreePort('127.0.0.1')}` },
    })
  const owner = await start(false)
  const fronts: BenchService[] = []
  for (let n = 0; n < FRONTS; n++) fronts.push(await start(true))
  const each = Math.floor(bench.agents / FRONTS)
  const loads = fronts.map(({ opampPort: port }, n) =>
    startLoad({ host: '127.0.0.1', port, agents: each, workloads: 1, first: n * each }),
  )
  return { owner, fronts, loads, agents: each * FRONTS }
}

const cpuOf = async (services: readonly BenchService[]) =>
  (await Promise.all(services.map((one) => cpuSeconds(one.pid())))).reduce((sum, one) => sum + one, 0)

/** The CPU of one process that has the agents itself for a changed report, in ms. */
async function measureAlone(bench: Bench): Promise<number> {
  const { database, nodeArguments } = bench
  const agents = Math.floor(bench.agents / FRONTS)
  const service = await startBenchService({ database, name: 'alone', nodeArguments })
  const load = startLoad({ host: '127.0.0.1', port: service.opampPort, agents, workloads: 1 })
  try {
    await load.connect()
    await untilLive(service, agents)
    await pause(SETTLES_MS)
    const before = await cpuOf([service])
    const { reports } = await load.changeHealth({ rounds: ROUNDS })
    return toMs((await cpuOf([service])) - before, reports)
  } finally {
    await load.stop()
    await service.end()
  }
}

async function changeAll({ owner, fronts, loads }: Several): Promise<{ ownerMs: number; frontMs: number }> {
  const before = { owner: await cpuOf([owner]), fronts: await cpuOf(fronts) }
  const done = await Promise.all(loads.map((load) => load.changeHealth({ rounds: ROUNDS })))
  const reports = done.reduce((sum, one) => sum + one.reports, 0)
  return {
    ownerMs: toMs((await cpuOf([owner])) - before.owner, reports),
    frontMs: toMs((await cpuOf(fronts)) - before.fronts, reports),
  }
}

/** How many entries are written on the links, of whatever kind, for a beat that a front answers. */
async function measureBeats({ timeScale }: Bench, { fronts, loads }: Several): Promise<number> {
  const read = async (name: string) =>
    (await Promise.all(fronts.map((front) => front.metric(name)))).reduce((sum, one) => sum + one, 0)
  const names = ['muster_front_absorbed_total', 'muster_front_entries_total'] as const
  const before = await Promise.all(names.map(read))
  for (const load of loads) await load.beats({ intervalMs: BEATING_MS / 4 })
  await pause(BEATING_MS * timeScale)
  for (const load of loads) await load.stopBeats()
  const after = await Promise.all(names.map(read))
  const [absorbed, written] = [after[0]! - before[0]!, after[1]! - before[1]!]
  return absorbed === 0 ? written : written / absorbed
}

/** The seconds that a push takes, and the load of the owner and of the busiest front meanwhile, in percent of a core. */
async function measurePush({ owner, fronts, agents }: Several) {
  const workloadId = await firstWorkload(owner)
  await pushConfig(owner, workloadId, 'warm')
  await untilApplied(owner, agents)
  const pids = {
    owner: owner.pid(),
    ...Object.fromEntries(fronts.map((one, n) => [`front ${n + 1}`, one.pid()])),
  }
  const { seconds, percent } = await watchCpu(pids, async () => {
    await pushConfig(owner, workloadId, 'measured')
    await untilApplied(owner, agents)
  })
  const { owner: ofOwner = 0, ...ofFronts } = percent
  return { seconds: round(seconds), ofOwner, ofFront: Math.max(...Object.values(ofFronts)), percent }
}

/** Kill the owner; the front that started last follows. */
async function measureFollower({ owner, fronts, loads, agents }: Several) {
  const [first] = fronts
  const before = await cpuOf([fronts.at(-1)!])
  const startedAt = performance.now()
  await owner.kill()
  for (let isServed = false; !isServed; ) {
    const { status } = await first!.call('GET', '/api/workloads').catch(() => ({ status: 0 }))
    isServed = status === 200
  }
  const servesSeconds = round((performance.now() - startedAt) / 1_000)
  await untilLive(first!, agents)
  const liveSeconds = round((performance.now() - startedAt) / 1_000)
  const open = (await Promise.all(loads.map((load) => load.stats()))).reduce((sum, one) => sum + one.open, 0)
  const learnMs = toMs((await cpuOf([fronts.at(-1)!])) - before, agents)
  return { servesSeconds, liveSeconds, learnMs, lost: agents - open }
}

/** How much longer the inventory takes through a front than at the owner. */
async function measureInventory({ owner, fronts }: Several): Promise<number> {
  const [front] = fronts as [BenchService]
  const load = startLoad({
    host: '127.0.0.1',
    port: owner.opampPort,
    agents: INVENTORY,
    workloads: INVENTORY,
    first: 100_000,
  })
  try {
    await load.connect()
    await pause(SETTLES_MS / 4)
    const times = new Map<BenchService, number[]>([front, owner].map((from) => [from, []]))
    // In turns, so that whatever else runs on the machine falls on both.
    for (let n = 0; n < 2 * CALLS; n++) {
      const from = n % 2 === 0 ? front : owner
      const startedAt = performance.now()
      await from.download('/api/workloads')
      times.get(from)!.push(performance.now() - startedAt)
    }
    const median = (from: BenchService) => times.get(from)!.sort((a, b) => a - b)[CALLS / 2]!
    return round(median(front) / median(owner))
  } finally {
    await load.stop()
  }
}

const toMs = (seconds: number, count: number) => round((seconds * 1_000) / count)
const round = (value: number) => Math.round(value * 1_000) / 1_000
