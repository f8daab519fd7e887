import type { Act, ActTransaction } from '../../audit/database.ts'
import type { AuditFailure } from '../../audit/delivery.ts'
import type { AuditActor } from '../../audit/event.ts'
import { abortPush } from '../../store/push-writes.ts'
import type { Push } from '../../store/pushes.ts'
import { type GateMeasures, insertRolloutMembers, type StoredRollout } from '../../store/rollouts.ts'
import { decideStage, type StageVerdict } from '../decide/rollout.ts'
import { awaitsPromotion } from '../decide/rollout-standing.ts'
import type { Assignments } from '../pushes/assignments.ts'
import type { CommitTurns } from '../pushes/commit-turns.ts'
import type { AskedUndoing, PushUndoing } from '../pushes/push-undoing.ts'
import { findRolloutRollback, type GoingBack } from '../pushes/rollback-search.ts'
import type { Rollout, StageHold, Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { waitsForAbsentees } from './absentees.ts'
import { DwellTimes } from './dwell-times.ts'
import { RolloutSteps } from './rollout-steps.ts'
import { noteUnsettled } from './stage-facts.ts'
import { chooseMembers, startStage, withStage } from './stage-members.ts'

/** Does the rest of an operator's decision, last in its transaction; false takes all of it back. */
type Also = (tx: ActTransaction) => Promise<boolean>

/** What became of an operator's decision about a rollout. */
export type RolloutOutcome =
  | { ok: true; rollout: StoredRollout }
  /** Something keeps the next stage from starting. */
  | { ok: false; code: 'rollout-held'; hold: StageHold }
  | { ok: false; code: 'rollout-not-found' | 'rollout-not-halted' | 'rollout-ended' | 'rollout-no-way-back' }
  /** A token asks for it, and what comes back was approved there by less than is asked now. */
  | { ok: false; code: 'approved-for-less' }

/** The names of the transactions of the steps that a rollout takes by itself. */
const STEPS = {
  converged: 'rollout.converge',
  advance: 'rollout.advance',
  complete: 'rollout.complete',
  halt: 'rollout.halt',
} as const

/** Moves staged rollouts on, halts them by their gates, and does what operators decide. */
export class RolloutEngine {
  readonly #parts: FleetParts
  readonly #turns: CommitTurns
  readonly #undoing: PushUndoing
  readonly #dwells: DwellTimes
  readonly #steps: RolloutSteps
  readonly #busy = new Set<Workload>()

  constructor(parts: FleetParts, assignments: Assignments, turns: CommitTurns, undoing: PushUndoing) {
    this.#parts = parts
    this.#turns = turns
    this.#undoing = undoing
    this.#dwells = new DwellTimes(parts)
    this.#steps = new RolloutSteps(parts, assignments, turns, this.#dwells)
  }

  /** What the gates of a workload's rollout measure now; null without a rollout that is running or halted. */
  measure(workload: Workload): GateMeasures | null {
    return this.#steps.measure(workload)
  }

  /** When the dwell of the running stage ends; null without a rollout that is running, and before its stage converged. */
  dwellEndsAt({ rollout }: Workload): Date | null {
    return rollout?.stored.status === 'running' ? this.#dwells.endsAt(rollout) : null
  }

  /** Stages whose dwell is timed, for the metrics. */
  get timedStages(): number {
    return this.#dwells.count
  }

  /** Each second: look at every rollout that runs. */
  tick(): void {
    for (const workload of this.#parts.state.rollingOut) {
      const { rollout } = workload
      if (rollout === null || workload.isDeleted) {
        this.#parts.state.rollingOut.delete(workload)
        continue
      }
      if (rollout.stored.status !== 'running') {
        delete rollout.unsettled
        delete rollout.dueSinceMs
      }
      if (rollout.stored.status !== 'running' || workload.hasStoppedOffers || this.#busy.has(workload))
        continue
      const nowMs = this.#parts.deps.clock.heardMs()
      if (nowMs < (rollout.hold?.untilMs ?? 0)) continue
      const facts = this.#steps.factsOf(workload, rollout)
      const verdict = decideStage(facts)
      const waits = this.#waitsForAbsentees(workload, rollout, verdict)
      const isStill = verdict.kind === 'wait' || verdict.kind === 'converged' || waits
      noteUnsettled(rollout, isStill ? facts : { openUids: [], startingUids: [] }, nowMs)
      if (verdict.kind === 'wait' || waits) continue
      this.#step(workload, rollout, verdict)
    }
  }

  /** Whether a stage that is due waits for absentees. What is held asks first whether it is so still. */
  #waitsForAbsentees(workload: Workload, rollout: Rollout, { kind }: StageVerdict): boolean {
    if (kind === 'advance' || kind === 'complete')
      return rollout.hold === undefined && waitsForAbsentees(this.#parts, workload, rollout)
    // Kept while it waits: a member that is not well now and then must not begin the wait anew.
    if (kind !== 'wait') delete rollout.dueSinceMs
    return false
  }

  #step(workload: Workload, rollout: Rollout, verdict: Exclude<StageVerdict, { kind: 'wait' }>): void {
    this.#busy.add(workload)
    void this.#turns
      .act(STEPS[verdict.kind], null, workload.id, async (act) => {
        const isRunning = workload.rollout === rollout && rollout.stored.status === 'running'
        if (!isRunning || workload.hasStoppedOffers) return { ok: true }
        if (verdict.kind === 'converged') await this.#steps.noteConverged(act, workload, rollout)
        else if (verdict.kind === 'advance') await this.#steps.advance(act, workload, rollout)
        else if (verdict.kind === 'complete') await this.#steps.complete(act, workload, rollout)
        else await this.#halt(act, workload, rollout, verdict)
        return { ok: true }
      })
      .catch((error) => {
        this.#parts.deps.log.warn(
          { err: error, workload_id: workload.id },
          'a rollout waits for the database',
        )
      })
      .finally(() => this.#busy.delete(workload))
  }

  /**
   * Halt a rollout. One of a campaign, or of a version that applies by itself, waits for nobody's decision about this
   * workload: it has failed, and its members go back, where there is something to go back to.
   */
  async #halt(
    act: Act,
    workload: Workload,
    rollout: Rollout,
    verdict: Extract<StageVerdict, { kind: 'halt' }>,
  ): Promise<void> {
    const { campaignId, autoApplyId } = rollout.followed.push
    const isOfMany = campaignId !== null || autoApplyId !== null
    if (isOfMany && (await this.#hasWayBack(workload, rollout, 'by-itself')))
      await this.#undoing.undoHaltedRollout(act, workload, this.#steps.haltOf(rollout, verdict))
    else await this.#steps.halt(act, workload, rollout, verdict)
  }

  /** Whether there is a config that the members of a rollout can go back to. */
  async #hasWayBack(workload: Workload, { followed }: Rollout, by: GoingBack): Promise<boolean> {
    const db = await this.#parts.deps.db.upToDate()
    const live = this.#parts.state.liveInstances(workload)
    const { hash } = followed.push
    return (await findRolloutRollback(db, this.#parts.deps, workload, live, hash, { by })) !== null
  }

  /** Do what an operator decided about an open rollout. */
  #decide(
    name: string,
    actor: AuditActor | null,
    workloadId: string,
    id: string,
    work: (act: Act, workload: Workload, rollout: Rollout) => Promise<RolloutOutcome>,
  ): Promise<RolloutOutcome | AuditFailure> {
    return this.#turns.act<RolloutOutcome>(name, actor, workloadId, async (act) => {
      const workload = this.#parts.state.workloads.get(workloadId)
      const rollout = workload?.rollout ?? null
      if (workload === undefined || rollout === null || rollout.stored.id !== id)
        return { ok: false, code: 'rollout-not-found' }
      return work(act, workload, rollout)
    })
  }

  /**
   * Go on after a halt: the instances that the halt named are waived, and do not count for the gates of this stage any
   * more. A canary that waits for it is promoted instead. Refused while something holds the rollout, unless the operator
   * breaks the glass: `breakGlass` then writes that, in the same transaction. For a stage inside a campaign nobody can:
   * its next stage would ask again, and what the campaign does is decided there.
   */
  continue(
    workloadId: string,
    id: string,
    actor: AuditActor,
    breakGlass: ((tx: ActTransaction, push: Push) => Promise<unknown>) | null = null,
  ): Promise<RolloutOutcome | AuditFailure> {
    return this.#decide('rollout.continue', actor, workloadId, id, async (act, workload, rollout) => {
      const { stored, followed } = rollout
      // A stage inside a campaign goes on by itself once what holds it is over.
      const isOfMany = followed.push.campaignId !== null || followed.push.autoApplyId !== null
      const isHeld = rollout.hold !== undefined && !isOfMany
      if (stored.status !== 'halted' && !awaitsPromotion(stored) && !isHeld)
        return { ok: false, code: 'rollout-not-halted' }
      let hold: StageHold | null = null
      const also = async (tx: ActTransaction) => {
        hold = await this.#steps.holdOf(tx, workload, rollout)
        if (hold !== null && (breakGlass === null || isOfMany)) return false
        if (hold !== null) await breakGlass!(tx, followed.push)
        await this.#steps.audit(tx, workload, stored, 'config.canary.promote')
        return true
      }
      const isDone =
        stored.status === 'halted'
          ? await this.#resume(act, workload, rollout, also)
          : await this.#goOn(act, workload, rollout, also)
      if (isDone) delete rollout.hold
      else if (hold !== null) return { ok: false, code: 'rollout-held', hold }
      return isDone ? { ok: true, rollout: rollout.stored } : { ok: false, code: 'rollout-ended' }
    })
  }

  /** Let a rollout go on that waits: a canary is promoted; of any other the next look asks what has held it. */
  #goOn(act: Act, workload: Workload, rollout: Rollout, also: Also): Promise<boolean> {
    if (awaitsPromotion(rollout.stored)) return this.#promote(act, workload, rollout, also)
    const asItIs = withStage(rollout.stored, this.#parts.deps.clock.now(), {})
    return this.#steps.addMembers(act, workload, rollout, [], asItIs, also)
  }

  /** Note that the canary is promoted: once its dwell is over, the next look starts the stage of the others. */
  #promote(act: Act, workload: Workload, rollout: Rollout, also: Also): Promise<boolean> {
    const now = this.#parts.deps.clock.now()
    const promoted = withStage(rollout.stored, now, { promotedAt: now.toISOString() })
    return this.#steps.addMembers(act, workload, rollout, [], promoted, also)
  }

  /** Go on after a halt. A stage that halted because no member was left, or none answered, gets other members. */
  async #resume(act: Act, workload: Workload, rollout: Rollout, also: Also): Promise<boolean> {
    const { stored } = rollout
    const now = this.#parts.deps.clock.now()
    const { stageIndex: stage, halt } = stored
    const waived = [...new Set([...stored.waived, ...(halt?.instanceUids ?? [])])]
    const isStalled = halt?.gate === 'no_member' || halt?.gate === 'no_answer'
    await this.#parts.deps.db.upToDate()
    const standing = { ...rollout, stored: { ...stored, waived } }
    // The instances of a canary were chosen by an operator: no others stand in for them.
    const hasStandIns = isStalled && stored.stages[stage]!.canary === undefined
    const added = hasStandIns ? chooseMembers(this.#parts, workload, standing, stage, now) : []
    const { startedAt, dwelledMs } = stored.progress[stage] ?? startStage(rollout, added, now)
    const change =
      added.length > 0
        ? { ...startStage(rollout, added, now), startedAt, dwelledMs: 0 }
        : { resumedAt: now.toISOString() }
    this.#dwells.begin(stored, dwelledMs)
    const resumed = withStage(stored, now, change)
    const next: StoredRollout = { ...resumed, status: 'running', halt: null, waived }
    return this.#steps.addMembers(act, workload, rollout, added, next, also)
  }

  /**
   * Close a rollout as it is: its members keep its config until the next push. The service does so by itself for null.
   */
  abort(workloadId: string, id: string, actor: AuditActor | null): Promise<RolloutOutcome | AuditFailure> {
    return this.#decide('rollout.abort', actor, workloadId, id, (...rollout) => this.#close(...rollout))
  }

  /**
   * Close a rollout for what keeps it from its next stage. That is asked anew, and stays so until the transaction ends:
   * what is remembered of it may be over. `also` says whether the rollout is given up for it; where it is not, or nothing
   * keeps it any more, it goes on.
   */
  giveUp(
    workloadId: string,
    id: string,
    also: (tx: ActTransaction, hold: StageHold) => Promise<boolean>,
  ): Promise<RolloutOutcome | AuditFailure> {
    return this.#decide('rollout.abort', null, workloadId, id, async (act, workload, rollout) => {
      let hold: StageHold | null | undefined
      const outcome = await this.#close(act, workload, rollout, async (tx) => {
        hold = await this.#steps.holdOf(tx, workload, rollout)
        return hold !== null && also(tx, hold)
      })
      if (!outcome.ok && hold !== undefined) this.#steps.noteHold(workload, rollout, hold)
      return outcome
    })
  }

  async #close(
    act: Act,
    workload: Workload,
    rollout: Rollout,
    also: Also = async () => true,
  ): Promise<RolloutOutcome> {
    const { stored, followed } = rollout
    if (stored.status === 'aborted') return { ok: false, code: 'rollout-ended' }
    const now = this.#parts.deps.clock.now()
    const closed = withStage(stored, now, this.#steps.measured(workload))
    const next: StoredRollout = { ...closed, status: 'aborted', endedAt: now }
    // Who joined in the last stage keeps the config, too.
    const joined = [...followed.targets.keys()].filter((uid) => !rollout.members.has(uid))
    const isDone = await this.#steps.write(act, workload, next, async (tx) => {
      await abortPush(tx, stored.pushId, now)
      await insertRolloutMembers(tx, stored.id, stored.stageIndex, joined)
      await this.#steps.audit(tx, workload, stored, 'config.canary.abort')
      return also(tx)
    })
    if (!isDone) return { ok: false, code: 'rollout-ended' }
    for (const uid of joined) rollout.members.set(uid, stored.stageIndex)
    followed.isSuperseded = true
    followed.push.phase = 'aborted'
    this.#steps.noteStored(workload, rollout, next)
    return { ok: true, rollout: next }
  }

  /**
   * Take the members back to the active config, in the operator's name. Refused where there is nothing to go back to:
   * the members would keep the config of a rollout that is shown as rolled back.
   */
  rollBack(
    workloadId: string,
    id: string,
    actor: AuditActor,
    asked: AskedUndoing = {},
  ): Promise<RolloutOutcome | AuditFailure> {
    return this.#decide('rollback.rollout', actor, workloadId, id, async (act, workload, rollout) => {
      if (rollout.stored.status === 'aborted') return { ok: false, code: 'rollout-ended' }
      if (!(await this.#hasWayBack(workload, rollout, 'person')))
        return { ok: false, code: 'rollout-no-way-back' }
      const undone = await this.#undoing.undoRollout(act, workload, actor, asked)
      if (!undone.ok) return undone
      const now = this.#parts.deps.clock.now()
      return {
        ok: true,
        rollout: { ...rollout.stored, status: 'rollback_started', updatedAt: now, endedAt: now },
      }
    })
  }
}
