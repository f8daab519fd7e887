import type { ActTransaction } from '../../audit/database.ts'
import type { AuditFailure } from '../../audit/delivery.ts'
import type { AuditActor } from '../../audit/event.ts'
import type { UsedComponent } from '../../model/components.ts'
import { storeContents } from '../../store/config-contents.ts'
import type { Db } from '../../store/db.ts'
import { listPushes, type Push } from '../../store/pushes.ts'
import { liftQuarantines } from '../../store/quarantines.ts'
import type { StagePlan } from '../../store/rollouts.ts'
import { lockWorkloadRows, type StoredWorkload } from '../../store/workloads.ts'
import type { Obstructed, PushExemptions, PushPath } from '../decide/push-obstacle.ts'
import type { Workload } from '../state/model.ts'
import { stopOffers } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import type { Assignments } from './assignments.ts'
import type { CommitTurns } from './commit-turns.ts'
import { findObstacle } from './find-obstacle.ts'
import { hasCapableInstance } from './push-plan.ts'
import { insertPushRows, kindOf, lockAssigned, type NewPush, type PushDraft, Veto } from './push-rows.ts'

/** A config to be made a workload's assignment. */
export interface PushRequest extends PushExemptions {
  workloadId: string
  hash: string
  body: string
  used: readonly UsedComponent[]
  /** The way by which it begins, which says what can keep it. */
  path: Exclude<PushPath, 'auto-rollback' | 'rollout-rollback'>
  actor: AuditActor
  approvalId: string | null
  rollbackTargetKind: string | null
  /** The campaign that makes it, or the version that applies by itself; absent for neither. */
  campaignId?: string
  autoApplyId?: string
  /** Absent for a push to everyone at once. */
  stages?: readonly StagePlan[] | null
}

/** What became of a push request. */
export type PushOutcome<Refused extends { ok: false; code: string } = never> =
  | { ok: true; push: Push }
  | { ok: false; code: 'workload-not-found' | 'workload-not-connected' }
  | Obstructed
  | Refused
  | AuditFailure

/** No instance can be in the first stage of a push. */
export type StageEmpty = { ok: false; code: 'stage-empty' }

/** Pushes a config in an actor's name: commits the push and makes it what the workload is assigned. */
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
   * Make a config the workload's assignment and offer it, unless something keeps a push of its path. A push in stages is
   * refused as `stage-empty` where no instance can be in the first stage. `alongside` runs last in the same
   * transaction: it may write its own rows and the audit record, or take everything back by answering what is not ok.
   */
  push<Refused extends { ok: false; code: string } = never>(
    request: PushRequest & { stages?: null },
    alongside: (tx: ActTransaction, push: Push) => Promise<{ ok: true } | Refused>,
  ): Promise<PushOutcome<Refused>>
  push<Refused extends { ok: false; code: string } = never>(
    request: PushRequest,
    alongside: (tx: ActTransaction, push: Push) => Promise<{ ok: true } | Refused>,
  ): Promise<PushOutcome<Refused | StageEmpty>>
  push<Refused extends { ok: false; code: string } = never>(
    request: PushRequest,
    alongside: (tx: ActTransaction, push: Push) => Promise<{ ok: true } | Refused>,
  ): Promise<PushOutcome<Refused | StageEmpty>> {
    const name = kindOf(request.path) === 'rollback' ? 'rollback' : 'push'
    return this.#turns.act<PushOutcome<Refused | StageEmpty>>(
      name,
      request.actor,
      request.workloadId,
      async (act) => {
        const workload = this.#parts.state.workloads.get(request.workloadId)
        if (workload === undefined) return { ok: false, code: 'workload-not-found' }
        if (!hasCapableInstance(workload)) return { ok: false, code: 'workload-not-connected' }
        try {
          const outcome = await act.commit(async (tx) => {
            // The commit has first written what agents reported: a push that they had just applied is stored as
            // applied.
            stopOffers(workload)
            const [row] = await this.#lock(tx, [workload])
            const closed = await this.#ask(tx, [{ workload, request }])
            if (closed !== null) return closed
            const [made] = (await this.#insert(tx, [{ workload, row: row!, request }])) as [NewPush]
            const verdict = await alongside(tx, made.push)
            return verdict.ok ? { ok: true as const, made } : verdict
          })
          if (!outcome.ok) {
            this.#assignments.confirm(workload)
            return outcome
          }
          this.#assignments.apply(workload, outcome.made, Buffer.from(request.body), request.used)
          return { ok: true, push: outcome.made.push }
        } catch (error) {
          const veto = this.#takeBack(workload, error)
          if (veto === null) throw error
          return veto
        }
      },
    )
  }

  /**
   * Push to several workloads in one transaction: all of it stands, or nothing does. `not-together` where one of
   * them is gone or has no capable instance; a caller that wants to know which one pushes to each alone.
   */
  pushTogether<Refused extends { ok: false; code: string } = never>(
    name: string,
    actor: AuditActor,
    requests: readonly Omit<PushRequest, 'actor' | 'stages'>[],
    alongside: (tx: ActTransaction, pushes: readonly Push[]) => Promise<{ ok: true } | Refused>,
  ): Promise<
    | { ok: true; pushes: readonly Push[] }
    | { ok: false; code: 'not-together' }
    | Obstructed
    | Refused
    | AuditFailure
  > {
    const inOrder = [...requests].sort((a, b) => (a.workloadId < b.workloadId ? -1 : 1))
    const ids = inOrder.map(({ workloadId }) => workloadId)
    return this.#turns.actOnAll(name, actor, ids, async (act) => {
      const each = inOrder.flatMap((request) => {
        const workload = this.#parts.state.workloads.get(request.workloadId)
        return workload !== undefined && hasCapableInstance(workload)
          ? { workload, request: { ...request, actor } }
          : []
      })
      if (each.length < inOrder.length) return { ok: false as const, code: 'not-together' as const }
      try {
        const outcome = await act.commit(async (tx) => {
          for (const { workload } of each) stopOffers(workload)
          const rows = await this.#lock(
            tx,
            each.map(({ workload }) => workload),
          )
          const closed = await this.#ask(tx, each)
          if (closed !== null) return closed
          const made = await this.#insert(
            tx,
            each.map((one, at) => ({ ...one, row: rows[at]! })),
          )
          const verdict = await alongside(
            tx,
            made.map(({ push }) => push),
          )
          return verdict.ok ? { ok: true as const, made } : verdict
        })
        if (!outcome.ok) {
          for (const { workload } of each) this.#assignments.confirm(workload)
          return outcome
        }
        each.forEach(({ workload, request }, at) => {
          this.#assignments.apply(workload, outcome.made[at]!, Buffer.from(request.body), request.used)
        })
        return { ok: true as const, pushes: outcome.made.map(({ push }) => push) }
      } catch (error) {
        const vetoed = each.map(({ workload }) => this.#takeBack(workload, error))
        if (vetoed.every((veto) => veto !== null))
          return { ok: false as const, code: 'not-together' as const }
        throw error
      }
    })
  }

  /**
   * The rows of these workloads, in this order; locked in that of their ids until the transaction ends, as are the
   * pushes they are assigned.
   */
  async #lock(tx: Db, workloads: readonly Workload[]): Promise<StoredWorkload[]> {
    const found = new Map(
      (
        await lockWorkloadRows(
          tx,
          workloads.map(({ id }) => id),
        )
      ).map((row) => [row.id, row]),
    )
    const each = workloads.map((workload) => {
      const row = found.get(workload.id)
      if (row === undefined) throw new Veto('workload-not-found')
      return { workload, row }
    })
    await lockAssigned(tx, each)
    return each.map(({ row }) => row)
  }

  /** What keeps these pushes from beginning; asked with the rows locked, so that no other push begins. */
  #ask(tx: Db, each: readonly { workload: Workload; request: PushRequest }[]): Promise<Obstructed | null> {
    const wishes = each.map(({ workload, request }) => ({ ...request, workload }))
    return findObstacle(tx, this.#parts.deps.clock.now(), wishes)
  }

  /** Write pushes to workloads whose rows are locked, each of another one. */
  async #insert(
    tx: ActTransaction,
    each: readonly { workload: Workload; row: StoredWorkload; request: PushRequest }[],
  ): Promise<NewPush[]> {
    const contents = each.map(({ request: { hash, body, used } }) => ({ hash, body, components: used }))
    await storeContents(tx, contents, this.#parts.deps.clock.now())
    const lifted = await liftQuarantines(
      tx,
      each.map(({ request: { workloadId, hash } }) => ({ workloadId, hash })),
    )
    const drafts: PushDraft[] = []
    for (const { workload, row, request } of each) {
      const isBack = kindOf(request.path) === 'rollback'
      const content = {
        ...request,
        pushedBy: request.actor.email,
        pushedById: request.actor.userId,
        stages: request.stages ?? null,
        scope: null,
        rollbackOfPushId: isBack ? await findTakenBack(tx, workload.id, request.hash) : null,
        failedHash: null,
        failedError: null,
      }
      const live = this.#parts.state.liveInstances(workload)
      drafts.push({ workload, row, live, content, lifted: lifted.get(workload.id)! })
    }
    return insertPushRows(tx, this.#parts.deps, drafts)
  }

  /** What a push that threw is refused for; null for what is no refusal. */
  #takeBack(workload: Workload, error: unknown): { ok: false; code: Veto['code'] } | null {
    if (error instanceof Veto) {
      this.#assignments.confirm(workload)
      return { ok: false, code: error.code }
    }
    // The commit may have gone through, whatever failed: nothing is offered until the database has been read.
    void this.#turns.resync(workload)
    return null
  }
}

/**
 * The push that a rollback to a hash takes back: the workload's newest; null where that pushed the same hash. Read from
 * the database: after a commit that got no answer, memory may not know the newest push yet.
 */
async function findTakenBack(tx: Db, workloadId: string, hash: string): Promise<string | null> {
  const [newest] = await listPushes(tx, workloadId, { beforeSeq: null, limit: 1 })
  return newest === undefined || newest.hash === hash ? null : newest.pushId
}
