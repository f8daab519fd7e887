import { systemWebhookNetwork } from '../../lib/alerts/webhook-client.ts'
import { isCompatible } from '../../lib/configs/check/components.ts'
import { effectiveMatches } from '../../lib/configs/effective/match.ts'
import { normalForm } from '../../lib/configs/effective/normal-form.ts'
import { parseConfig } from '../../lib/configs/yaml/parse.ts'
import { Fleet } from '../../lib/fleet/fleet.ts'
import { AGENT_LIMITS, type AgentLimits } from '../../lib/fleet/state/agent-limits.ts'
import { FleetCounters } from '../../lib/fleet/state/counters.ts'
import type { FleetDeps } from '../../lib/fleet/state/deps.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'
import { EffectiveMatches } from '../../lib/fleet/views/effective-matches.ts'
import { FleetViews } from '../../lib/fleet/views/fleet-views.ts'
import { Hub } from '../../lib/hub/hub.ts'
import { HubNotices } from '../../lib/hub/notices.ts'
import { encodeServerToAgent } from '../../lib/opamp/codec.ts'
import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import { AGENT_CAPABILITIES, type AgentReport, type ServerMessage } from '../../lib/opamp/report.ts'
import { openConfigTargets } from '../../lib/posture/config-targets.ts'
import { classifyAgentError } from '../../lib/redact/agent-error.ts'
import type { Database } from '../../lib/store/db.ts'
import type { AgentError } from '../../lib/store/pushes.ts'
import type { HubFrame } from '../../lib/wire/hub.ts'
import { openAlerting } from '../../runtime/alerting.ts'
import { type FakeClock, fakeClock } from './fakes.ts'
import { createTestContext, type TestContext, type TestContextOptions } from './invoke.ts'
import { type PlainMessage, readServerFrame } from './opamp-messages.ts'
import type { TestDatabase } from './postgres.ts'

/** Timers that run only when a test moves the clock with them. */
export interface ManualTimers extends Timers {
  /** Move the clock and run what falls due on the way, in its order. */
  advance(ms: number): void
}

export function manualTimers(clock: FakeClock): ManualTimers {
  const waiting = new Map<object, { dueMs: number; work: () => void }>()
  return {
    after(delayMs, work) {
      const key = {}
      waiting.set(key, { dueMs: clock.monotonicMs() + delayMs, work })
      return () => void waiting.delete(key)
    },
    advance(ms) {
      const endMs = clock.monotonicMs() + ms
      for (;;) {
        const due = [...waiting].filter(([, { dueMs }]) => dueMs <= endMs)
        const next = due.sort(([, a], [, b]) => a.dueMs - b.dueMs)[0]
        if (next === undefined) break
        waiting.delete(next[0])
        clock.advance(Math.max(0, next[1].dueMs - clock.monotonicMs()))
        next[1].work()
      }
      clock.advance(Math.max(0, endMs - clock.monotonicMs()))
    },
  }
}

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
      transaction: (work) => count(() => db.transaction(work)),
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
  const clock = options.clock ?? fakeClock()
  const timers = manualTimers(clock)
  const base = createTestContext(database, { ...options, clock })
  const { config, log, random, db, audit } = base
  const closeBase = base.close
  const counters = new FleetCounters()
  const hub = new Hub({ clock, timers })
  const notices = new HubNotices(hub, counters)
  const counted = countStatements(db)
  const fleet = new Fleet({
    ...{ db: counted.db, clock, random, timers, log, notices, isCompatible, classifyError },
    mayOffer: () => true,
    checkEpoch: async () => {},
    recordAudit: async (tx, event) => void (await audit.record(tx, event)),
    normalise: options.normalise ?? (async (text) => normalForm(text)),
    graceMs: config.disconnectGraceMs,
    agentLimits: options.agentLimits ?? AGENT_LIMITS,
  })
  const views = new FleetViews({
    ...{ fleet, counters, clock, classifyError },
    matches: new EffectiveMatches(db, async (asked, reported) => {
      const [left, right] = [parseConfig(asked), parseConfig(reported)]
      const match = effectiveMatches(left.ok ? left.document : null, right.ok ? right.document : null)
      return { matches: match.verdict, paths: match.paths }
    }),
    minAgentVersion: config.minAgentVersion,
    retentionMs: config.retentionDays * DAY_MS,
  })
  notices.attach(views)
  counters.changed = (id) => {
    const workload = fleet.workload(id)
    if (workload !== null) notices.workloadChanged(workload)
  }
  const alerting = openAlerting(config, {
    ...{ db, clock, random, log, fleet, notices },
    network: systemWebhookNetwork,
    checkEpoch: async () => {},
  })
  await counters.load(db)
  await fleet.start()
  const frames: HubFrame[] = []
  hub.add(
    {
      send: (texts) => {
        for (const text of texts) frames.push(JSON.parse(Buffer.from(text).toString()) as HubFrame)
        return texts.length
      },
      close() {},
      drop() {},
    },
    { sessionId: 'a test', expiresAt: new Date(clock.now().getTime() + 100 * DAY_MS) },
  )
  const ctx = Object.assign(base, {
    ...{ fleet, views, counters, hub, timers, ...alerting },
    configTargets: openConfigTargets(fleet, db),
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

function classifyError(raw: string, options?: { withText: boolean }): AgentError {
  const { cause, title, parameters, text } = classifyAgentError(raw, options)
  return { cause, title, parameters: { ...parameters }, text }
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
