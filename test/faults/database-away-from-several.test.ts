import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { Load } from '../bench/load/load.ts'
import { createDatabase } from '../e2e/support/service.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { configOf } from './support/fleet.ts'
import { type Several, startSeveral } from './support/several.ts'

const PROCESSES = 3
const AGENTS = 50
/** Longer than an owner may act without a renewal, and than other members wait for a silent owner. */
const AWAY_MS = 8_000
let proxy: DatabaseProxy
let several: Several
const loads: Load[] = []

beforeAll(async () => {
  const dsn = await createDatabase()
  proxy = await startDatabaseProxy(dsn)
  several = await startSeveral(PROCESSES, { dsn: { ofProcesses: proxy.dsn, ofTest: () => dsn } })
  for (const [index, { opampPort }] of several.all.entries()) {
    // Agents that never come back once they are cut off.
    const load = new Load({
      ...{ host: '127.0.0.1', port: opampPort, agents: AGENTS, workloads: 1, first: index * AGENTS },
    })
    loads.push(load)
    await load.connect()
  }
})
afterAll(async () => {
  for (const load of loads) load.end()
  await several?.end()
  await proxy?.close()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const running = (hash: string) => loads.reduce((sum, load) => sum + (load.running()[hash] ?? 0), 0)

test('a database that is away for a while takes nobody from three processes, and a push that stood is finished', async () => {
  const [first] = several.all
  const workloadId = await eventually('every agent is stored', async () => {
    const [found] = await several.rows<{ n: number; id: string }>(
      'select count(*)::int as n, min(workload_id) as id from agent_workloads',
    )
    return found!.n === PROCESSES * AGENTS && found!.id
  })
  for (const load of loads) load.beats({ intervalMs: 500 })
  const yaml = configOf('pushed right before the database went away')
  await first!.api.pushConfig(workloadId, yaml)
  proxy.goAway()
  for (const load of loads) load.resetStats()

  await pause(AWAY_MS / 2)
  const during = await Promise.all(several.all.map(({ api }) => api.call('GET', '/api/workloads')))
  await pause(AWAY_MS / 2)
  // Every agent is where it was, and each beat was answered, at the owner and at both fronts.
  for (const load of loads) {
    const { open, errors, replies } = load.stats()
    expect({ open, errors }).toEqual({ open: AGENTS, errors: 0 })
    expect(replies.count).toBeGreaterThan(AGENTS)
  }
  // What needs the database is refused as such, and nothing else happened to those who asked.
  for (const { status } of during) expect([200, 503]).toContain(status)
  proxy.comeBack()

  await eventually('everybody runs it', async () => running(configHash(yaml)) === PROCESSES * AGENTS)
  await eventually('its end is stored', async () => {
    const [push] = await several.rows<{ status: string; applied: number; failed: number }>(
      `select p.status, count(*) filter (where t.state = 'applied')::int as applied,
         count(*) filter (where t.state = 'failed')::int as failed
       from pushes p join push_targets t using (push_id) group by p.status`,
    )
    expect(push!.failed).toBe(0)
    return push!.status === 'applied' && push!.applied === PROCESSES * AGENTS
  })
  // The owner had precedence when the database was back: no other process took its place, and none gave up.
  const [found] = await several.rows<{ epoch: number }>('select epoch::int from process_epoch')
  expect(found!.epoch).toBe(1)
  expect(several.all.map((one) => one.running().hasEnded())).toEqual([false, false, false])
  await eventually('each is ready and serves', async () => {
    const answers = await Promise.all(several.all.map(({ api }) => api.call('GET', '/api/workloads')))
    return answers.every(({ status }) => status === 200)
  })
  // One more push, so that all is well beyond what was kept.
  const next = configOf('pushed after the database was back')
  await first!.api.pushConfig(workloadId, next)
  await eventually('everybody runs that too', async () => running(configHash(next)) === PROCESSES * AGENTS)
  for (const load of loads) {
    const { open, errors } = load.stats()
    expect({ open, errors }).toEqual({ open: AGENTS, errors: 0 })
  }
  const [events] = await several.rows<{ n: number }>(
    `select count(*)::int as n from workload_events where event_type <> 'connected'`,
  )
  expect(events!.n).toBe(0)
})
