import { compareText } from '../../model/text-order.ts'
import { type AgentHome, noteUnhealthySince, rememberAgentHomes } from '../../store/agents.ts'
import type { Db } from '../../store/db.ts'
import { DatabaseUnavailable } from '../../store/db.ts'
import {
  type ForgottenTarget,
  removeTargets,
  type TargetOfPush,
  updateTargets,
} from '../../store/push-targets.ts'
import { lockPushes, updatePushProgress } from '../../store/push-writes.ts'
import { insertQuarantines, type Quarantine } from '../../store/quarantines.ts'
import { type ReportedConfig, storeReportedConfigs } from '../../store/reported-configs.ts'
import { insertEvents, type StoredWorkloadEvent, type WorkloadEvent } from '../../store/workload-events.ts'
import { lockWorkloads, touchWorkloads, upsertReportedWorkloads } from '../../store/workloads.ts'
import { inTurns, sortInTurns } from '../../turns.ts'
import type { FleetDeps } from './deps.ts'
import type { TouchedWorkloads } from './derive.ts'
import { withoutLifted } from './lifted.ts'
import type { FollowedPush, Workload } from './model.ts'
import { type TellStored, UnstoredNumbers } from './unstored-numbers.ts'
import { type Batch, splitBatch, WaitingRows } from './waiting-rows.ts'

const FLUSH_MS = 200
const RETRY_MS = 1_000
/** Events in one statement: to write and read back thousands at once would hold up the event loop. */
const EVENTS_AT_ONCE = 1_000
/** Workloads in one statement, for the same reason; of which only the time is written, and pushes. */
export const WORKLOADS_AT_ONCE = 500
const SEEN_AT_ONCE = 2_000
export const PUSHES_AT_ONCE = 500
/** How often the times at which workloads were last seen are stored. */
export const PRESENCE_MS = 30_000

/** How much waits to be written, and how much was lost, for the metrics. */
export interface WriteBehindStats {
  waitingEvents: number
  lostEvents: number
  droppedRows: number
  flushes: number
}

/**
 * Stores what agents report a little later and together: one transaction for many changes, never a statement for each
 * message. While the database is away everything waits here: events and the texts of configs within bounds of their
 * own, all else bounded by the size of the fleet, because a newer state of a row replaces the former.
 */
export class WriteBehind {
  readonly #deps: FleetDeps
  readonly #waiting = new WaitingRows()
  readonly #touched: TouchedWorkloads
  #cancelTimer: (() => void) | null = null
  #running: Promise<void> | null = null
  #seenFlushedAtMs: number
  #isStopped = false
  readonly #unstored = new UnstoredNumbers()
  /** The last attempt failed, and the log has said so once. */
  #isHeldUp = false
  #droppedRows = 0
  #flushes = 0

  constructor(deps: FleetDeps, touched: TouchedWorkloads) {
    this.#deps = deps
    this.#touched = touched
    this.#seenFlushedAtMs = deps.clock.machine.monotonicMs()
  }

  get stats(): WriteBehindStats {
    const { eventCount, lostEvents } = this.#waiting
    return {
      waitingEvents: eventCount,
      lostEvents,
      droppedRows: this.#droppedRows,
      flushes: this.#flushes,
    }
  }

  /** How many rows wait, events and times at which workloads were seen apart. */
  get waitingRows(): number {
    return this.#waiting.count
  }

  /** Something changed of an instance that its workload's record shows: derive the record before the next write. */
  deriveSoon(workload: Workload): void {
    this.#touched.add(workload)
    this.schedule()
  }

  /** Bring all touched workloads up to date now. */
  derive(): void {
    const { workloads, sicker, sick } = this.#touched.derive()
    for (const workload of workloads) this.workload(workload)
    for (const followed of sicker) this.push(followed)
    for (const { uid, unhealthySince } of sick) this.unhealthySince(uid, unhealthySince)
  }

  workload(workload: Workload): void {
    this.#waiting.workloads.add(workload)
    this.schedule()
  }

  /** Note that a workload was heard of; written at most every 30 s. */
  seen(workload: Workload): void {
    this.#waiting.seen.add(workload)
  }

  home(home: AgentHome): void {
    this.#waiting.homes.set(home.instanceUid, home)
    this.schedule()
  }

  /** An agent is unhealthy since then; null: it is not any more. */
  unhealthySince(uid: string, since: Date | null): void {
    this.#waiting.unhealthy.set(uid, { instanceUid: uid, unhealthySince: since })
    this.schedule()
  }

  event(event: WorkloadEvent): void {
    this.#waiting.addEvent(event)
    this.schedule()
  }

  target(entry: TargetOfPush): void {
    this.#waiting.addTarget(entry)
    this.schedule()
  }

  /** Remove the row of a joiner that is here no more. */
  forgetTarget(gone: ForgottenTarget): void {
    this.#waiting.addForgotten(gone)
    this.schedule()
  }

  /** The waiting rows of one push's targets, for a transaction that has to write them as well. */
  waitingTargets(pushId: string): TargetOfPush[] {
    return this.#waiting.targetsOf(pushId)
  }

  push(followed: FollowedPush): void {
    this.#waiting.pushes.add(followed)
    this.schedule()
  }

  quarantine(quarantine: Quarantine): void {
    this.#waiting.addQuarantine(quarantine)
    this.schedule()
  }

  /** False while too much text of reported configs waits. */
  get hasRoomForConfigs(): boolean {
    return this.#waiting.hasRoomForConfigs
  }

  /** Keep the text of a reported config until it is stored; false when there is no room for it. */
  reportedConfig(config: ReportedConfig): boolean {
    if (!this.#waiting.addConfig(config)) return false
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
        // While a slow write is under way, records are derived all the same, so that browsers see what is new.
        this.derive()
        this.schedule()
      }
    })
  }

  /** Called each second: the times at which workloads were seen are stored also when nothing else changes. */
  tick(): void {
    const isDue = this.#deps.clock.machine.monotonicMs() - this.#seenFlushedAtMs >= PRESENCE_MS
    if (this.#waiting.seen.size > 0 && isDue) this.schedule(0)
  }

  /** Tell of this number once everything that waits now is stored, however long the database is away. */
  whenStored(n: number, tell: TellStored): void {
    this.#unstored.add(tell, n)
    this.schedule()
  }

  /** Tell no more of what is not stored yet. */
  tellNoMore(tell: TellStored): void {
    this.#unstored.forget(tell)
  }

  /** Write everything that waits now. Resolves when it is stored, or waits again because the database is away. */
  async flush(): Promise<void> {
    while (this.#running !== null) await this.#running
    if (this.#isStopped) return
    this.derive()
    this.#unstored.begin()
    const batch = this.#take()
    if (batch !== null) {
      const written = this.#write(batch)
      this.#running = written.then(() => undefined)
      try {
        if (!(await written)) return
      } finally {
        this.#running = null
        this.#waiting.configsWritten()
      }
    }
    this.#unstored.stored()
  }

  /** Flush a last time and take no more. */
  async stop(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#seenFlushedAtMs = Number.NEGATIVE_INFINITY
    await this.flush()
    this.#isStopped = true
    // Another flush, as before a push, may be writing what this flush has put back.
    while (this.#running !== null) await this.#running
    const lost = this.#waiting.eventCount
    if (lost === 0) return
    // The database is away, or another process has become the owner.
    this.#waiting.lostEvents += lost
    this.#deps.log.error({ events: lost }, 'stopped before these events could be stored: they are lost')
  }

  /** Does the workload's own record wait to be written? Then the database may not know the workload yet. */
  hasRecordOf(workload: Workload): boolean {
    return this.#waiting.workloads.has(workload)
  }

  /** Drop what waits of a deleted workload. */
  forget(workload: Workload): void {
    this.#waiting.forget(workload)
  }

  #take(): Batch | null {
    const nowMs = this.#deps.clock.machine.monotonicMs()
    const isSeenDue = nowMs - this.#seenFlushedAtMs >= PRESENCE_MS
    const batch = this.#waiting.take(isSeenDue)
    if (batch !== null && isSeenDue) this.#seenFlushedAtMs = nowMs
    return batch
  }

  /** False where the database is away, and something of it waits again. */
  async #write(batch: Batch): Promise<boolean> {
    try {
      const events = await this.#deps.db.transaction(nameOf(batch), (tx) => this.#writeAll(tx, batch))
      this.#noteWritten(events)
      if (this.#isHeldUp) this.#deps.log.info({}, 'what waited for the database is stored')
      this.#isHeldUp = false
      return true
    } catch (error) {
      if (error instanceof DatabaseUnavailable) {
        this.#waiting.putBack(batch)
        if (!this.#isHeldUp) this.#deps.log.warn({ err: error }, 'what agents report waits for the database')
        this.#isHeldUp = true
        this.schedule(RETRY_MS)
        return false
      }
      return this.#writeApart(batch, error)
    }
  }

  #noteWritten(events: readonly StoredWorkloadEvent[]): void {
    this.#flushes++
    for (const event of events) this.#deps.notices.eventStored(event)
  }

  async #writeAll(tx: Db, batch: Batch): Promise<StoredWorkloadEvent[]> {
    const now = this.#deps.clock.now()
    const workloads = batch.workloads.filter((workload) => !workload.isDeleted)
    // Rows are locked in one order by all transactions: workloads by id, then pushes by id, then their targets.
    if (batch.seen.length > 0 || batch.quarantines.length > 0)
      await lockWorkloads(tx, [
        ...[...workloads, ...batch.seen].map(({ id }) => id),
        ...batch.quarantines.map(({ workloadId }) => workloadId),
      ])
    // Each piece as the workloads are when its turn comes: one may be deleted meanwhile.
    const inOrder = await sortInTurns(workloads, WORKLOADS_AT_ONCE, (a, b) => compareText(a.id, b.id))
    for await (const some of inTurns(inOrder, WORKLOADS_AT_ONCE))
      await upsertReportedWorkloads(
        tx,
        some.filter(({ isDeleted }) => !isDeleted),
      )
    for await (const some of inTurns(batch.seen, SEEN_AT_ONCE)) await touchWorkloads(tx, some)
    if (batch.homes.length > 0) await rememberAgentHomes(tx, batch.homes)
    if (batch.unhealthy.length > 0) await noteUnhealthySince(tx, batch.unhealthy)
    const events: StoredWorkloadEvent[] = []
    for (let at = 0; at < batch.events.length; at += EVENTS_AT_ONCE)
      events.push(...(await insertEvents(tx, batch.events.slice(at, at + EVENTS_AT_ONCE))))
    if (batch.quarantines.length > 0)
      await insertQuarantines(tx, await withoutLifted(tx, batch.quarantines), now)
    const pushIds = pushesOf(batch)
    if (pushIds.length > 0) await lockPushes(tx, pushIds)
    for await (const some of inTurns(batch.pushes, PUSHES_AT_ONCE))
      await updatePushProgress(
        tx,
        some.map(({ push }) => push),
      )
    if (batch.targets.length > 0) await updateTargets(tx, batch.targets)
    if (batch.forgotten.length > 0) await removeTargets(tx, batch.forgotten)
    if (batch.configs.length > 0) await storeReportedConfigs(tx, batch.configs, now)
    return events
  }

  /** One bad row must not hold up the others: split until it is alone, then drop and count it. */
  async #writeApart(batch: Batch, cause: unknown): Promise<boolean> {
    const halves = splitBatch(batch)
    if (halves === null) {
      this.#droppedRows++
      this.#deps.log.error({ err: cause }, 'a row could not be stored and was dropped')
      return true
    }
    let isStored = true
    for (const half of halves) isStored = (await this.#write(half)) && isStored
    return isStored
  }
}

/** The pushes that a batch writes, or targets of which it writes. */
const pushesOf = ({ pushes, targets, forgotten }: Batch): string[] => [
  ...new Set([
    ...pushes.map(({ push }) => push.pushId),
    ...targets.map(({ pushId }) => pushId),
    ...forgotten.map(({ pushId }) => pushId),
  ]),
]

/** The transaction's name: one with targets of pushes has a name of its own. */
const nameOf = ({ targets }: Batch): string => (targets.length > 0 ? 'outcomes.store' : 'reports.store')
