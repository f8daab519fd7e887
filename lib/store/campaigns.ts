import type { ApprovalRule } from '../model/approval-policy.ts'
import { statusesThat } from '../model/campaign-states.ts'
import type {
  CampaignHalt,
  CampaignLimits,
  CampaignPatch,
  CampaignPlan,
  CampaignScope,
  CampaignStatus,
  CampaignWave,
  CampaignWindow,
} from '../wire/campaigns.ts'
import { assignmentsOf, type MovedColumns } from './assignments.ts'
import { isStatusThat } from './campaign-status.ts'
import { HAS_FAILED_SINCE, HAS_RESUMED } from './campaign-targets.ts'
import type { Db } from './db.ts'
import { authorsOf, PUT_BY, settersOf } from './text-authors.ts'

/** The waves, limits and times by which a campaign proceeds, as they were asked for. */
export interface CampaignRules {
  waves: readonly CampaignWave[]
  limits: CampaignLimits
  maxInFlight: number
  catchUpSeconds: number
  windows: readonly CampaignWindow[]
  retryQuarantined: boolean
}

/** One person's approval of a plan, of a campaign or of a version that is to apply by itself. */
export interface StoredCampaignApproval {
  by: string
  byId: string
  /** RFC 3339. */
  at: string
  comment: string
  /** The approval policy's rule that held then; absent where none was kept. */
  rule?: ApprovalRule
  /** False where it did not count once there were enough others; absent where it did. */
  counted?: false
}

/**
 * What a campaign carries: a text or patch with its hash, or a version. The text or patch of one that ended long ago is
 * absent (`forgetTexts`).
 */
export type StoredChange =
  | { kind: 'text'; yaml?: string; hash: string; takeover?: boolean }
  | { kind: 'patch'; patch?: CampaignPatch; hash: string; where_unfit?: 'skip' | 'refuse' }
  | { kind: 'version'; fleet_config_id: string; number: number; takeover?: boolean }

type WithoutTexts<T> = T extends unknown ? Omit<T, 'yaml' | 'patch'> : never

/** What a campaign carries, without its text or patch, which may be megabytes. */
export type NamedChange = WithoutTexts<StoredChange>

/** A campaign without what it carries, as lists and the course of campaigns need it. */
export type CampaignSummary = Omit<StoredCampaign, 'change'> & { change: NamedChange }

/** One change that is carried to many workloads; a row of `campaigns`. */
export interface StoredCampaign {
  id: string
  name: string
  description: string
  status: CampaignStatus
  /** Counts edits: a plan of an earlier one is not kept. */
  edition: number
  change: StoredChange
  scope: CampaignScope
  rules: CampaignRules
  plan: CampaignPlan | null
  planHash: string | null
  /** Of the config policy (`MUSTER_POLICY_*`) that the plan was judged by. */
  policyHash: string | null
  wave: number
  /** Set while a wave of which every target has ended is being watched. */
  waveEndedAt: Date | null
  halt: CampaignHalt | null
  /** Limits that an operator raised when he continued. */
  raised: CampaignLimits
  /** An e-mail, for people to read. */
  createdBy: string
  /** The id of whoever made it; empty where that is not known of an old one. */
  createdById: string
  requestedBy: string | null
  requestedById: string | null
  requestedAt: Date | null
  requestComment: string | null
  approvals: readonly StoredCampaignApproval[]
  closedBy: string | null
  closedById: string | null
  /** The token of that account by which it was; null where somebody was signed in. */
  closedByToken: string | null
  closeComment: string | null
  startedBy: string | null
  startedById: string | null
  startedAt: Date | null
  /** Since when it is rolled back; null for one that never was. */
  rollBackStartedAt: Date | null
  endedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

const columnsWith = (
  change: string,
) => `id, name, description, status, edition, ${change}, scope, rules, plan, plan_hash as "planHash",
  policy_hash as "policyHash", wave, wave_ended_at as "waveEndedAt", halt, raised, created_by as "createdBy",
  created_by_id as "createdById",
  requested_by as "requestedBy", requested_by_id as "requestedById", requested_at as "requestedAt",
  request_comment as "requestComment", approvals, closed_by as "closedBy", closed_by_id as "closedById",
  closed_by_token as "closedByToken", close_comment as "closeComment",
  started_by as "startedBy", started_by_id as "startedById", started_at as "startedAt",
  roll_back_started_at as "rollBackStartedAt", ended_at as "endedAt",
  created_at as "createdAt", updated_at as "updatedAt"`
const COLUMNS = columnsWith('change')
// Nothing can be taken from what is no object, and the statement would fail for all rows.
const SUMMARY = columnsWith(
  `case jsonb_typeof(change) when 'object' then change - '{yaml,patch}'::text[] else change end as change`,
)

/** Add a draft. */
export async function insertCampaign(tx: Db, campaign: StoredCampaign): Promise<void> {
  const { change, scope, rules } = campaign
  await tx.execute(
    `insert into campaigns (id, name, description, status, edition, change, scope, rules, wave, raised, created_by,
       created_by_id, text_by_id, set_edition, approvals, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::jsonb, 0, '{}', $9, $11, $11, $5, '[]', $10, $10)`,
    [
      campaign.id,
      campaign.name,
      campaign.description,
      campaign.status,
      campaign.edition,
      JSON.stringify(change),
      JSON.stringify(scope),
      JSON.stringify(rules),
      campaign.createdBy,
      campaign.createdAt,
      campaign.createdById,
    ],
  )
}

/** SQL for whether a campaign carries the text, patch or version of `$4` already. */
const CARRIES = ['hash', 'fleet_config_id', 'number']
  .map((name) => `change->>'${name}' is not distinct from $4::jsonb->>'${name}'`)
  .join(' and ')

/**
 * Replace what a draft or a planned campaign asks for; its plan is gone. Null when it is past that. Whoever edits it is an
 * author of the campaign; of what it carries whoever put that there, and whoever chose for which workloads.
 */
export async function editCampaign(
  tx: Db,
  edit: Pick<StoredCampaign, 'id' | 'name' | 'description' | 'change' | 'scope' | 'rules'> & {
    now: Date
    byId: string
  },
): Promise<StoredCampaign | null> {
  const rows = await tx.query<StoredCampaign>(
    `update campaigns set name = $2, description = $3, change = $4::jsonb, scope = $5::jsonb, rules = $6::jsonb,
       author_ids = array(select distinct unnest(author_ids || ${authorsOf('$8')})),
       set_by_ids = case when change = $4::jsonb and scope = $5::jsonb then ${settersOf()}
         when ${CARRIES} then array(select distinct unnest((${settersOf()}) || ${authorsOf('$8')}))
         else ${authorsOf('$8')} end,
       text_by_id = case when ${CARRIES} then ${PUT_BY} else $8 end, set_edition = edition + 1,
       status = 'draft', edition = edition + 1, plan = null, plan_hash = null, policy_hash = null, updated_at = $7
     where id = $1 and ${isStatusThat('status', 'unasked')} returning ${COLUMNS}`,
    [
      edit.id,
      edit.name,
      edit.description,
      JSON.stringify(edit.change),
      JSON.stringify(edit.scope),
      JSON.stringify(edit.rules),
      edit.now,
      edit.byId,
    ],
  )
  return rows[0] ?? null
}

/** One campaign; null when there is none. */
export async function findCampaign(db: Db, id: string): Promise<StoredCampaign | null> {
  const rows = await db.query<StoredCampaign>(`select ${COLUMNS} from campaigns where id = $1`, [id])
  return rows[0] ?? null
}

/** What a campaign carries; null when there is no such campaign. */
export async function findChange(db: Db, id: string): Promise<StoredChange | null> {
  const rows = await db.query<{ change: StoredChange }>('select change from campaigns where id = $1', [id])
  return rows[0]?.change ?? null
}

/** One campaign without what it carries; null when there is none. */
export async function findCampaignSummary(db: Db, id: string): Promise<CampaignSummary | null> {
  return (await listCampaignsById(db, [id])).get(id) ?? null
}

/** Some campaigns without what they carry, by id. */
export async function listCampaignsById(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, CampaignSummary>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query<CampaignSummary>(
    `select ${SUMMARY} from campaigns where id = any($1::text[])`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** One campaign, locked until the transaction ends. */
export async function lockCampaign(tx: Db, id: string): Promise<StoredCampaign | null> {
  const rows = await tx.query<StoredCampaign>(`select ${COLUMNS} from campaigns where id = $1 for update`, [
    id,
  ])
  return rows[0] ?? null
}

/** A campaign's status and wave, held until the transaction ends so that nobody changes them; null for none. */
export async function shareCampaign(
  tx: Db,
  id: string,
): Promise<{ status: CampaignStatus; wave: number } | null> {
  const rows = await tx.query<{ status: CampaignStatus; wave: number }>(
    'select status, wave from campaigns where id = $1 for share',
    [id],
  )
  return rows[0] ?? null
}

/** The place of a campaign in the list's order: newest first, then by id. */
export interface CampaignPosition {
  createdAt: Date
  id: string
}

/** Campaigns without what they carry, newest first. */
export async function listCampaigns(
  db: Db,
  { after, limit }: { after: CampaignPosition | null; limit: number },
): Promise<CampaignSummary[]> {
  return db.query<CampaignSummary>(
    `select ${SUMMARY} from campaigns
     where $1::timestamptz is null or (created_at, id) < ($1, $2) order by created_at desc, id desc limit $3`,
    [after?.createdAt ?? null, after?.id ?? null, limit],
  )
}

/**
 * The campaigns in which something may have to be done: those that run or roll back, stopped ones with pushes that have
 * not ended, done ones with such pushes, with targets that were offline or with such as somebody let go on amid their
 * stages; those of which a push failed after its target had applied the change; and those amid whose stages targets are.
 * Without what they carry: this is asked several times a second.
 */
export async function listCampaignsAtWork(db: Db, amidStages: readonly string[]): Promise<CampaignSummary[]> {
  return db.query<CampaignSummary>(
    `select ${SUMMARY} from campaigns c
     where status in ('running', 'rolling_back') or (status in ('paused', 'halted', 'aborted') and exists (
         select from campaign_targets t where t.campaign_id = c.id and t.state = 'started'))
       or (status = 'done' and exists (
         select from campaign_targets t where t.campaign_id = c.id and t.state in ('started', 'offline')))
       or (status = 'done' and ${HAS_RESUMED})
       or (status = any($2::text[]) and ${HAS_FAILED_SINCE})
       or (status in ('paused', 'halted', 'done', 'aborted', 'rolled_back') and id = any($1::text[]))
     order by created_at, id`,
    [amidStages, statusesThat('stands')],
  )
}

/**
 * The campaign that is changing workloads to a version of a fleet config, or was stopped while it did and may go on; the
 * last started of several, and none for `exceptId`. Null where there is none.
 */
export async function findCampaignUnderWay(
  db: Db,
  fleetConfigId: string,
  exceptId: string | null,
): Promise<StoredCampaign | null> {
  const rows = await db.query<StoredCampaign>(
    `select ${COLUMNS} from campaigns
     where change->>'kind' = 'version' and change->>'fleet_config_id' = $1 and id is distinct from $2
       and status in ('running', 'paused', 'halted', 'rolling_back')
     order by started_at desc, id limit 1`,
    [fleetConfigId, exceptId],
  )
  return rows[0] ?? null
}

/**
 * Which of these workloads no campaign for a version had in its plan that was started, and to whom the version was not
 * brought by itself either.
 */
export async function listUnreached(
  db: Db,
  { fleetConfigId, number }: { fleetConfigId: string; number: number },
  workloadIds: readonly string[],
): Promise<{ id: string; wasUnread: boolean }[]> {
  return db.query<{ id: string; wasUnread: boolean }>(
    `with carriers as (
       select id from campaigns
       where change->>'kind' = 'version' and change->>'fleet_config_id' = $1
         and (change->>'number')::integer = $2 and started_at is not null)
     select m.id, exists (
         select from campaign_targets t join carriers c on c.id = t.campaign_id where t.workload_id = m.id)
         as "wasUnread"
     from unnest($3::text[]) as m (id)
     where not exists (
         select from campaign_targets t join carriers c on c.id = t.campaign_id
         where t.workload_id = m.id and t.reason is distinct from 'unreadable')
       and not exists (
         select from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id
         where t.workload_id = m.id and a.fleet_config_id = $1::uuid and a.number = $2)`,
    [fleetConfigId, number, workloadIds],
  )
}

/** What a decision or the course of a campaign changes; what is absent stays. */
export type CampaignMove = Partial<
  Pick<
    StoredCampaign,
    | 'plan'
    | 'planHash'
    | 'policyHash'
    | 'wave'
    | 'waveEndedAt'
    | 'halt'
    | 'raised'
    | 'requestedBy'
    | 'requestedById'
    | 'requestedAt'
    | 'requestComment'
    | 'approvals'
    | 'closedBy'
    | 'closedById'
    | 'closedByToken'
    | 'closeComment'
    | 'startedBy'
    | 'startedById'
    | 'startedAt'
    | 'rollBackStartedAt'
    | 'endedAt'
  >
> & { status: CampaignStatus }

const MOVED: MovedColumns<CampaignMove> = {
  status: { column: 'status' },
  plan: { column: 'plan', isJson: true },
  planHash: { column: 'plan_hash' },
  policyHash: { column: 'policy_hash' },
  wave: { column: 'wave' },
  waveEndedAt: { column: 'wave_ended_at' },
  halt: { column: 'halt', isJson: true },
  raised: { column: 'raised', isJson: true },
  requestedBy: { column: 'requested_by' },
  requestedById: { column: 'requested_by_id' },
  requestedAt: { column: 'requested_at' },
  requestComment: { column: 'request_comment' },
  approvals: { column: 'approvals', isJson: true },
  closedBy: { column: 'closed_by' },
  closedById: { column: 'closed_by_id' },
  closedByToken: { column: 'closed_by_token' },
  closeComment: { column: 'close_comment' },
  startedBy: { column: 'started_by' },
  startedById: { column: 'started_by_id' },
  startedAt: { column: 'started_at' },
  rollBackStartedAt: { column: 'roll_back_started_at' },
  endedAt: { column: 'ended_at' },
}

/**
 * Move a campaign on from one of these statuses; null when it is in none of them or, with `asOf`, was moved since that
 * time.
 */
export async function moveCampaign(
  tx: Db,
  id: string,
  from: readonly CampaignStatus[],
  move: CampaignMove,
  now: Date,
  asOf: Date | null = null,
): Promise<StoredCampaign | null> {
  const params: unknown[] = [id, from, now, asOf]
  const rows = await tx.query<StoredCampaign>(
    `update campaigns set ${assignmentsOf(MOVED, move, params)}, updated_at = $3
     where id = $1 and status = any($2::text[]) and ($4::timestamptz is null or updated_at = $4) returning ${COLUMNS}`,
    params,
  )
  return rows[0] ?? null
}

/** Keep a plan, unless the campaign was edited or decided on meanwhile. */
export async function keepPlan(
  tx: Db,
  kept: { id: string; edition: number; plan: CampaignPlan; planHash: string; policyHash: string; now: Date },
): Promise<StoredCampaign | null> {
  const rows = await tx.query<StoredCampaign>(
    `update campaigns set status = 'planned', plan = $3::jsonb, plan_hash = $4, policy_hash = $5, updated_at = $6
     where id = $1 and edition = $2 and ${isStatusThat('status', 'unasked')} returning ${COLUMNS}`,
    [kept.id, kept.edition, JSON.stringify(kept.plan), kept.planHash, kept.policyHash, kept.now],
  )
  return rows[0] ?? null
}

/** End what nobody goes on with: requests and approvals that wait too long, and stopped ones that nobody continues. */
export async function expireCampaigns(
  tx: Db,
  { waitingSince, stoppedSince, now }: { waitingSince: Date; stoppedSince: Date; now: Date },
): Promise<StoredCampaign[]> {
  return tx.query<StoredCampaign>(
    `update campaigns set status = case when status in ('paused', 'halted') then 'aborted' else 'expired' end,
       closed_by = 'muster', ended_at = $3, updated_at = $3
     where (status in ('requested', 'approved') and updated_at < $1)
       or (status in ('paused', 'halted') and updated_at < $2)
     returning ${COLUMNS}`,
    [waitingSince, stoppedSince, now],
  )
}

/** How many campaigns of somebody's were not started yet, and how many bytes they take as stored. */
export interface MeasuredDrafts {
  count: number
  bytes: number
}

/** SQL for whether a campaign, `c` being its row, is the one that Git asks for of a fleet config: there is one of each. */
const IS_FOR_GIT = `exists (select from managed_fleet_configs m where m.campaign_id = c.id)`

/**
 * Measure what an account has drafted, planned or asked for and nobody has started or ended. Those for Git do not count.
 * Until the transaction ends, no other one measures them: of several that add one, each counts those before it.
 */
export async function measureDrafts(tx: Db, createdById: string): Promise<MeasuredDrafts> {
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', [`campaign_drafts ${createdById}`])
  const rows = await tx.query<MeasuredDrafts>(
    `select count(*)::int as count,
       coalesce(sum(pg_column_size(change) + pg_column_size(scope) + pg_column_size(rules)), 0)::float8 as bytes
     from campaigns c
     where created_by_id = $1 and ${isStatusThat('status', 'unstarted')} and not ${IS_FOR_GIT}`,
    [createdById],
  )
  return rows[0]!
}

/** So many bytes, as stored, of whom a campaign meant and of its waves are kept with what is forgotten otherwise. */
const SMALL = 4_096

/**
 * Forget the texts, patches and targets of what somebody asked for that ended unstarted and that nobody else approved or
 * rejected, and whom it meant and its waves and windows where they are large, but for the `kept` that ended last; of a few at
 * a time, since one may have 50,000 targets. What somebody else decided stays until its time: whoever asked does not say
 * when its evidence goes. The rows stay: whoever put a text into one is an author of that text elsewhere. One of which is
 * forgotten whom it meant means nobody, so that no reader sees it who did not before.
 */
export async function forgetOwnUnstarted(tx: Db, createdById: string, kept: number): Promise<void> {
  await tx.execute(
    `with ended as materialized (
       select c.id from campaigns c where c.created_by_id = $1 and c.started_at is null
         and (c.status in ('withdrawn', 'expired') or c.status = 'rejected' and c.closed_by_id = $1)
         and not exists (select from jsonb_array_elements(c.approvals) a where a->>'byId' is distinct from $1)
         and not ${IS_FOR_GIT}
       order by c.ended_at desc, c.id desc offset $2
     ), found as materialized (
       select c.id from campaigns c join ended on ended.id = c.id
       where c.change ?| '{yaml,patch}' or pg_column_size(c.scope) > ${SMALL} or pg_column_size(c.rules) > ${SMALL}
         or exists (select from campaign_targets t where t.campaign_id = c.id)
       limit 5 for update of c skip locked
     ), forgotten as (
       update campaigns set change = change - '{yaml,patch}'::text[],
         scope = case when pg_column_size(scope) > ${SMALL} then '{"workload_ids": []}' else scope end,
         rules = case when pg_column_size(rules) > ${SMALL} then rules || '{"waves": [], "windows": []}' else rules end
       where id in (select id from found)
     )
     delete from campaign_targets where campaign_id in (select id from found)`,
    [createdById, kept],
  )
}

/** Remove a campaign with its plan. */
export async function deleteCampaign(tx: Db, id: string): Promise<void> {
  await tx.execute('delete from campaigns where id = $1', [id])
}

/** Remove drafts and plans that nobody has changed since `before`; returns how many. */
export async function removeForgottenDrafts(tx: Db, before: Date): Promise<number> {
  return tx.execute(`delete from campaigns where ${isStatusThat('status', 'unasked')} and updated_at < $1`, [
    before,
  ])
}

/** Forget the texts and patches of campaigns that ended before `endedBefore`, of `limit` at most. */
export async function forgetTexts(tx: Db, endedBefore: Date, limit: number): Promise<void> {
  await tx.execute(
    `update campaigns set change = change - '{yaml,patch}'::text[] where id in (
       select id from campaigns where ended_at < $1 and change ?| '{yaml,patch}' order by ended_at, id limit $2)`,
    [endedBefore, limit],
  )
}
