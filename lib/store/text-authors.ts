import { ASKED_AND_NAMED, type AskedText } from './commit-authors.ts'
import type { Db } from './db.ts'

/** SQL for a user's id and, where it is a service account, its owner's id now. `userId` is SQL too, such as `$2`. */
export const authorsOf = (userId: string): string =>
  `array(select ${userId}::text union select owner_id::text from users where id::text = ${userId} and owner_id is not null)`

/**
 * SQL for the ids of those who set what a campaign carries, chose for which workloads, or asked for it; everybody who made or
 * changed it where an older version of muster did so last. `of` is how its columns begin, such as `c.`.
 */
export const settersOf = (of = ''): string =>
  `case when ${of}set_edition = ${of}edition then ${of}set_by_ids || array_remove(array[${of}requested_by_id], null)
     else ${of}author_ids end`

/** SQL for who put the text of a campaign there; null where that is not known. */
export const PUT_BY = `(case when set_edition = edition then text_by_id end)`

/**
 * SQL for the authors of the texts of `$1`, by their keys: `own` are those of the very change that is asked about, the
 * others asked for the same text elsewhere.
 */
const AUTHORS = `with ${ASKED_AND_NAMED},
     versions as (
       select a.key, v.*, v.fleet_config_id is not distinct from a.fleet_config_id as is_own
       from asked a join fleet_config_versions v on v.hash = a.hash
       where a.content is null or v.content_hash = a.content),
     found as (
       select key, unnest(askers) as id, true as is_own from asked
       union select a.key, r.requester_id as id, r.requester_id = any(a.askers) as is_own
         from approvals r join asked a on a.hash = r.draft_hash
       union select key, author_id, is_own from versions
       union select a.key, unnest(r.author_ids), r.requester_id = any(a.askers)
         from approvals r join asked a on a.hash = r.draft_hash
       union select key, unnest(author_ids), is_own from versions
       union select a.key, k.author_id, false from asked a join authors_of_removed k
         on k.hash = a.hash and (a.content is null or k.content_hash in ('', a.content))
       union select a.key, unnest(${settersOf('c.')}), false
         from asked a join campaigns c on c.change->>'hash' = a.hash
       union select v.key, unnest(${settersOf('c.')}), false from versions v join campaigns c
         on c.change->>'fleet_config_id' = v.fleet_config_id::text and c.change->>'number' = v.number::text
       union select c.key, u.id::text, true from named c join users u on lower(u.email) = c.name
       union select c.key, p.user_id::text, true from named c join provider_names p on p.name = c.name),
     authors as (
       select key, id, is_own from found
       union select n.key, u.owner_id::text, n.is_own
         from users u join found n on n.id = u.id::text where u.owner_id is not null)
     select key, array_agg(distinct id) as ids, coalesce(array_agg(distinct id) filter (where is_own), '{}') as own
     from authors group by key`

/** The authors of a text, by id. */
export interface AuthorsOfText {
  all: readonly string[]
  /** Those of them who asked for or wrote this very change; the others asked for the same text elsewhere. */
  own: readonly string[]
}

const NOBODY: AuthorsOfText = { all: [], own: [] }

/**
 * The ids of everybody who requested one of these texts, wrote it as a version, or put it into a campaign or requested
 * that (whoever had made the draft wrote another text), of those who answered for the service accounts among them, then or now, and of the users whom the
 * commits name that brought it, as far as whoever says so had a part in it; by the text's key. Of a version those who
 * wrote, committed or carried the same text with the same variables and values, and those who requested the text: others
 * who changed values beside that text are authors of theirs. A commit may name anybody; but all that a wrong name does is
 * to make one author more.
 */
export async function listAuthorsOfTexts(
  db: Db,
  asked: readonly AskedText[],
): Promise<(key: string) => AuthorsOfText> {
  const rows = await db.query<{ key: string; ids: string[]; own: string[] }>(AUTHORS, [JSON.stringify(asked)])
  const found = new Map(rows.map(({ key, ids, own }) => [key, { all: ids, own }]))
  return (key) => found.get(key) ?? NOBODY
}

/** The same of one text, or version. */
export const listAuthors = async (db: Db, asked: Omit<AskedText, 'key'>): Promise<AuthorsOfText> =>
  (await listAuthorsOfTexts(db, [{ ...asked, key: '' }]))('')

/**
 * Who put the text that a campaign carries there, be it in the place of another one; everybody who made or changed it where
 * that is not known, as where an older version of muster did so last.
 */
export async function listWhoPutText(db: Db, id: string): Promise<string[]> {
  const rows = await db.query<{ ids: string[] }>(
    `select case when ${PUT_BY} is null then author_ids else array[${PUT_BY}] end as ids from campaigns where id = $1`,
    [id],
  )
  return rows[0]?.ids ?? []
}

/** Remember that somebody made or requested a campaign. Its row must be locked, or new. */
export async function noteCampaignAuthor(tx: Db, campaignId: string, userId: string): Promise<void> {
  await tx.execute(
    `update campaigns set author_ids = array(select distinct unnest(author_ids || ${authorsOf('$2')})),
       set_by_ids = array(select distinct unnest((${settersOf()}) || ${authorsOf('$2')})), text_by_id = ${PUT_BY},
       set_edition = edition
     where id = $1`,
    [campaignId, userId],
  )
}

/**
 * Everybody who wrote, changed or requested a campaign, and who answered or answers for the service accounts among
 * them.
 */
export const listCampaignAuthors = (db: Db, id: string): Promise<string[]> =>
  listAuthorsOf(db, 'campaigns', id)

/**
 * Everybody who asked that a version applies by itself, and who answered or answers for the service accounts among
 * them.
 */
export const listAutoApplyAuthors = (db: Db, id: string): Promise<string[]> =>
  listAuthorsOf(db, 'auto_applies', id)

async function listAuthorsOf(db: Db, table: 'campaigns' | 'auto_applies', id: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `with written as (select unnest(author_ids) as id from ${table} where id = $1)
     select id from written
     union select u.owner_id::text from users u join written w on w.id = u.id::text where u.owner_id is not null`,
    [id],
  )
  return rows.map((row) => row.id)
}
