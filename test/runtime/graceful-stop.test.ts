import { once } from 'node:events'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openWire } from '../support/agent-wire.ts'
import { keyValues, uidBytes } from '../support/opamp-messages.ts'
import { openTestConnection, useTestDatabase } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'

const database = await useTestDatabase()

it('says goodbye to browsers, cuts agents without a Close frame, and writes down what waited', async () => {
  const running = await startTestService(database)
  const token = await running.token()
  const browser = new WebSocket(`${running.url.replace('http', 'ws')}/ws?token=${token}`)
  await once(browser, 'open')
  const closed = once(browser, 'close') as Promise<[number, Buffer]>
  const agent = await openWire(running.opampUrl)
  await agent.exchange({
    instanceUid: uidBytes(1),
    capabilities: 0x1807,
    agentDescription: {
      identifyingAttributes: keyValues({ 'service.name': 'otelcol' }),
      nonIdentifyingAttributes: keyValues({ 'host.name': 'vm-1' }),
    },
  })
  const { fleet } = running.service.ctx
  expect([...fleet.state.workloads.values()]).toMatchObject([{ live: { count: 1 } }])

  await running.stop()
  expect(await closed).toMatchObject([1001, Buffer.from('server is stopping')])
  // 1006: the connection ended without a Close frame.
  expect(await agent.ended).toMatchObject({ code: 1006 })
  await expect(fetch(`${running.url}/healthz`)).rejects.toThrow()

  const connection = await openTestConnection(database.dsn)
  const rows = await connection.query(`select w.status, e.event_type from workloads w
    join workload_events e on e.workload_id = w.id`)
  // The workload and its one event are stored, and the stop of the service does not count as a disconnect.
  expect(rows).toEqual([{ status: 'connected', event_type: 'connected' }])
  await connection.close()
})
