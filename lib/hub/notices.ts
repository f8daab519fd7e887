import { toAlertRecord } from '../alerts/alert-record.ts'
import type { AlertNotices } from '../alerts/engine.ts'
import type { FleetCounters } from '../fleet/state/counters.ts'
import type { FleetNotices } from '../fleet/state/deps.ts'
import type { Instance, Workload } from '../fleet/state/model.ts'
import { followedOf } from '../fleet/state/state.ts'
import { toEventRecord } from '../fleet/views/event.ts'
import type { FleetViews } from '../fleet/views/fleet-views.ts'
import type { Alert } from '../store/alerts.ts'
import type { Push } from '../store/pushes.ts'
import type { StoredWorkloadEvent } from '../store/workload-events.ts'
import type { Hub } from './hub.ts'

/** Tells browsers what happens in the fleet, and the views what they must make anew. */
export class HubNotices implements FleetNotices, AlertNotices {
  readonly #hub: Hub
  readonly #counters: FleetCounters
  #views: FleetViews | null = null

  constructor(hub: Hub, counters: FleetCounters) {
    this.#hub = hub
    this.#counters = counters
  }

  /** The views of the fleet that tells; it comes to be after these notices. */
  attach(views: FleetViews): void {
    this.#views = views
  }

  workloadChanged(workload: Workload): void {
    this.#views?.invalidate(workload)
    this.#update(`workload/${workload.id}`, workload, (views) => views.workloadFrame(workload))
  }

  workloadRemoved(workloadId: string): void {
    this.#counters.forget(workloadId)
    this.#hub.broadcast({ type: 'workload_removed', workload_id: workloadId, reason: 'deleted' })
  }

  eventStored(event: StoredWorkloadEvent): void {
    this.#hub.occur(`event/${event.workloadId}`, () => ({
      type: 'workload_event',
      event: toEventRecord(event),
    }))
  }

  configStatusReported(workload: Workload, instance: Instance): void {
    const { report } = instance
    if (report === null) return
    const views = this.#views
    if (views !== null)
      this.#hub.occur(`config-status/${workload.id}`, () =>
        workload.isDeleted ? null : views.configStatusFrame(workload, report),
      )
  }

  pushChanged(workload: Workload, push: Push): void {
    this.#views?.invalidate(workload)
    this.#update(`push/${push.pushId}`, workload, (views) =>
      // What it has become when it is told, not what it was when it began to wait.
      views.pushFrame(workload, followedOf(workload, push.pushId)?.push ?? push),
    )
    // The newest push is part of what is told of its workload.
    this.#update(`workload/${workload.id}`, workload, (views) => views.workloadFrame(workload))
  }

  autoRolledBack(rollback: Parameters<FleetNotices['autoRolledBack']>[0]): void {
    this.#hub.announce({
      type: 'auto_rollback_applied',
      workload_id: rollback.workloadId,
      from_hash: rollback.fromHash,
      to_hash: rollback.toHash,
      reason: rollback.reason,
      target_kind: rollback.targetKind,
      push_id: rollback.pushId,
    })
  }

  fired(alert: Alert): void {
    this.#counters.alertFired(alert.workloadId, alert.id)
    this.#tellAlert(alert)
  }

  resolved(alert: Alert): void {
    this.#counters.alertResolved(alert.workloadId, alert.id)
    this.#tellAlert(alert)
  }

  #tellAlert(alert: Alert): void {
    const record = toAlertRecord(alert)
    this.#hub.broadcast({
      type: 'alert_update',
      alert: { ...record, details: record.details ?? null, resolved_at: record.resolved_at ?? null },
    })
  }

  /** What waits to be told of a workload is not told after its removal: it would come back to the lists. */
  #update(
    key: string,
    workload: Workload,
    build: (views: FleetViews) => ReturnType<FleetViews['workloadFrame']>,
  ): void {
    const views = this.#views
    if (views !== null) this.#hub.update(key, () => (workload.isDeleted ? null : build(views)))
  }
}
