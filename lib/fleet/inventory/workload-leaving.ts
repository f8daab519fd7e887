import { type Alert, listOpenAlertsOf, resolveAlertsOfWorkloads } from '../../store/alerts.ts'
import type { Db } from '../../store/db.ts'
import { archiveIfDisconnected, deleteWorkload } from '../../store/workloads.ts'
import type { CommitTurns } from '../pushes/commit-turns.ts'
import { removeJoiner } from '../state/followed-push.ts'
import type { Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { followedPushes } from '../state/state.ts'

/** Thrown inside a transaction that is to leave nothing behind. */
class TakenBack extends Error {}

/** Takes workloads out of the inventory, with the alerts that are open about them. */
export class WorkloadLeaving {
  readonly #parts: FleetParts
  readonly #turns: CommitTurns

  constructor(parts: FleetParts, turns: CommitTurns) {
    this.#parts = parts
    this.#turns = turns
  }

  /** Put a disconnected workload out of the default inventory; again changes nothing. */
  archive(
    id: string,
    alongside: (tx: Db) => Promise<void>,
  ): Promise<{ ok: true } | { ok: false; code: 'workload-not-found' | 'workload-not-disconnected' }> {
    return this.#turns.exclusively(id, async () => {
      const { deps, state, writer } = this.#parts
      const workload = state.workloads.get(id)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      if (workload.status !== 'disconnected') return { ok: false, code: 'workload-not-disconnected' }
      if (workload.archivedAt !== null) return { ok: true }
      await writer.flush()
      const now = deps.clock.now()
      let resolved: Alert[] = []
      const isDone = await this.#inTransaction(workload, async (tx) => {
        if (!(await archiveIfDisconnected(tx, id, now))) return false
        resolved = await resolveAlertsOfWorkloads(tx, [id], now)
        await alongside(tx)
        return true
      })
      if (!isDone) return { ok: false, code: 'workload-not-disconnected' }
      // Whoever came between the last look and the commit's answer came to an archived workload, and its next write
      // takes it out of the archive.
      if (workload.live.count === 0) workload.archivedAt = now
      deps.notices.workloadChanged(workload)
      deps.notices.alertsResolved(resolved)
      return { ok: true }
    })
  }

  /** Remove a workload whose time is over, where `isRemoved` did so and nobody came meanwhile; whether it is gone. */
  discard(id: string, isRemoved: (tx: Db) => Promise<boolean>): Promise<boolean> {
    return this.#turns.exclusively(id, async () => {
      const workload = this.#parts.state.workloads.get(id)
      if (workload === undefined || workload.live.count > 0) return false
      await this.#parts.writer.flush()
      let open: Alert[] = []
      const isGone = await this.#inTransaction(workload, async (tx) => {
        open = await listOpenAlertsOf(tx, id)
        return isRemoved(tx)
      })
      if (isGone) this.#gone(workload, open)
      return isGone
    })
  }

  /** Remove a workload. Its live instances are asked for their full state and register as new. */
  remove(
    id: string,
    alongside: (tx: Db) => Promise<void>,
  ): Promise<{ ok: true } | { ok: false; code: 'workload-not-found' }> {
    return this.#turns.exclusively(id, async () => {
      const { deps, state, writer } = this.#parts
      const workload = state.workloads.get(id)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      await writer.flush()
      const open = await deps.db.transaction('workload.delete', async (tx) => {
        await deps.checkEpoch(tx)
        const open = await listOpenAlertsOf(tx, id)
        await deleteWorkload(tx, id)
        await alongside(tx)
        return open
      })
      this.#gone(workload, open)
      for (const [uid, home] of state.homes) if (home === id) state.homes.delete(uid)
      return { ok: true }
    })
  }

  /**
   * Run `work` in a transaction that is about a workload in which nobody lives, and take everything back when `work`
   * says so or somebody came meanwhile; whether it was committed.
   */
  async #inTransaction(workload: Workload, work: (tx: Db) => Promise<boolean>): Promise<boolean> {
    const { deps } = this.#parts
    try {
      await deps.db.transaction('workload.leave', async (tx) => {
        await deps.checkEpoch(tx)
        if (!(await work(tx)) || workload.live.count > 0) throw new TakenBack()
      })
      return true
    } catch (error) {
      if (error instanceof TakenBack) return false
      throw error
    }
  }

  /** It is gone from the database: from memory as well. Its alerts went with it. */
  #gone(workload: Workload, open: readonly Alert[]): void {
    const { deps, tell } = this.#parts
    const resolvedAt = deps.clock.now()
    tell({ kind: 'workload-gone', workload })
    deps.notices.alertsResolved(open.map((alert) => ({ ...alert, resolvedAt })))
  }

  /** Nothing is remembered of these agents any more: where they belonged, and what they alone had failed. */
  forgetAgents(agents: readonly { instanceUid: string; workloadId: string }[]): void {
    const { state, writer } = this.#parts
    for (const { instanceUid: uid, workloadId } of agents) {
      if (state.instances.has(uid)) continue
      if (state.homes.get(uid) === workloadId) state.homes.delete(uid)
      state.knownAtStart.delete(uid)
      state.forgetRhythm(uid)
      const workload = state.workloads.get(workloadId)
      if (workload === undefined) continue
      for (const [hash, uids] of workload.quarantinedInstances) {
        uids.delete(uid)
        if (uids.size === 0) workload.quarantinedInstances.delete(hash)
      }
      for (const followed of followedPushes(workload)) if (removeJoiner(followed, uid)) writer.push(followed)
    }
  }
}
