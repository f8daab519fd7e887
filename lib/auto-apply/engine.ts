import { isInOneOf } from '../campaigns/judge/scope.ts'
import { KeptRuns } from '../campaigns/run/kept-runs.ts'
import { hasPolicyChanged, listGone } from '../campaigns/run/lapse.ts'
import { listAmidStages, listStaged, stopStaged } from '../campaigns/run/stop-staged.ts'
import { daysBefore, LEFT_STOPPED_DAYS } from '../model/left-stopped.ts'
import {
  type AutoApplyInForce,
  endStoppedAutoApplies,
  expireAutoApplyRequests,
  listAutoAppliesInForce,
  moveAutoApply,
  type StoredAutoApply,
} from '../store/auto-apply.ts'
import { listScopesRolledBack } from '../store/fleet-config-history.ts'
import type { AutoApplyHold } from '../wire/auto-apply.ts'
import { findFailureHalt } from './find-halt.ts'
import { listYoung, lookAtAll } from './look.ts'
import { noteEnds } from './note-ends.ts'
import type { AutoApplyParts } from './parts.ts'
import { pushToSome } from './push.ts'
import { type AutoApplyRun, loadRun } from './run.ts'
import { shareOut } from './share-out.ts'

/** Pushes in a second, of all fleet configs together, at most. */
export const PUSHES_A_SECOND = 50
/**
 * How often the database is asked what is in force: while nothing is, and while nothing is to be done for what is. An
 * operator's decision, a commit that got no answer, and what falls due, have it asked at once.
 */
export const QUIET_LOOK_MS = 60_000
const CALM_LOOK_MS = 5_000
/** How often all workloads under a fleet config are looked at. */
const LOOK_MS = 15_000
const LAPSE_LOOK_MS = 5_000
/** How long a newcomer that was tried waits until it is tried again. */
const RETRY_MS = 2_000
/** The share of what may be pushed to now that newcomers leave to the queue, so that a stream of them holds up nobody. */
const QUEUE_SHARE = 0.2
const HOUR_MS = 3_600_000
/** How many days a request waits for a decision before it expires. */
const WAITING_DAYS = 14

/** A version that may push now. */
interface Ready {
  autoApply: AutoApplyInForce
  run: AutoApplyRun
}

const lengthOf = (some: readonly unknown[]): number => some.length
const sum = (some: readonly number[]): number => some.reduce((all, one) => all + one, 0)

/** Applies approved versions to newcomers, and to workloads on older versions. */
export class AutoApplyEngine {
  readonly #parts: AutoApplyParts
  readonly #runs = new KeptRuns<AutoApplyRun>()
  /** Called with what is in force, or expired, when something of it has changed. */
  readonly #changed: (autoApply: StoredAutoApply) => void
  /** The times of the pushes of the last second, one for each; heard time. */
  #pushedMs: number[] = []
  /** Since when this process looks; heard time. Null before it did. */
  #sinceMs: number | null = null
  #nextReadMs = 0
  /** What was in force when the database was asked last. */
  #inForce: readonly AutoApplyInForce[] = []
  #nextSweepMs = 0
  /** Whose turn it is to get what cannot be shared evenly. */
  #turn = 0

  constructor(parts: AutoApplyParts, changed: (autoApply: StoredAutoApply) => void) {
    this.#parts = parts
    this.#changed = changed
  }

  /** Look at everything at the next call of `work`: an operator decided something. */
  wake(): void {
    this.#nextReadMs = 0
    for (const run of this.#runs.values()) run.nextLookMs = 0
  }

  /** Read all runs again and look at everything: commits whose answers were lost have ended by now. */
  doubtsEnded(): void {
    this.#runs.doubtsEnded()
    this.wake()
  }

  /** What is known of a version in force; null before it was first looked at. */
  run(autoApplyId: string): Pick<AutoApplyRun, 'leftOut' | 'lookedAt' | 'underCount'> | null {
    return this.#runs.get(autoApplyId) ?? null
  }

  /** Do what is due now. */
  async work(signal: AbortSignal): Promise<void> {
    this.#sinceMs ??= this.#parts.fleet.clock.heardMs()
    await this.#sweep()
    const nowMs = this.#parts.fleet.clock.heardMs()
    if (nowMs < this.#nextReadMs && !(await this.#isAnyDue(nowMs))) return
    // Set first: a decision during the statement has it asked once more.
    this.#nextReadMs = nowMs + CALM_LOOK_MS
    const inForce = await this.#read()
    if (inForce.length === 0 && this.#nextReadMs > 0) this.#nextReadMs = nowMs + QUIET_LOOK_MS
    this.#inForce = inForce
    this.#runs.keepOnly(inForce)
    const ready: Ready[] = []
    for (const autoApply of inForce) {
      if (signal.aborted) return
      const run = await this.#safely(autoApply, () => this.#step(autoApply))
      if (run !== null) ready.push({ autoApply, run })
    }
    await this.#pushNext(ready, signal)
  }

  async #read(): Promise<AutoApplyInForce[]> {
    try {
      return await listAutoAppliesInForce(this.#parts.db, listAmidStages(this.#parts, 'autoApplyId'))
    } catch (error) {
      this.#nextReadMs = 0
      throw error
    }
  }

  /** Is there something to do for what is in force, as far as this process knows? Asks no database. */
  async #isAnyDue(nowMs: number): Promise<boolean> {
    for (const autoApply of this.#inForce) {
      const run = this.#runs.get(autoApply.id)
      if (run === undefined || run.isStale || run.inFlight.size > 0) return true
      if (autoApply.status !== 'active') continue
      if (run.hasNews || nowMs >= run.nextLookMs || nowMs >= run.nextLapseLookMs) return true
      if (this.#room() === 0) continue
      if (run.queue.length > 0 || (await listYoung(this.#parts, autoApply, run, 1)).length > 0) return true
    }
    return false
  }

  /** Do something for a version in force. An error is logged, and keeps no other from going on. */
  async #safely<T>(autoApply: AutoApplyInForce, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      this.#runs.doubt(autoApply.id)
      this.#parts.log.warn({ err: error, auto_apply_id: autoApply.id }, 'a version could not be applied yet')
      return null
    }
  }

  /**
   * Note what became of its pushes, halt it where it must not go on, and look whom it is to reach. Answers null where it
   * is to push nothing.
   */
  async #step(autoApply: AutoApplyInForce): Promise<AutoApplyRun | null> {
    const run = await this.#open(autoApply)
    if (await noteEnds(this.#parts, autoApply, run)) this.#changed(autoApply)
    await this.#stopStaged(autoApply)
    if (autoApply.status !== 'active') return null
    const hold = (await this.#findLapse(autoApply, run)) ?? (await this.#findFailures(autoApply, run))
    if (hold !== null) {
      await this.#halt(autoApply, hold)
      return null
    }
    const nowMs = this.#parts.fleet.clock.heardMs()
    if (nowMs >= run.nextLookMs) {
      await lookAtAll(this.#parts, autoApply, run)
      run.nextLookMs = nowMs + LOOK_MS
      this.#changed(autoApply)
    }
    return run
  }

  /**
   * Close the stages of pushes that nobody carries on: all of a version that has ended, and those within scopes in which
   * a campaign took it back, which waits for their end.
   */
  async #stopStaged({ id, status, fleetConfigId, number }: StoredAutoApply): Promise<void> {
    const { db, fleet } = this.#parts
    const own = { autoApplyId: id }
    if (status === 'ended') {
      await stopStaged(this.#parts, own, null)
      return
    }
    if (listStaged(this.#parts, own).length === 0) return
    const rolledBackIn = await listScopesRolledBack(db, fleetConfigId, number)
    await stopStaged(this.#parts, own, null, (workloadId) => {
      const workload = fleet.workload(workloadId)
      return workload !== null && isInOneOf(rolledBackIn, workload)
    })
  }

  #open({ id, fleetConfigId }: StoredAutoApply): Promise<AutoApplyRun> {
    return this.#runs.open(id, async (known) => {
      const run = await loadRun(this.#parts, id, {
        former: known,
        sinceMs: this.#sinceMs ?? this.#parts.fleet.clock.heardMs(),
      })
      // The limit of failures depends on this count, and failures are judged before the first look.
      run.underCount = known?.underCount ?? (await this.#parts.fleetConfigs.under(fleetConfigId)).length
      if (known !== undefined) Object.assign(run, { leftOut: known.leftOut, lookedAt: known.lookedAt })
      return run
    })
  }

  /**
   * Push to as many as may be pushed to now: to newcomers of all first, then to their queues, each as many as any other.
   * What cannot be shared evenly goes to another one in each turn.
   */
  async #pushNext(ready: readonly Ready[], signal: AbortSignal): Promise<void> {
    const room = this.#room()
    if (room === 0 || ready.length === 0) return
    const begin = this.#turn++ % ready.length
    const turn = [...ready.slice(begin), ...ready.slice(0, begin)]
    const young: string[][] = []
    for (const { autoApply, run } of turn)
      young.push((await this.#safely(autoApply, () => listYoung(this.#parts, autoApply, run, room))) ?? [])
    const queued = turn.map(({ run }) => run.queue.length)
    const kept = Math.min(sum(queued), Math.ceil(room * QUEUE_SHARE))
    const toYoung = shareOut(room - kept, young.map(lengthOf))
    const toQueue = shareOut(room - sum(toYoung), queued)
    for (const [at, { autoApply, run }] of turn.entries()) {
      if (signal.aborted) return
      const newcomers = young[at]!.slice(0, toYoung[at])
      await this.#safely(autoApply, () => this.#pushTo(autoApply, run, { newcomers, more: toQueue[at]! }))
    }
  }

  /** Push a version to these newcomers, and to `more` of its queue. */
  async #pushTo(
    autoApply: AutoApplyInForce,
    run: AutoApplyRun,
    { newcomers, more }: { newcomers: readonly string[]; more: number },
  ): Promise<void> {
    const next = new Set(newcomers)
    while (next.size < newcomers.length + more && run.queue.length > 0) next.add(run.queue.shift()!)
    if (next.size === 0) return
    for (const id of newcomers) run.nextTryMs.set(id, this.#parts.fleet.clock.heardMs() + RETRY_MS)
    const count = await pushToSome(this.#parts, autoApply, run, [...next])
    const nowMs = this.#parts.fleet.clock.heardMs()
    this.#pushedMs.push(...Array.from({ length: count }, () => nowMs))
    if (count > 0) this.#changed(autoApply)
  }

  #room(): number {
    const sinceMs = this.#parts.fleet.clock.heardMs() - 1_000
    this.#pushedMs = this.#pushedMs.filter((ms) => ms > sinceMs)
    return Math.max(0, PUSHES_A_SECOND - this.#pushedMs.length)
  }

  async #findLapse(autoApply: StoredAutoApply, run: AutoApplyRun): Promise<AutoApplyHold | null> {
    const nowMs = this.#parts.fleet.clock.heardMs()
    if (nowMs < run.nextLapseLookMs) return null
    run.nextLapseLookMs = 0
    if (hasPolicyChanged(this.#parts, autoApply))
      return { gate: 'policy_changed', value: 1, limit: 0, workload_ids: [] }
    const gone = await listGone(this.#parts, { approvals: autoApply.approvals, reach: autoApply })
    if (gone.length > 0) {
      const approvers = gone.map(({ by }) => by)
      return { gate: 'approver_gone', value: approvers.length, limit: 0, workload_ids: [], approvers }
    }
    run.nextLapseLookMs = nowMs + LAPSE_LOOK_MS
    return null
  }

  async #findFailures(autoApply: StoredAutoApply, run: AutoApplyRun): Promise<AutoApplyHold | null> {
    if (!run.hasNews) return null
    const { db, clock } = this.#parts
    const found = await findFailureHalt(db, autoApply, { underCount: run.underCount, now: clock.now() })
    run.hasNews = found !== null
    return found
  }

  /** Stop a version from applying by itself, until an operator continues it. */
  async #halt(autoApply: StoredAutoApply, hold: AutoApplyHold): Promise<void> {
    const { db, clock } = this.#parts
    await db.change('auto-apply.move', null, async (tx) => {
      const move = { status: 'held' as const, hold }
      const moved = await moveAutoApply(tx, autoApply.id, ['active'], move, clock.now())
      if (moved === null) return { ok: false }
      await tx.record({
        action: 'auto_apply.hold',
        resource: 'fleet_config',
        resourceId: autoApply.fleetConfigId,
        detail: JSON.stringify({ auto_apply_id: autoApply.id, number: autoApply.number, hold }),
      })
      return { ok: true }
    })
    this.#changed(autoApply)
  }

  /** Once an hour: expire requests that nobody decided, and end what was stopped and nobody continued. */
  async #sweep(): Promise<void> {
    const { clock, db } = this.#parts
    if (clock.monotonicMs() < this.#nextSweepMs) return
    this.#nextSweepMs = clock.monotonicMs() + HOUR_MS
    const now = clock.now()
    // One after the other: a decision locks all of a fleet config in the order of ids, and would wait for the one while the
    // sweep waits for the other.
    const expired = await db.transaction('auto-apply.sweep', (tx) =>
      expireAutoApplyRequests(tx, daysBefore(now, WAITING_DAYS), now),
    )
    const swept = await db.change('auto-apply.sweep', null, async (tx) => {
      const ended = await endStoppedAutoApplies(tx, daysBefore(now, LEFT_STOPPED_DAYS), now)
      for (const { id, fleetConfigId, number } of ended)
        await tx.record({
          action: 'auto_apply.expire',
          resource: 'fleet_config',
          resourceId: fleetConfigId,
          detail: JSON.stringify({ auto_apply_id: id, number, idle_days: LEFT_STOPPED_DAYS }),
        })
      return { ok: true, ended }
    })
    const changed = [...expired, ...(swept.ok ? swept.ended : [])]
    if (changed.length === 0) return
    for (const autoApply of changed) this.#changed(autoApply)
    this.wake()
  }
}
