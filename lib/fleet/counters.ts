import type { Db } from '../store/db.ts'
import { countOpenAlerts, countPendingApprovals, listLabels } from '../store/workload-counts.ts'

/**
 * What lists show of workloads beside what the fleet itself holds: open alerts, requests that wait for an
 * approval, and the labels of revisions. Kept in memory so that a list of the whole fleet reads nothing.
 */
export class FleetCounters {
  readonly #alerts = new Map<string, number>()
  readonly #approvals = new Map<string, number>()
  /** Workload → hash → label. */
  readonly #labels = new Map<string, Map<string, string>>()
  /** Called with the id of each workload whose numbers changed. */
  changed: (workloadId: string) => void = () => {}

  /** Read everything from the database, once at the start. */
  async load(db: Db): Promise<void> {
    for (const { workloadId, count } of await countOpenAlerts(db)) this.#alerts.set(workloadId, count)
    for (const { workloadId, count } of await countPendingApprovals(db))
      this.#approvals.set(workloadId, count)
    for (const { workloadId, hash, label } of await listLabels(db)) this.#keepLabel(workloadId, hash, label)
  }

  openAlerts(workloadId: string): number {
    return this.#alerts.get(workloadId) ?? 0
  }

  /** Of all workloads. */
  openAlertsInAll(): number {
    let sum = 0
    for (const count of this.#alerts.values()) sum += count
    return sum
  }

  waitingApprovals(workloadId: string): number {
    return this.#approvals.get(workloadId) ?? 0
  }

  /** The label of a revision; '' when it has none. */
  label(workloadId: string, hash: string): string {
    return this.#labels.get(workloadId)?.get(hash) ?? ''
  }

  setOpenAlerts(workloadId: string, count: number): void {
    this.#set(this.#alerts, workloadId, count)
  }

  /** An alert fired (+1) or was resolved (-1). */
  addOpenAlerts(workloadId: string, difference: number): void {
    this.#set(this.#alerts, workloadId, this.openAlerts(workloadId) + difference)
  }

  setWaitingApprovals(workloadId: string, count: number): void {
    this.#set(this.#approvals, workloadId, count)
  }

  /** An empty label clears it. */
  setLabel(workloadId: string, hash: string, label: string): void {
    this.#keepLabel(workloadId, hash, label)
    this.changed(workloadId)
  }

  /** The workload is gone for good. */
  forget(workloadId: string): void {
    this.#alerts.delete(workloadId)
    this.#approvals.delete(workloadId)
    this.#labels.delete(workloadId)
  }

  #keepLabel(workloadId: string, hash: string, label: string): void {
    const labels = this.#labels.get(workloadId) ?? new Map<string, string>()
    if (label === '') labels.delete(hash)
    else labels.set(hash, label)
    this.#labels.set(workloadId, labels)
  }

  #set(counts: Map<string, number>, workloadId: string, count: number): void {
    const next = Math.max(0, count)
    if ((counts.get(workloadId) ?? 0) === next) return
    if (next === 0) counts.delete(workloadId)
    else counts.set(workloadId, next)
    this.changed(workloadId)
  }
}
