import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import {
  type EmbeddedPostgres,
  type PostgresOptions,
  startPostgres,
} from '../../runtime/quickstart/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet, untilAllOpen } from './support/fleet.ts'
import { chooseMetrics, type MetricsReader } from './support/metrics.ts'

const AGENTS = 200
const CUT = 50
/** How long the database is stopped, in ms; MUSTER_FAULT_AWAY_MS makes it longer in runs by hand. */
const STOPPED_MS = Number(process.env['MUSTER_FAULT_AWAY_MS'] ?? 3_000)
let folder: string
let options: PostgresOptions
let postgres: EmbeddedPostgres
let fleet: FaultFleet
let metrics: MetricsReader

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-restart-'))
  options = {
    directory: join(folder, 'data'),
    port: await findFreePort('127.0.0.1'),
    password: 'test',
    // A PostgreSQL that is durable, unlike that of other tests: what is committed survives a restart.
    settings: ['max_connections=100'],
  }
  postgres = await startPostgres(options)
  metrics = await chooseMetrics()
  const dsn = postgres.dsn('postgres')
  fleet = await startFaultFleet({ agents: AGENTS, env: { DB_DSN: dsn, ...metrics.env }, dsn })
})
afterAll(async () => {
  await fleet?.end()
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('a server that is stopped under load and started again loses nothing and moves nobody', async () => {
  const { load, service } = fleet
  const before = configOf('before the stop')
  await service.api.post(await approveConfig(fleet, before), { comment: 'go' }, 202)
  await eventually('everybody runs it', async () => load.running()[configHash(before)] === AGENTS)
  const waiting = await approveConfig(fleet, configOf('while it is stopped'))
  load.beats({ intervalMs: 500 })
  load.resetStats()

  await postgres.stop()
  const refused = await service.api.call('POST', waiting, { comment: 'go' })
  expect(refused.status).toBe(503)
  load.cut({ from: 0, count: CUT })
  await eventually('they are gone', async () => load.stats().open === AGENTS - CUT, { everyMs: 5 })
  await pause(STOPPED_MS)
  await untilAllOpen(fleet, AGENTS)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503)
  expect(await metrics.read('muster_events_waiting')).toBe(2 * CUT)

  postgres = await startPostgres(options)
  await eventually('it is ready again', async () => (await fetch(`${service.url}/readyz`)).status === 200)
  await eventually('nothing waits any more', async () => (await metrics.read('muster_events_waiting')) === 0)
  const stored = await service.api.get(`/api/workloads/${fleet.workloadId}/events/stats?window=1h`)
  expect(stored).toMatchObject({ connected: AGENTS + CUT, disconnected: CUT })
  expect(await metrics.read('muster_events_lost_total')).toBe(0)
  expect(await metrics.read('muster_rows_dropped_total')).toBe(0)

  expect((await service.api.call('POST', waiting, { comment: 'go' })).status).toBe(202)
  const hash = configHash(configOf('while it is stopped'))
  await eventually('everybody runs what could not be pushed', async () => load.running()[hash] === AGENTS)
  expect(load.stats()).toMatchObject({ open: AGENTS, errors: 0 })
  expect(await service.api.get('/api/audit/verify')).toMatchObject({ valid: true })
})
