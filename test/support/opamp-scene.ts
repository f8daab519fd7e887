import { afterEach } from 'vitest'
import { type AgentWire, openWire } from './agent-wire.ts'
import { type FleetServer, type FleetServerOptions, startFleetServer } from './fleet-server.ts'
import { hex, keyValues, type PlainMessage, uidBytes } from './opamp-messages.ts'
import type { TestDatabase } from './postgres.ts'

/**
 * The capability bits of a supervised agent: ReportsStatus, AcceptsRemoteConfig, ReportsEffectiveConfig, ReportsHealth,
 * ReportsRemoteConfig.
 */
export const SUPERVISED = 0x1807
/** The capability bits of an agent that takes no config: ReportsStatus, ReportsEffectiveConfig, ReportsHealth. */
export const READ_ONLY = 0x0805
/** The flag by which an answer asks for the full state. */
export const FULL_STATE = 1
/** The flag by which an answer asks for the list of components. */
export const COMPONENTS = 2

/** A config for pushes. */
export const CONFIG = 'receivers: { otlp: {} }\n'
/** Another config for pushes. */
export const OTHER = 'receivers: { otlp: {} }\nexporters: { debug: {} }\n'

/** The flags of an answer; 0 when it has none. */
export const flagsOf = (answer: PlainMessage): number => (answer['flags'] as number | undefined) ?? 0

/** The config that an answer offers. */
export function offerOf(answer: PlainMessage) {
  const offer = answer['remoteConfig'] as
    | { config: { configMap: Record<string, { body: Buffer; contentType: string }> }; configHash: Buffer }
    | undefined
  return offer && { hash: offer.configHash.toString('hex'), files: offer.config.configMap }
}

/** Read messages of the server until one holds an offer; returns the offer. */
export async function nextOffer(wire: AgentWire) {
  for (;;) {
    const offer = offerOf(await wire.next())
    if (offer !== undefined) return offer
  }
}

/** The part of a report with a remote config status: 1 applied, 2 applying, 3 failed. */
export const statusOf = (hash: string, status: 1 | 2 | 3, errorMessage = ''): PlainMessage => ({
  remoteConfigStatus: { lastRemoteConfigHash: hex(hash), status, errorMessage },
})

/** A fleet server and scripted agents, new for each test; agents of one test share one workload. */
export interface Scene {
  readonly server: FleetServer
  start(options?: FleetServerOptions): Promise<FleetServer>
  wire(headers?: Record<string, string>): Promise<AgentWire>
  /** Connect an agent on a socket of its own, and exchange its first, complete report. */
  join(n: number, more?: PlainMessage): Promise<AgentWire>
  uid(n: number): Uint8Array
  uidHex(n: number): string
  description(): PlainMessage
  beat(n: number, sequenceNum: number, more?: PlainMessage): PlainMessage
  /** A complete report of an agent that never got a config. */
  full(n: number, sequenceNum?: number, more?: PlainMessage): PlainMessage
  workloadOf(n: number): string
  port(): number
  /** A number that grows with each test, for names that must differ between tests of one database. */
  testNumber(): number
}

/** Build a scene over one database; it cleans up after each test by itself. */
export function openScene(database: TestDatabase): Scene {
  let server: FleetServer | null = null
  let tests = 0
  const wires: AgentWire[] = []
  afterEach(async () => {
    for (const opened of wires.splice(0)) opened.cut()
    await server?.stop()
    tests += 1
  })
  const scene: Scene = {
    get server() {
      return server!
    },
    async start(options = {}) {
      server = await startFleetServer(database, options)
      return server
    },
    async wire(headers = {}) {
      const opened = await openWire(scene.server.url, headers)
      wires.push(opened)
      return opened
    },
    async join(n, more = {}) {
      const opened = await scene.wire()
      await opened.exchange(scene.full(n, 0, more))
      return opened
    },
    uid: (n) => uidBytes(tests * 100 + n),
    uidHex: (n) => Buffer.from(scene.uid(n)).toString('hex'),
    description: () => ({
      identifyingAttributes: keyValues({ 'service.name': 'otelcol', 'service.version': '0.149.0' }),
      nonIdentifyingAttributes: keyValues({ 'host.name': `host-${tests}` }),
    }),
    beat: (n, sequenceNum, more = {}) => ({
      instanceUid: scene.uid(n),
      sequenceNum,
      capabilities: SUPERVISED,
      ...more,
    }),
    full: (n, sequenceNum = 0, more = {}) =>
      scene.beat(n, sequenceNum, {
        agentDescription: scene.description(),
        health: { healthy: true, status: 'StatusOK' },
        remoteConfigStatus: {},
        ...more,
      }),
    workloadOf: (n) => scene.server.live(scene.uidHex(n))!.workload!.id,
    port: () => Number(scene.server.url.split(/[:/]/)[1]),
    testNumber: () => tests,
  }
  return scene
}
