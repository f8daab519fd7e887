import type { Clock } from '../clock.ts'
import type { Db } from './db.ts'
import { LOCK_SPACE } from './lock-statements.ts'

// A text's lock is a number that its hash gives, beside those of owners.
const NAMES_SPACE = LOCK_SPACE + 2

/**
 * So many names are kept of one text that name nobody here; whoever asks for it again and again with others adds no more.
 * Who has an account is kept all the same: made-up names must not keep away whom the commit names.
 */
const NAMES_MAX = 1_000

/** A form in which somebody may be found whom a commit names, and how the commit says it. */
export interface CommitAuthor {
  name: string
  /** As in `Ann <ann@example.com>`; null where that was not noted. */
  said: string | null
}

/** An account that asks for a text in Git, and where: of a workload, or of a fleet config. */
export interface CommitClaim {
  configHash: string
  byId: string
  /** The id of the workload, or of the fleet config. */
  place: string
  owner: string
}

/** Whether all these names are kept of a text, as this account's word or as nobody knows whose, and where it asks for it. */
export async function areCommitAuthorsNoted(
  db: Db,
  { configHash, byId, place, owner }: CommitClaim,
  names: readonly string[],
): Promise<boolean> {
  const rows = await db.query<{ count: number; isClaimed: boolean }>(
    `select count(distinct name)::int as count, exists (select from commit_claims
       where config_hash = $1 and by_id = $3 and place = $4 and owner = $5) as "isClaimed"
     from commit_authors where config_hash = $1 and name = any($2::text[]) and by_id in ('', $3)`,
    [configHash, names, byId, place, owner],
  )
  return rows[0]!.isClaimed && rows[0]!.count === names.length
}

/**
 * Make those who add names to a text or version, and those who judge an approval of it, take turns, until the transaction
 * ends: when either is done is noted in this order. It is taken after all other locks of what is changed.
 */
export async function lockNames(
  tx: Db,
  { hash, version }: Pick<AskedText, 'hash' | 'version'>,
): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(${NAMES_SPACE}, hashtext(coalesce((select content_hash from fleet_config_versions
       where fleet_config_id::text = $2 and number = $3), $1)))`,
    [hash, version?.fleetConfigId ?? null, version?.number ?? null],
  )
}

/**
 * Keep whom a commit names, in the forms of `toAuthorNames`, for the text that it brought, as the word of whoever asks for
 * it. `since`: when it was first asked for there in this owner's name, be it by another account; `hasRun`: it runs there,
 * and the owner keeps the place. When that was approved the database notes by itself on what is claimed by then (triggers
 * approvals_approve_claims and commit_claims_inherit, by judged_at): whoever claims it afterwards, as by a hand-over, named
 * nobody of whom whoever approved it was told.
 */
export async function noteCommitAuthors(
  tx: Db,
  { configHash, byId, place, owner, since, hasRun }: CommitClaim & { since: Date; hasRun: boolean },
  authors: readonly CommitAuthor[],
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  await lockNames(tx, { hash: configHash })
  const now = clock.now()
  await tx.execute(
    `insert into commit_claims as l (config_hash, by_id, place, owner, since, has_run, run_at, claimed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (config_hash, by_id, place) do update set owner = excluded.owner,
       since = least(l.since, excluded.since), has_run = l.has_run or excluded.has_run,
       run_at = case when l.has_run then coalesce(l.run_at, $8) else excluded.run_at end,
       approved_at = greatest(l.approved_at, excluded.approved_at)`,
    [configHash, byId, place, owner, since, hasRun, hasRun ? now : null, now],
  )
  await tx.execute(
    `insert into commit_authors (config_hash, name, noted_at, said, by_id)
     select $1, name, $3, said, $5 from unnest($2::text[], $4::text[]) as name_of (name, said)
     where exists (select from users u where lower(u.email) = name)
       or exists (select from provider_names p where p.name = name_of.name)
       or (select count(*) from commit_authors where config_hash = $1 and by_id = $5) < ${NAMES_MAX}
     on conflict do nothing`,
    [configHash, authors.map(({ name }) => name), now, authors.map(({ said }) => said), byId],
  )
}

/**
 * SQL for the approvals of a campaign, or of a version that applies by itself, that somebody gave who neither made, changed
 * nor asked for it, as `given`: whoever does and approves it alone has shown nobody whom he named. `of` is how its columns
 * begin, such as `k.`.
 */
export const givenByAnother = (of = ''): string =>
  `(select given from jsonb_array_elements(
      case jsonb_typeof(${of}approvals) when 'array' then ${of}approvals else '[]' end) as given
    where (given->>'byId' = any(${of}author_ids)) is not true)`

/**
 * SQL for whether one of these approvals of many workloads was given once the name `c` was noted, and the text was claimed for
 * that (`l`): whoever got it by a hand-over had named nobody there, whatever he said of the same text elsewhere.
 */
const isApprovedSince = (of: string): string =>
  `exists (select from ${givenByAnother(of)} as g
    where g.given->>'at' >= to_char(greatest(c.noted_at, l.claimed_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`

/**
 * SQL for whether the name `c` of `commit_authors` counts for a change `a`: it was noted before it was kept whose word it is;
 * whoever said it asked for this very change (`askers`); or asked in Git for this text, on one of its workloads or of its
 * fleet config (`places`), before the change was asked for (`at`); or what it asked for in Git was approved after it had
 * said so, by somebody else than who asked for that, or, where nobody was asked to, ran where Git keeps it. Who had no part
 * in it could name everybody, and nobody would be left to approve; nor may who had add names to what was looked at without
 * them. An approval at '-infinity' was given by nobody else (judged_at), and so at no time after a name.
 */
const COUNTS = `(c.by_id = '' or c.by_id = any(a.askers) or exists (
  select from commit_claims l where l.config_hash = c.config_hash and l.by_id = c.by_id and (
    coalesce(l.approved_at >= c.noted_at, l.has_run and coalesce(l.run_at >= c.noted_at, true))
    or (l.since <= a.at and l.place = any(a.places))
    or exists (select from fleet_config_versions w
      join campaigns k on k.change->>'fleet_config_id' = l.place and k.change->>'number' = w.number::text
      where w.content_hash = l.config_hash and w.fleet_config_id::text = l.place
        and w.created_at >= l.since and (${isApprovedSince('k.')}
          or k.started_at >= greatest(c.noted_at, l.claimed_at) and k.approvals = '[]'))
    or exists (select from fleet_config_versions w
      join auto_applies k on k.fleet_config_id = w.fleet_config_id and k.number = w.number
      where w.content_hash = l.config_hash and w.fleet_config_id::text = l.place
        and w.created_at >= l.since and ${isApprovedSince('k.')}))))`

/** A text, alone or as a version, that somebody is to approve or to look at, and what decides whose word about it counts. */
export interface AskedText {
  /** By which its authors are found. */
  key: string
  hash: string
  /** Those who asked for it, by id. */
  askers: readonly string[]
  /** Ids of the workloads and of the fleet config that it is for. */
  places: readonly string[]
  /** The campaign whose workloads are meant beside these; absent for none. */
  campaignId?: string
  /** When it was asked for; of a version when that was written. */
  at: Date | null
  /** The version that it is; absent for a text. */
  version?: { fleetConfigId: string; number: number }
}

/** A version that somebody is to approve, and who asks for that. */
export const toAskedVersion = (
  { fleetConfigId, number }: NonNullable<AskedText['version']>,
  askers: readonly string[],
): Omit<AskedText, 'key'> => ({
  hash: '',
  version: { fleetConfigId, number },
  askers,
  places: [fleetConfigId],
  at: null,
})

/**
 * SQL for `asked`, the texts of `$1`, and `named`, the names that count for each. `content` is the hash of text and values
 * where it is a version, of which only those with the same values are the same, and null for a text.
 */
export const ASKED_AND_NAMED = `asked as materialized (
    select r.key, coalesce(v.hash, r.hash) as hash, v.content_hash as content,
      r.askers || array_remove(array[v.author_id], null) as askers, coalesce(r.at, v.created_at) as at,
      r.places
        || array(select m.fleet_config_id::text from fleet_config_members m where m.workload_id = any(r.places))
        || array(select t.workload_id from campaign_targets t where t.campaign_id = r."campaignId" and t.wave is not null)
        as places
    from json_to_recordset($1::json) as r
      (key text, hash text, askers text[], places text[], "campaignId" text, at timestamptz, version json)
      left join fleet_config_versions v on v.fleet_config_id::text = r.version->>'fleetConfigId'
        and v.number = (r.version->>'number')::int),
  named as materialized (
    select a.key, c.name, c.said, c.by_id, c.config_hash as hash from asked a join commit_authors c on c.config_hash = coalesce(a.content, a.hash)
    where ${COUNTS})`

/** A name that counts for a text, and by whose word. */
export interface NamedAuthor extends CommitAuthor {
  /** Whoever says so asks for this very change, or asked in Git for the text where this change is for. */
  isHere: boolean
  /** Ids of the workloads and fleet configs for which whoever says so asked for the text. */
  places: string[]
}

/** Everybody whom commits name that brought a text, as far as that counts for it, by whose word. */
export async function listNamed(db: Db, asked: Omit<AskedText, 'key'>): Promise<NamedAuthor[]> {
  return db.query<NamedAuthor>(
    `with ${ASKED_AND_NAMED}
     select c.name, c.said, array_remove(array_agg(distinct l.place), null) as places,
       bool_or(c.by_id = any(a.askers) or coalesce(l.place = any(a.places), false)) as "isHere"
     from named c join asked a on a.key = c.key
       left join commit_claims l on l.config_hash = c.hash and l.by_id = c.by_id
     group by c.name, c.said`,
    [JSON.stringify([{ ...asked, key: '' }])],
  )
}

/** Those of these names that somebody here has, in the forms of `toAuthorNames`. */
export async function listNamesOfSomebody(db: Db, names: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ name: string }>(
    `select lower(email) as name from users where lower(email) = any($1::text[])
     union select name from provider_names where name = any($1::text[])`,
    [names],
  )
  return new Set(rows.map(({ name }) => name))
}

/**
 * Everybody whom commits name that brought versions of a fleet config, given by the hashes of their texts with values: one
 * owner at a time keeps it.
 */
export async function listFormerAuthorsOfFleet(
  db: Db,
  fleetConfigId: string,
  contentHashes: readonly string[],
): Promise<CommitAuthor[]> {
  return db.query<CommitAuthor>(
    `select c.name, max(c.said) as said from commit_authors c
     where c.config_hash = any($1::text[]) and (c.by_id = '' or exists (
       select from commit_claims l where l.config_hash = c.config_hash and l.by_id = c.by_id and l.place = $2))
     group by c.name`,
    [contentHashes, fleetConfigId],
  )
}

/** SQL for whether nobody requested a text, wrote it as a version or keeps it. */
const isUnused = (hash: string): string => `not exists (select from approvals a where a.draft_hash = ${hash})
       and not exists (select from fleet_config_versions v where v.content_hash = ${hash})
       and not exists (select from managed_configs m where m.config_hash = ${hash})
       and not exists (select from git_wishes g where g.config_hash = ${hash})
       and not exists (select from unseen_texts u where u.config_hash = ${hash})`

/** The same of what was not removed a while ago either. */
const isForgotten = (hash: string): string => `${isUnused(hash)}
       and not exists (select from authors_of_removed k where ${hash} in (k.hash, k.content_hash))`

/** Forget the authors of texts that were noted before a time and that nobody requested, wrote as a version or keeps. */
export async function deleteOldCommitAuthors(tx: Db, before: Date): Promise<void> {
  await tx.execute(
    `delete from authors_of_removed r where r.removed_at < $1 and ${isUnused('r.hash')} and ${isUnused('r.content_hash')}`,
    [before],
  )
  // Claims first, as by whoever notes names.
  await tx.execute(`delete from commit_claims c where c.since < $1 and ${isForgotten('c.config_hash')}`, [
    before,
  ])
  await tx.execute(`delete from commit_authors c where c.noted_at < $1 and ${isForgotten('c.config_hash')}`, [
    before,
  ])
}
