import { statesThat } from '../model/target-states.ts'
import type { CampaignReason, CampaignTargetState } from '../wire/campaigns.ts'
import { MAY_BE_TAKEN_BACK } from './campaign-targets.ts'
import type { Db } from './db.ts'
import { broughtAgain, IS_IN_CUT, waysBack } from './ran-before.ts'

/** When a share of a campaign's workloads had applied the change. */
export interface ReachedShare {
  percentage: number
  at: Date | null
}

/** How many workloads a campaign meant and did not reach for the same cause. */
export interface StoredMiss {
  state: CampaignTargetState
  reason: CampaignReason | null
  cause: string | null
  title: string | null
  count: number
  ids: string[]
  names: string[]
  places: string[]
  /** The push of each that is named; null where there was none. */
  pushIds: (string | null)[]
}

/** Workloads of a campaign of which only some instances have its change, and how many of theirs have not. */
export interface StoredInPart {
  workloads: number
  instances: number
  /** The first of them, in the campaign's order. */
  ids: string[]
  names: string[]
  places: string[]
}

const NAMED_IN_PART = (named: string): string =>
  `(array_agg(t.workload_id order by t.position))[1:${named}] as ids,
   (array_agg(t.workload_name order by t.position))[1:${named}] as names,
   (array_agg(t.workload_place order by t.position))[1:${named}] as places`

/**
 * Where campaigns are applied on workloads of which some instances failed the change or did not answer, by campaign; the
 * first `named` are named.
 */
export async function listAppliedInPart(
  db: Db,
  campaignIds: readonly string[],
  named: number,
): Promise<Map<string, StoredInPart>> {
  if (campaignIds.length === 0) return new Map()
  const rows = await db.query<StoredInPart & { campaignId: string }>(
    `select t.campaign_id as "campaignId", count(*)::int as workloads,
       sum(p.failed_count + p.straggler_count)::int as instances, ${NAMED_IN_PART('$2')}
     from pushes p join campaign_targets t
       on t.campaign_id = p.campaign_id and t.workload_id = p.workload_id and t.push_id = p.push_id
     where p.campaign_id = any($1::text[]) and p.failed_count + p.straggler_count > 0 and t.state = 'applied'
     group by t.campaign_id`,
    [campaignIds, named],
  )
  return new Map(rows.map(({ campaignId, ...found }) => [campaignId, found]))
}

/** Workloads that are being changed for long, of which some instances have not applied the change so far. */
export interface StoredSlow extends StoredInPart {
  /** Those that were started last: these are waited for longest. */
  last: { workloadId: string; pushId: string; startedAt: Date }[]
}

/** The workloads of a campaign that were started before `slowSince`, and are being changed; null for none. */
export async function findSlow(
  db: Db,
  campaignId: string,
  { named, slowSince, most }: { named: number; slowSince: Date; most: number },
): Promise<StoredSlow | null> {
  const [found] = await db.query<
    StoredInPart & { lastIds: string[]; lastPushIds: string[]; lastStarts: Date[] }
  >(
    `select count(*)::int as workloads, sum(p.target_count - p.applied_count)::int as instances,
       ${NAMED_IN_PART('$2')},
       (array_agg(t.workload_id order by t.started_at desc))[1:$4] as "lastIds",
       (array_agg(t.push_id::text order by t.started_at desc))[1:$4] as "lastPushIds",
       (array_agg(t.started_at order by t.started_at desc))[1:$4] as "lastStarts"
     from campaign_targets t join pushes p on p.push_id = t.push_id
     where t.campaign_id = $1 and t.state = 'started' and t.started_at < $3 and p.target_count > p.applied_count
     having count(*) > 0`,
    [campaignId, named, slowSince, most],
  )
  if (found === undefined) return null
  const { lastIds, lastPushIds, lastStarts, ...counted } = found
  const last = lastIds.map((workloadId, at) => ({
    workloadId,
    pushId: lastPushIds[at]!,
    startedAt: lastStarts[at]!,
  }))
  return { ...counted, last }
}

/** What taking a campaign back would do to the workloads that it was pushed to. */
export interface StoredWayBack {
  /**
   * They, or some of their instances, are to run what it brought, and have a former config that was approved and did not
   * only fail there.
   */
  goesBack: number
  /** They are to run it, did not fail it, and have none. */
  withoutBase: number
  /** They applied it, and are to run something else by now. */
  movedOn: number
  /** They applied it, and have left the scopes that it is cut to. */
  leftScope: number
}

/** SQL for `told`: the targets of the campaign `$1` in the states `$2`, each with where it would go if that were taken back. */
const TOLD = `${waysBack(`select push_id, workload_id, base_hash as hash from campaign_targets
    where campaign_id = $1 and push_id is not null and state = any($2::text[])`)}, told as (
    select t.state, t.workload_id, b.hash, b.obstacle is null as has_base,
      w.id is not null and w.archived_at is null and not ${IS_IN_CUT} as is_outside,
      t.state = 'started' or coalesce(w.rollout_push_id = t.push_id, false)
        or coalesce(w.active_config_hash = t.result_hash, false) and not exists (
          select from pushes own join pushes p on ${broughtAgain('own', '$1')}
          where own.push_id = t.push_id) as runs
    from ways_back b join campaign_targets t on t.campaign_id = $1 and t.workload_id = b.workload_id
      join campaigns c on c.id = t.campaign_id
      left join workloads w on w.id = t.workload_id
  )`

/** How many workloads of a campaign it would give their former config to take it back now, and how many not, by why. */
export async function countWayBack(db: Db, campaignId: string): Promise<StoredWayBack> {
  const [found] = await db.query<StoredWayBack>(
    `${TOLD}
     select count(*) filter (where runs and has_base and not is_outside)::int as "goesBack",
       count(*) filter (where runs and not has_base and not is_outside and state <> 'failed')::int as "withoutBase",
       count(*) filter (where is_outside and state = 'applied')::int as "leftScope",
       count(*) filter (where not runs and not is_outside and state = 'applied')::int as "movedOn"
     from told`,
    [campaignId, MAY_BE_TAKEN_BACK],
  )
  return found!
}

/** The workloads to which it would give their former config to take a campaign back now, with the hash of that. */
export async function listWaysBack(
  db: Db,
  campaignId: string,
): Promise<{ workloadId: string; hash: string }[]> {
  return db.query(
    `${TOLD} select workload_id as "workloadId", hash from told
     where runs and has_base and not is_outside order by workload_id`,
    [campaignId, MAY_BE_TAKEN_BACK],
  )
}

/**
 * When each percentage of the targets that were there as it was planned had applied the change; null where they have
 * not. Of these workloads only, where some are named.
 */
export async function findReachedShares(
  db: Db,
  campaignId: string,
  within: readonly string[] | null,
  percentages: readonly number[],
): Promise<ReachedShare[]> {
  return db.query<ReachedShare>(
    `with meant as (
       select state, ended_at from campaign_targets
       where campaign_id = $1 and wave is not null and verdict = 'changes'
         and ($2::text[] is null or workload_id = any($2))
     ), applied as (
       select ended_at, row_number() over (order by ended_at) as place from meant where state = 'applied'
     )
     select p.percentage, a.ended_at as at
     from unnest($3::int[]) with ordinality as p (percentage, nth)
     left join applied a on a.place = greatest(1, ceil((select count(*) from meant) * p.percentage / 100.0))
     order by p.nth`,
    [campaignId, within, percentages],
  )
}

/**
 * The targets in some states, by state and cause (and by what a reason is about, as a component that is missing), the
 * most frequent first: those that were missed where none are named.
 * At most `most` rows, each with the first `named` workloads in the campaign's order. Of these workloads only, where some
 * are named.
 */
export async function listMisses(
  db: Db,
  campaignId: string,
  within: readonly string[] | null,
  {
    states = statesThat('missed'),
    most,
    named,
  }: { states?: readonly CampaignTargetState[]; most: number; named: number },
): Promise<StoredMiss[]> {
  return db.query<StoredMiss>(
    `select state, reason, cause, min(title) as title, count(*)::int as count,
       (array_agg(workload_id order by position))[1:$5] as ids,
       (array_agg(workload_name order by position))[1:$5] as names,
       (array_agg(workload_place order by position))[1:$5] as places,
       (array_agg(push_id::text order by position))[1:$5] as "pushIds"
     from campaign_targets
     where campaign_id = $1 and wave is not null and state = any($3::text[])
       and ($2::text[] is null or workload_id = any($2))
     group by state, reason, cause, case when cause is null then title end order by count desc, state, reason, cause, title limit $4`,
    [campaignId, within, states, most, named],
  )
}
