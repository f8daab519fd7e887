import type { Db } from './db.ts'
import { authorsOf } from './text-authors.ts'

/** What a person sets on a workload that becomes part of what is pushed to it, or chooses a part. */
export type ValueKind = 'variable' | 'label'

/** What the values of a version come from: its variables, and the trusted labels, without prefix, that choose values. */
export interface ChosenBy {
  variables: readonly string[]
  labels: readonly string[]
}

/** Names of a kind that are kept of a workload one by one. */
const NAMES_MAX = 200

type Values = Readonly<Record<string, string>>

/** The names under which two sets of values differ. */
export const changedNames = (before: Values, after: Values): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) =>
    Object.hasOwn(before, name) && Object.hasOwn(after, name) ? before[name] !== after[name] : true,
  )

/** Note that somebody set, or took away, values or labels of these names on a workload. Its row must be locked. */
export async function noteValueAuthor(
  tx: Db,
  {
    workloadId,
    kind,
    names,
    userId,
  }: { workloadId: string; kind: ValueKind; names: string[]; userId: string },
  /** All names that are set now. */
  current: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await tx.execute(
    `insert into value_authors (workload_id, kind, name, author_ids)
     select $1, $2, name, ${authorsOf('$4')} from unnest($3::text[]) as name
     on conflict (workload_id, kind, name) do update set author_ids = excluded.author_ids`,
    [workloadId, kind, names, userId],
  )
  await tx.execute(
    `with gone as (
       delete from value_authors where workload_id = $1 and kind = $2 and name <> '' and name <> all($3::text[])
         and $4 < (select count(*) from value_authors where workload_id = $1 and kind = $2 and name <> '')
       returning author_ids)
     insert into value_authors as v (workload_id, kind, name, author_ids)
     select $1, $2, '', array_agg(distinct id) from gone, unnest(gone.author_ids) as id having count(*) > 0
     on conflict (workload_id, kind, name) do update
       set author_ids = array(select distinct unnest(v.author_ids || excluded.author_ids))`,
    [workloadId, kind, current, NAMES_MAX],
  )
}

/**
 * Note that somebody made, changed or removed a label rule that gives these labels. Where no other rule gave a label
 * before (`first`), whoever wrote rules for it earlier is forgotten.
 */
export async function noteLabelRuleAuthor(
  tx: Db,
  { labels, first, userId }: { labels: readonly string[]; first: readonly string[]; userId: string },
): Promise<void> {
  await tx.execute(
    `insert into label_rule_authors as r (label, author_ids)
     select label, ${authorsOf('$2')} from unnest($1::text[]) as label
     on conflict (label) do update set author_ids = case when r.label = any($3::text[]) then excluded.author_ids
       else array(select distinct unnest(r.author_ids || excluded.author_ids)) end`,
    [labels, userId, first],
  )
}

/** Who set or chose values of some workloads, which `targets` selects as SQL from `$1`; with the owners of accounts. */
const authorsAmong = (targets: string): string =>
  `with targets as (${targets}),
   writers as (
     select unnest(v.author_ids) as id from value_authors v join targets t on t.workload_id = v.workload_id
     where (v.kind = 'variable' and (v.name = '' or v.name = any($2::text[])) and cardinality($2::text[]) > 0)
       or (v.kind = 'label' and (v.name = '' or v.name = any($3::text[])) and cardinality($3::text[]) > 0)
     union
     -- Where no label is set by hand, the rules decide, also by giving none.
     select unnest(r.author_ids) from label_rule_authors r
     where r.label = any($3::text[]) and exists (
       select from targets t join workloads w on w.id = t.workload_id where not w.trusted_labels ? r.label))
   select id from writers
   union select u.owner_id::text from users u join writers w on w.id = u.id::text where u.owner_id is not null`

const OF_CAMPAIGN = authorsAmong(
  'select workload_id from campaign_targets where campaign_id = $1 and wave is not null',
)
const OF_WORKLOADS = authorsAmong('select unnest($1::text[]) as workload_id')

const list = async (db: Db, sql: string, of: unknown, { variables, labels }: ChosenBy): Promise<string[]> =>
  variables.length + labels.length === 0
    ? []
    : (await db.query<{ id: string }>(sql, [of, variables, labels])).map(({ id }) => id)

/** Everybody who set or chose a value of one of the workloads that a campaign changes. */
export const listValueAuthorsOfCampaign = (db: Db, campaignId: string, by: ChosenBy): Promise<string[]> =>
  list(db, OF_CAMPAIGN, campaignId, by)

/** Everybody who set or chose a value of one of these workloads. */
export const listValueAuthors = (db: Db, workloadIds: readonly string[], by: ChosenBy): Promise<string[]> =>
  list(db, OF_WORKLOADS, workloadIds, by)
