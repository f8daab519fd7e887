import { quantile } from '../histogram.ts'
import type { RemoteLoad } from '../load/process.ts'
import { pause, watchCpu } from '../machine.ts'
import type { Figure, MeasureResult } from '../results.ts'
import { type BenchService, startBenchService } from '../service.ts'
import { type Bench, connectFleet } from '../session.ts'
import { firstWorkload } from './push.ts'

const CALLS = 50
const BEAT_MS = 30_000
const DRAFT_BYTES = 200_000
/** Calls before the measured ones: several worker threads share them, and each compiles its code first. */
const WARM_CALLS = 16
const CALLS_WHEN_WARM = 11
const STARTS = 7

/** Measure 7: read the whole inventory, with as many workloads as agents, again and again while all agents beat. */
export async function measureInventory(bench: Bench): Promise<MeasureResult> {
  const { agents } = bench
  const session = await connectFleet(bench, { agents, workloads: agents, name: 'inventory' })
  const { service, load, storm } = session
  try {
    await load.beats({ intervalMs: BEAT_MS })
    await pause(2_000)
    await load.resetStats()
    let bytes = 0
    const { value, percent } = await watchCpu(session.pids(), async () => {
      const times: number[] = []
      for (let n = 0; n < CALLS; n++) {
        const startedAt = performance.now()
        const answer = await service.download('/api/workloads')
        times.push(performance.now() - startedAt)
        bytes = answer.bytes
      }
      return times
    })
    const { replies } = await load.stats()
    return {
      id: '7',
      title: 'inventory',
      agents,
      busy: percent,
      figures: [
        { name: 'p50 of a call', value: quantile(value, 0.5), unit: 'ms', atMost: 150 },
        { name: 'p99 of a call', value: quantile(value, 0.99), unit: 'ms', atMost: 400 },
        { name: 'p99 of the beats', value: replies.p99, unit: 'ms', atMost: 50 },
        { name: 'answer', value: bytes / 1_048_576, unit: 'MiB' },
        { name: 'its connect storm', value: storm.storedSeconds, unit: 's' },
        { name: 'statements an agent', value: storm.statements / agents, unit: '', atMost: 2 },
      ],
    }
  } finally {
    await session.end()
  }
}

/** A valid config of 200 KB: many processors, all of them used. */
function bigConfig(mark: string): string {
  const names: string[] = []
  const blocks: string[] = []
  for (let n = 0, length = 0; length < DRAFT_BYTES; n++) {
    const name = `component0/p${n}`
    const block = `  ${name}:\n    actions:\n      - key: team\n        value: ${mark}-${n}\n        action: upsert\n`
    names.push(name)
    blocks.push(block)
    length += block.length + name.length + 2
  }
  return [
    'receivers:\n  component0:\n    endpoint: localhost:4317\nexporters:\n  component0: {}\nprocessors:\n',
    ...blocks,
    `service:\n  pipelines:\n    traces:\n      receivers: [component0]\n      processors: [${names.join(', ')}]\n`,
    '      exporters: [component0]\n',
  ].join('')
}

async function timed(service: BenchService, path: string, body: unknown): Promise<number> {
  const startedAt = performance.now()
  const { status, text } = await service.call('POST', path, body)
  if (status !== 200) throw new Error(`POST ${path} answered ${status}: ${text.slice(0, 500)}`)
  return performance.now() - startedAt
}

/**
 * Run `work`; returns its value, the longest that the service's event loop was held and the longest that a beat waited
 * for its answer meanwhile, both in ms.
 */
export async function watchLoop<T>(
  { service, load }: { service: BenchService; load: RemoteLoad },
  work: () => Promise<T>,
): Promise<{ value: T; heldMs: number; replyMs: number }> {
  await load.resetStats()
  await service.takeHeldMs()
  const value = await work()
  const heldMs = await service.takeHeldMs()
  const { replies } = await load.stats()
  return { value, heldMs, replyMs: replies.max }
}

/** Measure 9: validate, diff and policy check of a config of 200 KB. */
export async function measureValidation(bench: Bench): Promise<MeasureResult> {
  const session = await connectFleet(bench, { agents: 10, workloads: 1, name: 'validation' })
  const { service, load } = session
  try {
    // Ten agents with a beat each 100 ms: one beat in 10 ms.
    await load.beats({ intervalMs: 100 })
    const workloadId = await firstWorkload(service)
    const base = bigConfig('blue')
    // Another text each time, as from somebody who types: the service must not profit from a text that it has kept.
    let edits = 0
    const edited = () => bigConfig(`green${edits++}`)
    const calls: Record<string, () => Promise<number>> = {
      validate: () => timed(service, `/api/workloads/${workloadId}/config/validate`, edited()),
      diff: () => timed(service, '/api/configs/diff', { base_yaml: base, target_yaml: edited() }),
      'policy check': () => timed(service, '/api/configs/policy/preview', { target_yaml: edited() }),
    }
    const figures: Figure[] = []
    const { percent } = await watchCpu(session.pids(), async () => {
      for (const [name, call] of Object.entries(calls)) {
        for (let n = 0; n < WARM_CALLS; n++) await call()
        const { value, heldMs, replyMs } = await watchLoop(session, async () => {
          const times: number[] = []
          for (let n = 0; n < CALLS_WHEN_WARM; n++) times.push(await call())
          return times
        })
        figures.push(
          { name, value: quantile(value, 0.5), unit: 'ms', atMost: 250 },
          { name: `${name}: loop held`, value: heldMs, unit: 'ms', atMost: 50 },
          { name: `${name}: longest reply to a beat`, value: replyMs, unit: 'ms' },
        )
      }
    })
    return { id: '9', title: 'validation of a 200 KB config', agents: 10, figures, busy: percent }
  } finally {
    await session.end()
  }
}

/**
 * Measure 11: the time from starting the program until `/readyz` answers 200, on a database that is already migrated.
 */
export async function measureStart(bench: Bench): Promise<MeasureResult> {
  const figures: Figure[] = []
  for (const asExecutable of [false, true]) {
    const what = asExecutable ? 'executable' : 'bundle'
    const service = await startBenchService({
      database: bench.database,
      name: 'start',
      nodeArguments: [],
      asExecutable,
    })
    try {
      const times: number[] = []
      for (let n = 0; n < STARTS; n++) times.push((await service.killAndRestart()).readyMs)
      figures.push(
        {
          name: `${what}: exec to ready, median of ${STARTS}`,
          value: quantile(times, 0.5),
          unit: 'ms',
          atMost: 300,
        },
        { name: `${what}: fastest`, value: Math.round(Math.min(...times)), unit: 'ms' },
      )
    } finally {
      await service.end()
    }
  }
  return { id: '11', title: 'start', agents: 0, busy: {}, figures }
}
