import type { Db } from '../../store/db.ts'
import { abortPush } from '../../store/pushes.ts'
import type { GateMeasures, StoredRollout } from '../../store/rollouts.ts'
import { decideStage, type StageVerdict } from '../decide/rollout.ts'
import { awaitsPromotion } from '../decide/rollout-hold.ts'
import type { Assignments } from '../pushes/assignments.ts'
import type { CommitTurns } from '../pushes/commit-turns.ts'
import type { PushUndoing } from '../pushes/push-undoing.ts'
import type { Rollout, Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { DwellTimes } from './dwell-times.ts'
import { type RolloutActor, RolloutSteps } from './rollout-steps.ts'
import { chooseMembers, startStage, withStage } from './stage-members.ts'

export type RolloutOutcome =
  | { ok: true; rollout: StoredRollout }
  | { ok: false; code: 'rollout-not-found' | 'rollout-not-halted' | 'rollout-ended' }

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

  /** What the gates of a workload's open rollout come to now; null when none runs or is halted. */
  measure(workload: Workload): GateMeasures | null {
    return this.#steps.measure(workload)
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
      if (rollout.stored.status !== 'running' || workload.isFrozen || this.#busy.has(workload)) continue
      const verdict = decideStage(this.#steps.factsOf(workload, rollout))
      if (verdict.kind !== 'wait') this.#act(workload, rollout, verdict)
    }
  }

  #act(workload: Workload, rollout: Rollout, verdict: Exclude<StageVerdict, { kind: 'wait' }>): void {
    this.#busy.add(workload)
    void this.#turns
      .exclusively(workload.id, async () => {
        if (workload.rollout !== rollout || rollout.stored.status !== 'running' || workload.isFrozen) return
        if (verdict.kind === 'converged') await this.#steps.noteConverged(workload, rollout)
        else if (verdict.kind === 'advance') await this.#steps.advance(workload, rollout)
        else if (verdict.kind === 'complete') await this.#steps.complete(workload, rollout)
        else await this.#steps.halt(workload, rollout, verdict)
      })
      .catch((error) => {
        this.#parts.deps.log.warn(
          { err: error, workload_id: workload.id },
          'a rollout waits for the database',
        )
      })
      .finally(() => this.#busy.delete(workload))
  }

  #find(
    workloadId: string,
    id: string,
    act: (workload: Workload, rollout: Rollout) => Promise<RolloutOutcome>,
  ): Promise<RolloutOutcome> {
    return this.#turns.exclusively(workloadId, async () => {
      const workload = this.#parts.state.workloads.get(workloadId)
      const rollout = workload?.rollout ?? null
      if (workload === undefined || rollout === null || rollout.stored.id !== id)
        return { ok: false, code: 'rollout-not-found' }
      return act(workload, rollout)
    })
  }

  /**
   * Go on after a halt: the instances that were named do not count for this stage any more. One that waits to be
   * promoted goes on to the others.
   */
  continue(workloadId: string, id: string, actor: RolloutActor): Promise<RolloutOutcome> {
    return this.#find(workloadId, id, async (workload, rollout) => {
      const { stored } = rollout
      if (stored.status !== 'halted' && !awaitsPromotion(stored))
        return { ok: false, code: 'rollout-not-halted' }
      const audit = (tx: Db) => this.#steps.audit(tx, workload, stored, 'config.canary.promote', actor)
      const isDone =
        stored.status === 'halted'
          ? await this.#resume(workload, rollout, audit)
          : await this.#promote(workload, rollout, audit)
      return isDone ? { ok: true, rollout: rollout.stored } : { ok: false, code: 'rollout-ended' }
    })
  }

  /** The chosen instances have shown that they can run it: the others follow. */
  #promote(workload: Workload, rollout: Rollout, audit: (tx: Db) => Promise<void>): Promise<boolean> {
    const now = this.#parts.deps.clock.now()
    const promoted = withStage(rollout.stored, now, { promotedAt: now.toISOString() })
    return this.#steps.addMembers('rollout.promote', workload, rollout, [], promoted, audit)
  }

  /** A stage that nobody was left in, or that nobody answered in, goes on with others in their place. */
  async #resume(workload: Workload, rollout: Rollout, audit: (tx: Db) => Promise<void>): Promise<boolean> {
    const { stored } = rollout
    const now = this.#parts.deps.clock.now()
    const { stageIndex: stage, halt } = stored
    const waived = [...new Set([...stored.waived, ...(halt?.instanceUids ?? [])])]
    const isStalled = halt?.gate === 'no_member' || halt?.gate === 'no_answer'
    await this.#parts.writer.flush()
    const standing = { ...rollout, stored: { ...stored, waived } }
    // Whom an operator chose one by one, nobody else stands in for.
    const hasStandIns = isStalled && stored.stages[stage]!.canary === undefined
    const added = hasStandIns ? chooseMembers(this.#parts, workload, standing, stage, now) : []
    const { startedAt } = stored.progress[stage] ?? { startedAt: now.toISOString() }
    const change =
      added.length > 0
        ? { ...startStage(rollout, added, now), startedAt, dwelledMs: 0 }
        : { resumedAt: now.toISOString() }
    this.#dwells.forget(stored)
    const resumed = withStage(stored, now, change)
    const next: StoredRollout = { ...resumed, status: 'running', halt: null, waived }
    return this.#steps.addMembers('rollout.resume', workload, rollout, added, next, audit)
  }

  /** Close a rollout as it is: its members keep its config until the next push. */
  abort(workloadId: string, id: string, actor: RolloutActor): Promise<RolloutOutcome> {
    return this.#find(workloadId, id, async (workload, rollout) => {
      const { stored, followed } = rollout
      if (stored.status === 'aborted') return { ok: false, code: 'rollout-ended' }
      const now = this.#parts.deps.clock.now()
      const closed = withStage(stored, now, this.#steps.measured(workload))
      const next: StoredRollout = { ...closed, status: 'aborted', endedAt: now }
      const isDone = await this.#steps.write('rollout.abort', workload, next, async (tx) => {
        await abortPush(tx, stored.pushId, now)
        await this.#steps.audit(tx, workload, stored, 'config.canary.abort', actor)
      })
      if (!isDone) return { ok: false, code: 'rollout-ended' }
      followed.isSuperseded = true
      followed.push.phase = 'aborted'
      this.#steps.settle(workload, rollout, next)
      return { ok: true, rollout: next }
    })
  }

  /** Take the members back to the active config, in the operator's name. */
  rollBack(workloadId: string, id: string, actor: RolloutActor): Promise<RolloutOutcome> {
    return this.#find(workloadId, id, async (workload, rollout) => {
      if (rollout.stored.status === 'aborted') return { ok: false, code: 'rollout-ended' }
      await this.#undoing.undoRollout(workload, actor)
      const now = this.#parts.deps.clock.now()
      return {
        ok: true,
        rollout: { ...rollout.stored, status: 'rollback_started', updatedAt: now, endedAt: now },
      }
    })
  }
}
