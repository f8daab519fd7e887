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
  readonly #viewsOf: () => FleetViews
  /** The newest push of each workload as browsers were told of it. */
  readonly #toldPushes = new WeakMap<Workload, string>()

  /** The views are those of the fleet that tells, which comes to be after these notices. */
  constructor(hub: Hub, counters: FleetCounters, viewsOf: () => FleetViews) {
    this.#hub = hub
    this.#counters = counters
    this.#viewsOf = viewsOf
  }

  workloadChanged(workload: Workload): void {
    this.#viewsOf().invalidate(workload)
    this.#tellWorkload(workload)
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
    this.#hub.occur(`config-status/${workload.id}`, () =>
      workload.isDeleted ? null : this.#viewsOf().configStatusFrame(workload, report),
    )
  }

  pushChanged(workload: Workload, push: Push): void {
    this.#viewsOf().invalidate(workload)
    this.#tellPush(workload, push)
    // The newest push is part of what is told of its workload.
    this.#tellWorkload(workload)
  }

  #tellWorkload(workload: Workload): void {
    this.#update(`workload/${workload.id}`, workload, (views) => {
      // What a push reads like also follows from who runs it, from the pin and from its label.
      const push = workload.newestPush
      if (push !== null && this.#toldPushes.get(workload) !== textOf(views, workload, push))
        this.#tellPush(workload, push)
      return views.workloadFrame(workload)
    })
  }

  #tellPush(workload: Workload, push: Push): void {
    this.#update(`push/${push.pushId}`, workload, (views) => {
      // What it has become when it is told, not what it was when it began to wait.
      const now = followedOf(workload, push.pushId)?.push ?? push
      if (workload.newestPush?.pushId === push.pushId) {
        this.#toldPushes.set(workload, textOf(views, workload, now))
        this.#remind(views, workload, now)
      }
      return views.pushFrame(workload, now)
    })
  }

  /** A push that nobody answers reads differently after a while by itself. */
  #remind(views: FleetViews, workload: Workload, push: Push): void {
    const leftMs = views.staleInMs(push)
    if (leftMs === null) return
    this.#hub.later(`push/${push.pushId}`, leftMs, () => {
      const newest = workload.newestPush
      if (workload.isDeleted || newest?.pushId !== push.pushId) return
      if (this.#toldPushes.get(workload) !== textOf(views, workload, newest))
        this.pushChanged(workload, newest)
      // The wall clock may have been put back meanwhile.
      else this.#remind(views, workload, newest)
    })
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

  /** Browsers hear of offers by what becomes of the push. */
  offerSent(): void {}

  alertsResolved(alerts: readonly Alert[]): void {
    for (const alert of alerts) this.resolved(alert)
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
    // A frame follows what it tells at once.
    const record = toAlertRecord(alert, alert.resolvedAt ?? alert.firedAt)
    const cleared = { details: null, resolved_at: null, resolve_reason: null, reopen_until: null }
    this.#hub.broadcast({ type: 'alert_update', alert: { ...cleared, ...record } })
  }

  /** What waits to be told of a workload is not told after its removal: it would come back to the lists. */
  #update(
    key: string,
    workload: Workload,
    build: (views: FleetViews) => ReturnType<FleetViews['workloadFrame']>,
  ): void {
    this.#hub.update(key, () => (workload.isDeleted ? null : build(this.#viewsOf())))
  }
}

const textOf = (views: FleetViews, workload: Workload, push: Push): string =>
  JSON.stringify(views.pushFrame(workload, push))
