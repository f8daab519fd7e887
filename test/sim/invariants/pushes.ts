import type { Workload } from '../../../lib/fleet/state/model.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import type { Push } from '../../../lib/store/pushes.ts'
import type { Report } from './finding.ts'

/** The columns of a stored push that the promises look at. */
export interface PushRow {
  push_id: string
  workload_id: string
  seq: number
  config_hash: string
  kind: string
  status: string
  phase: string
  rollback_of_push_id: string | null
}

const ORDER = { pending: 0, applied: 1, failed: 2 } as const

/**
 * The status of a push only moves forward, no push is lost, a failed push is rolled back once, and each push has its
 * audit record.
 */
export class PushPromises {
  readonly #report: Report
  readonly #watcher: Connection
  readonly #statuses = new Map<string, { status: keyof typeof ORDER; workloadId: string }>()
  readonly #isDeleted: (workloadId: string) => boolean

  constructor(watcher: Connection, report: Report, isDeleted: (workloadId: string) => boolean) {
    this.#watcher = watcher
    this.#report = report
    this.#isDeleted = isDeleted
  }

  /**
   * An applied push may fail only when no live instance runs its config: the failure of a late joiner alone does not
   * fail it.
   */
  failed(workload: Workload, push: Push): void {
    if (push.appliedAt === null) return
    for (const { uid, connection, reported } of workload.instances) {
      const runsIt = reported.isKnown && reported.hash === push.hash && reported.status === 'applied'
      if (connection !== null && runsIt)
        this.#report(`push ${push.pushId} was applied and failed while ${uid} runs it`)
    }
  }

  /** Statuses move only forward, and no push disappears. */
  async check(): Promise<PushRow[]> {
    const pushes = await this.#watcher.query<PushRow>(
      `select push_id, workload_id, seq, config_hash, kind, status, phase, rollback_of_push_id
       from pushes order by workload_id, seq`,
    )
    const there = new Set<string>()
    for (const { push_id, workload_id, status } of pushes) {
      there.add(push_id)
      const before = this.#statuses.get(push_id)?.status
      const now = status as keyof typeof ORDER
      if (before !== undefined && ORDER[now] < ORDER[before])
        this.#report(`push ${push_id} went from ${before} to ${now}`)
      this.#statuses.set(push_id, { status: now, workloadId: workload_id })
    }
    for (const [id, { workloadId }] of this.#statuses)
      if (!there.has(id) && !this.#isDeleted(workloadId)) this.#report(`push ${id} was lost`)
    return pushes
  }

  async checkAtRest(): Promise<void> {
    const pushes = await this.check()
    this.#checkRollbacks(pushes)
    await this.#checkAudit(pushes)
    await this.#checkApprovals()
    await this.#checkRollouts()
    await this.#checkCounts()
  }

  #checkRollbacks(pushes: readonly PushRow[]): void {
    for (const push of pushes) {
      if (push.kind !== 'auto-rollback') continue
      const failed = pushes.find((other) => other.push_id === push.rollback_of_push_id)
      if (failed?.status !== 'failed')
        this.#report(`rollback ${push.push_id} undoes a push that did not fail`)
      if (failed?.kind === 'auto-rollback') this.#report(`rollback ${push.push_id} undoes a rollback`)
      if (failed !== undefined && failed.config_hash === push.config_hash)
        this.#report(`rollback ${push.push_id} goes back to the config that failed`)
    }
  }

  /** Each push has one audit record and each record a push, unless the workload was deleted with it. */
  async #checkAudit(pushes: readonly PushRow[]): Promise<void> {
    const records = await this.#watcher.query<{ action: string; workload_id: string; detail: string }>(
      `select action, resource_id as workload_id, coalesce(detail, '') as detail from audit_events
       where action in ('config.approval.push', 'config.auto_rollback', 'config.canary.rollback', 'config.rollback',
         'campaign.push', 'campaign.roll_back', 'auto_apply.push')`,
    )
    const approvals = await this.#watcher.query<{ id: string; push_id: string }>(
      `select id, push_id from approvals where push_id is not null`,
    )
    const pushOfApproval = new Map(approvals.map(({ id, push_id }) => [id, push_id]))
    const recorded = new Map<string, number>()
    for (const { action, detail, workload_id } of records) {
      const named = /"push_id":"([^"]+)"/.exec(detail)?.[1]
      const pushId = action === 'config.approval.push' ? pushOfApproval.get(detail.split(':')[0]!) : named
      if (pushId === undefined) {
        if (!this.#isDeleted(workload_id)) this.#report(`the record ${action} ${detail} has no push`)
        continue
      }
      recorded.set(pushId, (recorded.get(pushId) ?? 0) + 1)
    }
    for (const { push_id, kind } of pushes) {
      const count = recorded.get(push_id) ?? 0
      if (count !== 1) this.#report(`push ${push_id} of kind ${kind} has ${count} records in the audit log`)
    }
  }

  /** Each request that was pushed has its one push, and each push its one request. */
  async #checkApprovals(): Promise<void> {
    const wrong = await this.#watcher.query<{ id: string; status: string; pushes: number }>(
      `select a.id, a.status, count(p.*)::int as pushes from approvals a left join pushes p on p.approval_id = a.id
       group by a.id having count(p.*) <> (case a.status when 'pushed' then 1 else 0 end)
         or (a.status = 'pushed' and min(p.push_id::text) <> a.push_id::text)`,
    )
    for (const { id, status, pushes } of wrong)
      this.#report(`request ${id} is ${status} and has ${pushes} pushes`)
  }

  /** A push of an ended rollout is not assigned as a rollout any more, and that of an open or aborted one is. */
  async #checkRollouts(): Promise<void> {
    const wrong = await this.#watcher.query<{ id: string; status: string }>(
      `select r.id, r.status from rollouts r join workloads w on w.id = r.workload_id
       where (r.status in ('running', 'halted', 'aborted')) <> (r.push_id is not distinct from w.rollout_push_id)
         and not (r.status = 'aborted' and w.rollout_push_id is distinct from r.push_id)`,
    )
    for (const { id, status } of wrong)
      this.#report(`rollout ${id} is ${status} and assigned the other way round`)
  }

  /** The counters of every push are those of its rows. */
  async #checkCounts(): Promise<void> {
    const wrong = await this.#watcher.query<{ counts: string }>(
      `select row_to_json(p)::text || ' rows ' || count(t.*) filter (where t.is_target) as counts
       from pushes p left join push_targets t using (push_id)
       where p.phase <> 'superseded'
       group by p.push_id
       having p.target_count <> count(t.*) filter (where t.is_target)
         or p.applied_count <> count(t.*) filter (where t.is_target and t.state = 'applied')
         or p.failed_count <> count(t.*) filter (where t.is_target and t.state = 'failed')`,
    )
    for (const { counts } of wrong) this.#report(`counts differ from rows: ${counts}`)
  }
}
