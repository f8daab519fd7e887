import { UUID } from '../ids.ts'
import type { ApprovalRule } from '../model/approval-policy.ts'
import type { RoleGrant } from '../model/scopes.ts'
import { columns } from './columns.ts'
import { ASKED_AND_CLAIMS, type AskedText } from './commit-authors.ts'
import type { Db } from './db.ts'
import { seen } from './external-users.ts'
import { GRANTS } from './groups.ts'

/** One person's approval of a request. */
export interface ApprovalVote {
  approvalId: string
  userId: string
  email: string
  comment: string
  at: Date
  rule: ApprovalRule | null
  /** Given while nobody else could approve anything. */
  soleApprover: boolean
}

/** One that was given, and whether something else has been pushed to its workload since. */
export interface GivenVote extends ApprovalVote {
  isOvertaken: boolean
}

const VOTE = columns<keyof ApprovalVote>({
  approvalId: 'approval_id',
  userId: 'user_id',
  email: 'email',
  comment: 'comment',
  at: 'approved_at',
  rule: 'rule',
  soleApprover: 'sole_approver',
})

/**
 * Add an approval, with the newest push that its workload has by now; a newer one of the same person takes the place of
 * an older. The request's row must be locked.
 */
export async function upsertApprovalVote(tx: Db, vote: ApprovalVote): Promise<void> {
  await tx.execute(
    `insert into approval_votes (${VOTE.names}, push_seq) values (${VOTE.places},
       (select coalesce(max(p.seq), 0) from approvals a join pushes p on p.workload_id = a.workload_id where a.id = $1))
     on conflict (approval_id, user_id) do update set push_seq = excluded.push_seq,
       ${VOTE.replaced('email', 'comment', 'at', 'rule', 'soleApprover')}`,
    VOTE.valuesOf({ ...vote, rule: JSON.stringify(vote.rule) }),
  )
}

/**
 * The approvals of these requests, the first one first. What overtakes one is what would have retired the request had it
 * been approved by then (`retireOvertaken`): whoever gave it saw its workload run something else. What came later is
 * told by the order of the pushes, since a clock may be put back.
 */
export async function listApprovalVotes(db: Db, approvalIds: readonly string[]): Promise<GivenVote[]> {
  return db.query<GivenVote>(
    `select ${VOTE.select('v')}, exists (
       select from approvals a join pushes p on p.workload_id = a.workload_id left join approvals n on n.id = p.approval_id
       where a.id = v.approval_id and p.kind <> 'auto-rollback'
         and case when v.push_seq is null then p.submitted_at > v.approved_at else p.seq > v.push_seq end
         and p.approval_id is distinct from a.id
         and (n.id is null or (a.created_at, a.id) < (n.created_at, n.id))) as "isOvertaken"
     from approval_votes v where v.approval_id = any($1::text[])
     order by v.approval_id, v.approved_at, v.user_id`,
    [approvalIds],
  )
}

/** SQL for a user's id and, where it is a service account, its owner's id now. `userId` is SQL too, such as `$2`. */
export const authorsOf = (userId: string): string =>
  `array(select ${userId}::text union select owner_id::text from users where id::text = ${userId} and owner_id is not null)`

/**
 * SQL for the authors of the texts of `$1`, by their keys: `own` are those of the very change that is asked about, the
 * others asked for the same text elsewhere.
 */
const AUTHORS = `with ${ASKED_AND_CLAIMS},
     versions as (
       select a.key, v.*, a.content is not null and v.fleet_config_id::text = any(a.places) as is_own
       from asked a join fleet_config_versions v on v.hash = a.hash
       where a.content is null or v.content_hash = a.content),
     named as (
       select a.key, r.requester_id as id, r.requester_id = any(a.askers) as is_own
         from approvals r join asked a on a.hash = r.draft_hash
       union select key, author_id, is_own from versions
       union select a.key, unnest(r.author_ids), r.requester_id = any(a.askers)
         from approvals r join asked a on a.hash = r.draft_hash
       union select key, unnest(author_ids), is_own from versions
       union select a.key, unnest(c.author_ids), false from asked a join campaigns c on c.change->>'hash' = a.hash
       union select v.key, unnest(c.author_ids), false from versions v join campaigns c
         on c.change->>'fleet_config_id' = v.fleet_config_id::text and c.change->>'number' = v.number::text
       union select c.key, u.id::text, true from claims c join users u on lower(u.email) = c.name
       union select c.key, p.user_id::text, true from claims c join provider_names p on p.name = c.name),
     authors as (
       select key, id, is_own from named
       union select n.key, u.owner_id::text, n.is_own
         from users u join named n on n.id = u.id::text where u.owner_id is not null)
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
 * The ids of everybody who requested one of these texts, wrote it as a version, or made, changed or requested a campaign
 * that carries it, of those who answered for the service accounts among them, then or now, and of the users whom the
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

/** Remember that somebody wrote, changed or requested a campaign. Its row must be locked, or new. */
export async function noteCampaignAuthor(tx: Db, campaignId: string, userId: string): Promise<void> {
  await tx.execute(
    `update campaigns set author_ids = array(select distinct unnest(author_ids || ${authorsOf('$2')})) where id = $1`,
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

/**
 * SQL for that by which several accounts are known to be one person's, of the accounts that `people` lists by `uuid`: an
 * e-mail, by whichever claim the provider ever told it, and the provider's subject. Full names are left out: two people
 * may have the same.
 */
export const namesOf = (people: string): string =>
  `select p.uuid, ${seen('u.email_key')} as name from ${people} p join users u on u.id = p.uuid where u.kind = 'local'
   union select p.uuid, ${seen('n.name')} from ${people} p
     join provider_names n on n.user_id = p.uuid where position('@' in n.name) > 1
   union select p.uuid, e.issuer || e'\\n' || e.subject from ${people} p join external_ids e on e.user_id = p.uuid`

/**
 * SQL for accounts by `uuid`: those whose ids `ids` lists as text, those that made or changed one that `users` lists, and
 * those that these made or changed: each may be somebody who is known by another account too.
 */
export const withShapers = (ids: string, users: string): string =>
  `select distinct id::uuid as uuid from (
     ${ids}
     union select c.by_id from account_changes c join (${users}) one on one.id = c.user_id::text
     union select c.user_id::text from account_changes c join (${users}) one on one.id = c.by_id) all_of
   where id ~ '${UUID.source}'`

/** SQL for the pairs of accounts among `names`, as `namesOf` lists them, that are known to be of one person. */
export const SAME = `select distinct n.uuid, o.uuid::text as other from names n join names o on o.name = n.name and o.uuid <> n.uuid`

/** A request, and the accounts that approved it or want to. */
export interface AskedApprovers {
  userIds: readonly string[]
  authors: readonly string[]
  /** Authors only of values; absent for none. */
  valueAuthors?: readonly string[]
  /**
   * Those of the authors who asked for this very change, or wrote it: only theirs are all accounts of the person. Others
   * asked for the same text elsewhere, and one of them who takes the name of whoever made everybody's account would keep
   * everybody from approving. Absent for all authors.
   */
  askers?: readonly string[]
  requestedAt: Date
}

/** What decides whether an account counts as an approver of a request. */
export interface StoredApproverStanding {
  id: string
  /** Its roles, and where these hold. */
  roles: RoleGrant[]
  /** An author changed this account, be it by another account that is known to be of the same person. */
  isShapedByAuthor: boolean
  /** An account of this person, or one that is known to be of it, changed one of an author in the same way. */
  hasShapedAuthor: boolean
  /** Anybody changed this account since the request. */
  isShapedSinceRequest: boolean
  /** An author's account, or that of who wrote a value, is known to be of the same person. */
  isAuthorToo: boolean
  /** Those of the accounts asked about that are known to be of the same person. */
  alsoIds: string[]
  /** Those of the accounts asked about that changed this one, or that this one changed, or of whose person another one did. */
  tiedIds: string[]
}

/**
 * How accounts stand as approvers of requests: a list for each request, in their order. Missing are service accounts
 * and those that are gone.
 */
export async function listApproverStandings(
  db: Db,
  requests: readonly AskedApprovers[],
): Promise<StoredApproverStanding[][]> {
  const asked = requests.map((request, at) => ({ at, ...request }))
  const rows = await db.query<StoredApproverStanding & { at: number }>(
    `with asked as (
       select r.*, authors || coalesce("valueAuthors", '{}') as writers,
         coalesce(askers || array(select u.owner_id::text from users u where u.id::text = any(askers)), authors) as own
       from json_to_recordset($1::json) as r
         (at int, "userIds" text[], authors text[], "valueAuthors" text[], askers text[], "requestedAt" timestamptz)),
     people as materialized (${withShapers(
       `select unnest("userIds" || writers) as id from asked
        union select c.by_id from account_changes c join asked r on c.user_id::text = any(r.authors)`,
       'select distinct unnest("userIds") as id from asked',
     )}),
     names as materialized (${namesOf('people')}),
     same as materialized (${SAME}),
     -- The accounts of the persons of authors and approvers; whose is the one that was asked about.
     kin as materialized (
       select r.at, id, id as whose from asked r, unnest(r.authors || r."userIds") as id
       union select r.at, s.uuid::text, s.other from asked r join same s on s.other = any(r.authors || r."userIds")),
     author_kin as materialized (
       select k.* from kin k join asked r on r.at = k.at
       where k.whose = any(r.authors) and (k.id = k.whose or k.whose = any(r.own)))
     select r.at, u.id::text as id,
       (select ${GRANTS} from user_groups m join groups g on g.id = m.group_id where m.user_id = u.id) as roles,
       exists (select from account_changes c join author_kin k on k.at = r.at and k.id = c.by_id
         where c.user_id = u.id and c.by_id <> u.id::text) as "isShapedByAuthor",
       exists (select from account_changes c join author_kin k on k.at = r.at and k.id = c.user_id::text
           join kin me on me.at = r.at and me.id = c.by_id
         where me.whose = u.id::text and c.user_id <> u.id) as "hasShapedAuthor",
       exists (select 1 from account_changes c
         where c.user_id = u.id and c.changed_at > r."requestedAt") as "isShapedSinceRequest",
       exists (select from same s where s.uuid = u.id and s.other = any(r.writers)) as "isAuthorToo",
       array(select s.other from same s where s.uuid = u.id and s.other = any(r."userIds")) as "alsoIds",
       array(select k.whose from account_changes c join kin k on k.at = r.at and k.id = c.by_id
           where c.user_id = u.id and k.whose = any(r."userIds") and u.id::text not in (c.by_id, k.whose)
         union select k.whose from account_changes c join kin k on k.at = r.at and k.id = c.user_id::text
           where c.by_id = u.id::text and k.whose = any(r."userIds") and u.id::text not in (c.user_id::text, k.whose)
         ) as "tiedIds"
     from asked r
       cross join lateral (select distinct unnest(r."userIds") as id) one
       join users u on u.id::text = one.id and u.kind <> 'service'`,
    [JSON.stringify(asked)],
  )
  const lists: StoredApproverStanding[][] = requests.map(() => [])
  for (const { at, ...standing } of rows) lists[at]!.push(standing)
  return lists
}

/** Those of these accounts that are, or are known to be of the same person as, one of `others`; also of accounts that are gone. */
export async function listSamePeople(
  db: Db,
  ids: readonly string[],
  others: readonly string[],
): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    `with people as (
       select distinct id::uuid as uuid from unnest($1::text[] || $2::text[]) as id where id ~ '${UUID.source}'),
     names as materialized (${namesOf('people')})
     select id from unnest($1::text[]) as id where id = any($2::text[])
       or exists (select from names n join names o on o.name = n.name
         where n.uuid::text = id and o.uuid::text = any($2::text[]))`,
    [ids, others],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Remember that somebody made an account, set its password, linked or regrouped it, or made a token of it. */
export async function noteAccountChange(tx: Db, userId: string, byId: string, now: Date): Promise<void> {
  await tx.execute(
    `insert into account_changes (user_id, by_id, changed_at) values ($1, $2, $3)
     on conflict (user_id, by_id) do update set changed_at = excluded.changed_at`,
    [userId, byId, now],
  )
}

/** Forget who changed accounts that went before a time; of those of which it is not known when, those changed before it. */
export async function deleteOldAccountChanges(tx: Db, before: Date): Promise<void> {
  await tx.execute(
    `delete from account_changes c where coalesce(c.gone_at, c.changed_at) < $1 and not exists (select from users u where u.id = c.user_id)`,
    [before],
  )
}

/** SQL for the accounts that hold one of these roles, be it within a scope only, as `approvers`. */
const APPROVERS = `approvers as (
     select distinct u.id as uuid from users u join user_groups m on m.user_id = u.id join groups g on g.id = m.group_id
     where u.kind <> 'service' and g.role = any($1::text[]))`

/**
 * SQL for how many they are. Each account counts, whoever is known by the same name: people choose names at a provider, and
 * whoever took that of the next one would stay the only person who may approve.
 */
const APPROVERS_COUNT = `(select count(*)::int from approvers)`

/** How many accounts hold one of these roles, and whether two ever did at once: then nobody is counted any more. */
export async function readApprovers(
  db: Db,
  roles: readonly string[],
): Promise<{ count: number; hadTwo: boolean }> {
  const rows = await db.query<{ count: number; hadTwo: boolean }>(
    `with ${APPROVERS}, history as (select coalesce((select had_two from approver_history), false) as had_two)
     select had_two as "hadTwo", case when had_two then 2 else ${APPROVERS_COUNT} end as count from history`,
    [roles],
  )
  return rows[0]!
}

/**
 * Whether two of the people who hold one of these roles have neither made nor changed the account of the other.
 */
export async function hasIndependentApprovers(db: Db, roles: readonly string[]): Promise<boolean> {
  const rows = await db.query<{ found: boolean }>(
    `with ${APPROVERS},
     names as materialized (${namesOf('approvers')}),
     same as materialized (select n.uuid, o.uuid as other from names n join names o on o.name = n.name)
     select exists (
       select from approvers a join approvers b on a.uuid < b.uuid
       where not exists (select from account_changes c
         where (c.user_id = a.uuid and c.by_id = b.uuid::text) or (c.user_id = b.uuid and c.by_id = a.uuid::text))
         and not exists (select from same s where s.uuid = a.uuid and s.other = b.uuid)) as found`,
    [roles],
  )
  return rows[0]!.found
}

/** Remember for ever that two accounts hold one of these roles, where two do. */
export async function noteApprovers(tx: Db, roles: readonly string[]): Promise<void> {
  await tx.execute(
    `with ${APPROVERS}
     update approver_history set had_two = true where not had_two and 2 <= ${APPROVERS_COUNT}`,
    [roles],
  )
}
