import type { Connection } from '../../../lib/store/connection.ts'
import type { ShownTarget } from '../operator/campaigns.ts'
import { type Report, short } from './finding.ts'
import type { Approved } from './starts.ts'

/** What campaigns did, as it must be at rest. */
export async function checkCampaigns(
  watcher: Connection,
  approved: Approved,
  isDeleted: (workloadId: string) => boolean,
  report: Report,
): Promise<void> {
  await checkPlans(watcher, approved, report)
  await checkStops(watcher, report)
  await checkOrigins(watcher, isDeleted, report)
  await checkBases(watcher, report)
  await checkRolledBack(watcher, report)
}

/** The plan of a campaign that was started is the one that was approved, target by target. */
async function checkPlans(watcher: Connection, { campaigns }: Approved, report: Report): Promise<void> {
  const rows = await watcher.query<ShownTarget & { id: string; plan_hash: string }>(
    `select c.id, c.plan_hash, workload_id, t.wave, verdict, base_hash, result_hash, is_production
     from campaign_targets t join campaigns c on c.id = t.campaign_id where c.started_at is not null
     order by c.id, position`,
  )
  for (const { id, plan_hash: planHash, ...target } of rows) {
    const shown = campaigns.get(id)
    const before = shown?.targets.find((one) => one.workload_id === target.workload_id)
    if (shown?.planHash !== planHash || JSON.stringify(before) !== JSON.stringify(target))
      report(
        `target ${target.workload_id} of ${id} is not what was approved: ${JSON.stringify({ before, target })}`,
      )
  }
}

const STOPS = /\.(pause|halt|hold|abort|turn_off|roll_back_all)$/
const GOES_ON = /\.(start|continue|approve)$/
const WORKS = /\.(push|wave|done)$/

/**
 * By the audit trail, whose order is that of the commits: what was paused, halted, aborted or turned off starts nothing
 * and goes on to no wave before somebody has let it go on.
 */
async function checkStops(watcher: Connection, report: Report): Promise<void> {
  const acts = await watcher.query<{ action: string; id: string }>(
    `select action, coalesce(substring(detail from '"(?:campaign|auto_apply)_id":"([^"]+)"'), resource_id) as id
     from audit_events where action ~ '^(campaign|auto_apply)[.]' order by seq`,
  )
  const stoppedBy = new Map<string, string>()
  for (const { action, id } of acts) {
    const stop = stoppedBy.get(id)
    if (STOPS.test(action)) stoppedBy.set(id, action)
    else if (GOES_ON.test(action)) stoppedBy.delete(id)
    else if (WORKS.test(action) && stop !== undefined)
      report(`${id}: ${action} although it was stopped by ${stop}`)
  }
}

/** Every push that no operator asked for by itself is that of one target, and every target that was started has one. */
async function checkOrigins(
  watcher: Connection,
  isDeleted: (workloadId: string) => boolean,
  report: Report,
): Promise<void> {
  const rows = await watcher.query<{ push_id: string; workload_id: string; kind: string; origins: number }>(
    `with named as (
       select push_id from campaign_targets where push_id is not null
       union all select rollback_push_id from campaign_targets where rollback_push_id is not null
       union all select push_id from auto_apply_targets
       union all select rollback_push_id from auto_apply_targets where rollback_push_id is not null)
     select p.push_id, p.workload_id, p.kind, count(n.push_id)::int as origins
     from pushes p left join named n on n.push_id = p.push_id
     where p.approval_id is null and p.push_id::text not in (
       select substring(detail from '"push_id":"([^"]+)"') from audit_events
       where action in ('config.auto_rollback', 'config.canary.rollback', 'config.rollback'))
     group by 1, 2, 3`,
  )
  for (const { push_id: pushId, workload_id: workloadId, kind, origins } of rows)
    if (origins !== 1) report(`push ${pushId} of kind ${kind} to ${workloadId} is that of ${origins} targets`)
  const lost = await watcher.query<{ id: string; workload_id: string }>(
    `select campaign_id as id, workload_id from campaign_targets t
     where push_id is not null and not exists (select from pushes p where p.push_id = t.push_id)
       or rollback_push_id is not null and not exists (select from pushes p where p.push_id = t.rollback_push_id)
     union all select auto_apply_id, workload_id from auto_apply_targets t
     where not exists (select from pushes p where p.push_id = t.push_id)
       or rollback_push_id is not null and not exists (select from pushes p where p.push_id = t.rollback_push_id)`,
  )
  for (const { id, workload_id: workloadId } of lost)
    if (!isDeleted(workloadId)) report(`the push of ${id} to ${workloadId} is nowhere`)
}

/**
 * The config that a workload was to run just before a push, by the pushes before it. One in stages that did not come to
 * its end left that as it was, and so did one that took the members of a rollout back to it. An operator's rollback of
 * the workload is for everyone, also where it undoes a push in stages.
 */
const ACTIVE_BEFORE = `
  (select b.config_hash from pushes b left join rollouts r on r.push_id = b.push_id
   where b.workload_id = p.workload_id and b.seq < p.seq and (r.id is null or r.status = 'succeeded')
     and b.push_id::text not in (
       select substring(detail from '"push_id":"([^"]+)"') from audit_events
       where action in ('config.auto_rollback', 'config.canary.rollback') and detail like '%"rollout_id":%')
   order by b.seq desc limit 1)`

/** A target is pushed to only while it runs the base that was approved. */
export async function checkBases(watcher: Pick<Connection, 'query'>, report: Report): Promise<void> {
  const rows = await watcher.query<{
    id: string
    workload_id: string
    base: string | null
    before: string | null
  }>(
    `select * from (
       select t.campaign_id as id, t.workload_id, t.base_hash as base, ${ACTIVE_BEFORE} as before
       from campaign_targets t join pushes p on p.push_id = t.push_id
       union all select t.auto_apply_id, t.workload_id, t.base_hash, ${ACTIVE_BEFORE}
       from auto_apply_targets t join pushes p on p.push_id = t.push_id) as b
     where base is distinct from before`,
  )
  for (const { id, workload_id: workloadId, base, before } of rows)
    report(`${id} pushed to ${workloadId}, which ran ${short(before ?? '')} and not ${short(base ?? '')}`)
}

/**
 * Whether the push `p` gave its workload its config: one in stages that was given up or overtaken on its way did not, nor
 * did one that nobody had applied as it was overtaken, of those who can tell.
 */
const REACHED = `(p.phase <> 'aborted' and (p.phase <> 'superseded'
  or (p.applied_count > 0 or 'cannot_report' in (select state from push_targets where push_id = p.push_id))
    and coalesce((select r.status = 'succeeded' from rollouts r where r.push_id = p.push_id), true)))`

/** Each push by which a campaign, or a version by itself, brought something, with the campaign that takes it back. */
const BROUGHT = `
  (select workload_id, push_id, base_hash, result_hash, state, started_at, ended_at, campaign_id as back_id
   from campaign_targets where push_id is not null
   union all
   select workload_id, push_id, base_hash, result_hash, state, started_at, ended_at, rolled_back_by
   from auto_apply_targets)`

/**
 * Whether what `o` had brought was to be taken back by the campaign `older` after the push of this row: that was begun
 * later, or had come to it by then neither to take it back nor in vain.
 */
const MEANT_BACK = (row: string) => `(older.roll_back_started_at > ${row}.started_at
  or o.state not in ('rolled_back', 'rollback_failed', 'no_way_back')
    and coalesce(o.ended_at, older.ended_at, 'infinity') > ${row}.started_at)`

/**
 * What a target `t` ran before what had been brought there earlier and was taken back while it ran what this push brought,
 * one after the other.
 */
const RAN_BEFORE = `
  (with recursive before as (
     select t.base_hash as hash, o.started_at, own.seq
     from ${BROUGHT} as o join pushes own on own.push_id = o.push_id where o.push_id = t.push_id
     union all
     select o.base_hash, o.started_at, own.seq
     from before join ${BROUGHT} as o on o.workload_id = t.workload_id and o.result_hash = before.hash
       join pushes own on own.push_id = o.push_id
       join campaigns older on older.id = o.back_id and older.status in ('rolling_back', 'rolled_back')
         and own.seq < before.seq and ${MEANT_BACK('before')}
     -- The last who brought it counts: where that was not taken back, it stands.
     where not exists (select from pushes p where p.workload_id = t.workload_id and p.kind = 'approval'
       and ${REACHED} and p.config_hash = before.hash and p.seq > own.seq and p.seq < before.seq))
   select hash from before where hash is not null)`

/**
 * Whether a target `t` was given with the push `back` what had been taken back while it ran what this target's push had
 * brought, and left alone by then. Where the same had been there in turns with something else, nothing is said.
 */
const WAS_TAKEN_BACK = `exists (
  select from ${BROUGHT} as o join campaigns older on older.id = o.back_id
    and older.status in ('rolling_back', 'rolled_back')
  where o.workload_id = t.workload_id and o.result_hash = back.config_hash and o.base_hash is not null
    and o.state = 'moved_on' and o.ended_at < back.submitted_at
    and o.started_at < t.started_at and ${MEANT_BACK('t')}
    and not exists (select from ${BROUGHT} as r where r.workload_id = t.workload_id
      and r.base_hash = back.config_hash and r.started_at < o.started_at))`

/**
 * Whether a target `t` was taken back although a person, or a campaign that nobody took back, had brought the same there
 * after it and before the push `back`.
 */
const WAS_OF_OTHERS = `exists (
  select from pushes own join pushes p on p.workload_id = own.workload_id and p.config_hash = t.result_hash
    and p.kind = 'approval' and ${REACHED} and p.auto_apply_id is null and p.seq > own.seq and p.seq < back.seq
    left join campaigns by on by.id = p.campaign_id
  where own.push_id = t.push_id and by.roll_back_started_at is null)`

/**
 * A campaign that was rolled back leaves every target to which it pushed with its base, unless the target has moved on
 * since, had none, or is named with the reason why it was not possible; where its base had come of an older one that was
 * rolled back meanwhile, with what it ran before that, and never with what people took back. A workload that was deleted
 * since took its pushes with it, and may have come back under the same id. The same holds for whoever got its version by
 * itself, of whom none is forgotten either.
 */
export async function checkRolledBack(watcher: Pick<Connection, 'query'>, report: Report): Promise<void> {
  const rows = await watcher.query<{ id: string; workload_id: string; state: string; fault: string | null }>(
    `select t.campaign_id as id, t.workload_id, t.state, case
         when t.state in ('rolled_back', 'rollback_failed', 'rolling_back') and back.push_id is not null
           and back.config_hash is distinct from t.base_hash and back.config_hash not in ${RAN_BEFORE}
           then 'was given something else than its base'
         when ${WAS_TAKEN_BACK} then 'was given what had been taken back there'
         when ${WAS_OF_OTHERS} then 'was taken from whoever had brought the same again'
         -- A first config that only ever failed is no way back.
         when t.base_hash is not null and t.state in ('no_way_back', 'failed') and not exists (
           select from pushes a where a.workload_id = t.workload_id
             and a.config_hash = t.base_hash and a.applied_at is not null) then null
         when t.state = 'no_way_back' and exists (select from pushes b where b.workload_id = t.workload_id
           and b.config_hash = t.base_hash and b.kind = 'approval') then 'has a base, and was given nothing'
         when t.state in ('rollback_failed', 'left_scope') then null
         when w.active_config_hash = t.result_hash and t.base_hash is not null and newest.push_id = t.push_id
           then 'still runs what the campaign brought'
         when t.state = 'rolled_back' and newest.push_id = t.rollback_push_id
           and w.active_config_hash is distinct from back.config_hash then 'does not run its base'
         else null end as fault
     from (
         select campaign_id, workload_id, state, base_hash, result_hash, push_id, rollback_push_id, started_at
         from campaign_targets
         union all
         select coalesce(t.rolled_back_by, c.id), t.workload_id, t.state, t.base_hash, t.result_hash, t.push_id,
           t.rollback_push_id, t.started_at
         from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id
           left join fleet_config_versions v on v.fleet_config_id = a.fleet_config_id and v.hash = a.version_hash
           left join campaigns c on t.rolled_back_by is null and c.status = 'rolled_back'
             and c.change->>'fleet_config_id' = a.fleet_config_id::text and (c.change->>'number')::int = v.number
             and c.scope->'cut_to' is null
       ) as t
       join campaigns c on c.id = t.campaign_id
       join workloads w on w.id = t.workload_id
       join lateral (select push_id from pushes p where p.workload_id = t.workload_id
         order by seq desc limit 1) as newest on true
       left join pushes back on back.push_id = t.rollback_push_id
     where c.status = 'rolled_back' and t.push_id is not null`,
  )
  for (const { id, workload_id: workloadId, state, fault } of rows)
    if (fault !== null) report(`after ${id} was rolled back, ${workloadId} (${state}) ${fault}`)
}
