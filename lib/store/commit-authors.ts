import type { Clock } from '../clock.ts'
import { gitGroupOf } from '../model/git-group.ts'
import { HAS_ENDED_UNPUSHED } from './approval-drafts.ts'
import type { Db } from './db.ts'

/**
 * So many names that nobody here has are kept of one text as one account's word, inherited ones included: as many as one call
 * can say, each person by name and address. Who has an account is kept all the same: made-up names must not keep away whom the
 * commit names, and of accounts there are only so many.
 */
const STRANGERS_MAX = 400

/** SQL for whether somebody here is found by this name, in the forms of `toAuthorNames`. */
const isSomebody = (name: string): string =>
  `(${name} in (select lower(u.email) from users u) or exists (select from provider_names p where p.name = ${name}))`

/**
 * SQL for those of the names of `source`, each once for a `hash`, that are kept of it as the word of `by`: not there yet, of
 * somebody here, or the first by `at` for as long as there is room.
 */
export const keptOf = (source: string, by: string): string => `(
  select * from (
    select n.*, row_number() over (partition by n.hash, n.is_somebody order by n.at, n.name) as nth
    from (select s.*, ${isSomebody('s.name')} as is_somebody from ${source} s where not exists (
      select from commit_authors c where c.config_hash = s.hash and c.name = s.name and c.by_id = ${by})) n) n
  where n.is_somebody or n.nth <= ${roomFor('n.hash', by)})`

/** SQL for how many more names that nobody here has are kept of a text as somebody's word. */
const roomFor = (
  hash: string,
  by: string,
): string => `${STRANGERS_MAX} - (select count(*) from commit_authors o
  where o.config_hash = ${hash} and o.by_id = ${by} and not ${isSomebody('o.name')})`

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
  /** The id of the workload, or `placeOfFleetConfig`. */
  place: string
}

const FLEET_CONFIG = 'fleet:'

/** Where a fleet config is asked for: Git knows it by its name only, whatever became of one that had the name before. */
export const placeOfFleetConfig = (name: string): string => `${FLEET_CONFIG}${name}`

/** SQL for `placeOfFleetConfig` of the name in this column. */
export const placeOfFleetConfigIn = (column: string): string => `'${FLEET_CONFIG}' || ${column}`

/**
 * Whether of these names all that are to be kept of a text are, as this account's word or as nobody knows whose, and where it
 * asks for it.
 */
export async function areCommitAuthorsNoted(
  db: Db,
  { configHash, byId, place }: CommitClaim,
  names: readonly string[],
): Promise<boolean> {
  const rows = await db.query<{ isNoted: boolean }>(
    `with missing as materialized (select distinct $1 as hash, name, 1 as at from unnest($2::text[]) as n (name) where not exists (
       select from commit_authors c where c.config_hash = $1 and c.name = n.name and c.by_id in ('', $3)))
     select exists (select from commit_claims where config_hash = $1 and by_id = $3 and place = $4)
       and not exists (select from ${keptOf('missing', '$3')} k) as "isNoted"`,
    [configHash, names, byId, place],
  )
  return rows[0]!.isNoted
}

/**
 * Keep whom a commit names, in the forms of `toAuthorNames`, for the text that it brought, as the word of whoever asks for
 * it; and since when that account asks for it there. Where there are too many the first are kept. Names are written in order,
 * so that of two that note the same one waits.
 */
export async function noteCommitAuthors(
  tx: Db,
  { configHash, byId, place }: CommitClaim,
  authors: readonly CommitAuthor[],
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const now = clock.now()
  await tx.execute(
    `insert into commit_claims (config_hash, by_id, place, since) values ($1, $2, $3, $4) on conflict do nothing`,
    [configHash, byId, place, now],
  )
  await tx.execute(
    `with told as (
       select $1 as hash, name, min(at) as at, (array_agg(said order by at))[1] as said
       from unnest($2::text[], $4::text[]) with ordinality as n (name, said, at) group by name)
     insert into commit_authors (config_hash, name, noted_at, said, by_id)
     select hash, name, $3, said, $5 from ${keptOf('told', '$5')} k order by name on conflict do nothing`,
    [configHash, authors.map(({ name }) => name), now, authors.map(({ said }) => said), byId],
  )
}

/**
 * SQL for whether the name `c` of `commit_authors` counts for a change `a`. This and `OTHERS` are the one place of that rule. It
 * counts where it was noted
 * 1. before it was kept whose word it is;
 * 2. as the word of whoever put this very text there (`setters`), be it said afterwards, unless that was handed over by then;
 * 3. by the time that the change was asked for (`at`), as the word of one of `others`.
 * Who asks elsewhere is a second person to have seen the text, and nobody else's word counts.
 */
const COUNTS = `(c.by_id = ''
  or c.by_id = any(a.setters) and (a.handed_at is null or c.noted_at <= a.handed_at)
  or c.noted_at <= a.at and (a.key, c.by_id) in (select key, by_id from others))`

/** SQL for whether an account keeps anything in Git where its claim `l` is for. */
const KEEPS_SOMETHING = `(
  exists (select from managed_configs m where m.workload_id = l.place and m.applied_by_id::text = l.by_id)
  or exists (select from git_wishes g where g.workload_id = l.place and g.applied_by_id::text = l.by_id)
  or exists (select from managed_fleet_configs m join fleet_configs f on f.id = m.fleet_config_id
    where ${placeOfFleetConfigIn('f.name')} = l.place and m.applied_by_id::text = l.by_id))`

/** SQL for whether anybody else ever approved what an account asked for by its claim `l`, as a request or in a campaign. */
const WAS_APPROVED = `(
  exists (select from approvals p join approval_votes v on v.approval_id = p.id
    where p.workload_id = l.place and p.draft_hash = l.config_hash and p.requester_id = l.by_id and v.user_id <> l.by_id)
  or exists (select from fleet_config_versions v join fleet_configs f on f.id = v.fleet_config_id
    join campaigns c on c.change->>'fleet_config_id' = v.fleet_config_id::text and c.change->>'number' = v.number::text
    where v.content_hash = l.config_hash and v.author_id = l.by_id and ${placeOfFleetConfigIn('f.name')} = l.place
      and exists (select from jsonb_array_elements(c.approvals) y where y->>'byId' <> l.by_id)))`

/**
 * SQL for `others`, the accounts whose word counts for a change that they did not ask for. What is asked for in Git has whom its
 * own account names, and no other. For what is asked for by hand it is who had asked in Git for this text where the change is
 * for (`places`) by then: so an author is hidden by nobody who asks for the text by hand in his place. But not who named
 * whoever asks (`asking`) as well, has let go all that it kept there, and had that text approved by nobody else: who names
 * everybody of a place that it only passed by keeps nobody from approving. Where it keeps something, or was approved, a line
 * in a commit that names whoever asks takes nobody's name from it.
 */
const OTHERS = `select a.key, l.by_id from asked a join asking o on o.key = a.key
  join commit_claims l on l.config_hash = coalesce(a.content, a.hash) and l.place = any(a.places) and l.since <= a.at
  where not a.is_from_git and (not exists (
      select from commit_authors n where n.config_hash = l.config_hash and n.by_id = l.by_id and n.name = any(o.names))
    or ${KEEPS_SOMETHING} or ${WAS_APPROVED})`

/** A text, alone or as a version, that somebody is to approve or to look at, and what decides whose word about it counts. */
export interface AskedText {
  /** By which its authors are found. */
  key: string
  hash: string
  /** Those who asked for it, by id. */
  askers: readonly string[]
  /**
   * Those of them who put the text there; of a version whoever wrote it, who need not be said. Whoever only chooses other
   * workloads for it, or asks that it is approved, could name everybody.
   */
  textSetters: readonly string[]
  /** The id of its workload; none of a text that a campaign brings to many workloads, nor of a version, which has its own. */
  places: readonly string[]
  /** When it was asked for; null of a version, which was when that was written, and where there is no place. */
  at: Date | null
  /** The version that it is; absent for a text. */
  version?: { fleetConfigId: string; number: number }
  /** The id of the request that asks for it; absent where none does. */
  request?: string
}

/** A version that somebody is to approve, and who asks for that. */
export const toAskedVersion = (
  { fleetConfigId, number }: NonNullable<AskedText['version']>,
  askers: readonly string[],
): Omit<AskedText, 'key'> => ({
  hash: '',
  version: { fleetConfigId, number },
  askers,
  textSetters: [],
  places: [],
  at: null,
})

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/**
 * SQL for `asked`, the texts of `$1`, `others`, whose word counts for each though it is not theirs, and `named`, the names that
 * count for each. `content` is the hash of text and values where it is a version, of which only those with the same values are
 * the same, and null for a text.
 */
export const ASKED_AND_NAMED = `asked as materialized (
    select r.key, coalesce(v.hash, r.hash) as hash, v.content_hash as content, v.fleet_config_id,
      r.askers || array_remove(array[v.author_id], null) as askers,
      r."textSetters" || array_remove(array[v.author_id], null) as setters,
      r.places || array_remove(array[${placeOfFleetConfigIn('f.name')}], null) as places, coalesce(r.at, v.created_at) as at,
      coalesce(v.handed_at, p.handed_at) as handed_at,
      coalesce(starts_with(p.target_group, '${gitGroupOf('')}'), exists (
        select from commit_claims g where g.config_hash = v.content_hash and g.by_id = v.author_id)) as is_from_git
    from json_to_recordset($1::json) as r
      (key text, hash text, askers text[], "textSetters" text[], places text[], at timestamptz, version json, request text)
      left join fleet_config_versions v on v.fleet_config_id::text = r.version->>'fleetConfigId'
        and v.number = (r.version->>'number')::int
      left join fleet_configs f on f.id = v.fleet_config_id
      left join approvals p on p.id = r.request),
  asking as materialized (
    select a.key, array(select lower(u.email) from users u where u.id = any(i.ids)
      union select p.name from provider_names p where p.user_id = any(i.ids)) as names
    from asked a, lateral (select array(select id::uuid from unnest(a.askers) as id where id ~ '${UUID}') as ids) i),
  others as materialized (${OTHERS}),
  named as materialized (
    select a.key, c.name, c.said, c.by_id from asked a
      join commit_authors c on c.config_hash = coalesce(a.content, a.hash)
    where ${COUNTS})`

/** A name that counts for a text. */
export interface NamedAuthor extends CommitAuthor {
  /** Whether it is known whose word it is: of somebody who had a part in this very change. */
  isHere: boolean
}

/** Everybody whom commits name that brought a text, as far as that counts for it. */
export async function listNamed(db: Db, asked: Omit<AskedText, 'key'>): Promise<NamedAuthor[]> {
  return db.query<NamedAuthor>(
    `with ${ASKED_AND_NAMED}
     select name, said, bool_or(by_id <> '') as "isHere" from named group by name, said`,
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

/** SQL for whether nobody requests a text or pushed it, wrote it as a version or keeps it. */
const isUnused = (
  hash: string,
): string => `not exists (select from approvals a where a.draft_hash = ${hash} and not ${HAS_ENDED_UNPUSHED})
       and not exists (select from fleet_config_versions v where v.content_hash = ${hash})
       and not exists (select from managed_configs m where m.config_hash = ${hash})
       and not exists (select from git_wishes g where g.config_hash = ${hash})
       and not exists (select from unseen_texts u where u.config_hash = ${hash})`

/** The same of what was not removed a while ago either. */
const isForgotten = (hash: string): string => `${isUnused(hash)}
       and not exists (select from authors_of_removed k where ${hash} in (k.hash, k.content_hash))`

/**
 * Forget the authors of texts that were noted before a time and that nobody requests, pushed, wrote as a version or keeps. Whoever
 * asks for one just now is waited for, and waits: what it finds noted already would be gone.
 */
export async function deleteOldCommitAuthors(tx: Db, before: Date): Promise<void> {
  await tx.execute('lock table commit_claims, commit_authors in share row exclusive mode')
  await tx.execute(
    `delete from authors_of_removed r where r.removed_at < $1 and ${isUnused('r.hash')} and ${isUnused('r.content_hash')}`,
    [before],
  )
  await tx.execute(`delete from commit_claims c where c.since < $1 and ${isForgotten('c.config_hash')}`, [
    before,
  ])
  await tx.execute(`delete from commit_authors c where c.noted_at < $1 and ${isForgotten('c.config_hash')}`, [
    before,
  ])
}
