import { statesThat } from '../model/target-states.ts'
import { inTurns } from '../turns.ts'
import type { CampaignReason, CampaignTargetState, CampaignVerdict, ValueChoice } from '../wire/campaigns.ts'
import type { Db } from './db.ts'

/** What a campaign does with one workload; a row of `campaign_targets`. */
export interface StoredCampaignTarget {
  campaignId: string
  workloadId: string
  workloadName: string
  /** What tells it apart from others of its name (`placeOf`). */
  workloadPlace: string
  position: number
  /** Null for one that is left out. */
  wave: number | null
  verdict: CampaignVerdict
  reason: CampaignReason | null
  /** What it ran when the plan was made; null without a config that muster pushed. */
  baseHash: string | null
  resultHash: string | null
  /** Targets that change in the same way share it. */
  groupKey: string | null
  /** What the variables of its fleet config's version stand for. */
  variables: Readonly<Record<string, string>>
  isProduction: boolean
  instanceCount: number
  state: CampaignTargetState
  pushId: string | null
  rollbackPushId: string | null
  cause: string | null
  title: string | null
  wasDegraded: boolean
  wasDrifted: boolean
  /** Since when it is away; null for one that was so as the campaign began, or is not. */
  awaySince: Date | null
  startedAt: Date | null
  endedAt: Date | null
}

const COLUMNS = `campaign_id as "campaignId", workload_id as "workloadId", workload_name as "workloadName", workload_place as "workloadPlace", position,
  wave, verdict, reason, base_hash as "baseHash", result_hash as "resultHash", group_key as "groupKey", variables,
  is_production as "isProduction", instance_count as "instanceCount", state, push_id as "pushId",
  rollback_push_id as "rollbackPushId", cause, title, was_degraded as "wasDegraded", was_drifted as "wasDrifted",
  away_since as "awaySince", started_at as "startedAt", ended_at as "endedAt"`

const INSERT_CHUNK = 1_000

/** A target as a plan finds it. */
export interface PlannedTarget extends StoredCampaignTarget {
  /** What it reported to run when the plan was made, where that stands for a base that it does not have. */
  reportedHash?: string | null
  /** What chose the values of its variables. */
  choices?: Readonly<Record<string, ValueChoice>>
  /** The components that it lacks, as `processors.batch`. */
  missing?: readonly string[]
}

/** Put these targets in the place of all that a plan had. */
export async function replaceCampaignTargets(
  tx: Db,
  campaignId: string,
  targets: readonly PlannedTarget[],
): Promise<void> {
  await tx.execute('delete from campaign_targets where campaign_id = $1', [campaignId])
  for await (const some of inTurns(targets, INSERT_CHUNK)) {
    const records = some.map((t) => ({
      workload_id: t.workloadId,
      workload_name: t.workloadName,
      workload_place: t.workloadPlace,
      position: t.position,
      wave: t.wave,
      verdict: t.verdict,
      reason: t.reason,
      base_hash: t.baseHash,
      reported_hash: t.reportedHash ?? null,
      result_hash: t.resultHash,
      group_key: t.groupKey,
      variables: t.variables,
      choices: t.choices ?? {},
      is_production: t.isProduction,
      instance_count: t.instanceCount,
      state: t.state,
      title: t.title,
    }))
    await tx.execute(
      `insert into campaign_targets (campaign_id, workload_id, workload_name, workload_place, position, wave, verdict, reason,
         base_hash, reported_hash, result_hash, group_key, variables, choices, is_production, instance_count, state, title, was_degraded)
       select $1, r.*, false from json_to_recordset($2::json) as r (workload_id text, workload_name text,
         workload_place text, position int, wave int, verdict text, reason text, base_hash text, reported_hash text, result_hash text, group_key text, variables jsonb, choices jsonb,
         is_production boolean, instance_count int, state text, title text)`,
      [campaignId, JSON.stringify(records)],
    )
  }
}

/** How many targets a campaign has in each state, by wave; those without a wave are left out. */
export async function countCampaignTargets(
  db: Db,
  campaignIds: readonly string[],
): Promise<{ campaignId: string; wave: number; state: CampaignTargetState; count: number }[]> {
  return db.query(
    `select campaign_id as "campaignId", wave, state, count(*)::int as count from campaign_targets
     where campaign_id = any($1::text[]) and wave is not null group by 1, 2, 3`,
    [campaignIds],
  )
}

/** A target that failed, with the push that did. */
export type FailedTarget = Pick<StoredCampaignTarget, 'workloadId' | 'pushId' | 'resultHash'>

/** The first targets of a campaign that failed, in its order. */
export async function listFailedTargets(db: Db, campaignId: string, limit: number): Promise<FailedTarget[]> {
  return db.query<FailedTarget>(
    `select workload_id as "workloadId", push_id as "pushId", result_hash as "resultHash" from campaign_targets
     where campaign_id = $1 and state = 'failed' order by position limit $2`,
    [campaignId, limit],
  )
}

/** What it takes to look how a target that was well before is now. */
export type HealthyBefore = Pick<
  StoredCampaignTarget,
  'workloadId' | 'workloadName' | 'workloadPlace' | 'resultHash'
>

/** The first targets of a campaign that applied the change and were well when they were started, in its order. */
export async function listHealthyBefore(db: Db, campaignId: string, limit: number): Promise<HealthyBefore[]> {
  return db.query<HealthyBefore>(
    `select workload_id as "workloadId", workload_name as "workloadName", workload_place as "workloadPlace",
       result_hash as "resultHash" from campaign_targets
     where campaign_id = $1 and state = 'applied' and not was_degraded order by position limit $2`,
    [campaignId, limit],
  )
}

/** A target that a campaign has yet to come to. */
export type ToBeChanged = Pick<StoredCampaignTarget, 'workloadId' | 'workloadName' | 'workloadPlace'>

/** The first targets that a campaign has yet to come to and that were not away, in its order. */
export async function listToBeChanged(db: Db, campaignId: string, limit: number): Promise<ToBeChanged[]> {
  return db.query<ToBeChanged>(
    `select workload_id as "workloadId", workload_name as "workloadName", workload_place as "workloadPlace"
     from campaign_targets where campaign_id = $1 and state = 'waiting' order by position limit $2`,
    [campaignId, limit],
  )
}

/** Which targets are asked for; what is absent does not matter. */
export interface CampaignTargetFilter {
  states?: readonly CampaignTargetState[]
  verdicts?: readonly CampaignVerdict[]
  wave?: number
  /** In this wave or an earlier one. */
  upToWave?: number
  groupKey?: string
  workloadIds?: readonly string[]
  /** The change was pushed to it. */
  isPushed?: true
}

/** Targets in the campaign's order. */
export async function listCampaignTargets(
  db: Db,
  campaignId: string,
  filter: CampaignTargetFilter,
  { after, limit }: { after: number | null; limit: number },
): Promise<StoredCampaignTarget[]> {
  return db.query<StoredCampaignTarget>(
    `select ${COLUMNS} from campaign_targets
     where campaign_id = $1 and ($2::text[] is null or state = any($2)) and ($3::text[] is null or verdict = any($3))
       and ($4::int is null or wave = $4) and ($5::text is null or group_key = $5)
       and ($6::int is null or position > $6) and ($8::int is null or wave <= $8)
       and ($9::text[] is null or workload_id = any($9)) and (not $10::boolean or push_id is not null)
     order by position limit $7`,
    [
      campaignId,
      filter.states ?? null,
      filter.verdicts ?? null,
      filter.wave ?? null,
      filter.groupKey ?? null,
      after,
      limit,
      filter.upToWave ?? null,
      filter.workloadIds ?? null,
      filter.isPushed ?? false,
    ],
  )
}

/** A target with its place in the order of `listTargetsWorstFirst`. */
export type RankedTarget = StoredCampaignTarget & { rank: number }

/**
 * Targets by how badly they stand, then in the campaign's order. `ranks` are the states, and `left_out:` with the
 * verdict for those that are left out, the worst first; one that is not listed comes last. Those of `unwellIds` have the
 * state `unwell` here.
 */
export async function listTargetsWorstFirst(
  db: Db,
  campaignId: string,
  filter: Pick<CampaignTargetFilter, 'states' | 'verdicts' | 'groupKey'>,
  { ranks, unwellIds }: { ranks: readonly string[]; unwellIds: readonly string[] },
  { after, limit }: { after: Pick<RankedTarget, 'rank' | 'position'> | null; limit: number },
): Promise<RankedTarget[]> {
  return db.query<RankedTarget>(
    `select ${COLUMNS}, rank from (
       select *, coalesce(array_position($6::text[],
           case when state = 'left_out' then 'left_out:' || verdict
             when workload_id = any($9::text[]) then 'unwell' else state end), 1000) as rank
       from campaign_targets
       where campaign_id = $1 and ($2::text[] is null or state = any($2))
         and ($3::text[] is null or verdict = any($3)) and ($4::text is null or group_key = $4)) ranked
     where $5::int is null or (rank, position) > ($5, $7::int) order by rank, position limit $8`,
    [
      ...[campaignId, filter.states ?? null, filter.verdicts ?? null, filter.groupKey ?? null],
      ...[after?.rank ?? null, ranks, after?.position ?? null, limit, unwellIds],
    ],
  )
}

/** A target that is pushed to. */
export interface StartedTarget {
  workloadId: string
  pushId: string
  wasDegraded: boolean
  wasDrifted: boolean
}

/** Note, in the transaction of their pushes, that targets are started; false when one had been started before. */
export async function markTargetsStarted(
  tx: Db,
  campaignId: string,
  started: readonly StartedTarget[],
  now: Date,
): Promise<boolean> {
  const touched = await tx.execute(
    `update campaign_targets t set state = 'started', push_id = s.push_id, was_degraded = s.was_degraded,
       was_drifted = s.was_drifted,
       started_at = $2
     from unnest($3::text[], $4::uuid[], $5::boolean[], $6::boolean[]) as s (workload_id, push_id, was_degraded, was_drifted)
     where t.campaign_id = $1 and t.workload_id = s.workload_id and t.workload_id = any($3::text[])
       and t.state in ('waiting', 'offline') and t.push_id is null`,
    [
      campaignId,
      now,
      started.map(({ workloadId }) => workloadId),
      started.map(({ pushId }) => pushId),
      started.map(({ wasDegraded }) => wasDegraded),
      started.map(({ wasDrifted }) => wasDrifted),
    ],
  )
  return touched === started.length
}

/** The states of targets that may run what the campaign brought, whether or not they have said so. */
export const MAY_RUN_RESULT = statesThat('may-run')

/** The states from which a target is taken back: of one that goes in stages, some instances may run it before it ends. */
export const MAY_BE_TAKEN_BACK: readonly CampaignTargetState[] = [...MAY_RUN_RESULT, 'started']

/**
 * Note, in the transaction of its push, that a target is taken back; false when it was before, or need not be. Why one was
 * given up amid its stages does not tell any more how it stands.
 */
export async function markTargetRollingBack(
  tx: Db,
  back: { campaignId: string; workloadId: string; pushId: string },
): Promise<boolean> {
  const touched = await tx.execute(
    `update campaign_targets set state = 'rolling_back', rollback_push_id = $3, ended_at = null,
       reason = case when state = 'skipped' then null else reason end,
       title = case when state = 'skipped' then null else title end
     where campaign_id = $1 and workload_id = $2 and state = any($4::text[]) and rollback_push_id is null`,
    [back.campaignId, back.workloadId, back.pushId, MAY_BE_TAKEN_BACK],
  )
  return touched === 1
}

/** The hashes of the reported configs with which the plans of campaigns that have not ended compare. */
export async function listComparedReports(db: Db): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    `select distinct t.reported_hash as hash from campaign_targets t join campaigns c on c.id = t.campaign_id
     where c.ended_at is null and t.reported_hash is not null`,
  )
  return rows.map((row) => row.hash)
}

/** The target that a campaign's push brought its change to, as it was approved; null where there is none. */
export async function findPushedTarget(
  tx: Db,
  campaignId: string,
  { workloadId, pushId }: { workloadId: string; pushId: string },
): Promise<Pick<StoredCampaignTarget, 'baseHash' | 'isProduction'> | null> {
  const rows = await tx.query<Pick<StoredCampaignTarget, 'baseHash' | 'isProduction'>>(
    `select base_hash as "baseHash", is_production as "isProduction" from campaign_targets
     where campaign_id = $1 and workload_id = $2 and push_id = $3`,
    [campaignId, workloadId, pushId],
  )
  return rows[0] ?? null
}

/** What a workload ran before a campaign's push to it; null where no campaign pushed, or nothing ran. */
export async function findCampaignBase(tx: Db, workloadId: string, pushId: string): Promise<string | null> {
  const rows = await tx.query<{ hash: string | null }>(
    'select base_hash as hash from campaign_targets where workload_id = $1 and push_id = $2',
    [workloadId, pushId],
  )
  return rows[0]?.hash ?? null
}

/** How a target ended, or where it waits from now on. */
export interface CampaignTargetEnd {
  workloadId: string
  state: CampaignTargetState
  reason?: CampaignReason | null
  cause?: string | null
  title?: string | null
}

/** Write how many targets ended, in one statement; those that are in none of `from` any more stay as they are. */
export async function endCampaignTargets(
  tx: Db,
  campaignId: string,
  from: readonly CampaignTargetState[],
  ends: readonly CampaignTargetEnd[],
  now: Date,
): Promise<void> {
  if (ends.length === 0) return
  await tx.execute(
    `update campaign_targets t set state = e.state, reason = coalesce(e.reason, t.reason),
       cause = coalesce(e.cause, t.cause), title = coalesce(e.title, t.title),
       away_since = case when e.state = 'offline' then $4::timestamptz else t.away_since end,
       ended_at = case when e.state in ('waiting', 'offline') then null else $4::timestamptz end
     from unnest($3::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       as e (workload_id, state, reason, cause, title)
     where t.campaign_id = $1 and t.workload_id = e.workload_id and t.workload_id = any($3::text[])
       and t.state = any($2::text[])`,
    [
      campaignId,
      from,
      ends.map(({ workloadId }) => workloadId),
      now,
      ends.map(({ state }) => state),
      ends.map(({ reason }) => reason ?? null),
      ends.map(({ cause }) => cause ?? null),
      ends.map(({ title }) => title ?? null),
    ],
  )
}

/**
 * The pushes `p` of a campaign, of which these are the targets `t`, that failed after their target had applied the change,
 * or after nobody waited for its answer any more.
 */
const FAILED_SINCE = `pushes p join campaign_targets t
    on t.campaign_id = p.campaign_id and t.workload_id = p.workload_id and t.push_id = p.push_id
  where p.status = 'failed' and t.state in ('applied', 'no_answer')`

/** Whether a campaign `c` has such targets. */
export const HAS_FAILED_SINCE = `exists (select from ${FAILED_SINCE} and p.campaign_id = c.id)`

/** The targets that are said to have applied the change, or not to have answered, and of which the push has failed since. */
export async function listFailedSince(db: Db, campaignId: string): Promise<CampaignTargetEnd[]> {
  return db.query<CampaignTargetEnd>(
    `select t.workload_id as "workloadId", 'failed' as state, coalesce(p.error_cause, 'unknown') as cause,
       coalesce(p.error_title, '') as title
     from ${FAILED_SINCE} and p.campaign_id = $1`,
    [campaignId],
  )
}

/** What a target has failed of whose stages halted: it is not over where somebody lets these go on. */
const HALTED = `t.state = 'failed' and t.cause = 'rollout_halted'`

/** That the stages of such a target, of whose push this is asked, were let go on since, whether or not they are over. */
const GOES_ON = `exists (select from pushes p where p.push_id = t.push_id
    and (p.status = 'applied' or (p.status = 'pending' and p.phase not in ('aborted', 'superseded')))
    and not exists (select from rollouts r where r.push_id = p.push_id and r.status = 'halted'))`

/** The targets that failed as their stages halted, and of which these were let go on since. */
export async function listResumed(db: Db, campaignId: string): Promise<StoredCampaignTarget[]> {
  return db.query<StoredCampaignTarget>(
    `select ${COLUMNS} from campaign_targets t where t.campaign_id = $1 and ${HALTED} and ${GOES_ON}`,
    [campaignId],
  )
}

/** Whether a campaign `c` has such targets. */
export const HAS_RESUMED = `exists (select from campaign_targets t where t.campaign_id = c.id and ${HALTED} and ${GOES_ON})`

/** Take targets up again whose stages halted and go on. */
export async function resumeTargets(
  tx: Db,
  campaignId: string,
  workloadIds: readonly string[],
): Promise<void> {
  await tx.execute(
    `update campaign_targets t set state = 'started', cause = null, title = null, ended_at = null
     where t.campaign_id = $1 and t.workload_id = any($2::text[]) and ${HALTED}`,
    [campaignId, workloadIds],
  )
}

/** End all targets of these states at once. */
export async function endAllCampaignTargets(
  tx: Db,
  campaignId: string,
  from: readonly CampaignTargetState[],
  state: CampaignTargetState,
  now: Date,
): Promise<number> {
  return tx.execute(
    `update campaign_targets set state = $3, ended_at = $4 where campaign_id = $1 and state = any($2::text[])`,
    [campaignId, from, state, now],
  )
}

/** The place of a group in the order of a plan: production first, then the rarest. */
export interface GroupPosition {
  /** 0 for a group with production workloads, 1 for any other. */
  rank: number
  count: number
  key: string
}

/** Targets that change in the same way, with the first of them in the campaign's order. */
export interface StoredCampaignGroup {
  key: string
  rank: number
  count: number
  instanceCount: number
  productionCount: number
  sampleId: string
  sampleName: string
  samplePlace: string
  baseHash: string | null
  resultHash: string | null
  /** What the variables of its fleet config's version stand for at the sample. */
  variables: Readonly<Record<string, string>>
  /** What the sample reported to run, where it has no base. */
  reportedHash: string | null
}

/**
 * The groups of a plan, those with production first, then the rarest; of these workloads only, where some are named, and
 * only the group of this key, where one is.
 */
export async function listCampaignGroups(
  db: Db,
  campaignId: string,
  within: readonly string[] | null,
  { after = null, key = null, limit }: { after?: GroupPosition | null; key?: string | null; limit: number },
): Promise<StoredCampaignGroup[]> {
  return db.query<StoredCampaignGroup>(
    `select * from (
     select group_key as key, case when bool_or(is_production) then 0 else 1 end as rank,
       count(*)::int as count, sum(instance_count)::int as "instanceCount",
       (count(*) filter (where is_production))::int as "productionCount",
       (array_agg(workload_id order by position))[1] as "sampleId",
       (array_agg(workload_name order by position))[1] as "sampleName",
       (array_agg(workload_place order by position))[1] as "samplePlace",
       (array_agg(base_hash order by position))[1] as "baseHash",
       (array_agg(result_hash order by position))[1] as "resultHash",
       (array_agg(variables order by position))[1] as variables,
       (array_agg(reported_hash order by position))[1] as "reportedHash"
     from campaign_targets where campaign_id = $1 and wave is not null and group_key is not null
       and ($3::text[] is null or workload_id = any($3)) and ($4::text is null or group_key = $4)
     group by group_key) found
     where $5::int is null or (rank, count, key) > ($5, $6, $7)
     order by rank, count, key limit $2`,
    [campaignId, limit, within, key, after?.rank ?? null, after?.count ?? null, after?.key ?? null],
  )
}

/** How many targets of a campaign that are in a group are other workloads than these. */
export async function countGroupedOutside(
  db: Db,
  campaignId: string,
  within: readonly string[],
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*) as count from campaign_targets
     where campaign_id = $1 and wave is not null and group_key is not null and workload_id <> all($2::text[])`,
    [campaignId, within],
  )
  return rows[0]!.count
}

/** One value of a variable, and how many targets of a group have it. */
export interface GroupValue {
  value: string
  count: number
  /** What chose it there, the first of them. */
  choices: ValueChoice[]
  choiceCount: number
}

/** What chose the values that are counted, which are of the variable that `name` gives as SQL. */
const CHOICES_MAX = 5
const choicesOf = (name: string): string => `coalesce((array_agg(distinct t.choices -> ${name})
    filter (where t.choices ? ${name}))[1:${CHOICES_MAX}], '{}') as choices,
  (count(distinct t.choices -> ${name}))::int as "choiceCount"`

/**
 * How many targets of these groups have each value of a variable, the rarest first, `most` values of each variable of a
 * group, with how many there are in all; of these workloads only, where some are named.
 */
export async function listGroupVariables(
  db: Db,
  campaignId: string,
  within: readonly string[] | null,
  { keys, most }: { keys: readonly string[]; most: number },
): Promise<(GroupValue & { key: string; name: string; total: number })[]> {
  return db.query(
    `select key, name, value, count, total, choices, "choiceCount" from (
       select t.group_key as key, v.key as name, v.value, count(*)::int as count, ${choicesOf('v.key')},
         row_number() over (partition by t.group_key, v.key order by count(*), v.value) as place,
         (count(*) over (partition by t.group_key, v.key))::int as total
       from campaign_targets t, jsonb_each_text(t.variables) v
       where t.campaign_id = $1 and t.wave is not null and t.group_key = any($4::text[])
         and ($3::text[] is null or t.workload_id = any($3))
       group by 1, 2, 3) counted
     where place <= $2 order by key, name, place`,
    [campaignId, most, within, keys],
  )
}

/** The values of one variable in one group, the rarest first; of these workloads only, where some are named. */
export async function listGroupValues(
  db: Db,
  { campaignId, key, name }: { campaignId: string; key: string; name: string },
  within: readonly string[] | null,
  { after, limit }: { after: Pick<GroupValue, 'value' | 'count'> | null; limit: number },
): Promise<GroupValue[]> {
  return db.query(
    `select value, count, choices, "choiceCount" from (
       select t.variables ->> $3 as value, count(*)::int as count, ${choicesOf('$3')} from campaign_targets t
       where t.campaign_id = $1 and t.group_key = $2 and t.wave is not null and t.variables ? $3
         and ($4::text[] is null or t.workload_id = any($4))
       group by 1) counted
     where $5::int is null or (count, value) > ($5, $6)
     order by count, value limit $7`,
    [campaignId, key, name, within, after?.count ?? null, after?.value ?? null, limit],
  )
}
