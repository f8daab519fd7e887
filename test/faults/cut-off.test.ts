import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import { createDatabase } from '../e2e/support/service.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { type Balancer, startBalancer } from './support/balancer.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet, untilAllOpen } from './support/fleet.ts'
import { type Standby, startStandby } from './support/standby.ts'

const AGENTS = 60
const CUT = 20
let proxy: DatabaseProxy
let balancer: Balancer
let fleet: FaultFleet
let other: Standby

beforeAll(async () => {
  const dsn = await createDatabase()
  proxy = await startDatabaseProxy(dsn)
  const otherPort = await findFreePort('127.0.0.1')
  fleet = await startFaultFleet({
    agents: AGENTS,
    env: { DB_DSN: proxy.dsn },
    dsn,
    async through(port) {
      balancer = await startBalancer([port, otherPort])
      return balancer.port
    },
  })
  other = await startStandby(dsn, otherPort)
})
afterAll(async () => {
  await fleet?.end()
  await other?.process.stop()
  await balancer?.close()
  await proxy?.close()
})

const count = async (table: string, where = 'true') =>
  (await fleet.rows<{ n: number }>(`select count(*)::int as n from ${table} where ${where}`))[0]!.n

test('a process that was cut off and comes back after another took over writes nothing more and stops', async () => {
  const { service, load } = fleet
  const first = service.process()
  await eventually('the other one stands by', async () => (await other.statusOf('/healthz')) === 200)
  await eventually('the arrivals are stored', async () => (await count('workload_events')) === AGENTS)
  const yaml = configOf('never to be pushed by the one that was cut off')
  const pushPath = await approveConfig(fleet, yaml)
  const label = `/api/workloads/${fleet.workloadId}/trusted-labels`
  const before = { audits: await count('audit_events'), approvals: await count('approvals') }

  const startedAt = performance.now()
  proxy.goAway()
  await eventually('the other one took over', async () => (await other.statusOf('/readyz')) === 200, {
    everyMs: 10,
  })
  expect(performance.now() - startedAt).toBeLessThan(2_000)

  // Two processes are up now. The one that was cut off from the database keeps its agents, and notes what they do.
  expect(load.stats().open).toBe(AGENTS)
  load.cut({ from: 0, count: CUT })
  await eventually('those have gone', async () => load.stats().open === AGENTS - CUT, { everyMs: 10 })
  await untilAllOpen(fleet, AGENTS)
  expect(balancer.open()).toEqual([AGENTS, 0])
  expect(first.hasEnded()).toBe(false)

  // Operators still send changes to it while its database comes back: it may answer anything but success.
  const writes: number[] = []
  let isOver = false
  const hammer = async (call: () => Promise<{ status: number }>) => {
    while (!isOver) {
      const { status } = await call().catch(() => ({ status: 0 }))
      writes.push(status)
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
  }
  const { api } = service
  const hammers = [
    hammer(() => api.call('POST', pushPath, { comment: 'go' })),
    hammer(() => api.call('PUT', label, { labels: { group: 'late' } })),
    hammer(() =>
      api.call('POST', `/api/workloads/${fleet.workloadId}/config/approvals`, {
        draft_yaml: yaml,
        target_group: 'late',
        target_env: 'test',
        comment: 'late',
      }),
    ),
  ]
  proxy.comeBack()
  await first.ended
  isOver = true
  await Promise.all(hammers)

  expect(first.exitCode()).toBe(1)
  // Its last lines of output may arrive after it has ended.
  await eventually('it says what is lost', async () => first.output().includes('they are lost'), {
    withinMs: 5_000,
  })
  expect(writes.length).toBeGreaterThan(2)
  expect([...new Set(writes)].filter((status) => status !== 503 && status !== 0)).toEqual([])
  expect(await count('pushes')).toBe(0)
  expect(await count('push_targets')).toBe(0)
  expect(await count('audit_events')).toBe(before.audits)
  expect(await count('approvals')).toBe(before.approvals)
  expect(await count('workloads', `trusted_labels <> '{}'`)).toBe(0)
  // The only loss is the events that it had noted and not stored, and it logs how many: each agent that was cut went
  // once and came back once.
  const said = first.output().split('\n')
  expect(
    said.filter((line) => line.includes('they are lost')).map((line) => JSON.parse(line).events),
  ).toEqual([2 * CUT])
  expect(said.filter((line) => line.includes('was dropped'))).toEqual([])

  await eventually('every agent is with the other one', async () => balancer.open()[1] === AGENTS)
  expect(balancer.open()).toEqual([0, AGENTS])
  expect(await count('process_epoch', 'epoch = 2')).toBe(1)

  // All agents obey the process that took over.
  await other.api.login()
  await other.api.post(pushPath, { comment: 'go' }, 202)
  await eventually('everybody runs what it pushed', async () => load.running()[configHash(yaml)] === AGENTS)
  expect(await count('pushes')).toBe(1)
  await eventually('their arrival within its grace is no event', async () => {
    return (await count('workload_events')) === AGENTS
  })
  expect(await other.api.get('/api/audit/verify')).toMatchObject({ valid: true })
})
