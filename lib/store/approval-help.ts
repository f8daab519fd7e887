import type { RoleGrant } from '../model/scopes.ts'
import { namesOf, SAME, withShapers } from './approval-votes.ts'
import type { Db } from './db.ts'
import { GRANTS } from './groups.ts'

/** Somebody who counts as an author of a request, as one reader stands to them. */
export interface AuthorOfRequest {
  id: string
  /** E-mail; null where the account is gone and nothing names it. */
  email: string | null
  /** When this author last changed the reader's account; null for never. */
  changedReaderAt: Date | null
  /** When the reader last changed this author's account; null for never. */
  changedByReaderAt: Date | null
  /** The latest request of another workload, or an earlier one of this, by which they asked for the same text. */
  elsewhere: { workloadId: string; approvalId: string } | null
}

/** How a reader stands to the authors of a request, in the order of their e-mails. */
export function listAuthorsOfRequest(
  db: Db,
  request: { id: string; draftHash: string; ownAuthors?: readonly string[] },
  authors: readonly string[],
  readerId: string,
): Promise<AuthorOfRequest[]> {
  return db.query<AuthorOfRequest>(
    `with people as materialized (${withShapers('select unnest($3::text[] || $4::text) as id', 'select $4::text as id')}),
     names as materialized (${namesOf('people')}),
     kin as materialized (
       select id, id as whose from unnest($3::text[]) as id
       union select s.uuid::text, s.other from (${SAME}) s where s.other = any($3::text[]))
     select one.id, coalesce(u.email, asked.requester) as email,
       (select max(c.changed_at) from account_changes c join kin k on k.id = c.by_id and k.whose = one.id
         where c.user_id::text = $4 and $4 not in (one.id, c.by_id)) as "changedReaderAt",
       (select max(c.changed_at) from account_changes c join kin k on k.id = c.user_id::text and k.whose = one.id
         where c.by_id = $4 and $4 not in (one.id, c.user_id::text)) as "changedByReaderAt",
       case when asked.id is not null and asked.id <> $1 and one.id <> all($5::text[])
         then json_build_object('workloadId', asked.workload_id, 'approvalId', asked.id) end as elsewhere
     from unnest($3::text[]) as one(id)
       left join users u on u.id::text = one.id
       left join lateral (select a.id, a.workload_id, case when a.requester_id = one.id then a.requester end as requester
         from approvals a where a.draft_hash = $2 and (a.requester_id = one.id or one.id = any(a.author_ids))
         order by a.id = $1 desc, a.created_at desc limit 1) asked on true
     order by email nulls last, one.id`,
    [request.id, request.draftHash, authors, readerId, request.ownAuthors ?? []],
  )
}

/** Who made or changed an account after a time, the last first; without an e-mail where that account is gone. */
export function listChangersSince(
  db: Db,
  userId: string,
  since: Date,
): Promise<{ email: string | null; at: Date }[]> {
  return db.query<{ email: string | null; at: Date }>(
    `select u.email, c.changed_at as at from account_changes c left join users u on u.id::text = c.by_id
     where c.user_id::text = $1 and c.changed_at > $2 order by c.changed_at desc, c.by_id`,
    [userId, since],
  )
}

/** Somebody who holds a role, and what was done to the account or by it. */
export interface HolderAccount {
  id: string
  email: string
  /** Its roles, and where these hold. */
  roles: RoleGrant[]
  /** Those of the authors who changed this account. */
  changedBy: string[]
  /** The same by another account that is known to be of the author's person. */
  changedByKin: string[]
  /** Those of the authors whose account this one changed, or another one that is known to be of the same person. */
  changed: string[]
  /** The same of another account that is known to be of the author's person. */
  changedKin: string[]
  /** When anybody last changed this account; null for never. */
  changedAt: Date | null
  /** Those of the accounts named beside that are known to be of the same person. */
  alsoIds: string[]
  /** Those of `others` that made or changed this account, or that this one made or changed. */
  tiedIds: string[]
}

/**
 * The people who hold one of these roles, be it within a scope only, by e-mail, each with how they stand to `authors`, and
 * which of these and of `others` they are themselves; at most `most`.
 */
export function listHolders(
  db: Db,
  roles: readonly string[],
  { authors, others }: { authors: readonly string[]; others: readonly string[] },
  most: number,
): Promise<HolderAccount[]> {
  return db.query<HolderAccount>(
    `with holders as (
       select u.id, u.email from users u
       where u.kind <> 'service' and exists (
         select from user_groups m join groups g on g.id = m.group_id where m.user_id = u.id and g.role = any($1::text[]))
       order by u.email limit $3),
     people as materialized (${withShapers(
       `select id::text from holders union select unnest($2::text[] || $4::text[])
        union select by_id from account_changes where user_id::text = any($2::text[])`,
       'select id::text as id from holders',
     )}),
     names as materialized (${namesOf('people')}),
     same as materialized (${SAME}),
     kin as materialized (
       select id, id as whose from unnest($2::text[] || $4::text[]) as id
       union select s.uuid::text, s.other from same s where s.other = any($2::text[] || $4::text[])),
     own as materialized (
       select id::text as id, id::text as whose from holders
       union select s.uuid::text, s.other from same s join holders h on h.id::text = s.other),
     shaped as materialized (
       select c.user_id::text as id, k.whose, k.id = k.whose as is_direct, 'by' as how
         from account_changes c join kin k on k.id = c.by_id
         where k.whose = any($2::text[]) and c.user_id::text <> c.by_id
       union select me.whose, k.whose, k.id = k.whose, 'of'
         from account_changes c join kin k on k.id = c.user_id::text join own me on me.id = c.by_id
         where k.whose = any($2::text[]) and me.whose <> c.user_id::text)
     select u.id::text as id, u.email,
       (select ${GRANTS} from user_groups m join groups g on g.id = m.group_id where m.user_id = u.id) as roles,
       array(select whose from shaped s where s.id = u.id::text and how = 'by' and is_direct) as "changedBy",
       array(select distinct whose from shaped s where s.id = u.id::text and how = 'by' and not is_direct) as "changedByKin",
       array(select whose from shaped s where s.id = u.id::text and how = 'of' and is_direct) as changed,
       array(select distinct whose from shaped s where s.id = u.id::text and how = 'of' and not is_direct) as "changedKin",
       (select max(c.changed_at) from account_changes c where c.user_id = u.id) as "changedAt",
       array(select s.other from same s
         where s.uuid = u.id and s.other = any($2::text[] || $4::text[])) as "alsoIds",
       array(select k.whose from account_changes c join kin k on k.id = c.by_id
           where c.user_id = u.id and k.whose = any($4::text[]) and u.id::text not in (c.by_id, k.whose)
         union select k.whose from account_changes c join kin k on k.id = c.user_id::text
           where c.by_id = u.id::text and k.whose = any($4::text[]) and u.id::text not in (c.user_id::text, k.whose)
         ) as "tiedIds"
     from holders u order by u.email`,
    [roles, authors, most, others],
  )
}
