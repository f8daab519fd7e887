import { quantile, type Summary } from '../histogram.ts'
import type { Browsers, BrowsersOptions, Shown } from '../load/browsers.ts'
import type { OpenCounts } from '../load/load.ts'
import { type RemoteLoad, startLoad } from '../load/process.ts'
import { startRole } from '../load/remote.ts'
import { pause, watchCpu } from '../machine.ts'
import type { MeasureResult } from '../results.ts'
import type { BenchService } from '../service.ts'
import { type Bench, connectFleet, connectFloor, type FleetSession } from '../session.ts'

const BEAT_MS = 30_000
const BROWSERS = 200
const CHURN_PER_SECOND = 1_000
const CHURN_SECONDS = 60
const QUIET_SECONDS = 20
const FLOOR_SECONDS = 20
/** Agents that stay connected; they send as many beats a second as all others together. */
const WITNESSES = 1_000
const WITNESS_BEAT_MS = 2_000
const LAG_MAX_MS = 10_000
/** How many ms the load's counts may be late: it hears of an open connection after the service does. */
const AHEAD_MS = 250
/** How many counts of the load, which are 50 ms apart, lie within 0.4 s before or after one of them. */
const AROUND = 8

/** Measure 8: browsers that watch while a part of the fleet leaves and returns each second. */
export async function measureHub(bench: Bench): Promise<MeasureResult> {
  const { agents, timeScale } = bench
  const workloads = Math.min(50, agents)
  const floor = await measureFloor(bench, workloads)
  const session = await connectFleet(bench, { agents: agents - WITNESSES, workloads, name: 'hub' })
  const { service, load } = session
  const witnesses = await connectWitnesses(service.opampPort, agents, workloads)
  const workloadIds = await orderedWorkloads(session)
  const browsers = startRole<Browsers>('browsers', {
    url: service.url,
    token: service.token(),
    browsers: BROWSERS,
    workloadIds,
  } satisfies BrowsersOptions)
  try {
    await browsers.connect()
    const quiet = await beatQuietly(load, witnesses, timeScale)
    const seconds = Math.max(5, CHURN_SECONDS * timeScale)
    const metrics = watchMetrics(service)
    const pids = { ...session.pids(), witnesses: witnesses.pid, browsers: browsers.pid }
    const { value, percent } = await watchCpu(pids, () =>
      Promise.all([
        load.churn({ perSecond: CHURN_PER_SECOND, seconds }),
        // The browsers are watched a little longer, to see the last changes arrive.
        browsers.watch({ seconds: seconds + 4 }),
      ]),
    )
    const [truth, shown] = value
    const { replies: busy, heldMs: witnessHeldMs } = await witnesses.stats()
    const { frames, resyncs, closed } = await browsers.stats()
    const lags = measureLags(truth, shown, WITNESSES / workloads)
    const { cutAfterSeconds, heldMs } = await metrics.end()
    return {
      id: '8',
      title: 'browser hub',
      agents,
      busy: percent,
      figures: [
        { name: 'browsers', value: BROWSERS, unit: '' },
        { name: 'farthest behind the truth', value: round(lags.max / 1000), unit: 's', atMost: 2 },
        { name: 'behind the truth, p99 of all looks', value: round(lags.p99 / 1000), unit: 's' },
        { name: 'looks', value: lags.count, unit: '' },
        { name: 'browsers cut that read', value: closed, unit: '', atMost: 0 },
        {
          name: 'the one that does not read was cut after',
          value: cutAfterSeconds === null ? -1 : round(cutAfterSeconds),
          unit: 's',
          atLeast: 0,
        },
        { name: 'p99 of the beats, quiet', value: quiet.p99, unit: 'ms' },
        { name: 'p99 of the beats while they leave and return', value: busy.p99, unit: 'ms' },
        { name: 'times the quiet one', value: round(busy.p99 / quiet.p99), unit: '', atMost: 2 },
        { name: 'p50 of the beats while they leave and return', value: busy.p50, unit: 'ms' },
        { name: 'loop of the witnesses held, longest', value: round(witnessHeldMs), unit: 'ms' },
        { name: 'floor: p99 of the beats, quiet', value: floor.quiet.p99, unit: 'ms' },
        { name: 'floor: p99 while they leave and return', value: floor.busy.p99, unit: 'ms' },
        { name: 'floor: times the quiet one', value: round(floor.busy.p99 / floor.quiet.p99), unit: '' },
        { name: 'loop of the service held, median of the seconds', value: quantile(heldMs, 0.5), unit: 'ms' },
        { name: 'loop of the service held, longest', value: quantile(heldMs, 1), unit: 'ms', atMost: 50 },
        { name: 'frames a second and browser', value: round(frames / BROWSERS / seconds), unit: '' },
        { name: 'asked to fetch again', value: resyncs, unit: '' },
      ],
      note: `about ${CHURN_PER_SECOND} of ${agents - WITNESSES} agents are cut each second and come back a second later; the beats are those of ${WITNESSES} more, in a process that does nothing else`,
    }
  } finally {
    await browsers.stop()
    await witnesses.stop()
    await session.end()
  }
}

/**
 * Agents that stay and beat, in a process of their own: the process in which thousands leave and return is busy itself,
 * and would measure its own delays.
 */
async function connectWitnesses(port: number, agents: number, workloads: number): Promise<RemoteLoad> {
  const witnesses = startLoad({
    host: '127.0.0.1',
    port,
    workloads,
    agents: WITNESSES,
    first: agents - WITNESSES,
  })
  await witnesses.connect()
  return witnesses
}

/** How long beats wait for their answers while no agent leaves. */
async function beatQuietly(load: RemoteLoad, witnesses: RemoteLoad, timeScale: number): Promise<Summary> {
  await load.reconnectAfter({ ms: 1_000 })
  await load.beats({ intervalMs: BEAT_MS })
  await witnesses.beats({ intervalMs: WITNESS_BEAT_MS })
  await pause(2_000)
  await witnesses.resetStats()
  await pause(QUIET_SECONDS * 1_000 * timeScale)
  const { replies } = await witnesses.stats()
  await witnesses.resetStats()
  return replies
}

/** The same with the bare server, which only acknowledges and has no browsers and no database. */
async function measureFloor(
  { agents, timeScale }: Bench,
  workloads: number,
): Promise<{ quiet: Summary; busy: Summary }> {
  const { floor, load } = await connectFloor(agents - WITNESSES, workloads)
  const witnesses = await connectWitnesses(floor.port, agents, workloads)
  try {
    const quiet = await beatQuietly(load, witnesses, timeScale)
    const seconds = Math.max(5, FLOOR_SECONDS * timeScale)
    await load.churn({ perSecond: CHURN_PER_SECOND, seconds })
    return { quiet, busy: (await witnesses.stats()).replies }
  } finally {
    await witnesses.stop()
    await load.stop()
    await floor.end()
  }
}

/** The ids of the workloads in the order in which the load numbers them. */
async function orderedWorkloads({ service }: FleetSession): Promise<string[]> {
  const { text } = await service.call('GET', '/api/workloads')
  const records = JSON.parse(text) as { id: string; fingerprint_keys: Record<string, string> }[]
  const numberOf = (record: (typeof records)[number]) => {
    const name = Object.values(record.fingerprint_keys).find((value) => value.startsWith('gateway-'))
    return Number(name?.slice('gateway-'.length))
  }
  return records.sort((a, b) => numberOf(a) - numberOf(b)).map(({ id }) => id)
}

interface Watched {
  /** After how many seconds the browser that does not read was disconnected; null when it was not. */
  cutAfterSeconds: number | null
  /** The longest that the service's event loop was held in each second, in ms. */
  heldMs: number[]
}

/** Read the service's metrics each second until `end`. */
function watchMetrics(service: BenchService): { end(): Promise<Watched> } {
  const startedAt = performance.now()
  const seen: Watched = { cutAfterSeconds: null, heldMs: [] }
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      seen.heldMs.push(await service.takeHeldMs())
      if ((await service.metric('muster_hub_clients')) <= BROWSERS)
        seen.cutAfterSeconds ??= (performance.now() - startedAt) / 1_000
      await pause(1_000)
    }
  })()
  return {
    async end() {
      isOver = true
      await watching
      // The first value is about the time before.
      return { ...seen, heldMs: seen.heldMs.slice(1) }
    },
  }
}

interface Lags {
  count: number
  max: number
  p99: number
}

/**
 * How far browsers were behind the truth, in milliseconds. A count that is shown is as old as the last moment at which
 * it was true. The service may hear of leaving and coming agents in another order than the load, so any count counts as
 * true that lies between the least and the most of the load's counts within 0.4 s. The `staying` agents of each
 * workload are not in the load's counts.
 */
export function measureLags(truth: readonly OpenCounts[], shown: readonly Shown[], staying = 0): Lags {
  const lags: number[] = []
  const began = truth[0]?.atMs ?? 0
  for (const { atMs, counts } of shown) {
    if (atMs < began) continue
    const newest = truth.findLastIndex((count) => count.atMs <= atMs + AHEAD_MS)
    for (const [workload, different] of counts.entries())
      for (const value of different) lags.push(lagOf(truth, newest, workload, value - staying, atMs))
  }
  lags.sort((a, b) => a - b)
  return {
    count: lags.length,
    max: lags.at(-1) ?? 0,
    p99: lags[Math.floor(lags.length * 0.99)] ?? 0,
  }
}

function lagOf(
  truth: readonly OpenCounts[],
  newest: number,
  workload: number,
  value: number,
  atMs: number,
): number {
  for (let at = newest; at >= 0; at--) {
    const count = truth[at]!
    if (atMs - count.atMs > LAG_MAX_MS) break
    const around = truth.slice(Math.max(0, at - AROUND), at + AROUND + 1).map(({ open }) => open[workload]!)
    const isTrue = value >= Math.min(...around) && value <= Math.max(...around)
    // The last count stays true, so it is never late.
    if (isTrue) return at === truth.length - 1 ? 0 : Math.max(0, atMs - count.atMs)
  }
  return LAG_MAX_MS
}

const round = (value: number) => Math.round(value * 100) / 100
