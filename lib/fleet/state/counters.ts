import type { CommitFollowers } from '../../audit/commit-followers.ts'
import type { Db } from '../../store/db.ts'
import { listLabels, listOpenAlertIds, listPendingApprovalIds } from '../../store/workload-counts.ts'

/** What is kept of one workload: ids and not numbers, so that the same alert or request noted twice counts once. */
interface Kept {
  openAlerts: ReadonlySet<string>
  waitingApprovals: ReadonlySet<string>
  /** Hash → label of the revision. */
  labels: ReadonlyMap<string, string>
}

const NOTHING: Kept = { openAlerts: new Set(), waitingApprovals: new Set(), labels: new Map() }

/** So many requests that ended before they were noted are remembered. */
const ENDED_MAX = 100

/**
 * What lists show of workloads beside what the fleet itself holds: open alerts, requests that wait for an
 * approval, and the labels of revisions. Kept in memory so that a list of the whole fleet reads nothing.
 */
export class FleetCounters {
  readonly #kept = new Map<string, Kept>()
  /** Requests that ended and were not noted, for which this may be still to come. */
  readonly #endedBefore = new Set<string>()
  /** Ids of workloads that have changed since a reading of the database began; null while none is under way. */
  #changedSince: Set<string> | null = null
  readonly #changed: (workloadId: string) => void

  /** `changed` is called with the id of each workload of which something that lists show has changed. */
  constructor(followers: CommitFollowers, changed: (workloadId: string) => void) {
    this.#changed = changed
    followers.follow((db) => this.load(db))
  }

  /** Tell that this workload is shown differently now, though nothing that is kept here has changed. */
  shownAnew(workloadId: string): void {
    this.#changed(workloadId)
  }

  /**
   * Read everything from the database and take over what differs. Returns the ids of the workloads that were changed,
   * and of those to be read again because something of them changed while the database was read.
   */
  async load(db: Db): Promise<{ adopted: string[]; passedOver: string[] }> {
    const changedSince = new Set<string>()
    this.#changedSince = changedSince
    const stored = await readAll(db).finally(() => {
      this.#changedSince = null
    })
    const adopted: string[] = []
    const passedOver: string[] = []
    for (const id of new Set([...stored.keys(), ...this.#kept.keys()])) {
      const next = stored.get(id) ?? NOTHING
      if (isSame(this.#of(id), next)) continue
      if (changedSince.has(id)) passedOver.push(id)
      else {
        this.#keep(id, next)
        adopted.push(id)
      }
    }
    return { adopted, passedOver }
  }

  openAlerts(workloadId: string): number {
    return this.#of(workloadId).openAlerts.size
  }

  /** How many alerts are open about all workloads together. */
  openAlertsInAll(): number {
    let sum = 0
    for (const { openAlerts } of this.#kept.values()) sum += openAlerts.size
    return sum
  }

  waitingApprovals(workloadId: string): number {
    return this.#of(workloadId).waitingApprovals.size
  }

  /** The label of a revision; '' when it has none. */
  label(workloadId: string, hash: string): string {
    return this.#of(workloadId).labels.get(hash) ?? ''
  }

  alertFired(workloadId: string, alertId: string): void {
    const kept = this.#of(workloadId)
    this.#keep(workloadId, { ...kept, openAlerts: withId(kept.openAlerts, alertId) })
  }

  alertResolved(workloadId: string, alertId: string): void {
    const kept = this.#of(workloadId)
    this.#keep(workloadId, { ...kept, openAlerts: withoutId(kept.openAlerts, alertId) })
  }

  /**
   * A request waits. The database may answer its commit later than that of what ended it, which waited for it there: then it
   * waits no more.
   */
  addWaitingApproval(workloadId: string, approvalId: string): void {
    if (this.#endedBefore.delete(approvalId)) return
    const kept = this.#of(workloadId)
    this.#keep(workloadId, { ...kept, waitingApprovals: withId(kept.waitingApprovals, approvalId) })
  }

  /** A request waits no longer: it was approved or pushed, or another took its place. */
  removeWaitingApproval(workloadId: string, approvalId: string): void {
    const kept = this.#of(workloadId)
    if (!kept.waitingApprovals.has(approvalId)) {
      this.#endedBefore.add(approvalId)
      if (this.#endedBefore.size > ENDED_MAX)
        this.#endedBefore.delete(this.#endedBefore.values().next().value!)
    }
    this.#keep(workloadId, { ...kept, waitingApprovals: withoutId(kept.waitingApprovals, approvalId) })
  }

  /** An empty label clears it. */
  setLabel(workloadId: string, hash: string, label: string): void {
    const kept = this.#of(workloadId)
    const labels = new Map(kept.labels)
    if (label === '') labels.delete(hash)
    else labels.set(hash, label)
    this.#keep(workloadId, { ...kept, labels })
  }

  /** The workload is gone for good. */
  forget(workloadId: string): void {
    this.#changedSince?.add(workloadId)
    this.#kept.delete(workloadId)
  }

  #of(workloadId: string): Kept {
    return this.#kept.get(workloadId) ?? NOTHING
  }

  #keep(workloadId: string, next: Kept): void {
    this.#changedSince?.add(workloadId)
    if (isSame(this.#of(workloadId), next)) return
    if (isSame(next, NOTHING)) this.#kept.delete(workloadId)
    else this.#kept.set(workloadId, next)
    this.#changed(workloadId)
  }
}

async function readAll(db: Db): Promise<Map<string, Kept>> {
  const all = new Map<
    string,
    { openAlerts: Set<string>; waitingApprovals: Set<string>; labels: Map<string, string> }
  >()
  const of = (workloadId: string) => {
    const known = all.get(workloadId)
    if (known !== undefined) return known
    const fresh = {
      openAlerts: new Set<string>(),
      waitingApprovals: new Set<string>(),
      labels: new Map<string, string>(),
    }
    all.set(workloadId, fresh)
    return fresh
  }
  for (const { workloadId, id } of await listOpenAlertIds(db)) of(workloadId).openAlerts.add(id)
  for (const { workloadId, id } of await listPendingApprovalIds(db)) of(workloadId).waitingApprovals.add(id)
  for (const { workloadId, hash, label } of await listLabels(db)) of(workloadId).labels.set(hash, label)
  return all
}

const withId = (ids: ReadonlySet<string>, id: string) => new Set(ids).add(id)

function withoutId(ids: ReadonlySet<string>, id: string): Set<string> {
  const left = new Set(ids)
  left.delete(id)
  return left
}

const isSame = (a: Kept, b: Kept) =>
  a === b ||
  (hasSameIds(a.openAlerts, b.openAlerts) &&
    hasSameIds(a.waitingApprovals, b.waitingApprovals) &&
    a.labels.size === b.labels.size &&
    [...a.labels].every(([hash, label]) => b.labels.get(hash) === label))

const hasSameIds = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
  a.size === b.size && [...a].every((id) => b.has(id))
