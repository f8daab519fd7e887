import { watchCpu } from '../machine.ts'
import type { MeasureResult } from '../results.ts'
import { type Bench, connectFleet } from '../session.ts'

const SECONDS = 5
const WAIT_MS_MAX = 50

/**
 * Measure `timers`: the longest that a timer of 10 ms waits while every agent sends the next message as soon as the
 * last is answered.
 */
export async function measureTimers(bench: Bench): Promise<MeasureResult> {
  const { agents } = bench
  const session = await connectFleet(bench, { agents, workloads: Math.min(50, agents), name: 'timers' })
  const { service, load } = session
  try {
    await load.flood({ seconds: 1 })
    await service.takeHeldMs()
    const { value, percent } = await watchCpu(session.pids(), async () => {
      const flood = await load.flood({ seconds: SECONDS })
      return { ...flood, waitedMs: await service.takeHeldMs() }
    })
    return {
      id: 'timers',
      title: 'timers while all sockets answer',
      agents,
      busy: percent,
      figures: [
        { name: 'a timer of 10 ms waited, longest', value: value.waitedMs, unit: 'ms', atMost: WAIT_MS_MAX },
        { name: 'messages a second', value: value.perSecond, unit: '' },
      ],
    }
  } finally {
    await session.end()
  }
}
