import { quantile } from '../histogram.ts'
import { cpuSeconds, memoryKib, pause, watchCpu } from '../machine.ts'
import type { Figure, MeasureResult } from '../results.ts'
import { type Bench, connectFleet, connectFloor, type FleetSession } from '../session.ts'
import { measureThroughput } from './beats.ts'

const BEAT_MS = 30_000
const FLOOR_STORMS = 5

/** The figures of the bare server (the floor) under the same load. */
export interface FloorFigures {
  stormSeconds: number
  kibPerAgent: number
  replyP99: number
  /** CPU of the bare server for one agent of the storm. */
  stormCpuMs: number
}

/** Measure the floor: connect storm, memory, and how soon it answers a beat. */
export async function measureFloor(bench: Bench): Promise<FloorFigures> {
  const { agents } = bench
  const { floor, load, seconds, idleKib } = await connectFloor(agents, Math.min(50, agents))
  const stormCpuMs = ((await cpuSeconds(floor.pid)) * 1000) / agents
  const kibPerAgent = ((await memoryKib(floor.pid)) - idleKib) / agents
  await load.resetStats()
  await load.beats({ intervalMs: BEAT_MS })
  await pause(5_000)
  await load.stopBeats()
  const { replies } = await load.stats()
  await load.stop()
  await floor.end()
  return {
    stormSeconds: quantile([seconds, ...(await moreStorms(agents))], 0.5),
    kibPerAgent,
    replyP99: replies.p99,
    stormCpuMs,
  }
}

/**
 * More connect storms at the floor, in seconds: one may take twice as long as the next, so the median of several
 * counts.
 */
async function moreStorms(agents: number): Promise<number[]> {
  const storms: number[] = []
  for (let n = 1; n < FLOOR_STORMS; n++) {
    const { floor, load, seconds } = await connectFloor(agents, Math.min(50, agents))
    await load.stop()
    await floor.end()
    storms.push(seconds)
  }
  return storms
}

const round = (value: number, digits = 2) => Math.round(value * 10 ** digits) / 10 ** digits

function stormFigures({ storm, agents, workloads, busy }: FleetSession, floor: FloorFigures): Figure[] {
  return [
    { name: 'first dial to every first report answered', value: round(storm.answeredSeconds), unit: 's' },
    { name: 'first dial to all shown and stored', value: round(storm.storedSeconds), unit: 's' },
    { name: `floor, median of ${FLOOR_STORMS}`, value: round(floor.stormSeconds), unit: 's' },
    {
      name: 'times the floor',
      value: round(storm.storedSeconds / floor.stormSeconds),
      unit: '',
      atMost: 2,
    },
    {
      name: 'CPU an agent',
      value: round((busy['service']! * 10 * storm.storedSeconds) / agents, 3),
      unit: `ms (floor ${round(floor.stormCpuMs, 3)})`,
    },
    { name: 'statements an agent', value: round(storm.statements / agents, 4), unit: '', atMost: 2 },
    { name: 'errors', value: storm.errors, unit: '', atMost: 0 },
    { name: 'workloads', value: workloads, unit: '' },
  ]
}

/** Measures 1 to 4 over one fleet of 50 workloads; only the wanted ones. */
export async function measureFleet(
  bench: Bench,
  floor: FloorFigures,
  wanted: ReadonlySet<string>,
): Promise<MeasureResult[]> {
  const { agents } = bench
  const results: MeasureResult[] = []
  const session = await connectFleet(bench, {
    agents,
    workloads: Math.min(50, agents),
    name: 'storm',
    settlesMemory: wanted.has('2'),
  })
  if (wanted.has('1'))
    results.push({
      id: '1',
      title: 'connect storm',
      agents,
      figures: stormFigures(session, floor),
      busy: session.busy,
    })
  try {
    if (wanted.has('2')) results.push(await measureMemory(bench, session, floor))
    if (wanted.has('3')) results.push(await measureSteadyState(bench, session, floor))
    if (wanted.has('4')) results.push(await measureThroughput(session))
  } finally {
    await session.end()
  }
  return results
}

async function measureMemory(
  bench: Bench,
  session: FleetSession,
  floor: FloorFigures,
): Promise<MeasureResult> {
  const { load, service, agents, idleKib } = session
  await load.beats({ intervalMs: BEAT_MS })
  const { percent } = await watchCpu(session.pids(), () => pause(60_000 * bench.timeScale))
  await load.stopBeats()
  const kib = ((await memoryKib(service.pid())) - idleKib) / agents
  return {
    id: '2',
    title: 'memory',
    agents,
    busy: percent,
    figures: [
      { name: 'resident memory an agent', value: round(kib, 1), unit: 'KiB', atMost: 30 },
      { name: 'floor', value: round(floor.kibPerAgent, 1), unit: 'KiB' },
    ],
  }
}

async function measureSteadyState(
  bench: Bench,
  session: FleetSession,
  floor: FloorFigures,
): Promise<MeasureResult> {
  const { load, service, agents } = session
  await load.beats({ intervalMs: BEAT_MS })
  await pause(2_000)
  await load.resetStats()
  await service.takeStatements()
  const { percent, seconds } = await watchCpu(session.pids(), () => pause(120_000 * bench.timeScale))
  const statements = await service.takeStatements()
  const { replies } = await load.stats()
  await load.stopBeats()
  return {
    id: '3',
    title: 'steady state',
    agents,
    busy: percent,
    figures: [
      { name: 'reply p99', value: replies.p99, unit: 'ms', atMost: 10 },
      { name: 'reply p50', value: replies.p50, unit: 'ms' },
      { name: 'reply p99 of the floor', value: floor.replyP99, unit: 'ms' },
      { name: 'CPU of the service, of one core', value: percent['service']!, unit: '%', atMost: 10 },
      { name: 'statements a second', value: round(statements / seconds), unit: '', atMost: 1 },
      { name: 'beats a second', value: round(replies.count / seconds, 0), unit: '' },
    ],
  }
}

/** Measure 1b: the connect storm of one big workload. */
export async function measureBigWorkload(
  bench: Bench,
  floor: FloorFigures,
  wanted: ReadonlySet<string>,
): Promise<MeasureResult[]> {
  const results: MeasureResult[] = []
  if (wanted.has('1b')) {
    const session = await connectFleet(bench, { agents: bench.agents, workloads: 1, name: 'big' })
    results.push({
      id: '1b',
      title: 'connect storm of one big workload',
      agents: bench.agents,
      busy: session.busy,
      figures: stormFigures(session, floor),
    })
    await session.end()
  }
  return results
}

/** Measures `curve` and `curve-1b`: the connect storm at growing sizes. The cost for one agent must not grow. */
export async function measureCurve(bench: Bench, workloads: number): Promise<MeasureResult> {
  const sizes = [1_000, 2_000, 4_000, 8_000, 15_000].filter((size) => size <= bench.agents)
  const figures: Figure[] = []
  for (const agents of sizes) {
    const session = await connectFleet(bench, {
      agents,
      workloads: Math.min(workloads, agents),
      name: 'curve',
      settlesMemory: true,
    })
    const kib = (await memoryKib(session.service.pid())) - session.idleKib
    const cpuMs = (session.busy['service']! / 100) * session.storm.storedSeconds * 1000
    figures.push(
      {
        name: `${agents}: time an agent`,
        value: round((session.storm.storedSeconds * 1000) / agents, 3),
        unit: 'ms',
      },
      { name: `${agents}: CPU an agent`, value: round(cpuMs / agents, 3), unit: 'ms' },
      { name: `${agents}: memory an agent`, value: round(kib / agents, 1), unit: 'KiB' },
      { name: `${agents}: statements`, value: session.storm.statements, unit: '' },
    )
    await session.end()
  }
  return {
    id: workloads === 1 ? 'curve-1b' : 'curve',
    title: 'cost an agent as the fleet grows',
    figures,
    agents: sizes.at(-1) ?? 0,
    busy: {},
  }
}
