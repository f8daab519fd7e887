import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { pause, watchCpu } from '../machine.ts'
import type { Figure, MeasureResult } from '../results.ts'
import type { BenchService } from '../service.ts'
import { type Bench, connectFleet } from '../session.ts'
import { benchConfig } from './push.ts'

/** How many workloads of one instance, and how long until all have applied the config at most. */
const SIZES = [
  { workloads: 2_000, appliedSecondsMax: 10, planSecondsMax: 3 },
  { workloads: 10_000, appliedSecondsMax: 60 },
] as const
const POLL_MS = 100
const WITHIN_MS = 300_000

async function call(service: BenchService, method: string, path: string, body?: unknown) {
  const { status, text } = await service.call(method, `/api/campaigns${path}`, body)
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as CampaignRecord
}

/** Wait until a campaign is as wanted, and return it; throws when the campaign halts. */
async function until(
  service: BenchService,
  id: string,
  isReached: (campaign: CampaignRecord) => boolean,
): Promise<CampaignRecord> {
  for (const startedAt = performance.now(); performance.now() - startedAt < WITHIN_MS; await pause(POLL_MS)) {
    const campaign = await call(service, 'GET', `/${id}`)
    if (isReached(campaign)) return campaign
    if (campaign.status === 'halted') throw new Error(`campaign halted: ${JSON.stringify(campaign.halt)}`)
  }
  throw new Error(`campaign did not get there in ${WITHIN_MS / 1000} s`)
}

/**
 * Run a campaign that brings a config to every workload. Returns how long its plan took, and how long it took from the
 * start until the last workload had applied the config.
 */
async function carry(service: BenchService, mark: string, takeover: boolean) {
  const { id } = await call(service, 'POST', '', {
    name: mark,
    change: { kind: 'text', yaml: benchConfig(mark), takeover },
    scope: { selector: { types: ['collector'] } },
    waves: [{ percentage: 100 }],
    max_in_flight: 10_000,
  })
  const planStartedAt = performance.now()
  await call(service, 'POST', `/${id}/plan`)
  const planned = await until(service, id, ({ status }) => status === 'planned')
  const planSeconds = (performance.now() - planStartedAt) / 1000
  const decision = { comment: 'bench', plan_hash: planned.plan_hash }
  await call(service, 'POST', `/${id}/request`, decision)
  await call(service, 'POST', `/${id}/approve`, decision)
  const startedAt = performance.now()
  await call(service, 'POST', `/${id}/start`)
  const total = planned.plan!.target_count
  await until(service, id, ({ counts }) => counts['applied'] === total)
  return { planSeconds, appliedSeconds: (performance.now() - startedAt) / 1000, total }
}

/** Measure `campaign`: one change for 2,000 and for 10,000 workloads of one instance, which all run the same config. */
export async function measureCampaign(bench: Bench): Promise<MeasureResult[]> {
  const results: MeasureResult[] = []
  for (const size of SIZES) if (size.workloads <= bench.agents) results.push(await measureSize(bench, size))
  return results
}

async function measureSize(
  bench: Bench,
  { workloads: count, ...most }: { workloads: number; appliedSecondsMax: number; planSecondsMax?: number },
): Promise<MeasureResult> {
  const env = { MUSTER_EDITION: 'complete' }
  const session = await connectFleet(bench, { agents: count, workloads: count, name: 'campaign', env })
  const { service } = session
  try {
    await carry(service, 'first', true)
    await service.takeStatements()
    await service.takeHeldMs()
    const { value, percent, seconds } = await watchCpu(session.pids(), () => carry(service, 'second', false))
    const heldMs = await service.takeHeldMs()
    const statements = await service.takeStatements()
    const plan: Figure = { name: 'plan', value: value.planSeconds, unit: 's' }
    const figures: Figure[] = [
      most.planSecondsMax === undefined ? plan : { ...plan, atMost: most.planSecondsMax },
      {
        name: 'start to all applied',
        value: value.appliedSeconds,
        unit: 's',
        atMost: most.appliedSecondsMax,
      },
      { name: 'loop held', value: heldMs, unit: 'ms', atMost: 50 },
      { name: 'statements a target', value: statements / value.total, unit: '' },
      { name: 'CPU a target', value: (percent['service']! * 10 * seconds) / value.total, unit: 'ms' },
    ]
    return {
      id: 'campaign',
      title: `campaign over ${count} workloads`,
      agents: count,
      figures,
      busy: percent,
    }
  } finally {
    await session.end()
  }
}
