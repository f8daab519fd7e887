import { createHash } from 'node:crypto'
import { requiredComponents } from '../../lib/configs/check/components.ts'
import { parseConfig } from '../../lib/configs/yaml/parse.ts'
import type { Fleet } from '../../lib/fleet/fleet.ts'
import type { FleetNotices } from '../../lib/fleet/state/deps.ts'
import type { Instance } from '../../lib/fleet/state/model.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'
import type { UsedComponent } from '../../lib/model/components.ts'
import type { Alert } from '../../lib/store/alerts.ts'
import type { Push } from '../../lib/store/pushes.ts'
import type { StoredWorkloadEvent } from '../../lib/store/workload-events.ts'
import { Descriptors } from '../../runtime/descriptor-room.ts'
import { sendElsewhere } from '../../runtime/fronts/cut-off.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { createProxyPolicy } from '../../runtime/proxies.ts'
import { startOpampListener } from '../../runtime/server.ts'
import { type FakeClock, fakeClock, type RecordingLog } from './fakes.ts'
import { createTestContext } from './invoke.ts'
import { alsoTelling } from './overhear.ts'
import type { TestDatabase } from './postgres.ts'
import { READ_HERE } from './read-configs.ts'

/** A fleet behind the real listener, on a real database; only the clock is the test's. */
export interface FleetServer {
  /** Host, port and path, for `openWire`, `postAgent` and, with a scheme, for simulated agents. */
  url: string
  fleet: Fleet
  clock: FakeClock
  log: RecordingLog
  notices: {
    rollbacks: Parameters<FleetNotices['autoRolledBack']>[0][]
    removed: string[]
    resolved: Alert[]
  }
  /** The live instance with this uid in hex; undefined when it is not live. */
  live(uid: string): Instance | undefined
  /** Make a config the assignment of a workload, as an approved push does. */
  push(workloadId: string, yaml: string): Promise<Push>
  /** All stored workload events, oldest first. */
  events(): Promise<StoredWorkloadEvent[]>
  /** How many bytes of agents' message bodies are held in memory now. */
  heldBytes(): number
  /** Hold so many bytes of them, as what is being decoded does, until the answer is called. */
  holdBytes(count: number): () => void
  /** Cut all agents as when memory is short. */
  cutQuiet(): void
  /** Cut all agents as where this process is cut off from the owner. */
  sendElsewhere(): void
  stop(): Promise<void>
}

/** What a test decides about the server. */
export interface FleetServerOptions {
  secret?: string
  messageBytesMax?: number
  graceMs?: number
  /** Whether this process may offer configs now; always by default. */
  mayOffer?: () => boolean
  /**
   * After how many seconds of silence an agent's socket is pinged and then closed; the socket function's own value by
   * default.
   */
  idleSeconds?: number
}

/** Start a server on a free port. Starting a second one on the same database after the first stands for a restart. */
export async function startFleetServer(
  database: TestDatabase,
  options: FleetServerOptions = {},
): Promise<FleetServer> {
  const { secret = '', messageBytesMax = 1_048_576, graceMs = 120_000, mayOffer = () => true } = options
  const clock = fakeClock()
  const notices: FleetServer['notices'] = { rollbacks: [], removed: [], resolved: [] }
  const timers = clockTimers(clock)
  const ctx = createTestContext(
    database,
    {
      clock,
      config: {
        disconnectGraceMs: graceMs,
        opampSharedSecret: secret,
        opampMessageBytesMax: messageBytesMax,
      },
    },
    {
      timers,
      mayOffer,
      hears: () => true,
      readConfigs: READ_HERE,
      overhear: (hub) =>
        alsoTelling(hub, {
          workloadRemoved: (id) => void notices.removed.push(id),
          alertsResolved: (alerts) => void notices.resolved.push(...alerts),
          autoRolledBack: (rollback) => void notices.rollbacks.push(rollback),
        }),
    },
  )
  const { fleet, log } = ctx
  await ctx.counters.load(ctx.db)
  await fleet.start()
  const functions = loadFunctions(FUNCTIONS.map((entry) => withIdleTime(entry, options.idleSeconds)))
  const listener = startOpampListener(functions, ctx, createProxyPolicy([]), new Descriptors(null))
  return {
    url: `127.0.0.1:${listener.port}/v1/opamp`,
    fleet,
    clock,
    log,
    notices,
    live(uid) {
      const instance = fleet.state.instances.get(uid)
      return instance?.connection == null || !instance.isDescribed ? undefined : instance
    },
    async push(workloadId, yaml) {
      const outcome = await fleet.push(
        {
          workloadId,
          hash: sha256Hex(yaml),
          body: yaml,
          used: usedComponents(yaml),
          path: 'request',
          actor: { userId: 'u1', email: 'test@example.com', askAgain: null },
          approvalId: null,
          rollbackTargetKind: null,
        },
        async () => ({ ok: true as const }),
      )
      if (!outcome.ok) throw new Error(`push refused: ${outcome.code}`)
      return outcome.push
    },
    async events() {
      await fleet.writer.flush()
      return database.pool.query<StoredWorkloadEvent>(
        `select id, workload_id as "workloadId", instance_uid as "instanceUid", event_type as "eventType",
           pod_name as "podName", version, prev_version as "prevVersion", occurred_at as "occurredAt"
         from workload_events order by id`,
      )
    },
    heldBytes: () => 8 * messageBytesMax - ctx.opamp.decoding.free(),
    holdBytes(count) {
      ctx.opamp.decoding.take(count)
      return () => ctx.opamp.decoding.give(count)
    },
    cutQuiet: () => void listener.cutQuiet(Number.POSITIVE_INFINITY),
    sendElsewhere: () => sendElsewhere(listener.sockets()),
    async stop() {
      await fleet.stop()
      listener.destroy()
      timers.stop()
      await ctx.close()
    },
  }
}

type Entry = (typeof FUNCTIONS)[number]

function withIdleTime({ id, definition }: Entry, idleSeconds: number | undefined): Entry {
  if (definition.kind !== 'socket' || idleSeconds === undefined) return { id, definition }
  return { id, definition: { ...definition, limits: { ...definition.limits, idleSeconds } } }
}

/** The hash an offer of this text carries. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The interval of the fleet's tick, and of what it tries again each second. */
const TICK_MS = 1_000

/**
 * Timers for a test's fleet: ticks fire at once, so that a test need not wait for them; shorter delays are real; longer
 * ones fire when the test has moved the clock that far.
 */
function clockTimers(clock: FakeClock): Timers & { stop(): void } {
  const running = new Set<NodeJS.Timeout>()
  const start = (delayMs: number, work: () => void) => {
    const timer = setTimeout(() => {
      running.delete(timer)
      work()
    }, delayMs)
    running.add(timer)
    return timer
  }
  return {
    after(delayMs, work) {
      const dueMs = clock.monotonicMs() + (delayMs > TICK_MS ? delayMs : 0)
      let timer: NodeJS.Timeout
      const look = () => {
        if (clock.monotonicMs() >= dueMs) work()
        else timer = start(5, look)
      }
      timer = start(delayMs >= TICK_MS ? 5 : delayMs, look)
      return () => {
        clearTimeout(timer)
        running.delete(timer)
      }
    },
    // A clock that leaps does not make a tick late.
    nowMs: () => performance.now(),
    stop() {
      for (const timer of running) clearTimeout(timer)
    },
  }
}

function usedComponents(yaml: string): UsedComponent[] {
  const parsed = parseConfig(yaml)
  if (!parsed.ok) throw new Error('the config of a test must be readable')
  return requiredComponents(parsed.document)
}
