import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import { diceOf } from '../support/fuzz.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet, untilAllOpen } from './support/fleet.ts'
import { chooseMetrics, type MetricsReader } from './support/metrics.ts'

const AGENTS = 150
const PUSHES = Number(process.env['MUSTER_FAULT_PUSHES'] ?? 12)
const SEED = Number(process.env['MUSTER_FAULT_SEED'] ?? 20_261_121)
const dice = diceOf(SEED)
let fleet: FaultFleet
let metrics: MetricsReader
/** A database session of the test, which ends sessions of the service. */
let axe: pg.Client

beforeAll(async () => {
  metrics = await chooseMetrics()
  fleet = await startFaultFleet({ agents: AGENTS, env: metrics.env })
  axe = new pg.Client({ connectionString: fleet.service.dsn, application_name: 'axe' })
  await axe.connect()
})
afterAll(async () => {
  await axe?.end()
  await fleet?.end()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * End sessions of the service at random, the one with the process lock among them, until `stop`, which returns how
 * many.
 */
function cutSessions(): { stop(): Promise<number> } {
  let isOver = false
  let cut = 0
  const run = async () => {
    for (let look = 0; !isOver; look++) {
      await pause(2)
      // Mostly sessions in the middle of a transaction; now and then any, which are idle mostly.
      const who = look % 100 === 0 ? 'true' : `state <> 'idle' and xact_start is not null`
      const { rows } = await axe.query<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'muster' and datname = current_database()
           and ${who} order by pid`,
      )
      if (rows.length === 0 || (look % 100 !== 0 && dice(6) > 0)) continue
      const { pid } = rows[dice(rows.length)]!
      const ended = await axe.query<{ done: boolean }>('select pg_terminate_backend($1) as done', [pid])
      if (!ended.rows[0]!.done) continue
      cut++
      // On a slow machine a request of several transactions would never get through between two cuts.
      await pause(60)
    }
  }
  const running = run()
  return {
    async stop() {
      isOver = true
      await running
      return cut
    },
  }
}

test(`what was promised holds while connections to the database are cut at random (seed ${SEED})`, async () => {
  const { load, service } = fleet
  load.beats({ intervalMs: 300 })
  const promised: string[] = []
  let refused = 0
  let flaps = 0
  const axes = cutSessions()
  for (let n = 0; n < PUSHES; n++) {
    const yaml = configOf(`push ${n} of seed ${SEED}`)
    const path = await eventually('approved', () => approveConfig(fleet, yaml), { everyMs: 20 })
    const from = dice(AGENTS)
    load.cut({ from, count: 10 })
    flaps += 10
    const { status } = await service.api.call('POST', path, { comment: 'go' })
    // A push is either accepted and stands, or is answered as an outage.
    expect([202, 503]).toContain(status)
    if (status === 202) promised.push(configHash(yaml))
    else refused++
    await pause(dice(150))
    await untilAllOpen(fleet, AGENTS)
  }
  const cut = await axes.stop()

  const last = configOf('after it all')
  await eventually(
    'the last push',
    async () =>
      (await service.api.call('POST', await approveConfig(fleet, last), { comment: 'go' })).status === 202,
  )
  await eventually('everybody runs it', async () => load.running()[configHash(last)] === AGENTS, {
    explain: () => JSON.stringify(load.running()),
  })
  await eventually('its end is stored', async () => {
    const [push] = await fleet.rows<{ status: string; applied_count: number }>(
      'select status, applied_count from pushes order by seq desc limit 1',
    )
    return push!.status === 'applied' && push!.applied_count === AGENTS
  })

  const lost = async (from: string, values: unknown[] = []) =>
    (await fleet.rows<{ n: number }>(`select count(*)::int as n from ${from}`, values))[0]!.n
  expect({
    promisedPushes: await lost(
      'unnest($1::text[]) h where not exists (select from pushes where config_hash = h)',
      [promised],
    ),
    halfPushes: await lost(
      `pushes p where (select count(*) from push_targets t where t.push_id = p.push_id and t.is_target) = 0
         or not exists (select from approvals a where a.push_id = p.push_id and a.status = 'pushed')
         or (select count(*) from audit_events e where e.config_hash = p.config_hash and e.action like '%push%') <> 1`,
    ),
    approvalsWithoutPush: await lost(
      `approvals a where a.status = 'pushed' and not exists (select from pushes p where p.push_id = a.push_id)`,
    ),
    droppedRows: await metrics.read('muster_rows_dropped_total'),
    events: await metrics.read('muster_events_lost_total'),
    auditChain: (await service.api.get('/api/audit/verify')).valid ? 0 : 1,
    connections: AGENTS - load.stats().open,
    errors: load.stats().errors,
  }).toEqual({
    promisedPushes: 0,
    halfPushes: 0,
    approvalsWithoutPush: 0,
    droppedRows: 0,
    events: 0,
    auditChain: 0,
    connections: 0,
    errors: 0,
  })
  await eventually('every event is stored', async () => {
    const rows = await fleet.rows<{ event_type: string; n: number }>(
      // A commit whose answer was cut off is made again, so an event may be stored twice.
      `select event_type, count(distinct (instance_uid, occurred_at))::int as n from workload_events
       group by event_type`,
    )
    const counts = Object.fromEntries(rows.map(({ event_type, n }) => [event_type, n]))
    return counts['connected'] === AGENTS + flaps && counts['disconnected'] === flaps
  })
  expect(cut).toBeGreaterThan(PUSHES / 2)
  expect(promised.length + refused).toBe(PUSHES)
  expect(service.process().hasEnded()).toBe(false)
  console.info(`${cut} sessions cut, ${promised.length} pushes done, ${refused} refused, nothing lost`)
})
