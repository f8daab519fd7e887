import type { Db } from './db.ts'

/** Somebody who counts as an author of a request. */
export interface AuthorOfRequest {
  id: string
  /** E-mail; null where the account is gone and nothing names it. */
  email: string | null
  /** The latest request of another workload, or an earlier one of this, by which they asked for the same text. */
  elsewhere: { workloadId: string; approvalId: string; askedAt: string; isWithdrawn: boolean } | null
}

/** The authors of a request by name, in the order of their e-mails. */
export function listAuthorsOfRequest(
  db: Db,
  request: { id: string; draftHash: string; ownAuthors?: readonly string[] },
  authors: readonly string[],
): Promise<AuthorOfRequest[]> {
  return db.query<AuthorOfRequest>(
    `select one.id, coalesce(u.email, asked.requester) as email,
       case when asked.id is not null and asked.id <> $1 and one.id <> all($4::text[])
         then json_build_object('workloadId', asked.workload_id, 'approvalId', asked.id,
           'askedAt', asked.created_at, 'isWithdrawn', asked.is_withdrawn) end as elsewhere
     from unnest($3::text[]) as one(id)
       left join users u on u.id::text = one.id
       left join lateral (select a.id, a.workload_id, a.created_at, a.status = 'withdrawn' and a.closed_by_id = a.requester_id as is_withdrawn, case when a.requester_id = one.id then a.requester end as requester
         from approvals a where a.draft_hash = $2 and (a.requester_id = one.id or one.id = any(a.author_ids))
         order by a.id = $1 desc, a.created_at desc limit 1) asked on true
     order by email nulls last, one.id`,
    [request.id, request.draftHash, authors, request.ownAuthors ?? []],
  )
}
