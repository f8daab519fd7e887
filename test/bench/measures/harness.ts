import pg from 'pg'
import type { Harness, HarnessOptions } from '../load/harness.ts'
import { type Remote, startRole } from '../load/remote.ts'
import { watchCpu } from '../machine.ts'
import type { MeasureResult } from '../results.ts'
import type { Bench } from '../session.ts'

/** The instances of the one workload; this machine has too few sockets for so many. */
const INSTANCES = 100_000
const HELD_MS_MAX = 50
/** Of a hold, what is not waiting for other programs; up to 10 ms of work before it counts with it. */
const WORKED = 'of its thread on the processor, longest'

async function withHarness<T>(
  { database }: Bench,
  name: string,
  work: (harness: Remote<Harness>) => Promise<T>,
): Promise<T> {
  const admin = new pg.Client(database.server.dsn('postgres'))
  await admin.connect()
  await admin.query(`drop database if exists ${name} with (force)`)
  await admin.query(`create database ${name}`)
  await admin.end()
  const harness = startRole<Harness>('harness', {
    dsn: database.server.dsn(name),
  } satisfies HarnessOptions)
  try {
    return await work(harness)
  } finally {
    await harness.end()
    await harness.stop()
  }
}

/** Measure `fan-out-100k`: one push to everybody of a very big workload, without sockets. */
export const measureFanOut100k = (bench: Bench): Promise<MeasureResult> =>
  withHarness(bench, 'fanout_100k', async (harness) => {
    await harness.start({ oldRows: false })
    const connected = await harness.connect({ agents: INSTANCES })
    // The first push compiles code and prepares statements; only the second is measured.
    await harness.push({ mark: 1 })
    const { value, percent } = await watchCpu({ harness: harness.pid }, () => harness.push({ mark: 2 }))
    return {
      id: 'fan-out-100k',
      title: 'push to 100,000 instances, without sockets',
      agents: INSTANCES,
      figures: [
        { name: 'loop held, longest', value: value.heldMs, unit: 'ms', atMost: HELD_MS_MAX },
        { name: WORKED, value: value.workedMs, unit: 'ms' },
        { name: 'push to every APPLIED stored', value: value.seconds, unit: 's' },
        { name: 'push call', value: value.callMs, unit: 'ms' },
        { name: 'applied', value: value.applied, unit: '', atLeast: INSTANCES },
        { name: 'loop held while they connected', value: connected.heldMs, unit: 'ms' },
        { name: 'of its thread on the processor', value: connected.workedMs, unit: 'ms' },
      ],
      busy: percent,
      note: 'the agents live in the same process and answer a few in each turn',
    }
  })

/** Measure `janitor`: one round over the tables of a big old fleet. */
export const measureJanitor = (bench: Bench): Promise<MeasureResult> =>
  withHarness(bench, 'janitor', async (harness) => {
    await harness.start({ oldRows: true })
    const { value, percent } = await watchCpu({ harness: harness.pid }, () => harness.sweep())
    return {
      id: 'janitor',
      title: 'janitor over the tables of a big old fleet',
      agents: 0,
      figures: [
        { name: 'loop held, longest', value: value.heldMs, unit: 'ms', atMost: HELD_MS_MAX },
        { name: WORKED, value: value.workedMs, unit: 'ms' },
        { name: 'one round', value: value.seconds, unit: 's' },
        { name: 'workloads, events, alerts and configs removed', value: value.done, unit: '' },
      ],
      busy: percent,
    }
  })
