import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { createDatabase } from '../e2e/support/service.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet, untilAllOpen } from './support/fleet.ts'

const AGENTS = 200
/** How long the database is away, in ms; MUSTER_FAULT_AWAY_MS makes it longer in runs by hand. */
const AWAY_MS = Number(process.env['MUSTER_FAULT_AWAY_MS'] ?? 6_000)
let proxy: DatabaseProxy
let fleet: FaultFleet

beforeAll(async () => {
  const dsn = await createDatabase()
  proxy = await startDatabaseProxy(dsn)
  fleet = await startFaultFleet({ agents: AGENTS, env: { DB_DSN: proxy.dsn }, dsn })
})
afterAll(async () => {
  await fleet.end()
  await proxy.close()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function countEvents(): Promise<Record<string, number>> {
  const rows = await fleet.rows<{ event_type: string; n: number }>(
    'select event_type, count(*)::int as n from workload_events group by event_type',
  )
  return Object.fromEntries(rows.map((row) => [row.event_type, row.n]))
}

test('agents stay connected while the database is away, and no event is lost', async () => {
  const { load, service } = fleet
  await eventually('the arrivals are stored', async () => (await countEvents())['connected'] === AGENTS)
  load.beats({ intervalMs: 1_000 })
  load.resetStats()

  proxy.goAway()
  await pause(AWAY_MS / 2)
  expect(load.stats().open).toBe(AGENTS)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503)
  load.cut({ from: 0, count: 50 })
  await pause(AWAY_MS / 2)
  await untilAllOpen(fleet, AGENTS)
  const { replies } = load.stats()
  proxy.comeBack()

  await eventually('all that happened meanwhile is stored', async () => {
    const counts = await countEvents()
    return counts['connected'] === AGENTS + 50 && counts['disconnected'] === 50
  })
  load.stopBeats()
  expect(replies.count).toBeGreaterThan(AGENTS)
  await eventually('it is ready again', async () => (await fetch(`${service.url}/readyz`)).status === 200)
})

async function push(yaml: string, disturb: () => Promise<void>): Promise<number> {
  const path = await eventually('approved', () => approveConfig(fleet, yaml), { everyMs: 300 })
  const pushing = fleet.service.api.call('POST', path, { comment: 'go' }).catch(() => ({ status: 0 }))
  await disturb()
  return (await pushing).status
}

async function untilAllRunWhatIsAssigned(): Promise<string | null> {
  const { load, service } = fleet
  const [workload] = await fleet.rows<{ hash: string | null }>(
    'select active_config_hash as hash from workloads',
  )
  const hash = workload!.hash
  if (hash !== null)
    await eventually('everybody runs what is assigned', async () => load.running()[hash] === AGENTS, {
      explain: () => JSON.stringify(load.running()) + service.output().slice(-3_000),
    })
  return hash
}

test('pushes keep their word while connections to the database are cut', async () => {
  for (const delayMs of [0, 5, 10, 20, 40, 80]) {
    const yaml = configOf(`cut after ${delayMs} ms`)
    const status = await push(yaml, async () => {
      await pause(delayMs)
      proxy.goAway()
      proxy.comeBack()
    })
    // The push is accepted or answered as an outage. Once it is accepted (202) it must stand.
    expect([202, 503]).toContain(status)
    const hash = await untilAllRunWhatIsAssigned()
    if (status === 202) expect(hash).toBe(configHash(yaml))
  }
  const last = configOf('undisturbed')
  expect(await push(last, async () => {})).toBe(202)
  expect(await untilAllRunWhatIsAssigned()).toBe(configHash(last))
  await eventually('its end is stored', async () => {
    const [newest] = await fleet.rows<{ status: string; applied_count: number }>(
      'select status, applied_count from pushes order by seq desc limit 1',
    )
    return newest!.status === 'applied' && newest!.applied_count === AGENTS
  })
  expect(fleet.load.stats().open).toBe(AGENTS)
})
