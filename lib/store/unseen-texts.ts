import type { CommitAuthor } from './commit-authors.ts'
import type { Db } from './db.ts'

/**
 * So many texts are kept of what one account asked for on a workload: under each further owner's name it could ask for one
 * more.
 */
const TEXTS_MAX = 20

/** An account that asks in Git for a text on a workload, which may run another one, or none, by now. */
export interface AskedInGit {
  place: string
  configHash: string
  owner: string
  byId: string
  activeHash: string | null
}

/**
 * SQL for whether an account `$3` asked for the text `u` of a workload `$1`, or has it from a hand-over. An owner's name says
 * nothing: whoever takes one that is free could add to what its next account asked for, or have it forgotten.
 */
const ITS_OWN = 'u.place = $1 and u.by_id = $3'

const toParams = ({ place, owner, byId, configHash, activeHash }: AskedInGit) => [
  place,
  owner,
  byId,
  configHash,
  activeHash,
]

/**
 * Everybody whom commits name that brought what this account, in whatever owner's name, asked for on a workload before, or
 * what was handed over to it, where neither that nor anything that came in its place runs; and what the owner asked for by an
 * account of which nothing is known any more.
 */
export async function listUnseenAuthors(db: Db, asked: AskedInGit): Promise<CommitAuthor[]> {
  return db.query<CommitAuthor>(
    `select c.name, max(c.said) as said from unseen_texts u join commit_authors c on c.config_hash = u.config_hash
     where (${ITS_OWN} or u.place = $1 and u.by_id = '' and u.owner = $2)
       and u.config_hash <> $4 and u.config_hash is distinct from $5
       and (u.replaced_by = $5) is not true
       and (c.by_id = '' or c.by_id = u.by_id or exists (
         select from commit_claims l
         where l.config_hash = u.config_hash and l.by_id = c.by_id and l.place = u.place and l.owner = u.owner))
     group by c.name`,
    toParams(asked),
  )
}

/**
 * Note that a text was asked for, whose authors are by now also those of `listUnseenAuthors`; what an older binary is asked
 * for, or hands over, the triggers of note_wish_unseen note. `isAnew`: in the place of what was asked for before, which it
 * carries on; not so what runs already, with which nobody is shown anything. What ran is kept until what comes in its place
 * does: it may be taken back.
 */
export async function noteUnseen(tx: Db, asked: AskedInGit, isAnew: boolean, now: Date): Promise<void> {
  const params = toParams(asked)
  const isInPlace = isAnew && asked.configHash !== asked.activeHash
  await tx.execute(
    `delete from unseen_texts u where ${ITS_OWN} and (u.replaced_by = $5
       or $6 and u.owner = $2 and u.config_hash <> $4 and u.config_hash is distinct from $5)`,
    [...params, isInPlace],
  )
  if (isInPlace)
    await tx.execute(
      `update unseen_texts u set replaced_by = $4
       where ${ITS_OWN} and (u.config_hash <> $4 or u.owner <> $2)`,
      params.slice(0, 4),
    )
  await tx.execute(
    `insert into unseen_texts (place, owner, by_id, config_hash, noted_at) values ($1, $2, $3, $4, $5)
     on conflict (place, config_hash, owner, by_id) do update set noted_at = excluded.noted_at, replaced_by = null`,
    [...params.slice(0, 4), now],
  )
  await tx.execute(
    `delete from unseen_texts where place = $1 and by_id = $2 and (owner, config_hash) not in (
       select owner, config_hash from unseen_texts where place = $1 and by_id = $2
       order by noted_at desc, owner, config_hash limit ${TEXTS_MAX})`,
    [asked.place, asked.byId],
  )
}

/** What of an owner goes to another name, or account, and who asked for it so far, by id. */
interface UnseenHandOver {
  owner: string
  toOwner: string
  accountId: string
  formerIds: readonly string[]
}

/**
 * Take what these accounts, or accounts that are gone, asked for in an owner's name on these workloads, or on all, for its
 * heir's, and for the account that speaks for that, under whatever name it asks afterwards; whoever asked for it still did.
 */
export async function handOverUnseen(
  tx: Db,
  { owner, toOwner, accountId, formerIds }: UnseenHandOver,
  places: readonly string[] | null,
): Promise<void> {
  await tx.execute(
    `with handed as (
       delete from unseen_texts u where owner = $1 and ($4::text[] is null or place = any($4))
         and (by_id = any($5::text[]) or not exists (select from users a where a.id::text = u.by_id)) returning *)
     insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
     select distinct on (place, config_hash, account) place, config_hash, $2, account, noted_at, replaced_by
     from handed, unnest(array[by_id, $3]) as account order by place, config_hash, account, noted_at desc
     on conflict (place, config_hash, owner, by_id) do nothing`,
    [owner, toOwner, accountId, places, formerIds],
  )
}

/** Forget what was asked for on workloads that are gone, and what was before a time and is not asked for by now. */
export async function deleteOldUnseen(tx: Db, before: Date): Promise<void> {
  await tx.execute(
    `delete from unseen_texts u where not exists (select from workloads w where w.id = u.place) or u.noted_at < $1
       and not exists (select from managed_configs m where m.workload_id = u.place and m.config_hash = u.config_hash)
       and not exists (select from git_wishes g where g.workload_id = u.place and g.config_hash = u.config_hash)`,
    [before],
  )
}
