import { isDrifted } from '../../../lib/fleet/decide/drift.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import { assignmentOf } from '../../../lib/fleet/state/state.ts'
import { compareVersions } from '../../../lib/model/versions.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import type { Push } from '../../../lib/store/pushes.ts'
import type { SimAgent } from '../agents/sim-agent.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Report } from './finding.ts'

/** What the check of the alerts uses of the world. */
export interface AlertsAtRest {
  agents: readonly SimAgent[]
  minAgentVersion: string
}

const NO_CAUSES: Readonly<Record<string, boolean>> = {
  workload_down: false,
  workload_unhealthy: false,
  config_drift: false,
  push_failed: false,
  rollout_halted: false,
  version_outdated: false,
}

/** At rest each open alert has its cause, and each cause has its alert, unless an operator has resolved that. */
export async function checkAlerts(
  service: SimService,
  watcher: Connection,
  world: AlertsAtRest,
  report: Report,
): Promise<void> {
  const rows = await watcher.query<{ workload_id: string; rule: string; is_open: boolean }>(
    `select workload_id, rule, resolved_at is null as is_open from alerts
     where workload_id is not null and (resolved_at is null or quiet)`,
  )
  const { fleet } = service
  const ofCampaigns = await listFailuresOfCampaigns(watcher)
  for (const workload of fleet.state.workloads.values()) {
    const current = rows.filter((row) => row.workload_id === workload.id)
    const causes = workload.archivedAt !== null ? NO_CAUSES : causesOf(service, workload, world, ofCampaigns)
    for (const [rule, isCause] of Object.entries(causes)) {
      const alert = current.find((row) => row.rule === rule)
      if (isCause && alert === undefined)
        report(
          `workload ${workload.id} has no alert ${rule}${rule === 'config_drift' ? `: ${describeDrift(service, workload)}` : ''}`,
        )
      if (!isCause && alert?.is_open === true)
        report(`workload ${workload.id} has an alert ${rule} for nothing`)
    }
  }
  for (const { workload_id, rule } of rows)
    if (fleet.workload(workload_id) === null) report(`alert ${rule} is about ${workload_id}, which is gone`)
}

/**
 * The pushes of campaigns that their targets are said to have failed, and those that undid one by themselves: no alert of
 * their workload tells of their failure, since the campaign does. One that is taken back does so no longer: its workload
 * tells of what it failed of and is still to run, or failed to leave. One that did not answer has failed as soon as its push has.
 */
async function listFailuresOfCampaigns(watcher: Connection): Promise<Set<string>> {
  const rows = await watcher.query<{ id: string }>(
    `select p.push_id as id from pushes p join campaign_targets t
       on coalesce(p.rollback_of_push_id, p.push_id) in (t.push_id, t.rollback_push_id)
       join campaigns c on c.id = t.campaign_id join workloads w on w.id = t.workload_id
     where t.state in ('started', 'rolling_back', 'rollback_failed') or (t.state = 'failed' and not (
       c.status in ('rolling_back', 'rolled_back') and (w.active_config_hash is not distinct from t.result_hash or exists (
         select from pushes b where b.rollback_of_push_id = t.push_id and b.status = 'failed'))))`,
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * At rest each halted campaign, each that has left failures, unless it is halted for these, and each version that stopped by itself has its alert, and no
 * other has one.
 */
export async function checkTopicAlerts(watcher: Connection, report: Report): Promise<void> {
  const rows = await watcher.query<{ topic: string; rule: string; has_cause: boolean }>(
    `with cause as (
       select 'campaign:' || id as topic, 'campaign_halted' as rule from campaigns where status = 'halted'
       union select 'campaign:' || t.campaign_id, 'campaign_failures' from campaign_targets t
         join campaigns c on c.id = t.campaign_id join workloads w on w.id = t.workload_id
         where w.archived_at is null
           and (c.status <> 'halted' or c.halt->>'gate' is distinct from 'failed') and (t.state = 'rollback_failed'
             or (t.state = 'failed' and c.status not in ('rolling_back', 'rolled_back')))
           and (select seq from pushes p where p.push_id = coalesce(t.rollback_push_id, t.push_id)) > coalesce((
             select max(seq) from pushes p where p.workload_id = t.workload_id and p.status = 'applied'
               and p.kind <> 'auto-rollback'), -1)
       union select 'fleet_config:' || fleet_config_id, 'auto_apply_held' from auto_applies where status = 'held'),
     alert as (
       select topic, rule, resolved_at is null as is_open from alerts
       where topic <> '' and rule <> 'config_conflict' and (resolved_at is null or quiet))
     select topic, rule, exists (select from cause c where c.topic = u.topic and c.rule = u.rule) as has_cause
     from (select topic, rule from cause except select topic, rule from alert
       union (select topic, rule from alert where is_open except select topic, rule from cause)) as u`,
  )
  for (const { topic, rule, has_cause: hasCause } of rows)
    report(`${topic} has ${hasCause ? 'no alert' : 'an alert'} ${rule}${hasCause ? '' : ' for nothing'}`)
}

/** For each rule whether it has a cause to alert now. A rule for which that cannot be told is left out. */
function causesOf(
  service: SimService,
  workload: Workload,
  { agents, minAgentVersion }: AlertsAtRest,
  ofCampaigns: ReadonlySet<string>,
): Readonly<Record<string, boolean>> {
  const live = new Set([...workload.live.instances()].map(({ uid }) => uid))
  const ill = agents.filter(({ uid, isHealthy }) => live.has(uid) && !isHealthy)
  return {
    workload_down: workload.status === 'disconnected',
    version_outdated: isBelow(workload.version, minAgentVersion),
    rollout_halted:
      workload.rollout?.stored.status === 'halted' && !ofCampaigns.has(workload.rollout.followed.push.pushId),
    // Where a push failed or a rollout halted, its alert tells of what it does to the instances as well.
    ...(live.size === 0 || isTold(workload)
      ? {}
      : { config_drift: hasDrift(service, workload), workload_unhealthy: ill.length >= live.size / 2 }),
    // What a campaign tells of is told of the workload as well where most of it is unhealthy, if for the same reason.
    ...(ill.length >= live.size / 2 && ofCampaigns.has(workload.newestPush?.pushId ?? '')
      ? {}
      : causeOfPush(workload.newestPush, ofCampaigns)),
  }
}

const isTold = ({ newestPush, rollout }: Workload): boolean =>
  rollout?.stored.status === 'halted' || (newestPush !== null && failureOf(newestPush).push_failed === true)

/** What of a push says whether it is to be alerted. */
type Caused = Pick<Push, 'pushId' | 'kind' | 'status' | 'phase' | 'error' | 'counts'>

/**
 * Whether the newest push failed, or is the automatic rollback of one that did, and no campaign tells of it. Left out
 * while it is open: nothing is decided yet, so an alert about an earlier push stays.
 */
export function causeOfPush(
  newestPush: Caused | null,
  ofCampaigns: ReadonlySet<string>,
): { push_failed?: boolean } {
  if (newestPush === null) return { push_failed: false }
  const cause = failureOf(newestPush)
  return cause.push_failed === true && ofCampaigns.has(newestPush.pushId) ? { push_failed: false } : cause
}

function failureOf({ kind, status, phase, error, counts }: Omit<Caused, 'pushId'>): {
  push_failed?: boolean
} {
  if (kind === 'auto-rollback')
    return status === 'pending' && (phase === 'superseded' || phase === 'aborted')
      ? {}
      : { push_failed: true }
  // While some of its targets do not run it, what was wrong before may stay.
  if (status === 'applied') return counts.failed + counts.straggler > 0 ? {} : { push_failed: false }
  return status === 'pending' || error?.cause === 'rolled_back' ? {} : { push_failed: true }
}

function hasDrift({ fleet }: SimService, workload: Workload): boolean {
  for (const instance of workload.live.instances()) {
    const assigned = assignmentOf(instance)
    if (isDrifted(instance, assigned, (one, of) => fleet.isCompatible(one, of))) return true
  }
  return false
}

/** The instances that drift, with their age and that of their offer, for the report. */
function describeDrift({ fleet, ctx }: SimService, workload: Workload): string {
  const told: string[] = []
  for (const instance of workload.live.instances()) {
    const assigned = assignmentOf(instance)
    if (!isDrifted(instance, assigned, (one, of) => fleet.isCompatible(one, of))) continue
    const ageS = (at: Date) => Math.round((ctx.clock.now().getTime() - at.getTime()) / 1_000)
    const offeredAt = assigned?.targets.get(instance.uid)?.offeredAt
    told.push(
      `${instance.uid.slice(0, 8)} reports ${JSON.stringify(instance.reported)}, came ${ageS(instance.connectedAt)} s ago, ` +
        `was offered ${assigned?.push.hash.slice(0, 6)} ${offeredAt === undefined ? 'never' : `${ageS(offeredAt)} s ago`}`,
    )
  }
  return told.join('; ')
}

const isBelow = (version: string, least: string) => (compareVersions(version, least) ?? 0) < 0
