import { createOpampExchange, type OpampExchange } from '../../lib/opamp/exchange.ts'
import type { AgentConnection, FleetPort } from '../../lib/opamp/fleet-port.ts'
import type { AgentReport, ServerMessage } from '../../lib/opamp/report.ts'
import type { Context } from '../../runtime/context.ts'
import { Descriptors } from '../../runtime/descriptor-room.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { createProxyPolicy } from '../../runtime/proxies.ts'
import { startOpampListener } from '../../runtime/server.ts'
import type { SocketLimits } from '../../runtime/socket-room.ts'
import { type FakeClock, fakeClock, type RecordingLog, recordingLog } from './fakes.ts'

/** A stand-in for the fleet: it keeps what it was told and answers what the test sets. */
export interface FakeFleet extends FleetPort {
  received: { connection: AgentConnection; report: AgentReport; isRetransmission: boolean }[]
  closed: AgentConnection[]
  /** The answer to every report from now on. */
  answer: ServerMessage
  pendingOffer: Promise<ServerMessage | null> | null
  /** Settles when `received` has this many entries. */
  hasReceived(count: number): Promise<void>
  hasClosed(count: number): Promise<void>
}

/** Make a stand-in for the fleet that has been told nothing yet. */
export function fakeFleet(): FakeFleet {
  const waiting: { isDone(): boolean; resolve(): void }[] = []
  const wake = () => {
    for (const waiter of waiting) if (waiter.isDone()) waiter.resolve()
  }
  const until = (isDone: () => boolean) =>
    isDone() ? Promise.resolve() : new Promise<void>((resolve) => void waiting.push({ isDone, resolve }))
  const fleet: FakeFleet = {
    received: [],
    closed: [],
    answer: { capabilities: 7 },
    pendingOffer: null,
    receive(connection, report, { isRetransmission = false }) {
      fleet.received.push({ connection, report, isRetransmission })
      wake()
      return { message: fleet.answer, pendingOffer: fleet.pendingOffer }
    },
    answerNotSent() {},
    connectionClosed(connection) {
      fleet.closed.push(connection)
      wake()
    },
    hasReceived: (count) => until(() => fleet.received.length >= count),
    hasClosed: (count) => until(() => fleet.closed.length >= count),
  }
  return fleet
}

/** The real OpAMP listener on a free port, in front of a fake fleet. */
export interface TestListener {
  port: number
  url: string
  fleet: FakeFleet
  exchange: OpampExchange
  clock: FakeClock
  log: RecordingLog
  /** See `Listener.cutQuiet`. */
  cutQuiet(sinceMs: number): number
  close(): void
}

/** Start the listener with a fake fleet and a fake clock. */
export function startTestListener(
  options: {
    secret?: string
    messageBytesMax?: number
    decodingBytesMax?: number
    socketLimits?: SocketLimits
    bodyWithinMs?: number
  } = {},
): TestListener {
  const { secret = '', messageBytesMax = 65_536, decodingBytesMax = 8 * messageBytesMax } = options
  const fleet = fakeFleet()
  const clock = fakeClock()
  const log = recordingLog()
  const exchange = createOpampExchange({ fleet, clock, log, messageBytesMax, decodingBytesMax })
  const ctx = {
    config: {
      opampAddress: '127.0.0.1:0',
      opampSharedSecret: secret,
      opampMessageBytesMax: messageBytesMax,
      socketLimits: options.socketLimits ?? { inAll: 1_000, perAddress: 1_000 },
    },
    clock,
    log,
    opamp: exchange,
  } as unknown as Context
  const functions = loadFunctions(FUNCTIONS)
  const listener = startOpampListener(
    functions,
    ctx,
    createProxyPolicy([]),
    new Descriptors(null),
    options.bodyWithinMs,
  )
  const { port } = listener
  return {
    port,
    url: `127.0.0.1:${port}/v1/opamp`,
    fleet,
    exchange,
    clock,
    log,
    cutQuiet: (sinceMs) => listener.cutQuiet(sinceMs),
    close: () => listener.destroy(),
  }
}
