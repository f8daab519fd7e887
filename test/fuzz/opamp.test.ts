import { gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { inflate } from '../../functions/opamp/_content-coding.ts'
import { createByteBudget } from '../../lib/byte-budget.ts'
import { silentLog } from '../../lib/log.ts'
import { decodeBody, decodeFrame } from '../../lib/opamp/codec.ts'
import { createOpampExchange } from '../../lib/opamp/exchange.ts'
import type { Intake } from '../../lib/opamp/intake.ts'
import { fakeClock } from '../support/fakes.ts'
import { FUZZ_TIMEOUT_MS, fuzz } from '../support/fuzz.ts'
import {
  agentBody,
  agentFrame,
  keyValues,
  readRecording,
  readServerFrame,
  uidBytes,
} from '../support/opamp-messages.ts'

vi.setConfig({ testTimeout: FUZZ_TIMEOUT_MS })

const RECORDINGS = ['extension-websocket', 'supervisor-session', 'supervisor-reconnect', 'supervisor-restart']

let health: Record<string, unknown> = { healthy: true }
for (let depth = 0; depth < 20; depth++) health = { lastError: 'x', componentHealthMap: { a: health } }
const everything = {
  instanceUid: uidBytes(1),
  sequenceNum: 3,
  capabilities: 0x7fff,
  flags: 1,
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'otelcol', __proto__: 'x' }) },
  health,
  effectiveConfig: {
    configMap: { configMap: { '': { body: Buffer.from('a: 1'), contentType: 'text/yaml' } } },
  },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32, 1), status: 3, errorMessage: 'boom' },
  availableComponents: {
    hash: Buffer.alloc(32, 2),
    components: { receivers: { subComponentMap: { otlp: {} } } },
  },
}
const frames = [
  agentFrame(everything),
  ...RECORDINGS.flatMap((name) => readRecording(name).map(({ bytes }) => bytes)).slice(0, 60),
]

/** Check what holds for every result of the intake, whatever the input was. */
function checkIntake(intake: Intake): void {
  if (!intake.ok) {
    expect(intake.uidOnWire.length).toBeLessThanOrEqual(36)
    return
  }
  const { report } = intake
  expect(report.uid).toMatch(/^[0-9a-f]{32}$/)
  expect(report.capabilities).toBeLessThanOrEqual(0xffff)
  expect(report.attributes?.size ?? 0).toBeLessThanOrEqual(128)
  for (const [key, value] of report.attributes ?? []) expect(key + value).not.toContain('\0')
}

test('no frame breaks the decoder', () =>
  fuzz({ corpus: frames, rounds: 2_000 }, (input) => checkIntake(decodeFrame(input))))

test('no body breaks the decoder', () =>
  fuzz({ corpus: [agentBody(everything)], rounds: 2_000 }, (input) => checkIntake(decodeBody(input))))

test('every frame gets one legible answer', async () => {
  const exchange = createOpampExchange({
    fleet: {
      receive: () => ({ message: { capabilities: 7 }, pendingOffer: null }),
      answerNotSent() {},
      connectionClosed() {},
    },
    clock: fakeClock(),
    log: silentLog,
    messageBytesMax: 1_048_576,
  })
  const answers: Uint8Array[] = []
  const send = (frame: Uint8Array) => {
    answers.push(frame)
    return 'sent' as const
  }
  const connection = { id: 1, transport: 'ws' as const, send, drop() {} }
  await fuzz({ corpus: frames, rounds: 1_000 }, (input) => {
    exchange.answerFrame(connection, input)
    expect(answers).toHaveLength(1)
    const answer = readServerFrame(answers.pop()!)
    expect(answer['errorResponse'] ?? answer['capabilities']).toBeDefined()
  })
  expect(exchange.decoding.free()).toBe(8 * 1_048_576)
})

test('no compressed body grows past its limit or keeps what it took of the budget', async () => {
  const budget = createByteBudget(4 * 65_536)
  const corpus = [gzipSync(agentBody(everything)), gzipSync(Buffer.alloc(1_000_000))]
  await fuzz({ corpus, rounds: 200 }, async (input) => {
    const inflated = await inflate(input, 65_536, budget)
    if (inflated.ok) {
      expect(inflated.body.length).toBeLessThanOrEqual(65_536)
    }
  })
})
