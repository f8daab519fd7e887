import type { Convergence } from '../../../lib/wire/convergence.ts'
import { pause, watchCpu } from '../machine.ts'
import type { MeasureResult } from '../results.ts'
import type { BenchService } from '../service.ts'
import { type Bench, connectFleet, type FleetSession } from '../session.ts'

/** A small config that every agent of the load can run; the mark makes different ones. */
export const benchConfig = (mark: string) =>
  [
    'receivers:\n  component0:\n    endpoint: localhost:4317\nexporters:\n  component0: {}\n',
    `service:\n  pipelines:\n    traces:\n      receivers: [component0]\n      exporters: [component0]\n# ${mark}\n`,
  ].join('')

/** The id of the only workload, or of the first. */
export async function firstWorkload(service: BenchService): Promise<string> {
  const { rows } = await service.db.query('select id from workloads order by id limit 1')
  return rows[0].id
}

async function expectStatus(
  service: BenchService,
  call: { method: string; path: string; body: unknown; status: number },
): Promise<Record<string, string>> {
  const { status, text } = await service.call(call.method, call.path, call.body)
  if (status !== call.status) throw new Error(`${call.method} ${call.path} answered ${status}: ${text}`)
  return JSON.parse(text)
}

/** Request, approve and push a config; returns how long the call that pushes took, and the config's hash. */
export async function pushConfig(
  service: BenchService,
  workloadId: string,
  mark: string,
): Promise<{ callMs: number; hash: string }> {
  const approvals = `/api/workloads/${workloadId}/config/approvals`
  const draft = { draft_yaml: benchConfig(mark), target_group: 'bench', target_env: 'test', comment: 'bench' }
  const { id } = await expectStatus(service, { method: 'POST', path: approvals, body: draft, status: 201 })
  const comment = { comment: 'bench' }
  await expectStatus(service, {
    method: 'POST',
    path: `${approvals}/${id}/approve`,
    body: comment,
    status: 200,
  })
  const startedAt = performance.now()
  const pushed = await expectStatus(service, {
    method: 'POST',
    path: `${approvals}/${id}/push`,
    body: comment,
    status: 202,
  })
  return { callMs: performance.now() - startedAt, hash: pushed['config_hash']! }
}

async function readConvergence(
  { service }: FleetSession,
  workloadId: string,
  hash: string,
): Promise<Convergence> {
  const { status, text } = await service.call(
    'GET',
    `/api/workloads/${workloadId}/configs/${hash}/convergence`,
  )
  if (status !== 200) throw new Error(`convergence answered ${status}: ${text}`)
  return JSON.parse(text) as Convergence
}

/** Measure 5: the time from the request until every instance has applied the config and that is stored. */
export async function measureFanOut(bench: Bench): Promise<MeasureResult> {
  const agents = Math.min(10_000, bench.agents)
  const session = await connectFleet(bench, { agents, workloads: 1, name: 'fanout' })
  const { service, load } = session
  try {
    const workloadId = await firstWorkload(service)
    // The first push compiles code and prepares statements; only the second is measured.
    await pushConfig(service, workloadId, 'warm')
    await untilApplied(service, agents)
    await service.takeStatements()
    await load.resetStats()
    const startedAt = performance.now()
    const { value, percent } = await watchCpu(session.pids(), async () => {
      const pushed = await pushConfig(service, workloadId, 'measured')
      await untilApplied(service, agents)
      return { ...pushed, seconds: (performance.now() - startedAt) / 1000 }
    })
    const statements = await service.takeStatements()
    const { offersMost } = await load.stats()
    const { times_ms: times, applied_count: applied } = await readConvergence(session, workloadId, value.hash)
    const tail =
      times.p99 === null || times.p100 === null ? 100 : (100 * (times.p100 - times.p99)) / times.p100
    return {
      id: '5',
      title: 'fan-out',
      agents,
      busy: percent,
      figures: [
        {
          name: 'push request to every APPLIED stored and counted',
          value: round(value.seconds),
          unit: 's',
          atMost: 2,
        },
        { name: 'push call', value: round(value.callMs), unit: 'ms', atMost: 200 },
        { name: 'counted in convergence', value: applied, unit: '', atLeast: agents },
        { name: 't100 - t99, of t100', value: round(tail), unit: '%', atMost: 20 },
        { name: 'statements', value: statements, unit: '' },
        { name: 'offers to one instance', value: offersMost, unit: '', atMost: 1 },
      ],
      note: 'the time holds request and approval too; the call is the push alone',
    }
  } finally {
    await session.end()
  }
}

/** Wait until the rows of the newest push say that all agents have applied it. */
export async function untilApplied(service: BenchService, agents: number): Promise<void> {
  for (const until = performance.now() + 120_000; performance.now() < until; await pause(20)) {
    const { rows } = await service.db.query(
      `select (select count(*) from push_targets t where t.push_id = p.push_id and t.state = 'applied')::int as rows,
         p.applied_count as counted from pushes p order by p.seq desc limit 1`,
    )
    if (rows[0]?.rows === agents && rows[0].counted === agents) return
  }
  throw new Error('the push did not reach everybody within two minutes')
}

/**
 * Measure 6: `kill -9` of the service while a fleet that runs a pushed config is connected and reconnects by itself.
 */
export async function measureRestart(bench: Bench): Promise<MeasureResult> {
  const { agents } = bench
  const session = await connectFleet(bench, { agents, workloads: Math.min(50, agents), name: 'restart' })
  const { service, load } = session
  try {
    const workloadId = await firstWorkload(service)
    await pushConfig(service, workloadId, 'restart')
    const assigned = Math.ceil(agents / Math.min(50, agents))
    await untilApplied(service, assigned)
    await load.reconnectAfter({ ms: 1_000 })
    await load.resetStats()
    const startedAt = performance.now()
    const { value, percent } = await watchCpu({ load: load.pid }, async () => {
      await service.killAndRestart()
      const readySeconds = (performance.now() - startedAt) / 1000
      await untilLive(service, agents)
      return { readySeconds, liveSeconds: (performance.now() - startedAt) / 1000 }
    })
    await pause(2_000)
    const stats = await load.stats()
    const { rows } = await service.db.query(`select count(*)::int as n from workload_events`)
    return {
      id: '6',
      title: 'restart after kill -9',
      agents,
      busy: percent,
      figures: [
        { name: 'kill to all live again', value: round(value.liveSeconds), unit: 's', atMost: 20 },
        { name: 'kill to ready', value: round(value.readySeconds), unit: 's' },
        { name: 'configs offered again', value: stats.offers, unit: '', atMost: 0 },
        { name: 'full-state requests to one agent', value: stats.fullStateRequestsMost, unit: '', atMost: 1 },
        { name: 'events stored, in all', value: rows[0].n, unit: '' },
      ],
    }
  } finally {
    await session.end()
  }
}

/** Wait until the inventory counts all agents as connected. */
export async function untilLive(service: BenchService, agents: number): Promise<void> {
  for (const until = performance.now() + 120_000; performance.now() < until; await pause(250)) {
    const { status, text } = await service
      .call('GET', '/api/workloads')
      .catch(() => ({ status: 0, text: '' }))
    if (status !== 200) continue
    const records = JSON.parse(text) as Record<string, number>[]
    const live = records.reduce((sum, record) => sum + (record['connected_instance_count'] ?? 0), 0)
    if (live === agents) return
  }
  throw new Error('not everybody was back within two minutes')
}

const round = (value: number) => Math.round(value * 100) / 100
