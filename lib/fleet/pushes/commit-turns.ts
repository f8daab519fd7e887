import type { Act } from '../../audit/database.ts'
import type { AuditFailure } from '../../audit/delivery.ts'
import type { AuditActor } from '../../audit/event.ts'
import { KeyedMutex } from '../../keyed-mutex.ts'
import type { Db } from '../../store/db.ts'
import type { TargetState } from '../../store/push-targets.ts'
import { findPush } from '../../store/pushes.ts'
import { waitForWorkload } from '../../store/workloads.ts'
import { type LoadedAssignments, loadAssignments } from '../state/load-push.ts'
import type { FollowedPush, Workload } from '../state/model.ts'
import { startOffer, stopOffers } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import { assignmentOf, followedPushes } from '../state/state.ts'
import { adoptAssignments } from './adopt-assignments.ts'
import type { Assignments } from './assignments.ts'
import { tellRolledBack } from './rollback-notice.ts'

const RESYNC_MS = 1_000

/**
 * Lets only one change of a workload be committed at a time. Where it is not known whether a commit went through, the
 * next change waits until the database has been read, so that it is decided on what the database holds.
 */
export class CommitTurns {
  readonly #parts: FleetParts
  readonly #assignments: Assignments
  readonly #mutex = new KeyedMutex()
  /** Workloads with a commit that may or may not have gone through, until the database has been read. */
  readonly #inDoubt = new WeakSet<Workload>()

  constructor(parts: FleetParts, assignments: Assignments) {
    this.#parts = parts
    this.#assignments = assignments
  }

  /** Run work on a workload apart from its pushes, rollbacks and rollouts. */
  exclusively<T>(workloadId: string, work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(workloadId, async () => {
      await this.#settleDoubt(workloadId)
      return work()
    })
  }

  /**
   * Do something in an actor's name to a workload, apart from its pushes, rollbacks and rollouts. The outside audit
   * sink is told after the workload's turn has ended, so that a slow sink does not hold up the next change.
   */
  act<const T extends { ok: boolean }>(
    name: string,
    actor: AuditActor | null,
    workloadId: string,
    work: (act: Act) => Promise<T>,
  ): Promise<T | AuditFailure> {
    return this.#parts.deps.db.act(name, actor, (act) => this.exclusively(workloadId, () => work(act)))
  }

  /** The same for several workloads. Turns are taken in the order of their ids, so that two acts never deadlock. */
  actOnAll<const T extends { ok: boolean }>(
    name: string,
    actor: AuditActor | null,
    workloadIds: readonly string[],
    work: (act: Act) => Promise<T>,
  ): Promise<T | AuditFailure> {
    return this.#parts.deps.db.act(name, actor, (act) =>
      [...workloadIds].sort().reduceRight<() => Promise<T>>(
        (rest, workloadId) => () => this.exclusively(workloadId, rest),
        () => work(act),
      )(),
    )
  }

  /** Resolves when no change is under way or waits for its turn. */
  idle(): Promise<void> {
    return this.#mutex.idle()
  }

  /** It is not known whether a transaction was committed: read the database until it answers, and go on from that. */
  async resync(workload: Workload): Promise<void> {
    stopOffers(workload)
    this.#inDoubt.add(workload)
    await new Promise<void>((resolve) => void this.#parts.deps.timers.after(RESYNC_MS, resolve))
    try {
      await this.#mutex.run(workload.id, () => this.#settleDoubt(workload.id))
    } catch {
      void this.resync(workload)
    }
  }

  async #settleDoubt(workloadId: string): Promise<void> {
    const { deps, state } = this.#parts
    const workload = state.workloads.get(workloadId)
    if (workload === undefined || !this.#inDoubt.has(workload)) return
    // Written first, so that what is read includes what agents have said meanwhile.
    const db = await deps.db.upToDate()
    // Whatever changes a workload's assignments locks its row first: a commit that the server is still at has ended then.
    await waitForWorkload(db, workloadId)
    const { loaded, formers } = await db.snapshot('push.settle', async (db) => {
      const loaded = await loadAssignments(db, workloadId)
      return { loaded, formers: loaded === null ? [] : await readFormers(db, workload, loaded) }
    })
    this.#inDoubt.delete(workload)
    const known = workload.newestPush?.pushId
    if (loaded !== null) this.#adopt(workload, loaded, formers)
    this.#assignments.confirm(workload)
    const newest = workload.newestPush
    if (newest === null || newest.pushId === known) return
    const failed = formers.find(({ push }) => push.pushId === newest.rollbackOfPushId)
    if (newest.kind === 'auto-rollback') state.pushStats.failed++
    tellRolledBack(deps.notices, newest, failed?.push.error ?? null)
  }

  /** Take over a workload's assignments as the database holds them; `formers` are the pushes that ended by that. */
  #adopt(workload: Workload, loaded: LoadedAssignments, formers: readonly FollowedPush[]): void {
    const { deps, state } = this.#parts
    const nowMs = deps.clock.heardMs()
    const storedUids = new Map(
      followedPushes(loaded).map(({ push, targets }) => [push.pushId, new Set(targets.keys())]),
    )
    adoptAssignments(workload, loaded, nowMs)
    for (const former of formers) this.#assignments.close(workload, former)
    if (workload.rollout !== null) state.rollingOut.add(workload)
    for (const instance of workload.instances) {
      const followed = assignmentOf(instance)
      const target = followed?.targets.get(instance.uid)
      if (followed === null || target === undefined || instance.offer?.pushId === followed.push.pushId)
        continue
      // One that memory has besides is stored before it is offered: it was counted meanwhile, after a commit in doubt.
      if (storedUids.get(followed.push.pushId)?.has(instance.uid) && OFFERED_BY_COMMIT.includes(target.state))
        startOffer(instance, followed.push, { isCommitted: true, nowMs })
    }
    this.#assignments.moved(workload)
    if (workload.newestPush !== null) deps.notices.pushChanged(workload, workload.newestPush)
    deps.notices.workloadChanged(workload)
  }
}

/** States in which a stored target has an offer that may go out. */
const OFFERED_BY_COMMIT: readonly TargetState[] = ['offered', 'applying', 'cannot_report']

/** The pushes that memory follows and that by the database are assigned no more, with their status from there. */
async function readFormers(db: Db, workload: Workload, loaded: LoadedAssignments): Promise<FollowedPush[]> {
  const assigned = new Set(followedPushes(loaded).map(({ push }) => push.pushId))
  const formers = followedPushes(workload).filter(({ push }) => !assigned.has(push.pushId))
  for (const former of formers) {
    const push = await findPush(db, former.push.pushId)
    // Status and error come from the database; the counts in memory are newer.
    if (push !== null) former.push = { ...push, counts: former.push.counts }
  }
  return formers
}
