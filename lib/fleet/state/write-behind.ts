import { type AgentHome, rememberAgentHomes } from '../../store/agents.ts'
import type { Db } from '../../store/db.ts'
import { DatabaseUnavailable } from '../../store/db.ts'
import {
  type ForgottenTarget,
  removeTargets,
  type TargetOfPush,
  updateTargets,
} from '../../store/push-targets.ts'
import { updatePushProgress } from '../../store/pushes.ts'
import { insertQuarantines, type Quarantine } from '../../store/quarantines.ts'
import { type ReportedConfig, storeReportedConfigs } from '../../store/reported-configs.ts'
import { insertEvents, type StoredWorkloadEvent, type WorkloadEvent } from '../../store/workload-events.ts'
import { lockWorkloads, touchWorkloads, upsertReportedWorkloads } from '../../store/workloads.ts'
import type { FleetDeps } from './deps.ts'
import type { FollowedPush, Workload } from './model.ts'

const FLUSH_MS = 200
const RETRY_MS = 1_000
/** Past this many waiting events the oldest are lost, and counted. */
export const EVENTS_MAX = 100_000
/** Events in one statement: what it takes to write and read back thousands would hold up agents. */
const EVENTS_AT_ONCE = 1_000
/** Bytes of reported configs that wait; past this none is taken until some are stored. */
export const CONFIG_BYTES_MAX = 67_108_864
/** How often being alive is written down when nothing else changes. */
export const PRESENCE_MS = 30_000

/** How much waits, and what was lost, for the metrics. */
export interface WriteBehindStats {
  waitingEvents: number
  lostEvents: number
  droppedRows: number
  flushes: number
}

interface Batch {
  workloads: Workload[]
  seen: Workload[]
  homes: AgentHome[]
  events: WorkloadEvent[]
  targets: TargetOfPush[]
  forgotten: ForgottenTarget[]
  pushes: FollowedPush[]
  quarantines: Quarantine[]
  configs: ReportedConfig[]
}

/**
 * What agents report reaches the database a little later and together: one transaction for many changes,
 * never a statement a message. While the database is away everything waits here: events and the texts of configs within
 * bounds of their own, all else within the size of the fleet, because it is state and overwrites itself.
 */
export class WriteBehind {
  readonly #deps: FleetDeps
  readonly #workloads = new Set<Workload>()
  readonly #seen = new Set<Workload>()
  readonly #homes = new Map<string, AgentHome>()
  #events: WorkloadEvent[] = []
  readonly #targets = new Map<string, TargetOfPush>()
  readonly #forgotten = new Map<string, ForgottenTarget>()
  readonly #pushes = new Set<FollowedPush>()
  readonly #quarantines = new Map<string, Quarantine>()
  readonly #configs = new Map<string, ReportedConfig>()
  /** Of the configs that wait, and of those that are being written. */
  #configBytes = 0
  #configBytesBeingWritten = 0
  #cancelTimer: (() => void) | null = null
  #running: Promise<void> | null = null
  #seenFlushedAtMs: number
  #isStopped = false
  /** The database takes nothing now; said once, not at each attempt. */
  #isHeldUp = false
  readonly stats: WriteBehindStats = { waitingEvents: 0, lostEvents: 0, droppedRows: 0, flushes: 0 }
  /** Runs before each flush, to bring derived values up to date. */
  beforeFlush: () => void = () => {}

  constructor(deps: FleetDeps) {
    this.#deps = deps
    this.#seenFlushedAtMs = deps.clock.monotonicMs()
  }

  /** Rows that wait, events apart. All are state: each overwrites itself, so that the fleet's size bounds them. */
  get waitingRows(): number {
    const parts = [
      this.#workloads,
      this.#homes,
      this.#targets,
      this.#forgotten,
      this.#pushes,
      this.#quarantines,
      this.#configs,
    ]
    return parts.reduce((sum, part) => sum + part.size, 0)
  }

  workload(workload: Workload): void {
    this.#workloads.add(workload)
    this.schedule()
  }

  /** Note that a workload was heard of; written at most every 30 s. */
  seen(workload: Workload): void {
    this.#seen.add(workload)
  }

  home(home: AgentHome): void {
    this.#homes.set(home.instanceUid, home)
    this.schedule()
  }

  event(event: WorkloadEvent): void {
    if (this.#events.length >= EVENTS_MAX) {
      this.#events.shift()
      this.stats.lostEvents++
    }
    this.#events.push(event)
    this.stats.waitingEvents = this.#events.length
    this.schedule()
  }

  target(entry: TargetOfPush): void {
    const key = `${entry.pushId}/${entry.target.instanceUid}`
    this.#forgotten.delete(key)
    this.#targets.set(key, entry)
    this.schedule()
  }

  /** Remove the row of a joiner that is here no more. */
  forgetTarget(gone: ForgottenTarget): void {
    const key = `${gone.pushId}/${gone.instanceUid}`
    this.#targets.delete(key)
    this.#forgotten.set(key, gone)
    this.schedule()
  }

  /** What waits of one push's targets: for a transaction that must not leave them behind. */
  waitingTargets(pushId: string): TargetOfPush[] {
    return [...this.#targets.values()].filter((entry) => entry.pushId === pushId)
  }

  push(followed: FollowedPush): void {
    this.#pushes.add(followed)
    this.schedule()
  }

  quarantine(quarantine: Quarantine): void {
    this.#quarantines.set(`${quarantine.workloadId}/${quarantine.hash}/${quarantine.instanceUid}`, quarantine)
    this.schedule()
  }

  /** What waits of one workload's instances. */
  waitingQuarantines(workloadId: string): Quarantine[] {
    return [...this.#quarantines.values()].filter((quarantine) => quarantine.workloadId === workloadId)
  }

  /** False while as many bytes of reported configs wait as may. */
  get hasRoomForConfigs(): boolean {
    return this.#configBytes + this.#configBytesBeingWritten < CONFIG_BYTES_MAX
  }

  /** Keep the text of a reported config until it is stored; false when there is no room for it. */
  reportedConfig(config: ReportedConfig): boolean {
    if (this.#configs.has(config.hash)) return true
    if (!this.hasRoomForConfigs) return false
    this.#configs.set(config.hash, config)
    this.#configBytes += config.body.length
    this.schedule()
    return true
  }

  /** Flush soon. */
  schedule(delayMs = FLUSH_MS): void {
    if (this.#cancelTimer !== null || this.#isStopped) return
    this.#cancelTimer = this.#deps.timers.after(delayMs, () => {
      this.#cancelTimer = null
      if (this.#running === null) void this.flush()
      else {
        // A database that takes its time does not keep browsers from the truth.
        this.beforeFlush()
        this.schedule()
      }
    })
  }

  /** Called each second: presence alone must not wait for another change. */
  tick(): void {
    const isDue = this.#deps.clock.monotonicMs() - this.#seenFlushedAtMs >= PRESENCE_MS
    if (this.#seen.size > 0 && isDue) this.schedule(0)
  }

  /** Write everything that waits now. Resolves when it is stored, or when the database is away. */
  async flush(): Promise<void> {
    while (this.#running !== null) await this.#running
    if (this.#isStopped) return
    this.beforeFlush()
    const batch = this.#take()
    if (batch === null) return
    this.#running = this.#write(batch)
    try {
      await this.#running
    } finally {
      this.#running = null
      this.#configBytesBeingWritten = 0
    }
  }

  /** Flush a last time and take no more. */
  async stop(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#seenFlushedAtMs = Number.NEGATIVE_INFINITY
    await this.flush()
    this.#isStopped = true
    // A push that flushes at the same time may have taken what this flush put back.
    while (this.#running !== null) await this.#running
    const lost = this.#events.length
    if (lost === 0) return
    // The database is away, or another process has become the active one.
    this.stats.lostEvents += lost
    this.#deps.log.error({ events: lost }, 'stopped before these events could be stored: they are lost')
  }

  /** Whether something of the workload itself waits to be written: the database may not know it yet. */
  owes(workload: Workload): boolean {
    return this.#workloads.has(workload)
  }

  /** Drop what waits of a workload that is deleted. */
  forget(workload: Workload): void {
    this.#workloads.delete(workload)
    this.#seen.delete(workload)
    this.#events = this.#events.filter((event) => event.workloadId !== workload.id)
    for (const [uid, home] of this.#homes) if (home.workloadId === workload.id) this.#homes.delete(uid)
  }

  #take(): Batch | null {
    const isSeenDue = this.#deps.clock.monotonicMs() - this.#seenFlushedAtMs >= PRESENCE_MS
    const batch: Batch = {
      workloads: [...this.#workloads],
      seen: isSeenDue ? [...this.#seen].filter((workload) => !this.#workloads.has(workload)) : [],
      homes: [...this.#homes.values()],
      events: this.#events,
      targets: [...this.#targets.values()],
      forgotten: [...this.#forgotten.values()],
      pushes: [...this.#pushes],
      quarantines: [...this.#quarantines.values()],
      configs: [...this.#configs.values()],
    }
    if (Object.values(batch).every((part) => part.length === 0)) return null
    this.#workloads.clear()
    if (isSeenDue) {
      this.#seen.clear()
      this.#seenFlushedAtMs = this.#deps.clock.monotonicMs()
    }
    this.#homes.clear()
    this.#events = []
    this.#targets.clear()
    this.#forgotten.clear()
    this.#pushes.clear()
    this.#quarantines.clear()
    this.#configs.clear()
    this.#configBytesBeingWritten = this.#configBytes
    this.#configBytes = 0
    return batch
  }

  /** Put a batch back in front of what came since; newer entries win. */
  #putBack(batch: Batch): void {
    for (const workload of batch.workloads) if (!workload.isDeleted) this.#workloads.add(workload)
    for (const workload of batch.seen) if (!workload.isDeleted) this.#seen.add(workload)
    for (const home of batch.homes) {
      if (!this.#homes.has(home.instanceUid)) this.#homes.set(home.instanceUid, home)
    }
    this.#events = batch.events.concat(this.#events)
    const overflow = this.#events.length - EVENTS_MAX
    if (overflow > 0) {
      this.#events.splice(0, overflow)
      this.stats.lostEvents += overflow
    }
    for (const entry of batch.targets) this.#targets.set(`${entry.pushId}/${entry.target.instanceUid}`, entry)
    for (const gone of batch.forgotten) {
      const key = `${gone.pushId}/${gone.instanceUid}`
      // It may have come back since.
      if (!this.#targets.has(key)) this.#forgotten.set(key, gone)
    }
    for (const followed of batch.pushes) this.#pushes.add(followed)
    for (const q of batch.quarantines) this.#quarantines.set(`${q.workloadId}/${q.hash}/${q.instanceUid}`, q)
    for (const config of batch.configs) {
      if (!this.#configs.has(config.hash)) this.#configBytes += config.body.length
      this.#configs.set(config.hash, config)
    }
    this.stats.waitingEvents = this.#events.length
  }

  async #write(batch: Batch): Promise<void> {
    try {
      const events = await this.#deps.db.transaction('reports.store', (tx) => this.#writeAll(tx, batch))
      this.#settle(events)
      if (this.#isHeldUp) this.#deps.log.info({}, 'what waited for the database is stored')
      this.#isHeldUp = false
    } catch (error) {
      if (error instanceof DatabaseUnavailable) {
        this.#putBack(batch)
        if (!this.#isHeldUp) this.#deps.log.warn({ err: error }, 'what agents report waits for the database')
        this.#isHeldUp = true
        this.schedule(RETRY_MS)
        return
      }
      await this.#writeApart(batch, error)
    }
    this.stats.waitingEvents = this.#events.length
  }

  #settle(events: readonly StoredWorkloadEvent[]): void {
    this.stats.flushes++
    for (const event of events) this.#deps.notices.eventStored(event)
  }

  async #writeAll(tx: Db, batch: Batch): Promise<StoredWorkloadEvent[]> {
    await this.#deps.checkEpoch(tx)
    const now = this.#deps.clock.now()
    const workloads = batch.workloads.filter((workload) => !workload.isDeleted)
    // Rows are locked in one order by all transactions: workloads by id, then pushes, then their targets.
    if (batch.seen.length > 0 || batch.quarantines.length > 0)
      await lockWorkloads(tx, [
        ...[...workloads, ...batch.seen].map(({ id }) => id),
        ...batch.quarantines.map(({ workloadId }) => workloadId),
      ])
    if (workloads.length > 0) await upsertReportedWorkloads(tx, workloads)
    if (batch.seen.length > 0) await touchWorkloads(tx, batch.seen)
    if (batch.homes.length > 0) await rememberAgentHomes(tx, batch.homes)
    const events: StoredWorkloadEvent[] = []
    for (let at = 0; at < batch.events.length; at += EVENTS_AT_ONCE)
      events.push(...(await insertEvents(tx, batch.events.slice(at, at + EVENTS_AT_ONCE))))
    if (batch.quarantines.length > 0) await insertQuarantines(tx, batch.quarantines, now)
    if (batch.pushes.length > 0)
      await updatePushProgress(
        tx,
        batch.pushes.map((followed) => followed.push),
      )
    if (batch.targets.length > 0) await updateTargets(tx, batch.targets)
    if (batch.forgotten.length > 0) await removeTargets(tx, batch.forgotten)
    if (batch.configs.length > 0) await storeReportedConfigs(tx, batch.configs, now)
    return events
  }

  /** One bad row must not hold up the others: split until it is alone, then drop and count it. */
  async #writeApart(batch: Batch, cause: unknown): Promise<void> {
    const halves = splitBatch(batch)
    if (halves === null) {
      this.stats.droppedRows++
      this.#deps.log.error({ err: cause }, 'a row could not be stored and was dropped')
      return
    }
    for (const half of halves) await this.#write(half)
  }
}

const EMPTY: Batch = {
  workloads: [],
  seen: [],
  homes: [],
  events: [],
  targets: [],
  forgotten: [],
  pushes: [],
  quarantines: [],
  configs: [],
}

/** Two batches that together are this one; null when it holds a single row. Workloads keep coming first. */
function splitBatch(batch: Batch): [Batch, Batch] | null {
  const keys = (Object.keys(batch) as (keyof Batch)[]).filter((key) => batch[key].length > 0)
  if (keys.length > 1) {
    const [first, ...rest] = keys
    const left = { ...EMPTY, [first!]: batch[first!] }
    const right = { ...EMPTY, ...Object.fromEntries(rest.map((key) => [key, batch[key]])) }
    return [left, right]
  }
  const key = keys[0]
  if (key === undefined || batch[key].length < 2) return null
  const middle = Math.floor(batch[key].length / 2)
  return [
    { ...EMPTY, [key]: batch[key].slice(0, middle) },
    { ...EMPTY, [key]: batch[key].slice(middle) },
  ]
}
