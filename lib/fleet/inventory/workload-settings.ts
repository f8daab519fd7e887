import type { Db } from '../../store/db.ts'
import { listOperatorSettings, type OperatorSettings, setTrustedLabels } from '../../store/workloads.ts'
import type { CommitTurns } from '../pushes/commit-turns.ts'
import type { Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

/** What operators set on workloads: labels and the known-good, and the archive as far as the database knows better. */
export class WorkloadSettings {
  readonly #parts: FleetParts
  readonly #turns: CommitTurns

  constructor(parts: FleetParts, turns: CommitTurns) {
    this.#parts = parts
    this.#turns = turns
  }

  /** Replace the labels that operators set on a workload. */
  setTrustedLabels(
    id: string,
    labels: Readonly<Record<string, string>>,
    alongside: (tx: Db) => Promise<void>,
  ): Promise<{ ok: true } | { ok: false; code: 'workload-not-found' }> {
    return this.#turns.exclusively(id, async () => {
      const { deps, state, writer } = this.#parts
      const workload = state.workloads.get(id)
      if (workload === undefined) return { ok: false, code: 'workload-not-found' }
      await writer.flush()
      const isThere = await deps.db.transaction('workload.trusted-labels', async (tx) => {
        if (!(await setTrustedLabels(tx, id, labels))) return false
        await alongside(tx)
        return true
      })
      if (!isThere) return { ok: false, code: 'workload-not-found' }
      workload.trustedLabels = labels
      deps.notices.workloadChanged(workload)
      return { ok: true }
    })
  }

  /** Pin the config that failed pushes go back to, or unpin it with null, where `work` says that it is done. */
  pinKnownGood<Outcome extends { ok: boolean }>(
    id: string,
    hash: string | null,
    work: (tx: Db) => Promise<Outcome>,
  ): Promise<Outcome> {
    return this.#turns.exclusively(id, async () => {
      const { deps, state } = this.#parts
      const outcome = await deps.db.transaction('known-good.pin', work)
      const workload = state.workloads.get(id)
      if (!outcome.ok || workload === undefined) return outcome
      workload.knownGoodHash = hash
      deps.notices.workloadChanged(workload)
      return outcome
    })
  }

  /**
   * Take over what operators have set, and what they have deleted, where the database holds it and memory does not.
   * Which workloads that were, and which have to be looked at again because the database may not know them yet.
   */
  async adopt(): Promise<{ adopted: string[]; passedOver: string[] }> {
    const { deps, state, writer } = this.#parts
    const adopted: string[] = []
    const passedOver: string[] = []
    await writer.flush()
    const all = await listOperatorSettings(deps.db)
    for (const workload of [...state.workloads.values()]) {
      if (isAsStored(workload, all.get(workload.id))) continue
      const isAdopted = writer.owes(workload) ? null : await this.#adoptOne(workload)
      if (isAdopted === null) passedOver.push(workload.id)
      else if (isAdopted) adopted.push(workload.id)
    }
    return { adopted, passedOver }
  }

  /** Whether something was taken over; null where the database may not know the workload yet. */
  #adoptOne(workload: Workload): Promise<boolean | null> {
    return this.#turns.exclusively(workload.id, async () => {
      const { deps, state, writer, tell } = this.#parts
      // Under the lock of the workload nothing of this is being committed: what is read now is how it stands.
      await writer.flush()
      const stored = (await listOperatorSettings(deps.db, workload.id)).get(workload.id)
      if (workload.isDeleted || isAsStored(workload, stored)) return false
      if (writer.owes(workload)) return null
      // One without the push that it was assigned was deleted, and written anew by a report that came after.
      if (stored === undefined || stored.activePushId !== workload.activePushId) {
        tell({ kind: 'workload-gone', workload })
        for (const [uid, home] of state.homes) if (home === workload.id) state.homes.delete(uid)
        return true
      }
      workload.trustedLabels = stored.trustedLabels
      workload.knownGoodHash = stored.knownGoodHash
      if (workload.live.count === 0) workload.archivedAt = stored.archivedAt
      deps.notices.workloadChanged(workload)
      return true
    })
  }
}

/** Whether memory and database agree on what operators set; not when the database has no such workload. */
function isAsStored(workload: Workload, stored: OperatorSettings | undefined): boolean {
  if (stored === undefined) return false
  const labels = Object.entries(stored.trustedLabels)
  return (
    workload.activePushId === stored.activePushId &&
    workload.knownGoodHash === stored.knownGoodHash &&
    Object.keys(workload.trustedLabels).length === labels.length &&
    labels.every(([key, value]) => workload.trustedLabels[key] === value) &&
    // One that lives leaves the archive with its next write.
    (workload.live.count > 0 || (workload.archivedAt === null) === (stored.archivedAt === null))
  )
}
