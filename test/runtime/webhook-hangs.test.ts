import { once } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../lib/clock.ts'
import type { HubFrame } from '../../lib/wire/hub.ts'
import { SocketLink } from '../support/agent-links.ts'
import { openWire } from '../support/agent-wire.ts'
import { eventually } from '../support/eventually.ts'
import { readFrame } from '../support/frames.ts'
import { startHttpsEndpoint } from '../support/https-endpoint.ts'
import { openTestConnection, useTestDatabase } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'
import { openTestAgent } from '../support/test-agent.ts'

const AGENTS = 6
const ATTEMPTS = 3
const database = await useTestDatabase()
/** An endpoint that takes every call and never answers. */
const endpoint = await startHttpsEndpoint(() => undefined)
endpoint.network.timeoutMs = 500
let aheadMs = 0
const running = await startTestService(
  database,
  { webhookUrl: endpoint.url, minAgentVersion: '1.0.0' },
  undefined,
  {
    webhookNetwork: endpoint.network,
    clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) },
  },
)
afterAll(() => endpoint.close())

const { ctx } = running.service
const runAlerts = () => ctx.alerts.run(new AbortController().signal)
const owed = async () =>
  (await database.pool.query<{ n: number }>('select count(*)::int as n from webhook_deliveries'))[0]!.n

async function connectOutdated(n: number) {
  const link = new SocketLink(await openWire(running.opampUrl))
  const agent = openTestAgent(link, { host: `h${n}`, version: '0.1.0' })
  await eventually('it is answered', () => agent.received.length > 0)
  return agent
}

test('a webhook that hangs gets three attempts each, holds up no alert, and does not hold a stop', async () => {
  const token = await running.token()
  const browser = new WebSocket(`${running.url.replace('http', 'ws')}/ws?token=${token}`)
  const told: HubFrame[] = []
  browser.on('message', (data: Buffer) => void told.push(readFrame(data)))
  await once(browser, 'open')
  const agents = await Promise.all(Array.from({ length: AGENTS }, (_, n) => connectOutdated(n)))
  await eventually('an alert fires for each', async () => (await runAlerts()).fired === AGENTS)

  // All calls hang, four at a time; meanwhile another alert fires, is told to browsers and is listed.
  await eventually('the endpoint is called', () => endpoint.bodies.length > 0)
  agents.push(await connectOutdated(AGENTS))
  await eventually('one more fires', async () => (await runAlerts()).fired === 1)
  await eventually(
    'all are told',
    () => told.filter(({ type }) => type === 'alert_update').length === AGENTS + 1,
  )
  expect((await running.call('GET', '/api/alerts', { as: token })).json).toHaveLength(AGENTS + 1)

  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    await eventually(
      `attempt ${attempt} has failed for all`,
      () => ctx.webhooks.stats.failed + ctx.webhooks.stats.given_up === attempt * (AGENTS + 1),
      { withinMs: 30_000 },
    )
    aheadMs += 301_000
  }
  await eventually('nothing is owed', async () => (await owed()) === 0)
  expect(endpoint.bodies).toHaveLength(ATTEMPTS * (AGENTS + 1))
  expect(new Set(endpoint.bodies).size).toBe(AGENTS + 1)
  expect(ctx.webhooks.stats).toEqual({
    delivered: 0,
    failed: (ATTEMPTS - 1) * (AGENTS + 1),
    given_up: AGENTS + 1,
  })

  // One call hangs for longer than this test may take, and the service is told to stop.
  endpoint.network.timeoutMs = 600_000
  agents.push(await connectOutdated(AGENTS + 1))
  await eventually('one more fires', async () => (await runAlerts()).fired === 1)
  await eventually(
    'the endpoint is called once more',
    () => endpoint.bodies.length === ATTEMPTS * (AGENTS + 1) + 1,
  )
  await running.stop()
  for (const agent of agents) agent.lose()
  browser.terminate()
}, 90_000)

test('what a stop cut off is still owed', async () => {
  const connection = await openTestConnection(database.dsn)
  expect(await connection.query('select attempts from webhook_deliveries')).toEqual([{ attempts: 1 }])
  await connection.close()
})
