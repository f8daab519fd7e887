import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import { eventually } from '../e2e/support/eventually.ts'
import { type Running, startProgram } from '../e2e/support/processes.ts'
import { BUNDLE, TEST_JWT_SECRET } from '../e2e/support/service.ts'
import { type FaultFleet, startFaultFleet } from './support/fleet.ts'

const AGENTS = 50
let fleet: FaultFleet
let standby: Running
let standbyUrl: string

beforeAll(async () => {
  fleet = await startFaultFleet({ agents: AGENTS })
  const apiPort = await findFreePort('127.0.0.1')
  standbyUrl = `http://127.0.0.1:${apiPort}`
  standby = startProgram(process.execPath, [BUNDLE], {
    cwd: process.cwd(),
    env: {
      JWT_SECRET: TEST_JWT_SECRET,
      DB_DSN: fleet.service.dsn,
      LISTEN_ADDR: `127.0.0.1:${apiPort}`,
      // The agents' way: its own is taken over, as a load balancer would lead them.
      OPAMP_ADDR: new URL(fleet.service.opampHttpUrl).host,
    },
  })
})
afterAll(async () => {
  await standby?.stop()
  await fleet.end()
})

const statusOf = (path: string) =>
  fetch(standbyUrl + path).then(
    ({ status }) => status,
    () => 0,
  )

test('a standby answers healthz only, and is ready within two seconds of a kill -9 of the active one', async () => {
  await eventually('the standby stands by', async () => (await statusOf('/healthz')) === 200, { everyMs: 20 })
  expect(await statusOf('/readyz')).toBe(503)
  expect(await statusOf('/api/auth/methods')).not.toBe(200)

  const startedAt = performance.now()
  const dead = fleet.service.process().stop('SIGKILL')
  await eventually('the standby is ready', async () => (await statusOf('/readyz')) === 200, { everyMs: 10 })
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
