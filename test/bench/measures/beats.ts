import { quantile } from '../histogram.ts'
import { pause, watchCpu } from '../machine.ts'
import type { MeasureResult } from '../results.ts'
import { connectFloor, type FleetSession } from '../session.ts'

const PAIRS = 5
const FLOOD_SECONDS = 2
/** What is still on its way after a flood is answered within this time. */
const SETTLE_MS = 500

/** One flood: how many beats a second were answered, and what one of them cost the server. */
interface Flood {
  perSecond: number
  cpuUs: number
  percent: Readonly<Record<string, number>>
}

const median = (values: readonly number[]) => quantile(values, 0.5)

/**
 * Measure 4: as many beats as the service answers, beside the bare server. The two are flooded in turns, so that what
 * else the machine does meets both; of the pairs the median counts. The time of the processor that a beat costs
 * depends least on what else runs.
 */
export async function measureThroughput(session: FleetSession): Promise<MeasureResult> {
  const { agents, workloads, load, service } = session
  const bare = await connectFloor(agents, workloads)
  const flood = async (pid: number, by: typeof load): Promise<Flood> => {
    await pause(SETTLE_MS)
    const { value, seconds, percent } = await watchCpu({ server: pid, load: by.pid }, () =>
      by.flood({ seconds: FLOOD_SECONDS }),
    )
    return {
      perSecond: value.perSecond,
      percent,
      cpuUs: (percent['server']! * 10_000 * seconds) / (value.perSecond * FLOOD_SECONDS),
    }
  }
  try {
    // The first flood of each compiles code.
    await flood(bare.floor.pid, bare.load)
    await flood(service.pid(), load)
    const pairs: { floor: Flood; own: Flood }[] = []
    for (let n = 0; n < PAIRS; n++)
      pairs.push({
        floor: await flood(bare.floor.pid, bare.load),
        own: await flood(service.pid(), load),
      })
    return toResult(agents, pairs)
  } finally {
    await bare.load.stop()
    await bare.floor.end()
  }
}

function toResult(agents: number, pairs: readonly { floor: Flood; own: Flood }[]): MeasureResult {
  const of = (read: (pair: { floor: Flood; own: Flood }) => number) => median(pairs.map(read))
  return {
    id: '4',
    title: 'beat throughput',
    agents,
    busy: {
      service: of(({ own }) => own.percent['server']!),
      load: of(({ own }) => own.percent['load']!),
      floor: of(({ floor }) => floor.percent['server']!),
      'load of the floor': of(({ floor }) => floor.percent['load']!),
    },
    figures: [
      { name: 'beats a second', value: of(({ own }) => own.perSecond), unit: '' },
      { name: 'floor', value: of(({ floor }) => floor.perSecond), unit: '' },
      {
        name: `of the floor, median of ${PAIRS} pairs`,
        value: of(({ own, floor }) => own.perSecond / floor.perSecond),
        unit: '',
        atLeast: 0.8,
      },
      {
        name: 'CPU a beat',
        value: of(({ own }) => own.cpuUs),
        unit: `us (floor ${of(({ floor }) => floor.cpuUs)})`,
      },
    ],
    note: 'where the load uses a whole core it is the limit, and the ratio flatters',
  }
}
