import type { UsedComponent } from '../../model/components.ts'
import { storeContent } from '../../store/config-contents.ts'
import { DatabaseUnavailable, type Db } from '../../store/db.ts'
import { listPushes, type Push } from '../../store/pushes.ts'
import { liftQuarantines } from '../../store/quarantines.ts'
import type { StagePlan } from '../../store/rollouts.ts'
import { lockWorkload } from '../../store/workloads.ts'
import type { Workload } from '../state/model.ts'
import { freezeOffers } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import type { Assignments } from './assignments.ts'
import type { CommitTurns } from './commit-turns.ts'
import { hasCapableInstance } from './push-plan.ts'
import { insertPushRows, type NewPush, Veto } from './push-rows.ts'

/** A config to be made a workload's assignment. */
export interface PushRequest {
  workloadId: string
  hash: string
  body: string
  used: readonly UsedComponent[]
  kind: 'approval' | 'rollback'
  pushedBy: string
  approvalId: string | null
  rollbackTargetKind: string | null
  /** Absent for a push to everyone at once. */
  stages?: readonly StagePlan[] | null
}

export type PushOutcome<Code extends string = never> =
  | { ok: true; push: Push }
  | { ok: false; code: 'workload-not-found' | 'workload-not-connected' | Code }

/** Pushes a config in an operator's name: commits it, and makes it what a workload is assigned. */
export class PushEngine {
  readonly #parts: FleetParts
  readonly #assignments: Assignments
  readonly #turns: CommitTurns

  constructor(parts: FleetParts, assignments: Assignments, turns: CommitTurns) {
    this.#parts = parts
    this.#assignments = assignments
    this.#turns = turns
  }

  /**
   * Make a config the workload's assignment and offer it; with stages of which the first has nobody, the code is
   * `stage-empty`. `alongside` runs in the same transaction, last: it
   * may write its own rows and the audit entry, or take everything back by answering a code.
   */
  push<Code extends string>(
    request: PushRequest,
    alongside: (tx: Db, push: Push) => Promise<{ ok: true } | { ok: false; code: Code }>,
  ): Promise<PushOutcome<Code>> {
    return this.#turns.exclusively(request.workloadId, async () => {
      const workload = this.#parts.state.workloads.get(request.workloadId)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      if (!hasCapableInstance(workload)) return { ok: false, code: 'workload-not-connected' }
      // A workload of a moment ago may have no row yet to lock, and a push that was applied just now must not be
      // superseded as pending: what waits to be written goes first.
      await this.#parts.writer.flush()
      freezeOffers(workload)
      try {
        const name = request.kind === 'rollback' ? 'rollback' : 'push'
        const made = await this.#parts.deps.db.transaction(name, async (tx) => {
          const made = await this.#insert(tx, workload, request)
          const verdict = await alongside(tx, made.push)
          if (!verdict.ok) throw new Veto(verdict.code)
          return made
        })
        this.#assignments.apply(workload, made, Buffer.from(request.body), request.used)
        return { ok: true, push: made.push }
      } catch (error) {
        return this.#takeBack(workload, error)
      }
    })
  }

  async #insert(tx: Db, workload: Workload, request: PushRequest): Promise<NewPush> {
    await this.#parts.deps.checkEpoch(tx)
    const row = await lockWorkload(tx, workload.id)
    if (row === null) throw new Veto('workload-not-found')
    const content = { hash: request.hash, body: request.body, components: request.used }
    await storeContent(tx, content, this.#parts.deps.clock.now())
    const lifted = await liftQuarantines(tx, workload.id, request.hash)
    const rollbackOfPushId =
      request.kind === 'rollback' ? await findTakenBack(tx, workload.id, request.hash) : null
    return insertPushRows(
      tx,
      this.#parts.deps,
      workload,
      row,
      this.#parts.state.liveInstances(workload),
      { ...request, stages: request.stages ?? null, scope: null, rollbackOfPushId, failedHash: null },
      lifted,
    )
  }

  #takeBack<Code extends string>(workload: Workload, error: unknown): PushOutcome<Code> {
    if (error instanceof DatabaseUnavailable) {
      // The commit may have gone through: nothing is offered until the database says.
      void this.#turns.resync(workload)
      throw error
    }
    this.#assignments.settle(workload)
    if (error instanceof Veto) return { ok: false, code: error.code as Code }
    throw error
  }
}

/**
 * The push that an operator's rollback to a hash takes back; null where it only repeats the newest one. Asked of
 * the database: after a commit of unknown fate, memory may not know the newest push yet.
 */
async function findTakenBack(tx: Db, workloadId: string, hash: string): Promise<string | null> {
  const [newest] = await listPushes(tx, workloadId, { beforeSeq: null, limit: 1 })
  return newest === undefined || newest.hash === hash ? null : newest.pushId
}
