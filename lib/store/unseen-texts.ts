import { type CommitAuthor, type CommitClaim, keptOf, placeOfFleetConfigIn } from './commit-authors.ts'
import type { Db } from './db.ts'

/**
 * So many texts are kept of what one account asked for at a place: under each further owner's name it could ask for one
 * more.
 */
const TEXTS_MAX = 20

/** An account that asks in Git for a text at a place, where another one, or none, may run by now. */
export interface AskedInGit extends CommitClaim {
  owner: string
  /** Of a fleet config that of the version that was brought everywhere (`findCarriedHash`). */
  activeHash: string | null
}

/**
 * SQL for whether an account `$3` asked for the text `u` at a place `$1`, or has it from a hand-over. An owner's name says
 * nothing: whoever takes one that is free could add to what its next account asked for, or have it forgotten.
 */
const ITS_OWN = 'u.place = $1 and u.by_id = $3'

/**
 * Everybody whom an account named of what it, in whatever owner's name, asked for at a place before, or of what was handed
 * over to it, where neither that nor anything that came in its place runs; what was named last first, and no more than is
 * kept of one text.
 */
export async function listUnseenAuthors(db: Db, asked: AskedInGit): Promise<CommitAuthor[]> {
  return db.query<CommitAuthor>(
    `with former as (
       select $2 as hash, c.name, max(c.said) as said, -extract(epoch from max(c.noted_at)) as at
       from unseen_texts u join commit_authors c on c.config_hash = u.config_hash
       where ${ITS_OWN} and c.by_id in ('', u.by_id) and u.config_hash <> $2 and u.config_hash is distinct from $4
         and (u.replaced_by = $4) is not true
       group by c.name)
     select name, said from ${keptOf('former', '$3')} k order by at, name`,
    [asked.place, asked.configHash, asked.byId, asked.activeHash],
  )
}

/**
 * Note that a text was asked for, whose authors are by now also those of `listUnseenAuthors`; what an older binary is asked
 * for, or hands over, the triggers of note_wish_unseen note. `isAnew`: in the place of what was asked for before, which it
 * carries on; not so what runs already, with which nobody is shown anything. What ran is kept until what comes in its place
 * does: it may be taken back.
 */
export async function noteUnseen(tx: Db, asked: AskedInGit, isAnew: boolean, now: Date): Promise<void> {
  const { place, owner, byId, configHash, activeHash } = asked
  const params = [place, owner, byId, configHash]
  const isInPlace = isAnew && configHash !== activeHash
  await tx.execute(
    `delete from unseen_texts u where ${ITS_OWN} and (u.replaced_by = $5
       or $6 and u.owner = $2 and u.config_hash <> $4 and u.config_hash is distinct from $5)`,
    [...params, activeHash, isInPlace],
  )
  if (isInPlace)
    await tx.execute(
      `update unseen_texts u set replaced_by = $4
       where ${ITS_OWN} and (u.config_hash <> $4 or u.owner <> $2)`,
      params,
    )
  await tx.execute(
    `insert into unseen_texts (place, owner, by_id, config_hash, noted_at) values ($1, $2, $3, $4, $5)
     on conflict (place, config_hash, owner, by_id) do update set noted_at = excluded.noted_at, replaced_by = null`,
    [...params, now],
  )
  await tx.execute(
    `delete from unseen_texts where place = $1 and by_id = $2 and (owner, config_hash) not in (
       select owner, config_hash from unseen_texts where place = $1 and by_id = $2
       order by noted_at desc, owner, config_hash limit ${TEXTS_MAX})`,
    [place, byId],
  )
}

/** What of an owner goes to another name, or account, and who asked for it so far, by id. */
interface UnseenHandOver {
  owner: string
  toOwner: string
  accountId: string
  formerIds: readonly string[]
  now: Date
}

/**
 * Take what these accounts, or accounts that are gone, asked for in an owner's name at these places, or at all, for its
 * heir's, and for the account that speaks for that, under whatever name it asks afterwards, with whom they have named of it
 * by now; whoever asked for it still did.
 */
export async function handOverUnseen(
  tx: Db,
  { owner, toOwner, accountId, formerIds, now }: UnseenHandOver,
  places: readonly string[] | null,
): Promise<void> {
  await tx.execute(
    `with handed as (
       delete from unseen_texts u where owner = $1 and ($4::text[] is null or place = any($4))
         and (by_id = any($5::text[]) or not exists (select from users a where a.id::text = u.by_id)) returning *),
     told as (
       select config_hash as hash, c.name, max(c.said) as said, 1 as at
       from handed join commit_authors c using (config_hash, by_id)
       where by_id <> '' group by config_hash, c.name),
     named as (
       insert into commit_authors (config_hash, name, noted_at, said, by_id)
       select hash, name, $6, said, $3 from ${keptOf('told', '$3')} k order by hash, name on conflict do nothing)
     insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
     select distinct on (place, config_hash, account) place, config_hash, $2, account, noted_at, replaced_by
     from handed, unnest(array[by_id, $3]) as account order by place, config_hash, account, noted_at desc
     on conflict (place, config_hash, owner, by_id) do nothing`,
    [owner, toOwner, accountId, places, formerIds, now],
  )
}

/**
 * Let what was asked for of a fleet config, and nobody brought to run, be asked for under its next name as well: it may be
 * removed under that, and made anew. It stays under the former one, which may come to be another one's. Of each account that
 * are `TEXTS_MAX` texts at most, however often it is renamed.
 */
export async function copyToName(tx: Db, from: string, to: string): Promise<void> {
  await tx.execute(
    `insert into commit_claims (config_hash, by_id, place, since)
     select config_hash, by_id, $2, since from commit_claims l where place = $1 and exists (
       select from unseen_texts u where u.place = $1 and u.config_hash = l.config_hash and u.by_id = l.by_id)
     on conflict do nothing`,
    [from, to],
  )
  await tx.execute(
    `insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
     select $2, config_hash, owner, by_id, noted_at, replaced_by from unseen_texts where place = $1
     on conflict do nothing`,
    [from, to],
  )
}

/**
 * Forget what was asked for before a time and is not by now. A workload that was removed may come back, and so may a fleet
 * config; what was asked for there goes no sooner.
 */
export async function deleteOldUnseen(tx: Db, before: Date): Promise<void> {
  await tx.execute(
    `delete from unseen_texts u where u.noted_at < $1
       and not exists (select from managed_configs m where m.workload_id = u.place and m.config_hash = u.config_hash)
       and not exists (select from git_wishes g where g.workload_id = u.place and g.config_hash = u.config_hash)
       and not exists (select from managed_fleet_configs m join fleet_configs f on f.id = m.fleet_config_id
         join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number = m.version
         where u.place = ${placeOfFleetConfigIn('f.name')} and v.content_hash = u.config_hash)`,
    [before],
  )
}
