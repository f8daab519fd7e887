import type { Fleet } from '../../lib/fleet/fleet.ts'
import { AGENT_LIMITS } from '../../lib/fleet/state/agent-limits.ts'
import type { FleetDeps } from '../../lib/fleet/state/deps.ts'
import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import type { Database } from '../../lib/store/db.ts'
import type { HubFrame } from '../../lib/wire/hub.ts'
import { MemoryLink } from './agent-links.ts'
import { fakeClock } from './fakes.ts'
import { readFrame } from './frames.ts'
import { createTestContext, type TestContext, type TestContextOptions } from './invoke.ts'
import { type ManualTimers, manualTimers } from './manual-timers.ts'
import type { TestDatabase } from './postgres.ts'
import { READ_HERE } from './read-configs.ts'
import { openTestAgent, type TestAgent, type TestAgentOptions } from './test-agent.ts'

/** A context with a real fleet on the test's database, its views, and a hub whose frames are kept. */
export interface FleetTestContext extends TestContext {
  timers: ManualTimers
  /** The frames that one browser was sent, oldest first. */
  frames: HubFrame[]
  /** Advance the clock, run what falls due, and write to the database what waits to be stored. */
  advance(ms: number): Promise<void>
}

const DAY_MS = 86_400_000
const STEP_MS = 500

/** A database with a way to wait until no statement or transaction is under way. */
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
      // A statement that follows from an answer starts within the same turn of the event loop or the next.
      for (let quiet = 0; quiet < 3; quiet = underWay === 0 ? quiet + 1 : 0)
        await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** Make the context and start its fleet. `close` stops both. */
export async function createFleetContext(
  database: TestDatabase,
  options: TestContextOptions &
    Partial<Pick<FleetDeps, 'agentLimits' | 'normalise' | 'busyMs' | 'textsGone'>> = {},
): Promise<FleetTestContext> {
  const {
    agentLimits = AGENT_LIMITS,
    normalise = READ_HERE.normalise,
    busyMs = () => 0,
    textsGone = () => {},
    ...rest
  } = options
  const clock = options.clock ?? fakeClock()
  const timers = manualTimers(clock)
  const counted = countStatements(options.db ?? database.pool)
  const readConfigs = { ...READ_HERE, normalise }
  const base = createTestContext(
    database,
    { ...rest, clock, db: counted.db },
    { timers, agentLimits, readConfigs, busyMs, textsGone },
  )
  const { counters, db, fleet, hub } = base
  const closeBase = base.close
  await counters.load(db)
  await base.labelRules.load(db)
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
  // Reading `frames` first sends the frames that the hub still holds back.
  Object.defineProperty(ctx, 'frames', {
    get() {
      hub.flush()
      return frames
    },
  })
  return ctx as unknown as FleetTestContext
}

/** An agent of a test that talks straight to a fleet, without a socket. */
export interface FakeAgent extends TestAgent {
  /** The id of its workload. */
  workloadId: string
  /** The connection that it talks on. */
  connection: AgentConnection
}

/** What a fake agent is like; it connects as over a WebSocket by default. */
export interface FakeAgentOptions extends TestAgentOptions {
  transport?: 'ws' | 'http'
}

/** Connect an agent that describes itself. */
export function fakeAgent(fleet: Fleet, options: FakeAgentOptions = {}): FakeAgent {
  const link = new MemoryLink(fleet, options.transport)
  const agent = openTestAgent(link, options)
  const workloadId = fleet.state.instances.get(agent.uid)?.workload?.id ?? ''
  return { ...agent, workloadId, connection: link.connection }
}
