import type { Clock, FleetClock } from '../clock.ts'
import type { FollowedPush, Instance, Workload } from '../fleet/state/model.ts'
import { followedPushes } from '../fleet/state/state.ts'
import { type Random, randomHex } from '../ids.ts'
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
  restateAlerts,
} from '../store/alerts.ts'
import type { Database, Db } from '../store/db.ts'
import { eachInTurns, Pace } from '../turns.ts'
import { toWebhookBody } from './alert-record.ts'
import { type AboutPeople, findIdentityCauses } from './identity-causes.ts'
import {
  ALERT_SEVERITY,
  type AlertAction,
  countNone,
  decideAlerts,
  type InstanceCounts,
  type RuleSettings,
  toEnd,
  type WorkloadFacts,
} from './rules.ts'
import { type ConfigConflict, decideTopics, findTopicCauses, type HaltedCampaign } from './topics.ts'
import type { WebhookDeliveries } from './webhook-delivery.ts'
import { AssignmentTimes, countLive, toWorkloadFacts } from './workload-facts.ts'

/** Who is told of alerts after they are stored. Calls are cheap and never throw. */
export interface AlertNotices {
  fired(alert: Alert): void
  /** Resolved by its rule, by an operator, or because its workload left the inventory. */
  resolved(alert: Alert): void
  /** An open one says something else now. */
  restated(alert: Alert): void
}

/** What the alert engine is made of. */
export interface AlertEngineParts {
  /** The database of the active process: it stores nothing once another process is the active one. */
  db: Database
  clock: Clock
  random: Random
  log: Log
  /** The live fleet; read between turns of the event loop, never changed. */
  fleet: {
    clock: Pick<FleetClock, 'heardMs'>
    state: { workloads: ReadonlyMap<string, Workload>; startedAtMs: number }
    isCompatible(instance: Instance, assigned: FollowedPush): boolean
  }
  settings: RuleSettings
  /** Fleet configs that hold workloads which another fleet config selects with the same priority. */
  findConflicts(): Promise<ConfigConflict[]>
  /** Campaigns that muster halted. */
  findHalts(db: Db): Promise<HaltedCampaign[]>
  /** What is to be told of the approval policy, as `AboutPeople` says. */
  findPolicyNews(db: Db): Promise<AboutPeople['policy']>
  /** The e-mail of the only user who may log in with a password; null where every local user may. */
  onlyPasswordLogin: string | null
  /** The webhook that is told of fired alerts. */
  webhooks: Pick<WebhookDeliveries, 'owe'>
  notices: AlertNotices
}

/** How many workloads or instances of one are judged, and how many actions stored, before other work gets a turn. */
const CHUNK = 500

/** Judges the whole fleet in memory by the alert rules and stores which alerts fire and which are resolved. */
export class AlertEngine {
  readonly #parts: AlertEngineParts
  #times: AssignmentTimes | null = null

  constructor(parts: AlertEngineParts) {
    this.#parts = parts
  }

  /** Who is told of alerts, for code outside the engine that resolves one. */
  get notices(): AlertNotices {
    return this.#parts.notices
  }

  /** Judge the fleet once. Throws when the database is away; nothing is lost, because the next run finds the same. */
  async run(signal: AbortSignal): Promise<{ fired: number; resolved: number }> {
    const { db, clock, fleet } = this.#parts
    const current = groupByWorkload(await listCurrentAlerts(db))
    const now = clock.now()
    const actions = await this.#judge(current, fleet.clock.heardMs())
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

  /** Judge the alerts about campaigns, fleet configs and people. */
  async #lookAtTopics(now: Date): Promise<{ fired: number; resolved: number }> {
    const { db, random, findConflicts, findHalts, findPolicyNews, onlyPasswordLogin } = this.#parts
    const policy = await findPolicyNews(db)
    const causes = [
      ...(await findTopicCauses(db, {
        conflicts: await findConflicts(),
        halts: await findHalts(db),
        now,
      })),
      ...(await findIdentityCauses(db, { now, onlyPasswordLogin, policy })),
    ]
    const { fire, end, restate } = decideTopics(causes, await listCurrentTopicAlerts(db))
    if (fire.length + end.length + restate.length === 0) return { fired: 0, resolved: 0 }
    const asked = fire.map((cause) => ({
      id: randomHex(16, random),
      workloadId: '',
      severity: ALERT_SEVERITY[cause.rule],
      firedAt: now,
      ...cause,
    }))
    const actions = [
      ...end.map(toEnd),
      ...restate.map(({ rule, ...said }) => ({
        ...said,
        kind: 'restate' as const,
        severity: ALERT_SEVERITY[rule],
      })),
    ]
    return this.#write(actions, now, (tx) => insertTopicAlerts(tx, asked))
  }

  async #judge(current: ReadonlyMap<string, CurrentAlert[]>, nowMs: number): Promise<AlertAction[]> {
    const { fleet, settings } = this.#parts
    this.#times ??= new AssignmentTimes(fleet.state.startedAtMs)
    const actions: AlertAction[] = []
    const troubled: { facts: WorkloadFacts; stored: readonly CurrentAlert[] }[] = []
    const pace = new Pace({ size: CHUNK, clock: this.#parts.clock })
    for (const workload of [...fleet.state.workloads.values()]) {
      const rest = pace.beat()
      if (rest !== null) await rest
      if (workload.isDeleted) continue
      const stored = current.get(workload.id) ?? []
      if (workload.archivedAt !== null) {
        // Archiving a workload resolves its alerts; this resolves those that fired at the same moment.
        actions.push(...stored.map(toEnd))
        continue
      }
      const counts = await this.#count(workload, this.#times, nowMs, pace)
      if (counts === null) continue
      const facts = toWorkloadFacts(workload, counts, { now: this.#parts.clock.now(), nowMs })
      if (pushesInTrouble(facts).length > 0) troubled.push({ facts, stored })
      else actions.push(...decideAlerts(facts, stored, settings))
    }
    // A push of a campaign that failed or halted fires no alert of its workload: `campaign_failures` tells of it, and
    // `campaign_halted` while the campaign is halted.
    const ofCampaigns = await listPushesOfCampaigns(
      this.#parts.db,
      troubled.flatMap(({ facts }) => pushesInTrouble(facts)),
    )
    for (const { facts, stored } of troubled)
      actions.push(...decideAlerts(withoutPushes(facts, ofCampaigns), stored, settings))
    await this.#times.endLook(nowMs)
    return actions
  }

  /**
   * Count the live instances of a workload, some in each turn of the event loop. Those that come meanwhile are counted
   * by the next look, and those that leave before their turn not at all. Null where the workload is not to be judged
   * now: it was archived or deleted meanwhile, or what it is assigned has changed, and the counts are of both.
   */
  async #count(
    workload: Workload,
    times: AssignmentTimes,
    nowMs: number,
    pace: Pace,
  ): Promise<InstanceCounts | null> {
    const { fleet } = this.#parts
    const counts = countNone()
    const assigned = followedPushes(workload)
    await eachInTurns([...workload.live.instances()], pace, (instance) => {
      if (workload.live.has(instance))
        countLive(counts, instance, (...of) => fleet.isCompatible(...of), times, nowMs)
    })
    const now = followedPushes(workload)
    const isSame = now.length === assigned.length && now.every((followed, at) => followed === assigned[at])
    return isSame && !workload.isDeleted && workload.archivedAt === null ? counts : null
  }

  /**
   * Store some actions in one transaction, with the webhook calls that are due for them, and tell of the alerts
   * afterwards.
   */
  async #store(actions: readonly AlertAction[], now: Date): Promise<{ fired: number; resolved: number }> {
    const { random } = this.#parts
    const asked = actions.flatMap((action) =>
      action.kind === 'fire'
        ? {
            id: randomHex(16, random),
            workloadId: action.workloadId,
            rule: action.rule,
            severity: action.severity,
            message: action.message,
            subject: action.subject,
            details: action.details,
            firedAt: now,
          }
        : [],
    )
    return this.#write(actions, now, (tx) => insertAlerts(tx, asked))
  }

  /**
   * Resolve and fire alerts in one transaction, with the webhook calls that are due for the fired ones; `open` inserts
   * those. Tells of the alerts after the commit.
   */
  async #write(
    actions: readonly AlertAction[],
    now: Date,
    open: (tx: Db) => Promise<Alert[]>,
  ): Promise<{ fired: number; resolved: number }> {
    const { db, webhooks, notices } = this.#parts
    const idsOf = (kind: 'resolve' | 'end-quiet') =>
      actions.flatMap((action) => (action.kind === kind ? action.alertId : []))
    const { fired, resolved, restated } = await db.transaction('alerts.look', async (tx) => {
      const resolved = await resolveAlerts(tx, idsOf('resolve'), now)
      await endQuiet(tx, idsOf('end-quiet'))
      const restated = await restateAlerts(
        tx,
        actions.filter((action) => action.kind === 'restate'),
      )
      const fired = await open(tx)
      const told = fired.map((alert) => ({ alertId: alert.id, body: toWebhookBody(alert) }))
      await webhooks.owe(tx, told, now)
      return { fired, resolved, restated }
    })
    for (const alert of restated) notices.restated(alert)
    for (const alert of resolved) notices.resolved(alert)
    for (const alert of fired) notices.fired(alert)
    return { fired: fired.length, resolved: resolved.length }
  }
}

/** The pushes of a workload that failed, or whose rollout halted. */
const pushesInTrouble = ({ push, halted }: WorkloadFacts): string[] => [
  ...(push.kind === 'failed' ? [push.pushId] : []),
  ...(halted === null ? [] : [halted.pushId]),
]

/** The facts as if these pushes had not gone wrong. */
const withoutPushes = (facts: WorkloadFacts, pushIds: ReadonlySet<string>): WorkloadFacts => ({
  ...facts,
  ...(facts.push.kind === 'failed' && pushIds.has(facts.push.pushId)
    ? { push: { ...facts.push, isOfCampaign: true } }
    : {}),
  // What keeps one workload of a campaign from its next stage is told of that workload.
  ...(facts.halted?.hold === null && pushIds.has(facts.halted.pushId) ? { halted: null } : {}),
})

function groupByWorkload(alerts: readonly CurrentAlert[]): Map<string, CurrentAlert[]> {
  const groups = new Map<string, CurrentAlert[]>()
  for (const alert of alerts) {
    const group = groups.get(alert.workloadId)
    if (group === undefined) groups.set(alert.workloadId, [alert])
    else group.push(alert)
  }
  return groups
}
