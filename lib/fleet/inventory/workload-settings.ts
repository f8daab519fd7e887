import type { ActTransaction } from '../../audit/database.ts'
import type { AuditFailure } from '../../audit/delivery.ts'
import type { AuditActor } from '../../audit/event.ts'
import type { TrustedParts } from '../../model/trusted-labels.ts'
import { textsOf } from '../../store/readable-workload.ts'
import {
  listOperatorSettings,
  lockWorkload,
  type OperatorSettings,
  setTrustedLabels,
} from '../../store/workloads.ts'
import { inTurns } from '../../turns.ts'
import type { CommitTurns } from '../pushes/commit-turns.ts'
import type { Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { wearLabels } from '../state/state.ts'

type TrustedLabels = TrustedParts['handLabels']
/** Workloads that are looked at in one turn of the event loop. */
const CHUNK = 200
type WorkloadUnknown = { ok: false; code: 'workload-not-found' }

/** What operators set on workloads: trusted labels and known-good; also the archive, where memory missed a change. */
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
    labels: TrustedLabels,
    actor: AuditActor | null,
    alongside: (tx: ActTransaction) => Promise<void>,
  ): Promise<{ ok: true } | WorkloadUnknown | AuditFailure> {
    return this.changeTrustedLabels<never>(id, () => ({ ok: true, labels }), actor, alongside)
  }

  /** Replace the labels that operators set on a workload by what `change` makes of them, unless it refuses. */
  changeTrustedLabels<Refused extends { ok: false }>(
    id: string,
    change: (before: Omit<TrustedParts, 'ruleLabels'>) => { ok: true; labels: TrustedLabels } | Refused,
    actor: AuditActor | null,
    alongside: (tx: ActTransaction, labels: TrustedLabels) => Promise<void>,
  ): Promise<{ ok: true } | WorkloadUnknown | Refused | AuditFailure> {
    type Outcome = { ok: true; labels: TrustedLabels } | WorkloadUnknown | Refused
    const unknown: WorkloadUnknown = { ok: false, code: 'workload-not-found' }
    return this.#turns.act<Outcome>('workload.trusted-labels', actor, id, async (act) => {
      const { deps, state } = this.#parts
      const workload = state.workloads.get(id)
      if (workload === undefined) return unknown
      const outcome = await act.commit<Outcome>(async (tx) => {
        // The row is locked, so that no other change of the labels is lost.
        const stored = await lockWorkload(tx, id)
        if (stored === null) return unknown
        // It may have been written by hand since muster started.
        const handLabels = textsOf(stored.handLabels)
        const changed = change({ handLabels, hasUnreadableLabels: handLabels !== stored.handLabels })
        if (!changed.ok) return changed
        await setTrustedLabels(tx, id, changed.labels)
        await alongside(tx, changed.labels)
        return changed
      })
      if (!outcome.ok) return outcome
      wearLabels(workload, { handLabels: outcome.labels })
      deps.notices.workloadChanged(workload)
      return outcome
    })
  }

  /** The label rules have changed: give every workload the labels that they give now. */
  async relabel(): Promise<void> {
    const { deps, state, writer } = this.#parts
    for await (const piece of inTurns([...state.workloads.values()], CHUNK)) {
      for (const workload of piece) {
        const ruleLabels = deps.ruleLabels(workload.fingerprintKeys)
        if (workload.isDeleted || isSame(workload.ruleLabels, ruleLabels)) continue
        wearLabels(workload, { ruleLabels })
        writer.workload(workload)
        deps.notices.workloadChanged(workload)
      }
    }
  }

  /** Pin the config that failed pushes go back to, or unpin it with null, when `work` has stored that. */
  pinKnownGood<Outcome extends { ok: boolean }>(
    id: string,
    hash: string | null,
    actor: AuditActor,
    work: (tx: ActTransaction) => Promise<Outcome>,
  ): Promise<Outcome | AuditFailure> {
    const name = hash === null ? 'known-good.clear' : 'known-good.mark'
    return this.#turns.act<Outcome>(name, actor, id, async (act) => {
      const { deps, state } = this.#parts
      const outcome = await act.commit(work)
      const workload = state.workloads.get(id)
      if (!outcome.ok || workload === undefined) return outcome
      workload.knownGoodHash = hash
      deps.notices.workloadChanged(workload)
      return outcome
    })
  }

  /**
   * Take over what operators have set or deleted where memory differs from the database. Returns the ids of the
   * workloads that were changed, and of those to be looked at again because the database may not know them yet.
   */
  async adopt(): Promise<{ adopted: string[]; passedOver: string[] }> {
    const { deps, state, writer } = this.#parts
    const adopted: string[] = []
    const passedOver: string[] = []
    const all = await listOperatorSettings(await deps.db.upToDate())
    for (const workload of [...state.workloads.values()]) {
      if (isAsStored(workload, all.get(workload.id))) continue
      const isAdopted = writer.hasRecordOf(workload) ? null : await this.#adoptOne(workload)
      if (isAdopted === null) passedOver.push(workload.id)
      else if (isAdopted) adopted.push(workload.id)
    }
    return { adopted, passedOver }
  }

  /** Whether something was taken over; null where the database may not know the workload yet. */
  #adoptOne(workload: Workload): Promise<boolean | null> {
    return this.#turns.exclusively(workload.id, async () => {
      const { deps, state, writer, tell } = this.#parts
      // In the workload's turn none of these settings is being committed, so what is read now is final.
      const stored = (await listOperatorSettings(await deps.db.upToDate(), workload.id)).get(workload.id)
      if (workload.isDeleted || isAsStored(workload, stored)) return false
      if (writer.hasRecordOf(workload)) return null
      // A row with other pushes than memory knows: the workload was deleted, and made anew by a later report.
      if (stored === undefined || !hasSamePushes(workload, stored)) {
        tell({ kind: 'workload-gone', workload })
        state.forgetHomesOf(workload.id)
        return true
      }
      const { handLabels, hasUnreadableLabels } = stored
      wearLabels(workload, { handLabels, hasUnreadableLabels })
      workload.knownGoodHash = stored.knownGoodHash
      if (workload.live.count === 0) workload.archivedAt = stored.archivedAt
      deps.notices.workloadChanged(workload)
      return true
    })
  }
}

const isSame = (a: TrustedLabels, b: TrustedLabels): boolean => {
  const labels = Object.entries(a)
  return labels.length === Object.keys(b).length && labels.every(([key, value]) => b[key] === value)
}

/** A workload that was never assigned a push may have begun to roll one out. */
const hasSamePushes = (workload: Workload, stored: OperatorSettings): boolean =>
  workload.activePushId === stored.activePushId && workload.pushSeq === stored.pushSeq

/** Whether memory and database agree on what operators set; not when the database has no such workload. */
function isAsStored(workload: Workload, stored: OperatorSettings | undefined): boolean {
  if (stored === undefined) return false
  return (
    hasSamePushes(workload, stored) &&
    workload.knownGoodHash === stored.knownGoodHash &&
    isSame(workload.handLabels, stored.handLabels) &&
    workload.hasUnreadableLabels === stored.hasUnreadableLabels &&
    // A workload with a live instance leaves the archive with its next write.
    (workload.live.count > 0 || (workload.archivedAt === null) === (stored.archivedAt === null))
  )
}
