import { watchCpu } from '../machine.ts'
import type { Figure, MeasureResult } from '../results.ts'
import { type Bench, connectFleet, type FleetSession } from '../session.ts'
import { watchLoop } from './api.ts'
import { firstWorkload, pushConfig, untilApplied } from './push.ts'

const BEAT_MS = 30_000
const HELD_MS_MAX = 50

/**
 * The GETs of the API at the sizes for which targets are stated: those without a parameter over as many workloads as
 * agents; those with a workload id, and a config hash or an instance uid at most, over one workload that holds all
 * agents. For each the longest that it held the event loop and that a beat waited meanwhile. GETs with other parameters
 * are left out.
 */
export async function measureEndpoints(bench: Bench): Promise<MeasureResult[]> {
  return [
    await measure(bench, bench.agents, async (_session, paths) =>
      paths.filter((path) => !path.includes('{')),
    ),
    await measure(bench, 1, async ({ service, load, agents }, paths) => {
      const id = await firstWorkload(service)
      const { hash } = await pushConfig(service, id, 'endpoints')
      await untilApplied(service, agents)
      const { rows } = await service.db.query('select min(instance_uid) as uid from push_targets')
      await load.resetStats()
      const values: Record<string, string> = { id, hash, uid: rows[0].uid }
      return paths
        .filter((path) => path.includes('{'))
        .map((path) => path.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole))
        .filter((path) => !path.includes('{'))
    }),
  ]
}

async function measure(
  bench: Bench,
  workloads: number,
  choose: (session: FleetSession, paths: readonly string[]) => Promise<string[]>,
): Promise<MeasureResult> {
  const { agents } = bench
  const session = await connectFleet(bench, { agents, workloads, name: 'endpoints' })
  const { service, load } = session
  try {
    const paths = await choose(session, await listGets(session))
    await load.beats({ intervalMs: BEAT_MS })
    const found: {
      path: string
      ms: number
      heldMs: number
      replyMs: number
      bytes: number
      status: number
    }[] = []
    const { percent } = await watchCpu(session.pids(), async () => {
      for (const path of paths) {
        await service.download(path)
        const { value, heldMs, replyMs } = await watchLoop(session, async () => {
          const startedAt = performance.now()
          const answer = await service.download(path)
          return { ...answer, ms: performance.now() - startedAt }
        })
        found.push({ path, heldMs, replyMs, ...value })
      }
    })
    const worst = found.reduce((a, b) => (b.heldMs > a.heldMs ? b : a))
    const figures: Figure[] = [
      { name: 'endpoints', value: found.length, unit: '' },
      { name: 'loop held, longest', value: worst.heldMs, unit: 'ms', atMost: HELD_MS_MAX },
      ...found
        .sort((a, b) => b.heldMs - a.heldMs)
        .map(({ path, ms, heldMs, replyMs, bytes, status }) => ({
          name: path.replace(/[0-9a-f]{24,}/g, '…'),
          value: heldMs,
          unit: `ms (${status}, ${Math.round(ms)} ms, ${(bytes / 1_048_576).toFixed(1)} MiB, beat ${Math.round(replyMs)})`,
        })),
    ]
    const title = workloads === 1 ? 'endpoints of one big workload' : 'endpoints of a big fleet'
    return { id: 'endpoints', title, agents, figures, busy: percent }
  } finally {
    await session.end()
  }
}

/** The paths of all GETs, from the service's OpenAPI document. */
async function listGets({ service }: FleetSession): Promise<string[]> {
  const { text } = await service.call('GET', '/api/openapi.json')
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> }
  return Object.keys(paths).filter((path) => 'get' in paths[path]!)
}
