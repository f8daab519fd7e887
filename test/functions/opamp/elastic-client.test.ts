import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  createOpAMPClient,
  DIAG_CH_SEND_FAIL,
  DIAG_CH_SEND_SUCCESS,
  RemoteConfigStatuses,
} from '@elastic/opamp-client-node'
import { afterEach, expect, test } from 'vitest'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import { startTestListener, type TestListener } from '../../support/opamp-listener.ts'

type Client = ReturnType<typeof createOpAMPClient>

let listener: TestListener
let client: Client
const failures: unknown[] = []
const onFailure = (message: unknown) => void failures.push(message)

afterEach(async () => {
  await client.shutdown()
  unsubscribe(DIAG_CH_SEND_FAIL, onFailure)
  listener.close()
  failures.length = 0
})

function start(options: {
  secret?: string
  onMessage?: Parameters<typeof createOpAMPClient>[0]['onMessage']
}) {
  const { secret = '', onMessage } = options
  listener = startTestListener({ secret: 'the-secret' })
  subscribe(DIAG_CH_SEND_FAIL, onFailure)
  client = createOpAMPClient({
    endpoint: `http://${listener.url}`,
    headers: secret === '' ? {} : { Authorization: `Bearer ${secret}` },
    capabilities: BigInt(AGENT_CAPABILITIES.acceptsRemoteConfig | AGENT_CAPABILITIES.reportsRemoteConfig),
    heartbeatIntervalSeconds: 0.1,
    diagEnabled: true,
    ...(onMessage === undefined ? {} : { onMessage }),
  } as unknown as Parameters<typeof createOpAMPClient>[0])
  client.setAgentDescription({ identifyingAttributes: { 'service.name': 'node-app' } })
  client.start()
}

test('the Elastic Node client connects, describes itself, beats, and is content with every answer', async () => {
  start({ secret: 'the-secret' })
  await listener.fleet.hasReceived(3)
  const [first, second, third] = listener.fleet.received
  expect(first!.report.attributes!.get('service.name')).toBe('node-app')
  expect(Buffer.from(client.getInstanceUid()).toString('hex')).toBe(first!.report.uid)
  expect([first, second, third].map((entry) => entry!.report.sequenceNum)).toEqual([1, 2, 3])
  expect(second!.report.attributes).toBeNull()
  expect(third!.connection).toBe(first!.connection)
  expect(failures).toEqual([])
})

test('it takes an offered config and reports it as applied', async () => {
  const hash = new Uint8Array(32).fill(7)
  const taken: string[] = []
  start({
    secret: 'the-secret',
    onMessage: ({ remoteConfig }) => {
      if (remoteConfig === undefined) return
      taken.push(new TextDecoder().decode(remoteConfig.config?.configMap['']?.body))
      client.setRemoteConfigStatus({
        status: RemoteConfigStatuses.RemoteConfigStatuses_APPLIED,
        lastRemoteConfigHash: remoteConfig.configHash,
      } as unknown as Parameters<Client['setRemoteConfigStatus']>[0])
    },
  })
  listener.fleet.answer = { remoteConfig: { hash, body: Buffer.from('{"a":1}') } }
  await listener.fleet.hasReceived(2)
  listener.fleet.answer = {}
  const isApplied = () =>
    listener.fleet.received.some(({ report }) => report.remoteConfigStatus?.status === 'applied')
  for (let count = 3; !isApplied(); count++) await listener.fleet.hasReceived(count)
  expect(taken[0]).toBe('{"a":1}')
  const applied = listener.fleet.received.find(
    ({ report }) => report.remoteConfigStatus?.status === 'applied',
  )
  expect(applied!.report.remoteConfigStatus!.hash).toBe('07'.repeat(32))
  expect(failures).toEqual([])
})

test('without the secret it is refused, and nothing reaches the fleet', async () => {
  const failed = new Promise((resolve) => subscribe(DIAG_CH_SEND_FAIL, resolve))
  start({})
  expect(await failed).toMatchObject({ err: expect.stringContaining('statusCode=401') })
  expect(listener.fleet.received).toEqual([])
})

test('asked once for its full state it sends it once', async () => {
  start({ secret: 'the-secret' })
  listener.fleet.answer = { capabilities: 7 }
  await listener.fleet.hasReceived(1)
  const answered = new Promise((resolve) => subscribe(DIAG_CH_SEND_SUCCESS, resolve))
  await answered
  listener.fleet.answer = { reportFullState: true }
  await listener.fleet.hasReceived(2)
  listener.fleet.answer = {}
  await listener.fleet.hasReceived(4)
  const described = listener.fleet.received.filter(({ report }) => report.attributes !== null)
  expect(described.length).toBe(2)
})
