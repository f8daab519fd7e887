import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { startLoad } from '../load/process.ts'
import { pause, watchCpu } from '../machine.ts'
import type { Figure, MeasureResult } from '../results.ts'
import type { BenchService } from '../service.ts'
import { type Bench, connectFleet, type FleetSession } from '../session.ts'
import { benchConfig } from './push.ts'

/** How many workloads of one instance get a config of their own from a version, and how long its plan takes at most. */
const BASES = { workloads: 2_000, planSecondsMax: 20, newcomerSecondsMax: 5 }
/** How many bytes the config of each of them has, about. */
const BASE_BYTES = 10_240

/** How many workloads of one instance, and how long until all have applied the config at most. */
const SIZES = [
  { workloads: 2_000, appliedSecondsMax: 10, planSecondsMax: 3 },
  { workloads: 10_000, appliedSecondsMax: 60 },
] as const
/** The transaction that starts targets of a campaign. */
const STARTS = 'campaign.push'
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
export const carry = (service: BenchService, mark: string, takeover: boolean) =>
  carryOut(service, {
    name: mark,
    change: { kind: 'text', yaml: benchConfig(mark), takeover },
    scope: { selector: { types: ['collector'] } },
  })

/** Run a campaign to its last workload; times as of `carry`. */
async function carryOut(service: BenchService, draft: { name: string; change: object; scope: object }) {
  const { id } = await call(service, 'POST', '', {
    ...draft,
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
  const total = planned.plan!.verdicts['changes']!
  await until(service, id, ({ counts }) => counts['applied'] === total)
  return { planSeconds, appliedSeconds: (performance.now() - startedAt) / 1000, total }
}

/**
 * Measure `campaign`: one change for 2,000 and for 10,000 workloads of one instance, which all run the same config; then
 * a version for 2,000 that each run another one, and a newcomer to whom it is brought by itself.
 */
export async function measureCampaign(bench: Bench): Promise<MeasureResult[]> {
  const results: MeasureResult[] = []
  for (const size of SIZES) if (size.workloads <= bench.agents) results.push(await measureSize(bench, size))
  results.push(await measureBases(bench))
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
    const first = await carry(service, 'first', true)
    await service.takeStatements()
    const before = await service.takeHeld(STARTS)
    const { value, percent, seconds } = await watchCpu(session.pids(), () => carry(service, 'second', false))
    const held = await service.takeHeld(STARTS)
    const statements = await service.takeStatements()
    const lockMeanMs = (held.totalMs - before.totalMs) / (held.count - before.count)
    const plan: Figure = { name: 'plan', value: value.planSeconds, unit: 's' }
    const figures: Figure[] = [
      // Each reports to run 8 KB, which the plan compares with.
      { name: 'plan of the take-over before', value: first.planSeconds, unit: 's' },
      most.planSecondsMax === undefined ? plan : { ...plan, atMost: most.planSecondsMax },
      {
        name: 'start to all applied',
        value: value.appliedSeconds,
        unit: 's',
        atMost: most.appliedSecondsMax,
      },
      { name: 'loop held', value: held.loopMs, unit: 'ms', atMost: 50 },
      { name: 'statements a target', value: statements / value.total, unit: '', atMost: 8 },
      { name: 'audit lock held by a start, longest', value: held.longestMs, unit: 'ms' },
      { name: 'audit lock held by a start, mean', value: lockMeanMs, unit: 'ms' },
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

/** A version of about 10 KB from which each workload gets another text. */
const versionText = (mark: string): string => {
  const line = (n: number) => `  component0/${n}:\n    endpoint: \${muster:name}:${4_000 + n}\n`
  const receivers = Array.from({ length: Math.ceil(BASE_BYTES / line(100).length) }, (_, n) => line(n))
  return benchConfig(mark).replace('receivers:\n', `receivers:\n${receivers.join('')}`)
}

async function ask<T>(service: BenchService, method: string, path: string, body?: unknown): Promise<T> {
  const { status, text } = await service.call(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as T
}

async function measureBases(bench: Bench): Promise<MeasureResult> {
  const count = Math.min(BASES.workloads, bench.agents)
  const env = { MUSTER_EDITION: 'complete' }
  const session = await connectFleet(bench, { agents: count, workloads: count, name: 'campaign', env })
  const { service } = session
  try {
    const selector = { match_labels: { 'identity/namespace': 'bench' } }
    const config = await ask<{ id: string }>(service, 'POST', '/api/fleet-configs', {
      name: 'bench',
      selector,
    })
    const path = `/api/fleet-configs/${config.id}`
    const bring = async (number: number) => {
      const variables = [{ name: 'name', label: 'identity/name' }]
      const version = { content: versionText(`version ${number}`), comment: 'bench', variables }
      await ask(service, 'POST', `${path}/versions`, version)
      const change = { kind: 'version', fleet_config_id: config.id, number, takeover: true }
      return carryOut(service, { name: `version ${number}`, change, scope: {} })
    }
    const taken = await bring(1)
    await service.takeHeldMs()
    const { value, percent, seconds } = await watchCpu(session.pids(), () => bring(2))
    const heldMs = await service.takeHeldMs()
    const newcomerSeconds = await bringNewcomer(session, path)
    const patched = await patchBases(service, config.id)
    const { rows } = await service.db.query(
      `select count(distinct active_config_hash)::int as configs, max(octet_length(body))::int as bytes
       from workloads join config_contents on hash = active_config_hash`,
    )
    return {
      id: 'campaign',
      title: `a version for ${count} workloads: ${rows[0].configs} configs of ${rows[0].bytes} bytes`,
      agents: count,
      figures: [
        { name: 'plan', value: value.planSeconds, unit: 's', atMost: BASES.planSecondsMax },
        { name: 'start to all applied', value: value.appliedSeconds, unit: 's' },
        { name: 'loop held', value: heldMs, unit: 'ms', atMost: 50 },
        { name: 'CPU a target', value: (percent['service']! * 10 * seconds) / value.total, unit: 'ms' },
        {
          name: 'newcomer runs it',
          value: newcomerSeconds,
          unit: 's',
          atMost: BASES.newcomerSecondsMax,
        },
        // Each reports the same, and gets values of its own.
        { name: 'plan of the take-over before', value: taken.planSeconds, unit: 's' },
        { name: 'plan of a patch', value: patched.planSeconds, unit: 's', atMost: BASES.planSecondsMax },
        { name: 'patch applied', value: patched.appliedSeconds, unit: 's' },
        { name: 'loop held by the patch', value: patched.heldMs, unit: 'ms', atMost: 50 },
      ],
      busy: percent,
    }
  } finally {
    await session.end()
  }
}

/**
 * Take the workloads out of their fleet config, so that a patch may change them, and change a line in the config of each;
 * times as of `carry`.
 */
async function patchBases(service: BenchService, configId: string) {
  const path = `/api/fleet-configs/${configId}`
  await ask(service, 'POST', `${path}/auto-apply/turn-off`, { comment: 'bench' })
  const selector = { match_labels: { 'identity/namespace': 'elsewhere' } }
  await ask(service, 'PUT', path, { name: 'bench', selector })
  await service.takeHeldMs()
  const patch = { merge: { exporters: { component0: { timeout: '5s' } } } }
  const scope = { selector: { types: ['collector'] } }
  const times = await carryOut(service, { name: 'patch', change: { kind: 'patch', patch }, scope })
  return { ...times, heldMs: await service.takeHeldMs() }
}

/** Let version 2 apply by itself, connect one more agent, and wait until it has applied it; returns the seconds. */
async function bringNewcomer({ service, workloads }: FleetSession, path: string): Promise<number> {
  const { plan_hash } = await ask<{ plan_hash: string }>(service, 'POST', `${path}/auto-apply/plan`, {
    number: 2,
  })
  await ask(service, 'POST', `${path}/auto-apply`, { number: 2, plan_hash, comment: 'bench' })
  await ask(service, 'POST', `${path}/auto-apply/approve`, { plan_hash, comment: 'bench' })
  const newcomer = startLoad({
    host: '127.0.0.1',
    port: service.opampPort,
    agents: 1,
    workloads: workloads + 1,
    first: workloads,
  })
  try {
    await newcomer.stats()
    const startedAt = performance.now()
    await newcomer.connect()
    for (; performance.now() - startedAt < WITHIN_MS; await pause(POLL_MS)) {
      const targets = await ask<{ state: string }[]>(service, 'GET', `${path}/auto-apply/targets`)
      if (targets.some(({ state }) => state === 'applied')) return (performance.now() - startedAt) / 1000
    }
    throw new Error('the version did not come to the newcomer')
  } finally {
    await newcomer.stop()
  }
}
