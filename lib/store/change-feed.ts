import { statesThat } from '../model/target-states.ts'
import type { CampaignHalt } from '../wire/campaigns.ts'
import type { ChangeOutcome, FeedKind } from '../wire/change-feed.ts'
import { countTakenBack } from './auto-apply-roll-back.ts'
import { listAppliedInPart } from './campaign-outcome.ts'
import type { Db } from './db.ts'

/** One change of the fleet, from the rows that the change itself keeps: nothing is stored for the feed. */
export interface StoredChange {
  kind: FeedKind
  /** Of the push, the request or the campaign. */
  id: string
  at: Date
  endedAt: Date | null
  outcome: ChangeOutcome
  /** Where it stands, in the words of its kind. */
  status: string
  /** How far a push got; null for what is no push. */
  phase: string | null
  rolloutId: string | null
  rolloutStatus: string | null
  who: string
  requester: string | null
  approver: string | null
  workloadId: string | null
  workloadName: string | null
  /** What identifies the workload; null for a campaign. */
  workloadKeys: Readonly<Record<string, string>> | null
  hash: string | null
  failedHash: string | null
  approvalId: string | null
  campaignId: string | null
  campaignName: string | null
  /** The version that applied by itself: its id, fleet config and number; null for what it did not make. */
  autoApplyId: string | null
  fleetConfigId: string | null
  fleetConfigName: string | null
  versionNumber: number | null
  isBreakGlass: boolean
  comment: string
  errorCause: string | null
  errorTitle: string | null
  /** Of a push without a cause of its own that some instances have: why most of the others ended without it. */
  missedCause?: string
  missedTitle?: string
  targetCount: number | null
  appliedCount: number | null
  failedCount: number | null
  /** How many pushes a campaign, or a version by itself, made that are not told by themselves; null for any other. */
  pushCount: number | null
  /** Of a campaign that stands halted: why. */
  halt: CampaignHalt | null
  /** Of a campaign, or of a version by itself, how many workloads were missed without a failure, and taken back. */
  skippedCount?: number
  takenBackCount?: number
  /** Of a campaign that is done, how many workloads have the change in part; undefined for none. */
  inPartCount?: number
  /** Of a campaign that is rolled back, how many that got its version by itself are taken back; undefined for none. */
  byItselfTakenBackCount?: number
}

/** What a feed is narrowed to; null lets everything through. `from` and `to` are inclusive. */
export interface ChangeFilter {
  /** A workload's id, a part of its name, or its host. */
  workload: string | null
  /** A campaign's id: the pushes that it made, which its own entry stands for otherwise. */
  campaign: string | null
  /** The id of a version that applied by itself: its pushes, as with `campaign`. */
  autoApply: string | null
  /** A part of the name of whoever did it, asked for it or approved it. */
  person: string | null
  /**
   * A part of what was said of it, of the name of its campaign or fleet config, or how its config's hash begins. What was
   * said counts for readers of the comments only, who could guess at them else.
   */
  text: string | null
  outcome: ChangeOutcome | null
  kind: FeedKind | null
  from: Date | null
  to: Date | null
}

/** Which changes a reader may know of. */
export interface VisibleChanges {
  withRequests: boolean
  withCampaigns: boolean
  /** Campaigns that have not started, which only those see who may push. */
  withPlans: boolean
  /** What was said of every change. */
  withComments: boolean
}

const NAME = `coalesce(nullif(w.display_name, ''), w.fingerprint_keys->>'name', w.id)`
const FITS_WORKLOAD = `(w.id = $1 or position(lower($1::text) in lower(${NAME})) > 0
  or lower($1::text) = lower(w.fingerprint_keys->>'host.name'))`

/** Whether a push is applied in part, as `judgeOutcome` says it of one (`lib/model/push-outcome.ts`). */
export const IN_PART = `case p.status when 'applied' then p.failed_count + p.straggler_count > 0
  when 'failed' then p.kind <> 'approval' and p.applied_count > 0 else false end`

/** The pushes that a campaign, or a version by itself, made, and the automatic rollbacks that took one of them back. */
const ofCarrier = (column: 'campaign_id' | 'auto_apply_id', id: string): string =>
  `select push_id from pushes where ${column} = ${id} union
   select b.push_id from pushes b join pushes o on o.push_id = b.rollback_of_push_id
   where b.kind = 'auto-rollback' and o.${column} = ${id}`

/** A config that was brought to a workload: by a request, in stages, by a campaign, or back to an earlier one. */
const PUSHES = `select
    case p.kind when 'auto-rollback' then 'auto_rollback' when 'rollback' then 'rollback'
      else case when r.id is null then 'push' else 'rollout' end end as kind,
    p.push_id::text as id, p.submitted_at as at,
    case when p.status = 'pending' and p.phase not in ('superseded', 'aborted') then null
      else coalesce(p.failed_at, p.applied_at, p.updated_at) end as "endedAt",
    case when ${IN_PART} then 'in_part' when p.status = 'failed' then 'failed' when p.status = 'applied' then 'succeeded'
      else case when p.phase in ('superseded', 'aborted') then 'ended'
        when r.status = 'halted' then 'halted' else 'open' end end as outcome,
    p.status, p.phase, r.id as "rolloutId", r.status as "rolloutStatus", p.pushed_by as who,
    a.requester, a.approver, w.id as "workloadId", ${NAME} as "workloadName", w.fingerprint_keys as "workloadKeys", p.config_hash as hash,
    p.failed_hash as "failedHash", p.approval_id as "approvalId", c.id as "campaignId", c.name as "campaignName",
    v.id as "autoApplyId", v.fleet_config_id as "fleetConfigId", v.fleet_config_name as "fleetConfigName",
    v.number as "versionNumber",
    coalesce(a.break_glass, false) as "isBreakGlass",
    coalesce(nullif(a.break_glass_reason, ''), nullif(a.push_comment, ''), a.request_comment, '') as comment,
    p.error_cause as "errorCause", p.error_title as "errorTitle", p.target_count as "targetCount",
    p.applied_count as "appliedCount", p.failed_count as "failedCount", null::int as "pushCount", null::jsonb as halt
  from pushes p join workloads w on w.id = p.workload_id
  left join rollouts r on r.push_id = p.push_id
  left join approvals a on a.id = p.approval_id
  left join pushes f on f.push_id = p.rollback_of_push_id and p.kind = 'auto-rollback'
  left join campaigns c on c.id = coalesce(p.campaign_id, f.campaign_id)
  left join auto_applies v on v.id = coalesce(p.auto_apply_id, f.auto_apply_id)
  where ($1::text is null or ${FITS_WORKLOAD})
    and ($14::text is null or p.push_id in (${ofCarrier('campaign_id', '$14')}))
    and ($15::text is null or p.push_id in (${ofCarrier('auto_apply_id', '$15')}))`

const NO_VERSION = `null as "autoApplyId", null::uuid as "fleetConfigId", null as "fleetConfigName",
    null::int as "versionNumber"`

/** A request as long as it is no push: it waits, or ended without one. */
const REQUESTS = `select 'request' as kind, a.id, a.created_at as at, a.closed_at as "endedAt",
    case when a.status in ('pending', 'approved') then 'open' else 'ended' end as outcome,
    a.status, null as phase, null as "rolloutId", null as "rolloutStatus", a.requester as who,
    a.requester, a.approver, w.id as "workloadId", ${NAME} as "workloadName", w.fingerprint_keys as "workloadKeys", a.draft_hash as hash,
    null as "failedHash", a.id as "approvalId", null as "campaignId", null as "campaignName",
    ${NO_VERSION}, false as "isBreakGlass", coalesce(nullif(a.close_comment, ''), a.request_comment) as comment,
    null as "errorCause", null as "errorTitle", null::int as "targetCount", null::int as "appliedCount",
    null::int as "failedCount", null::int as "pushCount", null::jsonb as halt
  from approvals a join workloads w on w.id = a.workload_id
  where a.status <> 'pushed' and $14::text is null and $15::text is null and ($1::text is null or ${FITS_WORKLOAD})`

/**
 * A campaign, at its last push, or the last by the end of the stretch that is asked for: it may have begun days ago, and a
 * reader of the last day is to be told what it brings to somebody now. At its start as long as it has pushed nothing.
 */
const CAMPAIGNS = `select 'campaign' as kind, c.id, coalesce(last.at, c.started_at, c.created_at) as at,
    c.ended_at as "endedAt",
    case when c.status = 'halted' then 'halted' when c.status = 'done' then 'succeeded'
      when c.status in ('aborted', 'rejected', 'withdrawn', 'expired', 'rolled_back') then 'ended'
      else 'open' end as outcome,
    c.status, null as phase, null as "rolloutId", null as "rolloutStatus",
    coalesce(c.started_by, c.created_by) as who, c.requested_by as requester, null as approver,
    null as "workloadId", null as "workloadName", null::jsonb as "workloadKeys", null as hash, null as "failedHash", null as "approvalId",
    c.id as "campaignId", c.name as "campaignName", ${NO_VERSION}, false as "isBreakGlass",
    coalesce(nullif(c.close_comment, ''), nullif(c.request_comment, ''), c.description) as comment,
    null as "errorCause", null as "errorTitle", null::int as "targetCount", null::int as "appliedCount",
    null::int as "failedCount", 0 as "pushCount",
    case when c.status = 'halted' then c.halt end as halt
  from campaigns c left join lateral (
    select max(m.submitted_at) as at from pushes m
    where m.campaign_id = c.id and ($6::timestamptz is null or m.submitted_at <= $6)) as last on true
  where ($10 or c.started_at is not null) and $14::text is null and $15::text is null and ($1::text is null or exists (
    select from campaign_targets t join workloads w on w.id = t.workload_id
    where t.campaign_id = c.id and ${FITS_WORKLOAD}))`

/**
 * A version that applied by itself, at its last push: it goes on for months, and a reader of the last day is to be told
 * that it brought something to somebody today.
 */
const AUTO_APPLIES = `select 'auto_apply' as kind, v.id, coalesce(last.at, v.active_since) as at, v.ended_at as "endedAt",
    case when v.status = 'held' then 'halted' when v.status = 'ended' then 'ended' else 'open' end as outcome,
    v.status, null as phase, null as "rolloutId", null as "rolloutStatus", v.requested_by as who,
    v.requested_by as requester, null as approver,
    null as "workloadId", null as "workloadName", null::jsonb as "workloadKeys", null as hash, null as "failedHash", null as "approvalId",
    null as "campaignId", null as "campaignName", v.id as "autoApplyId", v.fleet_config_id as "fleetConfigId",
    v.fleet_config_name as "fleetConfigName", v.number as "versionNumber", false as "isBreakGlass",
    coalesce(nullif(v.close_comment, ''), v.request_comment) as comment,
    case when v.status = 'held' then nullif(v.hold->>'cause', '') end as "errorCause",
    case when v.status = 'held' then nullif(v.hold->>'title', '') end as "errorTitle", null::int as "targetCount", null::int as "appliedCount",
    null::int as "failedCount", 0 as "pushCount", null::jsonb as halt
  from auto_applies v left join lateral (
    select max(t.started_at) as at from auto_apply_targets t where t.auto_apply_id = v.id) as last on true
  where v.active_since is not null and $14::text is null and $15::text is null and ($1::text is null or exists (
    select from auto_apply_targets t join workloads w on w.id = t.workload_id
    where t.auto_apply_id = v.id and ${FITS_WORKLOAD}))`

/** The newest of one source that fit. Each source is cut by itself, so that none is read to its end. */
const newestOf = (source: string): string => `(select * from (${source}) s
  where ($2::text is null or position(lower($2::text) in
      lower(concat_ws(' ', who, requester, approver))) > 0)
    and ($16::text is null or starts_with(hash, lower($16::text)) or position(lower($16::text) in
      lower(concat_ws(' ', case when $17 then comment end, "campaignName", "fleetConfigName"))) > 0)
    and ($3::text is null or outcome = $3) and ($4::text is null or kind = $4)
    and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at <= $6)
    and ($7::timestamptz is null or (at <= $7 and (at < $7 or id collate "C" < $8)))
    and ($12::timestamptz is null or (at >= $12 and (at > $12 or id collate "C" >= $13)))
  order by at desc, id collate "C" desc limit $9)`

/**
 * Whether the entries of campaigns, and of versions that apply by themselves, stand for their pushes: one of them would
 * fill the feed. A reader who narrows the feed to a workload, a kind, what went wrong or the campaign itself is shown
 * them; and what was brought by itself also where he looks at a stretch that ended: its entry stands at the last push of all.
 */
function foldsOf(
  { workload, campaign, autoApply, kind, outcome, to }: ChangeFilter,
  visible: VisibleChanges,
): { campaigns: boolean; autoApplies: boolean } {
  const campaigns =
    visible.withCampaigns &&
    workload === null &&
    campaign === null &&
    autoApply === null &&
    kind === null &&
    outcome !== 'failed' &&
    outcome !== 'in_part' &&
    outcome !== 'halted'
  return { campaigns, autoApplies: campaigns && to === null }
}

/** The pushes that are entries of their own; as text and no parameter, so that the index of these serves them. */
const pushesToTell = (folds: { campaigns: boolean; autoApplies: boolean }): string =>
  [
    PUSHES,
    ...(folds.campaigns ? ['p.campaign_id is null and f.campaign_id is null'] : []),
    ...(folds.autoApplies ? ['p.auto_apply_id is null and f.auto_apply_id is null'] : []),
  ].join(' and ')

/** A place in the feed: what comes after it is older. */
export interface ChangeKey {
  at: Date
  id: string
}

/** Rows of one source that are looked through at most for those that fit. */
const LOOK_MAX = 5_000

/** The row of one source behind as many as are looked through. */
const boundOf = (
  table: string,
  at: string,
  id: string,
): string => `(select ${at} as at, ${id} as id from ${table}
  where ($1::text is null or workload_id = $1) and ($2::timestamptz is null or ${at} >= $2)
    and ($3::timestamptz is null or ${at} <= $3)
    and ($4::timestamptz is null or (${at} <= $4 and (${at} < $4 or ${id} collate "C" < $5)))
  order by ${at} desc, ${id} collate "C" desc offset $6 limit 1)`

/**
 * Up to where a page of the feed is looked for; null for its end. A filter that nothing fits would read every push that
 * there ever was.
 */
async function findBound(db: Db, filter: ChangeFilter, after: ChangeKey | null): Promise<ChangeKey | null> {
  const { workload, person, text, outcome, kind, from, to } = filter
  if ([workload, person, text, outcome, kind].every((one) => one === null)) return null
  const sources = [
    boundOf('pushes', 'submitted_at', 'push_id::text'),
    boundOf('approvals', 'created_at', 'id'),
  ]
  const [bound] = await db.query<ChangeKey>(
    `select at, id from (${sources.join(' union all ')}) bounds order by at desc, id collate "C" desc limit 1`,
    [await findWorkloadId(db, workload), from, to, after?.at ?? null, after?.id ?? null, LOOK_MAX],
  )
  return bound ?? null
}

/** The id of the workload whose id a filter is; null where it is a part of a name, or none. */
async function findWorkloadId(db: Db, workload: string | null): Promise<string | null> {
  if (workload === null) return null
  const rows = await db.query<{ id: string }>('select id from workloads where id = $1', [workload])
  return rows[0]?.id ?? null
}

/**
 * The changes that fit and that the reader may know of, newest first, after a key. Where there are fewer than `limit`,
 * `bound` says up to where they were looked for; null for the end.
 */
export async function listChanges(
  db: Db,
  filter: ChangeFilter,
  visible: VisibleChanges,
  page: { after: ChangeKey | null; limit: number },
): Promise<{ changes: StoredChange[]; bound: ChangeKey | null }> {
  const sources = [
    pushesToTell(foldsOf(filter, visible)),
    ...(visible.withRequests ? [REQUESTS] : []),
    CAMPAIGNS,
    AUTO_APPLIES,
  ]
  const hidesCampaigns = !visible.withCampaigns
  const bound = await findBound(db, filter, page.after)
  const changes = await db.query<StoredChange>(
    `select * from (${sources.map(newestOf).join(' union all ')}) changes
     where not ($11 and kind in ('campaign', 'auto_apply'))
     order by at desc, id collate "C" desc limit $9`,
    [
      filter.workload,
      filter.person,
      filter.outcome,
      filter.kind,
      filter.from,
      filter.to,
      page.after?.at ?? null,
      page.after?.id ?? null,
      page.limit,
      visible.withPlans,
      hidesCampaigns,
      bound?.at ?? null,
      bound?.id ?? null,
      filter.campaign,
      filter.autoApply,
      filter.text,
      visible.withComments,
    ],
  )
  return { changes: await withMissed(db, await withFigures(db, changes)), bound }
}

/** Whether a change is a push without a cause of its own that goes on or is applied in part. */
export const lacksCause = ({ targetCount, workloadId, errorCause, outcome }: StoredChange): boolean =>
  targetCount !== null &&
  workloadId !== null &&
  errorCause === null &&
  (outcome === 'open' || outcome === 'in_part')

/** Say of each push without a cause of its own that not all have why instances ended without it. */
async function withMissed(db: Db, changes: readonly StoredChange[]): Promise<StoredChange[]> {
  const ids = changes.filter(lacksCause).map(({ id }) => id)
  if (ids.length === 0) return [...changes]
  const rows = await db.query<{ id: string; missedCause: string; missedTitle: string }>(
    `select distinct on (push_id) push_id::text as id, cause as "missedCause", title as "missedTitle"
     from push_targets where push_id = any($1::uuid[]) and state in ('failed', 'straggler') and is_target
       and not is_joiner and cause is not null
     group by push_id, cause, title order by push_id, count(*) desc, cause, title`,
    [ids],
  )
  const missed = new Map(rows.map((row) => [row.id, row]))
  return changes.map((change) => ({ ...change, ...missed.get(change.id) }))
}

/**
 * Say of each campaign, and of each version that applied by itself, how many workloads it changes, how many of them
 * took it, were missed and were taken back, and how many pushes it made.
 */
async function withFigures(db: Db, changes: readonly StoredChange[]): Promise<StoredChange[]> {
  const idsOf = (wanted: FeedKind) => changes.flatMap(({ kind, id }) => (kind === wanted ? [id] : []))
  const campaignIds = idsOf('campaign')
  const autoApplyIds = idsOf('auto_apply')
  if (campaignIds.length + autoApplyIds.length === 0) return [...changes]
  const rows = await db.query<
    Pick<StoredChange, 'id' | 'targetCount' | 'appliedCount' | 'failedCount' | 'pushCount'> & {
      skippedCount: number
      takenBackCount: number
    }
  >(
    `select campaign_id as id, count(*)::int as "targetCount",
       (count(*) filter (where state = 'applied'))::int as "appliedCount",
       (count(*) filter (where state = any($3::text[])))::int as "failedCount",
       (count(*) filter (where state = any($4::text[])))::int as "skippedCount",
       (count(*) filter (where state = 'rolled_back'))::int as "takenBackCount",
       (select count(*)::int from (${ofCarrier('campaign_id', 't.campaign_id')}) p) as "pushCount"
     from campaign_targets t where campaign_id = any($1::text[]) and wave is not null group by 1
     union all
     select auto_apply_id, count(*)::int, (count(*) filter (where state = 'applied'))::int,
       (count(*) filter (where state = any($3::text[])))::int,
       (count(*) filter (where state = any($4::text[])))::int, (count(*) filter (where state = 'rolled_back'))::int,
       (select count(*)::int from (${ofCarrier('auto_apply_id', 't.auto_apply_id')}) p)
     from auto_apply_targets t where auto_apply_id = any($2::text[]) group by 1`,
    [campaignIds, autoApplyIds, WENT_WRONG, MISSED_ELSE],
  )
  const figures = new Map(rows.map((row) => [row.id, row]))
  const besides = await readBesides(db, changes)
  return changes.map((change) => ({ ...change, ...figures.get(change.id), ...besides.get(change.id) }))
}

const WENT_WRONG = statesThat('went-wrong')
/** Missed, and not counted with those that went wrong. */
const MISSED_ELSE = statesThat('missed').filter((state) => !WENT_WRONG.includes(state))

/** Of campaigns that are over what their targets' states do not tell: who has the change in part, and who went back besides. */
async function readBesides(
  db: Db,
  changes: readonly StoredChange[],
): Promise<Map<string, Pick<StoredChange, 'inPartCount' | 'byItselfTakenBackCount'>>> {
  const idsOf = (wanted: string) =>
    changes.flatMap(({ kind, id, status }) => (kind === 'campaign' && status === wanted ? [id] : []))
  const inPart = await listAppliedInPart(db, idsOf('done'), 0)
  const takenBack = await countTakenBack(db, idsOf('rolled_back'))
  return new Map<string, Pick<StoredChange, 'inPartCount' | 'byItselfTakenBackCount'>>([
    ...[...inPart].map(([id, { workloads }]) => [id, { inPartCount: workloads }] as const),
    ...takenBack.flatMap(({ campaignId, state, count }) =>
      state === 'rolled_back' ? [[campaignId, { byItselfTakenBackCount: count }] as const] : [],
    ),
  ])
}
