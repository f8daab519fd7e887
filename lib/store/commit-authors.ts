import type { Db } from './db.ts'

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

/** Whether all these names are kept of a text already. */
export async function areCommitAuthorsNoted(
  db: Db,
  configHash: string,
  names: readonly string[],
): Promise<boolean> {
  const rows = await db.query<{ count: number }>(
    `select count(*)::int as count from commit_authors where config_hash = $1 and name = any($2::text[])`,
    [configHash, names],
  )
  return rows[0]!.count === names.length
}

/** Keep whom a commit names, in the forms of `toAuthorNames`, for the text that it brought. */
export async function noteCommitAuthors(
  tx: Db,
  configHash: string,
  authors: readonly CommitAuthor[],
  now: Date,
): Promise<void> {
  await tx.execute(
    `insert into commit_authors (config_hash, name, noted_at, said)
     select $1, name, $3, said from unnest($2::text[], $4::text[]) as name_of (name, said)
     where exists (select from users u where lower(u.email) = name)
       or exists (select from provider_names p where p.name = name_of.name)
       or (select count(*) from commit_authors where config_hash = $1) < ${NAMES_MAX}
     on conflict do nothing`,
    [configHash, authors.map(({ name }) => name), now, authors.map(({ said }) => said)],
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

/** Everybody who is kept of these texts. */
export async function listCommitAuthors(db: Db, configHashes: readonly string[]): Promise<CommitAuthor[]> {
  return db.query<CommitAuthor>(
    `select name, max(said) as said from commit_authors where config_hash = any($1::text[]) group by name`,
    [configHashes],
  )
}

/** Forget the authors of texts that were noted before a time and that nobody requested, wrote as a version or keeps. */
export async function deleteOldCommitAuthors(tx: Db, before: Date): Promise<void> {
  await tx.execute(
    `delete from commit_authors c where c.noted_at < $1
       and not exists (select from approvals a where a.draft_hash = c.config_hash)
       and not exists (select from fleet_config_versions v where v.content_hash = c.config_hash)
       and not exists (select from managed_configs m where c.config_hash in (m.config_hash, m.ran_config_hash))
       and not exists (select from git_wishes g where c.config_hash in (g.config_hash, g.ran_config_hash))`,
    [before],
  )
}
