import { toAlertRecord } from '../alerts/alert-record.ts'
import type { AlertNotices } from '../alerts/engine.ts'
import type { FleetCounters } from '../fleet/state/counters.ts'
import type { FleetNotices } from '../fleet/state/deps.ts'
import type { Instance, Workload } from '../fleet/state/model.ts'
import { followedOf } from '../fleet/state/state.ts'
import { toEventRecord } from '../fleet/views/event.ts'
import type { FleetViews } from '../fleet/views/fleet-views.ts'
import type { Alert } from '../store/alerts.ts'
import type { Approval } from '../store/approvals.ts'
import type { Push } from '../store/pushes.ts'
import type { StoredWorkloadEvent } from '../store/workload-events.ts'
import { toApprovalFrame } from './approval-frame.ts'
import type { Hub } from './hub.ts'

/** Tells browsers what happens in the fleet and with alerts, and drops the cached views of a workload that changed. */
export class HubNotices implements FleetNotices, AlertNotices {
  readonly #hub: Hub
  readonly #counters: FleetCounters
  readonly #viewsOf: () => FleetViews
  /** The frame of the newest push of each workload, as browsers were last told. */
  readonly #toldPushes = new WeakMap<Workload, string>()
  /** Workloads that went into the archive: browsers that do not show it have dropped them, with their pushes. */
  readonly #archived = new WeakSet<Workload>()

  /** `viewsOf` is a function because the fleet whose views it answers is made after these notices. */
  constructor(hub: Hub, counters: FleetCounters, viewsOf: () => FleetViews) {
    this.#hub = hub
    this.#counters = counters
    this.#viewsOf = viewsOf
  }

  workloadChanged(workload: Workload): void {
    this.#viewsOf().invalidate(workload)
    if (workload.archivedAt !== null) this.#archived.add(workload)
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
    // The frame of the workload holds the newest push as well.
    this.#tellWorkload(workload)
  }

  #tellWorkload(workload: Workload): void {
    this.#update(`workload/${workload.id}`, workload, (views) => {
      // The frame of a push also depends on the workload: on which instances run its config, on the pin and on the
      // label.
      const push = workload.newestPush
      const told = this.#toldPushes.get(workload)
      const hasReturned = workload.archivedAt === null && this.#archived.delete(workload)
      if (push !== null && (hasReturned || told === undefined))
        // A browser that does not have the workload yet would drop the frame: the workload's has to come first.
        this.#hub.later(`first/${workload.id}`, 0, () => this.#tellPush(workload, push))
      else if (push !== null && told !== textOf(views, workload, push)) this.#tellPush(workload, push)
      return views.workloadFrame(workload)
    })
  }

  #tellPush(workload: Workload, push: Push): void {
    this.#update(`push/${push.pushId}`, workload, (views) => {
      // The push as it is when it is told, and not as it was when it began to wait.
      const now = followedOf(workload, push.pushId)?.push ?? push
      if (workload.newestPush?.pushId === push.pushId) {
        this.#toldPushes.set(workload, textOf(views, workload, now))
        this.#remind(views, workload, now)
      }
      return views.pushFrame(workload, now)
    })
  }

  /** The frame of a push that no instance answers changes with time alone: tell it again then. */
  #remind(views: FleetViews, workload: Workload, push: Push): void {
    const leftMs = views.staleInMs(push)
    if (leftMs === null) return
    this.#hub.later(`push/${push.pushId}`, leftMs, () => {
      const newest = workload.newestPush
      if (workload.isDeleted || newest?.pushId !== push.pushId) return
      if (this.#toldPushes.get(workload) !== textOf(views, workload, newest))
        this.pushChanged(workload, newest)
      // Not different yet: the wall clock may have been put back meanwhile.
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

  /** Browsers are not told of single offers; they see the push change. */
  offerSent(): void {}

  alertsResolved(alerts: readonly Alert[]): void {
    for (const alert of alerts) this.resolved(alert)
  }

  requestsRetired(approvals: readonly Approval[]): void {
    for (const approval of approvals) this.#hub.broadcast(toApprovalFrame(approval))
  }

  fired(alert: Alert): void {
    this.#counters.alertFired(alert.workloadId, alert.id)
    this.#tellAlert(alert)
  }

  resolved(alert: Alert): void {
    this.#counters.alertResolved(alert.workloadId, alert.id)
    this.#tellAlert(alert)
  }

  restated(alert: Alert): void {
    this.#tellAlert(alert)
  }

  #tellAlert(alert: Alert): void {
    // The frame is sent at once, so the time of the event stands for the present time.
    const record = toAlertRecord(alert, alert.resolvedAt ?? alert.firedAt)
    const cleared = {
      details: null,
      next: null,
      next_steps: null,
      about: null,
      resolved_at: null,
      resolve_reason: null,
      reopen_until: null,
    }
    this.#hub.broadcast({ type: 'alert_update', alert: { ...cleared, ...record } })
  }

  /** Tell of a workload only while it exists: a frame after its removal would put it back into the lists. */
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
