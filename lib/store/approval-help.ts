import type { Db } from './db.ts'

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
    `select one.id, coalesce(u.email, asked.requester) as email,
       (select c.changed_at from account_changes c
         where c.user_id::text = $4 and c.by_id = one.id and one.id <> $4) as "changedReaderAt",
       (select c.changed_at from account_changes c
         where c.by_id = $4 and c.user_id::text = one.id and one.id <> $4) as "changedByReaderAt",
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

/** The people who hold one of these roles, be it within a scope only, by e-mail; at most `most`. */
export function listHolders(
  db: Db,
  roles: readonly string[],
  most: number,
): Promise<{ id: string; email: string }[]> {
  return db.query<{ id: string; email: string }>(
    `select distinct u.id::text as id, u.email from users u
       join user_groups m on m.user_id = u.id join groups g on g.id = m.group_id
     where u.kind <> 'service' and g.role = any($1::text[]) order by u.email limit $2`,
    [roles, most],
  )
}
