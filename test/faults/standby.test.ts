import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type FaultFleet, startFaultFleet } from './support/fleet.ts'
import { type Standby, startStandby } from './support/standby.ts'

const AGENTS = 50
let fleet: FaultFleet
let standby: Standby

beforeAll(async () => {
  fleet = await startFaultFleet({ agents: AGENTS })
  // The standby takes over the OpAMP port of the active process, as a load balancer would lead the agents to it.
  standby = await startStandby(fleet.service.dsn, Number(new URL(fleet.service.opampHttpUrl).port))
})
afterAll(async () => {
  await standby?.process.stop()
  await fleet.end()
})

test('a standby answers healthz only, and is ready within two seconds of a kill -9 of the active one', async () => {
  await eventually('the standby stands by', async () => (await standby.statusOf('/healthz')) === 200, {
    everyMs: 20,
  })
  expect(await standby.statusOf('/readyz')).toBe(503)
  expect(await standby.statusOf('/api/auth/methods')).not.toBe(200)

  const startedAt = performance.now()
  const dead = fleet.service.process().stop('SIGKILL')
  await eventually('the standby is ready', async () => (await standby.statusOf('/readyz')) === 200, {
    everyMs: 10,
  })
  const tookMs = performance.now() - startedAt
  await dead

  expect(tookMs).toBeLessThan(2_000)
  await eventually('the agents are with it', async () => fleet.load.stats().open === AGENTS)
  const [epoch] = await fleet.rows<{ epoch: string }>('select epoch from process_epoch')
  expect(Number(epoch!.epoch)).toBe(2)
  await eventually('their arrival within the grace is no event', async () => {
    const [events] = await fleet.rows<{ n: number }>('select count(*)::int as n from workload_events')
    return events!.n === AGENTS
  })
})
