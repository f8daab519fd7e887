import { afterAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { HubFrame } from '../../lib/wire/hub.ts'
import { SocketLink } from '../support/agent-links.ts'
import { openWire } from '../support/agent-wire.ts'
import { eventually } from '../support/eventually.ts'
import { readFrame } from '../support/frames.ts'
import { startHttpsEndpoint } from '../support/https-endpoint.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'
import { openTestAgent } from '../support/test-agent.ts'

const database = await useTestDatabase()
const endpoint = await startHttpsEndpoint((response, before) =>
  response.writeHead(before === 0 ? 500 : 200).end(),
)
const running = await startTestService(
  database,
  { webhookUrl: endpoint.url, minAgentVersion: '1.0.0' },
  undefined,
  { webhookNetwork: endpoint.network },
)
afterAll(async () => {
  await running.stop()
  await endpoint.close()
})

test('an alert goes from an agent to browsers, to the list, and over HTTPS to the webhook', async () => {
  const token = await running.token({ groups: ['editor'] })
  const headers = { authorization: `Bearer ${token}` }
  const browser = new WebSocket(`${running.url.replace('http', 'ws')}/ws`, { headers })
  const frames: HubFrame[] = []
  browser.on('message', (data: Buffer) => void frames.push(readFrame(data)))
  let ended = 'open'
  browser.on('close', (code, reason) => {
    ended = `closed with ${code} "${reason}"`
  })
  await new Promise((resolve) => browser.once('open', resolve))
  const agent = openTestAgent(new SocketLink(await openWire(running.opampUrl)), { version: '0.1.0' })
  const { ctx } = running.service
  await eventually('it fires', async () => (await ctx.alerts.run(new AbortController().signal)).fired === 1)
  const told = await eventually(
    'browsers are told',
    () => frames.find((frame) => frame.type === 'alert_update'),
    { explain: () => JSON.stringify({ browser: ended, frames }) },
  )
  const { json } = await running.call('GET', '/api/alerts', { as: token })
  const [alert] = json as { id: string }[]
  const notResolved = { resolved_at: null, resolve_reason: null, reopen_until: null }
  const toldByTheList = { next_steps: null, about: null }
  expect(told).toEqual({
    type: 'alert_update',
    alert: { details: null, ...alert, ...toldByTheList, ...notResolved },
  })
  // The schedule of the running service makes the call.
  await eventually('the endpoint is called', () => endpoint.bodies.length === 1)
  // Receivers get the alert without what the list adds to it for people.
  const called = JSON.parse(endpoint.bodies[0]!)
  expect(called).toMatchObject({ event: 'alert_fired', alert: { id: alert!.id } })
  expect(alert).toMatchObject(called.alert)
  await eventually('its failure is logged', () =>
    running.log.lines.some(({ message }) => message === 'webhook delivery failed and will be tried again'),
  )
  // The call that failed is kept: its row is there, with the attempt counted.
  const [row] = await database.pool.query<{ attempts: number; body: string }>(
    'select attempts, body from webhook_deliveries',
  )
  expect(row).toEqual({ attempts: 1, body: endpoint.bodies[0] })
  expect(JSON.stringify(running.log.lines)).not.toContain('hooks.example.com')
  agent.lose()
  browser.close()
})
