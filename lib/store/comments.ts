import type { Db } from './db.ts'

/** What is talked about: a request, or a campaign. */
export type TalkedAbout = 'approval' | 'campaign'

/** What was said about a request, or a campaign, while it waited. */
export interface Comment {
  /** The id of what it is about. */
  of: string
  /** An e-mail, for people to read. */
  author: string
  /** An API token said it in the account's name. */
  isByToken: boolean
  body: string
  createdAt: Date
}

/** Add a comment to something, whose row must be locked. */
export async function insertComment(
  tx: Db,
  about: TalkedAbout,
  { of, author, authorId, isByToken, body, createdAt }: Comment & { authorId: string },
): Promise<void> {
  await tx.execute(
    `insert into ${about}_comments (${about}_id, author, author_id, is_by_token, body, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [of, author, authorId, isByToken, body, createdAt],
  )
}

/** How many comments there are about something, and how many of them are of one account. */
export interface CommentCount {
  all: number
  own: number
}

/** How many comments something has, and how many of an account. Its row should be locked. */
export async function countComments(
  tx: Db,
  about: TalkedAbout,
  of: string,
  authorId: string,
): Promise<CommentCount> {
  const rows = await tx.query<CommentCount>(
    `select count(*)::int as all, (count(*) filter (where author_id = $2))::int as own
     from ${about}_comments where ${about}_id = $1`,
    [of, authorId],
  )
  return rows[0]!
}

/** The comments of these requests, or campaigns, the first one first. */
export async function listComments(db: Db, about: TalkedAbout, of: readonly string[]): Promise<Comment[]> {
  if (of.length === 0) return []
  return db.query<Comment>(
    `select ${about}_id as of, author, is_by_token as "isByToken", body, created_at as "createdAt" from ${about}_comments
     where ${about}_id = any($1::text[]) order by ${about}_id, id`,
    [of],
  )
}
