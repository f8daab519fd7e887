import { afterEach, describe, expect, it } from 'vitest'
import { WebhookDeliveries } from '../../../lib/alerts/webhook-delivery.ts'
import { type Database, DatabaseUnavailable } from '../../../lib/store/db.ts'
import { fenced } from '../../../lib/store/fenced.ts'
import { EpochLost } from '../../../lib/store/process-lock.ts'
import { insertDeliveries } from '../../../lib/store/webhook-deliveries.ts'
import { eventually } from '../../support/eventually.ts'
import {
  type FakeClock,
  fakeClock,
  type RecordingLog,
  recordingLog,
  seededRandom,
} from '../../support/fakes.ts'
import { through } from '../../support/faulty-database.ts'
import { type HttpsEndpoint, startHttpsEndpoint } from '../../support/https-endpoint.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const { pool: db } = await useTestDatabase()
const never = new AbortController().signal
const MINUTE_MS = 60_000

let endpoint: HttpsEndpoint | null = null
let clock: FakeClock
let log: RecordingLog

afterEach(async () => {
  await endpoint?.close()
  endpoint = null
  await db.execute('delete from webhook_deliveries')
})

async function deliveriesTo(answer: Parameters<typeof startHttpsEndpoint>[0]) {
  endpoint = await startHttpsEndpoint(answer)
  clock = fakeClock()
  log = recordingLog()
  const parts = { db, clock, random: seededRandom(1), log, url: endpoint.url, network: endpoint.network }
  return new WebhookDeliveries(parts)
}

const owe = (...bodies: string[]) =>
  insertDeliveries(
    db,
    bodies.map((body, i) => ({ id: `00000000-0000-7000-8000-0000000${10_000 + i}`, alertId: `a${i}`, body })),
    clock.now(),
  )

const left = async () =>
  (await db.query<{ n: number }>('select count(*)::int as n from webhook_deliveries'))[0]!.n

const said = () => log.lines.map((line) => line.message)

describe('WebhookDeliveries', () => {
  it('makes no call, and uses up no attempt, for a process that another one has taken over from', async () => {
    await deliveriesTo((response) => response.writeHead(200).end())
    await owe('{"n":1}')
    const { url, network } = endpoint!
    const deposed = fenced(db, () => Promise.reject(new EpochLost('another process owns')))
    await new WebhookDeliveries({ db: deposed, clock, random: seededRandom(1), log, url, network }).run(never)
    expect(endpoint!.bodies).toEqual([])
    expect(await db.query('select attempts from webhook_deliveries')).toEqual([{ attempts: 0 }])
    expect(said()).toEqual(['webhook deliveries wait for the database'])
  })

  it('calls once for each delivery that succeeds', async () => {
    const deliveries = await deliveriesTo((response) => response.writeHead(200).end())
    await owe('{"n":1}', '{"n":2}')
    await deliveries.run(never)
    await deliveries.run(never)
    expect(endpoint!.bodies.sort()).toEqual(['{"n":1}', '{"n":2}'])
    expect(await left()).toBe(0)
  })

  it('tells what people did before the alerts that wait, of which agents may cause thousands', async () => {
    const deliveries = await deliveriesTo((response) => response.writeHead(200).end())
    await owe(...Array.from({ length: 12 }, (_, n) => `{"n":${n}}`))
    const news = { id: '00000000-0000-7000-8000-000000099999', alertId: 'request', body: '{"news":true}' }
    await insertDeliveries(db, [{ ...news, isNews: true }], clock.now())
    await deliveries.run(never)
    expect(endpoint!.bodies[0]).toBe(news.body)
    expect(endpoint!.bodies).toHaveLength(13)
  })

  it('tells of an alert among the news that wait, of which somebody may cause thousands', async () => {
    const deliveries = await deliveriesTo((response) => response.writeHead(200).end())
    const idOf = (n: number) => `00000000-0000-7000-8000-0000000${90_000 + n}`
    const news = Array.from({ length: 40 }, (_, n) => ({
      id: idOf(n),
      alertId: `request-${n}`,
      body: '{"news":true}',
    }))
    await insertDeliveries(
      db,
      news.map((one) => ({ ...one, isNews: true })),
      clock.now(),
    )
    await owe('{"critical":true}')
    await deliveries.run(never)
    expect(endpoint!.bodies).toHaveLength(41)
    expect(endpoint!.bodies.indexOf('{"critical":true}')).toBeLessThan(20)
  })

  it('tries again after one and after five more minutes, with the same body, and then no more', async () => {
    const deliveries = await deliveriesTo((response) => response.writeHead(500).end())
    await owe('{"n":1}')
    for (let minute = 0; minute < 20; minute++) {
      await deliveries.run(never)
      clock.advance(MINUTE_MS)
    }
    expect(endpoint!.bodies).toEqual(['{"n":1}', '{"n":1}', '{"n":1}'])
    expect(await left()).toBe(0)
    expect(said()).toEqual([
      'webhook delivery failed and will be tried again',
      'webhook delivery failed and will be tried again',
      'webhook delivery given up after the last attempt',
    ])
    expect(log.lines[0]!.fields).toEqual({
      alert_id: 'a0',
      attempt: 1,
      outcome: { ok: false, code: 'error-status', status: 500, hop: 0 },
    })
  })

  it('delivers at the second attempt what failed at the first', async () => {
    const deliveries = await deliveriesTo((response, before) =>
      response.writeHead(before === 0 ? 503 : 204).end(),
    )
    await owe('{"n":1}')
    await deliveries.run(never)
    clock.advance(MINUTE_MS - 1)
    await deliveries.run(never)
    expect(endpoint!.bodies).toHaveLength(1)
    clock.advance(1)
    await deliveries.run(never)
    expect(endpoint!.bodies).toHaveLength(2)
    expect(await left()).toBe(0)
  })

  it('does not wait a day because the clock was put back a day', async () => {
    const deliveries = await deliveriesTo((response, before) =>
      response.writeHead(before === 0 ? 503 : 204).end(),
    )
    await owe('{"n":1}', '{"n":2}')
    clock.set(new Date(clock.now().getTime() - 24 * 60 * MINUTE_MS))
    await deliveries.run(never)
    expect(endpoint!.bodies).toHaveLength(2)
    clock.advance(MINUTE_MS)
    await deliveries.run(never)
    expect(endpoint!.bodies).toHaveLength(3)
    expect(await left()).toBe(0)
  })

  it('makes the attempt again that a crash cut off', async () => {
    const crashed = await deliveriesTo(() => {})
    await owe('{"n":1}')
    const stop = new AbortController()
    const running = crashed.run(stop.signal)
    await eventually('the endpoint was called', () => endpoint!.bodies.length === 1)
    stop.abort()
    await running
    expect(await left()).toBe(1)
    clock.advance(MINUTE_MS)
    const network = { ...endpoint!.network, timeoutMs: 200 }
    const { url } = endpoint!
    await new WebhookDeliveries({ db, clock, random: seededRandom(1), log, url, network }).run(never)
    expect(endpoint!.bodies).toEqual(['{"n":1}', '{"n":1}'])
  })

  it('gives a slow endpoint four calls at a time, and forgets what has waited too long', async () => {
    const deliveries = await deliveriesTo(() => {})
    await owe(...Array.from({ length: 10 }, (_, i) => `{"n":${i}}`))
    const stop = new AbortController()
    const running = deliveries.run(stop.signal)
    await eventually('four calls are open', () => endpoint!.bodies.length === 4)
    stop.abort()
    await running
    expect(endpoint!.bodies).toHaveLength(4)
    expect(await left()).toBe(10)
    clock.advance(15 * MINUTE_MS + 1)
    await deliveries.run(never)
    expect(endpoint!.bodies).toHaveLength(4)
    expect(await left()).toBe(0)
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { count: 10 } })
  })

  it('says once that the database is away, and goes on when it is back', async () => {
    await deliveriesTo((response) => response.writeHead(200).end())
    await owe('{"n":1}')
    let isAway = true
    const gone = () => Promise.reject(new DatabaseUnavailable('gone'))
    const flaky: Database = {
      ...through(db),
      query: (text, params) => (isAway ? gone() : db.query(text, params)),
      execute: (text, params) => (isAway ? gone() : db.execute(text, params)),
      transaction: (name, work) => (isAway ? gone() : db.transaction(name, work)),
    }
    const { url, network } = endpoint!
    const deliveries = new WebhookDeliveries({ db: flaky, clock, random: seededRandom(1), log, url, network })
    await deliveries.run(never)
    await deliveries.run(never)
    expect(said()).toEqual(['webhook deliveries wait for the database'])
    isAway = false
    await deliveries.run(never)
    expect(endpoint!.bodies).toEqual(['{"n":1}'])
  })

  it('asks the database little while nothing is owed, and is not late with what comes then', async () => {
    await deliveriesTo((response, before) => response.writeHead(before === 0 ? 500 : 200).end())
    let asked = 0
    const counting: Database = {
      ...through(db),
      query: (text, params) => {
        asked++
        return db.query(text, params)
      },
      transaction: (name, work) => {
        asked++
        return db.transaction(name, work)
      },
    }
    const { url, network } = endpoint!
    const deliveries = new WebhookDeliveries({
      db: counting,
      clock,
      random: seededRandom(1),
      log,
      url,
      network,
    })
    /** What the schedule does in so many seconds. */
    const pass = async (seconds: number) => {
      asked = 0
      for (let passed = 0; passed < seconds; passed += 2) {
        clock.advance(2_000)
        await deliveries.run(never)
      }
    }
    await pass(2)
    await pass(600)
    expect(asked).toBeLessThanOrEqual(30)
    await db.transaction('test', async (tx) => {
      await deliveries.owe(tx, [{ alertId: 'a1', body: '{"n":1}' }], clock.now())
      // It is looked for before the transaction that inserts it is over.
      await pass(20)
    })
    await pass(2)
    expect(endpoint!.bodies).toHaveLength(1)
    // The first attempt failed: the second follows a minute later.
    await pass(56)
    expect(endpoint!.bodies).toHaveLength(1)
    await pass(6)
    expect(endpoint!.bodies).toHaveLength(2)
    expect(await left()).toBe(0)
  })

  it('finds within a minute what nobody has said is owed', async () => {
    const deliveries = await deliveriesTo((response) => response.writeHead(200).end())
    await deliveries.run(never)
    await owe('{"n":1}')
    clock.advance(MINUTE_MS)
    await deliveries.run(never)
    expect(endpoint!.bodies).toEqual(['{"n":1}'])
  })

  it('says at start that a URL is refused, never which, and calls nobody', async () => {
    await deliveriesTo((response) => response.end())
    const parts = { db, clock, random: seededRandom(1), log, network: endpoint!.network }
    const refused = new WebhookDeliveries({ ...parts, url: 'http://user:s3cret@hooks.example.com/' })
    await refused.owe(db, [{ alertId: 'a1', body: '{}' }], clock.now())
    expect(await left()).toBe(0)
    expect(log.lines).toMatchObject([{ level: 'error', fields: { reason: 'not-https' } }])
    expect(JSON.stringify(log.lines)).not.toContain('s3cret')
    await owe('{"n":1}')
    await refused.run(never)
    expect(await left()).toBe(1)
    const none = new WebhookDeliveries({ ...parts, url: '' })
    await none.owe(db, [{ alertId: 'a1', body: '{}' }], clock.now())
    expect(await left()).toBe(1)
    expect(log.lines).toHaveLength(1)
    clock.advance(16 * MINUTE_MS)
    await none.run(never)
    expect(await left()).toBe(0)
  })
})
