import type { Clock } from '../clock.ts'
import type { FollowedPush, Instance, Workload } from '../fleet/state/model.ts'
import { type Random, randomHex, uuidv7 } from '../ids.ts'
import type { Log } from '../log.ts'
import { listPushesOfCampaigns } from '../store/alert-topics.ts'
import {
  type Alert,
  type CurrentAlert,
  endQuiet,
  insertAlerts,
  insertTopicAlerts,
  listCurrentAlerts,
  listCurrentTopicAlerts,
  resolveAlerts,
} from '../store/alerts.ts'
import type { Database, Db } from '../store/db.ts'
import { insertDeliveries } from '../store/webhook-deliveries.ts'
import { nextTurn } from '../turns.ts'
import { toWebhookBody } from './alert-record.ts'
import {
  ALERT_SEVERITY,
  type AlertAction,
  decideAlerts,
  type RuleSettings,
  toEnd,
  type WorkloadFacts,
} from './rules.ts'
import { type ConfigConflict, decideTopics, findTopicCauses } from './topics.ts'
import { AssignmentTimes, toWorkloadFacts } from './workload-facts.ts'

/** Who is told of alerts after they are stored. Calls are cheap and never throw. */
export interface AlertNotices {
  fired(alert: Alert): void
  /** By its rule, by an operator, or because its workload left the inventory. */
  resolved(alert: Alert): void
}

export interface AlertEngineParts {
  /** Of the active process: it stores nothing once another one has taken over. */
  db: Database
  clock: Clock
  random: Random
  log: Log
  /** The live fleet; read between turns of the event loop, never changed. */
  fleet: {
    state: { workloads: ReadonlyMap<string, Workload>; startedAtMs: number }
    isCompatible(instance: Instance, assigned: FollowedPush): boolean
  }
  settings: RuleSettings
  /** Fleet configs that keep workloads which others select with the same priority. */
  findConflicts(): Promise<ConfigConflict[]>
  /** Whether fired alerts are owed to a webhook. */
  hasWebhook: boolean
  notices: AlertNotices
}

/** Workloads and instances judged, and actions stored, before others get their turn. */
const CHUNK = 500

/** Looks at the whole fleet in memory and stores what the rules say about it. */
export class AlertEngine {
  readonly #parts: AlertEngineParts
  #times: AssignmentTimes | null = null

  constructor(parts: AlertEngineParts) {
    this.#parts = parts
  }

  /** Those who are told of alerts; for whoever resolves one outside the engine. */
  get notices(): AlertNotices {
    return this.#parts.notices
  }

  /** One look at the fleet. Throws when the database is away; nothing is lost, the next look says the same. */
  async run(signal: AbortSignal): Promise<{ fired: number; resolved: number }> {
    const { db, clock } = this.#parts
    const current = groupByWorkload(await listCurrentAlerts(db))
    const now = clock.now()
    const actions = await this.#judge(current, clock.monotonicMs())
    const done = { fired: 0, resolved: 0 }
    for (let i = 0; i < actions.length && !signal.aborted; i += CHUNK) {
      const { fired, resolved } = await this.#store(actions.slice(i, i + CHUNK), now)
      done.fired += fired
      done.resolved += resolved
    }
    if (signal.aborted) return done
    const topics = await this.#lookAtTopics(now)
    return { fired: done.fired + topics.fired, resolved: done.resolved + topics.resolved }
  }

  /** What is about campaigns and fleet configs. */
  async #lookAtTopics(now: Date): Promise<{ fired: number; resolved: number }> {
    const { db, random, findConflicts } = this.#parts
    const causes = await findTopicCauses(db, await findConflicts())
    const { fire, end } = decideTopics(causes, await listCurrentTopicAlerts(db))
    if (fire.length + end.length === 0) return { fired: 0, resolved: 0 }
    const asked = fire.map((cause) => ({
      ...{ id: randomHex(16, random), workloadId: '', severity: ALERT_SEVERITY[cause.rule], firedAt: now },
      ...cause,
    }))
    return this.#write(end.map(toEnd), now, (tx) => insertTopicAlerts(tx, asked))
  }

  async #judge(current: ReadonlyMap<string, CurrentAlert[]>, nowMs: number): Promise<AlertAction[]> {
    const { fleet, settings } = this.#parts
    this.#times ??= new AssignmentTimes(fleet.state.startedAtMs)
    const actions: AlertAction[] = []
    const failed: { facts: FailedFacts; stored: readonly CurrentAlert[] }[] = []
    let judged = 0
    for (const workload of [...fleet.state.workloads.values()]) {
      judged += 1 + workload.live.count
      if (judged >= CHUNK) {
        judged = 0
        await nextTurn()
      }
      if (workload.isDeleted) continue
      const stored = current.get(workload.id) ?? []
      if (workload.archivedAt !== null) {
        // Archiving resolves them itself; this catches what fired at the same moment.
        actions.push(...stored.map(toEnd))
        continue
      }
      const facts = toWorkloadFacts(workload, (...of) => fleet.isCompatible(...of), this.#times, nowMs)
      if (hasFailedPush(facts)) failed.push({ facts, stored })
      else actions.push(...decideAlerts(facts, stored, settings, nowMs))
    }
    // Of what a campaign pushed the campaign tells, and its halt.
    const ofCampaigns = await listPushesOfCampaigns(
      this.#parts.db,
      failed.map(({ facts }) => facts.push.pushId),
    )
    for (const { facts, stored } of failed) {
      const isTold = ofCampaigns.has(facts.push.pushId)
      const alone = isTold ? { ...facts, push: { kind: 'settled' as const } } : facts
      actions.push(...decideAlerts(alone, stored, settings, nowMs))
    }
    this.#times.endLook(nowMs)
    return actions
  }

  /** Store some actions in one transaction, with what is owed to the webhook, and tell of them after. */
  async #store(actions: readonly AlertAction[], now: Date): Promise<{ fired: number; resolved: number }> {
    const { random } = this.#parts
    const asked = actions.flatMap((action) =>
      action.kind === 'fire'
        ? {
            id: randomHex(16, random),
            workloadId: action.workloadId,
            rule: action.rule,
            severity: ALERT_SEVERITY[action.rule],
            message: action.message,
            subject: action.subject,
            details: action.details,
            firedAt: now,
          }
        : [],
    )
    return this.#write(actions, now, (tx) => insertAlerts(tx, asked))
  }

  /** End what is over, and open what is new, with what is owed to the webhook. */
  async #write(
    actions: readonly AlertAction[],
    now: Date,
    open: (tx: Db) => Promise<Alert[]>,
  ): Promise<{ fired: number; resolved: number }> {
    const { db, random, hasWebhook, notices } = this.#parts
    const idsOf = (kind: 'resolve' | 'end-quiet') =>
      actions.flatMap((action) => (action.kind === kind ? action.alertId : []))
    const { fired, resolved } = await db.transaction('alerts.look', async (tx) => {
      const resolved = await resolveAlerts(tx, idsOf('resolve'), now)
      await endQuiet(tx, idsOf('end-quiet'))
      const fired = await open(tx)
      if (hasWebhook && fired.length > 0) {
        const owed = fired.map((alert) => ({
          id: uuidv7(now, random),
          alertId: alert.id,
          body: toWebhookBody(alert),
        }))
        await insertDeliveries(tx, owed, now)
      }
      return { fired, resolved }
    })
    for (const alert of resolved) notices.resolved(alert)
    for (const alert of fired) notices.fired(alert)
    return { fired: fired.length, resolved: resolved.length }
  }
}

type FailedFacts = WorkloadFacts & { push: Extract<WorkloadFacts['push'], { kind: 'failed' }> }

const hasFailedPush = (facts: WorkloadFacts): facts is FailedFacts => facts.push.kind === 'failed'

function groupByWorkload(alerts: readonly CurrentAlert[]): Map<string, CurrentAlert[]> {
  const groups = new Map<string, CurrentAlert[]>()
  for (const alert of alerts) {
    const group = groups.get(alert.workloadId)
    if (group === undefined) groups.set(alert.workloadId, [alert])
    else group.push(alert)
  }
  return groups
}
