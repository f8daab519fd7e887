import type { ActTransaction } from '../../audit/database.ts'
import type { AuditFailure } from '../../audit/delivery.ts'
import type { AuditActor } from '../../audit/event.ts'
import { listKnownAgents } from '../../store/agents.ts'
import { type Alert, listOpenAlertsOf, resolveAlertsOfWorkloads } from '../../store/alerts.ts'
import type { Db } from '../../store/db.ts'
import { archiveIfDisconnected, deleteWorkload } from '../../store/workloads.ts'
import type { CommitTurns } from '../pushes/commit-turns.ts'
import { dropJoiner } from '../state/drop-joiner.ts'
import { endForgotten } from '../state/end-forgotten.ts'
import type { Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { knownPushes } from '../state/state.ts'

type ArchiveOutcome =
  | { ok: true }
  | { ok: false; code: 'workload-not-found' | 'workload-not-disconnected' }
  | AuditFailure

/** Takes workloads out of the inventory, with the alerts that are open about them. */
export class WorkloadLeaving {
  readonly #parts: FleetParts
  readonly #turns: CommitTurns
  /** Agents that were away as the janitor forgot them, with a commit that got no answer. */
  readonly #doubted = new Set<string>()

  constructor(parts: FleetParts, turns: CommitTurns) {
    this.#parts = parts
    this.#turns = turns
  }

  /** Archive a disconnected workload, which takes it out of the default inventory; twice changes nothing. */
  archive(
    id: string,
    actor: AuditActor | null,
    alongside: (tx: ActTransaction) => Promise<void>,
  ): Promise<ArchiveOutcome> {
    return this.#turns.act<ArchiveOutcome>('workload.archive', actor, id, async (act) => {
      const { deps, state } = this.#parts
      const workload = state.workloads.get(id)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      if (workload.status !== 'disconnected') return { ok: false, code: 'workload-not-disconnected' }
      if (workload.archivedAt !== null) return { ok: true }
      const now = deps.clock.now()
      const outcome = await act.commit(async (tx) => {
        if (!(await archiveIfDisconnected(tx, id, now)))
          return { ok: false, code: 'workload-not-disconnected' }
        const resolved = await resolveAlertsOfWorkloads(tx, [id], now)
        await alongside(tx)
        return isAbsent(workload) ? { ok: true, resolved } : { ok: false, code: 'workload-not-disconnected' }
      })
      if (!outcome.ok) return outcome
      // An instance that came between the last look and the commit's answer came to a workload that is archived in the
      // database; the workload's next write takes it out of the archive there.
      if (isAbsent(workload)) workload.archivedAt = now
      deps.notices.workloadChanged(workload)
      deps.notices.alertsResolved(outcome.resolved)
      return { ok: true }
    })
  }

  /** Remove a workload by `isRemoved`, unless an instance comes meanwhile. Returns whether it is gone. */
  async discard(id: string, isRemoved: (tx: Db) => Promise<boolean>): Promise<boolean> {
    const { ok } = await this.#turns.act('workload.discard', null, id, async (act) => {
      const workload = this.#parts.state.workloads.get(id)
      if (workload === undefined || !isAbsent(workload)) return { ok: false }
      const outcome = await act.commit(async (tx) => {
        const open = await listOpenAlertsOf(tx, id)
        return { ok: (await isRemoved(tx)) && isAbsent(workload), open }
      })
      if (outcome.ok) this.#gone(workload, outcome.open)
      return outcome
    })
    return ok
  }

  /** Remove a workload. Its live instances are asked for their full state and register as new. */
  remove(
    id: string,
    actor: AuditActor | null,
    alongside: (tx: ActTransaction) => Promise<void>,
  ): Promise<{ ok: true } | { ok: false; code: 'workload-not-found' } | AuditFailure> {
    return this.#turns.act('workload.delete', actor, id, async (act) => {
      const { state } = this.#parts
      const workload = state.workloads.get(id)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      const { open } = await act.commit(async (tx) => {
        const open = await listOpenAlertsOf(tx, id)
        await deleteWorkload(tx, id)
        await alongside(tx)
        return { ok: true, open }
      })
      this.#gone(workload, open)
      state.forgetHomesOf(id)
      return { ok: true }
    })
  }

  /** A workload was deleted from the database: drop it from memory, and tell that its alerts are over. */
  #gone(workload: Workload, open: readonly Alert[]): void {
    const { deps, tell } = this.#parts
    const resolvedAt = deps.clock.now()
    tell({ kind: 'workload-gone', workload })
    deps.notices.alertsResolved(open.map((alert) => ({ ...alert, resolvedAt })))
  }

  /** The deletion of these agents got no answer: `settleDoubted` asks the database which of them are gone. */
  doubtAgents(uids: readonly string[]): void {
    for (const uid of uids) this.#doubted.add(uid)
  }

  /** Forget those of the doubted agents that the database does not know any more. Throws while it is away. */
  async settleDoubted(): Promise<void> {
    const { deps, state } = this.#parts
    const doubted = [...this.#doubted]
    if (doubted.length === 0) return
    const known = await listKnownAgents(await deps.db.upToDate(), doubted)
    for (const uid of doubted) {
      this.#doubted.delete(uid)
      const workloadId = state.homes.get(uid)
      if (workloadId !== undefined && !known.has(uid)) this.forgetAgents([{ instanceUid: uid, workloadId }])
    }
  }

  /** Forget these agents where they are away: their workloads, poll rhythms and quarantines of their own. */
  forgetAgents(agents: readonly { instanceUid: string; workloadId: string }[]): void {
    const { state } = this.#parts
    for (const { instanceUid: uid, workloadId } of agents) {
      if (state.instances.has(uid)) continue
      if (state.homes.get(uid) === workloadId) state.homes.delete(uid)
      state.knownAtStart.delete(uid)
      state.forgetRhythm(uid)
      state.unhealthyStored.delete(uid)
      state.altered.delete(uid)
      const workload = state.workloads.get(workloadId)
      if (workload === undefined) continue
      for (const [hash, uids] of workload.quarantinedInstances) {
        uids.delete(uid)
        if (uids.size === 0) workload.quarantinedInstances.delete(hash)
      }
      for (const followed of knownPushes(workload)) {
        dropJoiner(this.#parts, followed, uid)
        endForgotten(this.#parts, followed, followed.targets.get(uid))
      }
    }
  }
}

/** Has the workload no live instance? Asked again just before a commit that must not hit a live one. */
const isAbsent = (workload: Workload): boolean => workload.live.count === 0
