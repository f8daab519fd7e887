import type { Fleet } from '../../lib/fleet/fleet.ts'
import { AGENT_LIMITS, type AgentLimits } from '../../lib/fleet/state/agent-limits.ts'
import type { FleetDeps } from '../../lib/fleet/state/deps.ts'
import { encodeServerToAgent } from '../../lib/opamp/codec.ts'
import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import { AGENT_CAPABILITIES, type AgentReport, type ServerMessage } from '../../lib/opamp/report.ts'
import type { Database } from '../../lib/store/db.ts'
import type { HubFrame } from '../../lib/wire/hub.ts'
import { fakeClock } from './fakes.ts'
import { readFrame } from './frames.ts'
import { createTestContext, type TestContext, type TestContextOptions } from './invoke.ts'
import { type ManualTimers, manualTimers } from './manual-timers.ts'
import { type PlainMessage, readServerFrame } from './opamp-messages.ts'
import type { TestDatabase } from './postgres.ts'
import { READ_HERE } from './read-configs.ts'

/** A context with a real fleet on the test's database, its views, and a hub whose frames are kept. */
export interface FleetTestContext extends TestContext {
  timers: ManualTimers
  /** What one browser was told, oldest first. */
  frames: HubFrame[]
  /** Move the clock, run what falls due, and write what waits. */
  advance(ms: number): Promise<void>
}

const DAY_MS = 86_400_000
const STEP_MS = 500

/** A database that knows whether a statement or transaction is under way. */
function countStatements(db: Database): { db: Database; settled(): Promise<void> } {
  let underWay = 0
  const count = async <T>(work: () => Promise<T>): Promise<T> => {
    underWay++
    try {
      return await work()
    } finally {
      underWay--
    }
  }
  return {
    db: {
      query: (text, params) => count(() => db.query(text, params)),
      execute: (text, params) => count(() => db.execute(text, params)),
      transaction: (name, work) => count(() => db.transaction(name, work)),
      snapshot: (name, work) => count(() => db.snapshot(name, work)),
    },
    async settled() {
      // What follows from an answer starts within the same turn or the next.
      for (let quiet = 0; quiet < 3; quiet = underWay === 0 ? quiet + 1 : 0)
        await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** Build it and start the fleet. `close` stops both. */
export async function createFleetContext(
  database: TestDatabase,
  options: TestContextOptions & { agentLimits?: AgentLimits; normalise?: FleetDeps['normalise'] } = {},
): Promise<FleetTestContext> {
  const { agentLimits = AGENT_LIMITS, normalise = READ_HERE.normalise, ...rest } = options
  const clock = options.clock ?? fakeClock()
  const timers = manualTimers(clock)
  const counted = countStatements(options.db ?? database.pool)
  const readConfigs = { ...READ_HERE, normalise }
  const base = createTestContext(
    database,
    { ...rest, clock, db: counted.db },
    { timers, agentLimits, readConfigs },
  )
  const { counters, db, fleet, hub } = base
  const closeBase = base.close
  await counters.load(db)
  await fleet.start()
  const frames: HubFrame[] = []
  hub.add(
    {
      send: (texts) => {
        for (const text of texts) frames.push(readFrame(text))
        return texts.length
      },
      close() {},
      drop() {},
    },
    { sessionId: 'a test', expiresAt: new Date(clock.now().getTime() + 100 * DAY_MS) },
  )
  const ctx = Object.assign(base, {
    timers,
    async advance(ms: number) {
      // In steps, so that what a step starts in the database is over before the next one.
      for (let left = ms; left > 0; left -= STEP_MS) {
        timers.advance(Math.min(STEP_MS, left))
        await counted.settled()
      }
      await fleet.writer.flush()
    },
    async close() {
      await fleet.stop()
      await closeBase()
    },
  })
  // Whoever looks at the frames sees those on their way as well.
  Object.defineProperty(ctx, 'frames', {
    get() {
      hub.flush()
      return frames
    },
  })
  return ctx as unknown as FleetTestContext
}

/** The capabilities of a supervisor. */
export const SUPERVISOR =
  AGENT_CAPABILITIES.reportsStatus |
  AGENT_CAPABILITIES.acceptsRemoteConfig |
  AGENT_CAPABILITIES.reportsEffectiveConfig |
  AGENT_CAPABILITIES.reportsRemoteConfig |
  AGENT_CAPABILITIES.reportsHealth

/** What an agent of a test is. */
export interface FakeAgentOptions {
  /** Of an agent that was there before; a new one by default. */
  uid?: string
  /** The workload is made of service and host. */
  service?: string
  host?: string
  version?: string
  pod?: string
  capabilities?: number
  components?: Record<string, readonly string[]>
  /** Announce a list of components by this hash, without the list. */
  componentsHash?: string
  attributes?: Record<string, string>
  transport?: 'ws' | 'http'
  /** Its first message holds nothing, as after a broken connection. */
  isBare?: boolean
}

/** An agent that a test speaks for. */
export interface FakeAgent {
  uid: string
  /** The id of its workload. */
  workloadId: string
  /** The connection that it talks on. */
  connection: AgentConnection
  /** What the server sent to it, oldest first. */
  received: PlainMessage[]
  /** The hashes it was offered, oldest first. */
  offered(): string[]
  say(report: Partial<AgentReport>): void
  /** Say all that it is. */
  describe(): void
  /** What became of the config that it was offered last, or of another one. */
  applying(hash?: string): void
  apply(hash?: string): void
  fail(message: string, hash?: string): void
  effective(yaml: string): void
  goodbye(): void
  /** The connection breaks. */
  lose(): void
}

let agents = 0

/** Connect an agent that describes itself. */
export function fakeAgent(fleet: Fleet, options: FakeAgentOptions = {}): FakeAgent {
  const number = ++agents
  const uid = options.uid ?? `0192d3b4000070008000${number.toString(16).padStart(12, '0')}`
  const received: PlainMessage[] = []
  const connection: AgentConnection = {
    id: number,
    transport: options.transport ?? 'ws',
    send(frame) {
      if (options.transport === 'http') return 'dropped'
      received.push(readServerFrame(frame))
      return 'sent'
    },
    drop() {},
  }
  let sequenceNum = 0
  const say: FakeAgent['say'] = (report) => {
    const answer = fleet.receive(
      connection,
      {
        uid,
        uidOnWire: new Uint8Array(Buffer.from(uid, 'hex')),
        sequenceNum: ++sequenceNum,
        capabilities: options.capabilities ?? SUPERVISOR,
        hasCapabilities: true,
        requestsInstanceUid: false,
        isDisconnect: false,
        attributes: null,
        health: null,
        effectiveConfig: null,
        remoteConfigStatus: null,
        components: null,
        ...report,
      },
      {},
    )
    const take = (message: ServerMessage) =>
      received.push(readServerFrame(encodeServerToAgent(Buffer.from(uid, 'hex'), message)))
    if (answer.message.remoteConfig !== undefined) take(answer.message)
    void answer.pendingOffer?.then((offer) => offer !== null && take(offer))
  }
  const offered = () =>
    received.flatMap((message) => {
      const config = message['remoteConfig'] as { configHash?: Uint8Array } | undefined
      return config?.configHash === undefined ? [] : [Buffer.from(config.configHash).toString('hex')]
    })
  const status = (
    word: 'applying' | 'applied' | 'failed',
    hash = offered().at(-1) ?? '',
    errorMessage = '',
  ) => say({ remoteConfigStatus: { hash, status: word, errorMessage } })
  const { service = 'edge', host = `host-${number}`, version = '0.149.0', pod = '' } = options
  const attributes = {
    ...{ 'service.name': service, 'host.name': host, 'service.version': version },
    ...(pod === '' ? {} : { 'k8s.pod.name': pod }),
    ...{ 'os.description': 'a host with otelcol' },
    ...options.attributes,
  }
  const describe = () =>
    say({
      attributes: new Map(Object.entries(attributes)),
      components:
        options.components === undefined
          ? options.componentsHash === undefined
            ? null
            : { hash: options.componentsHash, components: null }
          : { hash: `c0${number}`, components: new Map(Object.entries(options.components)) },
    })
  if (options.isBare === true) say({})
  else describe()
  return {
    uid,
    workloadId: fleet.state.instances.get(uid)?.workload?.id ?? '',
    connection,
    describe,
    received,
    offered,
    say,
    applying: (hash) => status('applying', hash),
    apply: (hash) => status('applied', hash),
    fail: (message, hash) => status('failed', hash, message),
    effective: (yaml) =>
      say({
        effectiveConfig: { files: new Map([['', { body: Buffer.from(yaml), contentType: 'text/yaml' }]]) },
      }),
    goodbye: () => say({ isDisconnect: true, hasCapabilities: false, capabilities: 0 }),
    lose: () => fleet.connectionClosed(connection),
  }
}
