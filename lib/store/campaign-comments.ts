import type { CommentCount } from './approvals.ts'
import type { Db } from './db.ts'

/** What somebody said about a campaign. */
export interface CampaignComment {
  /** An e-mail, for people to read. */
  author: string
  body: string
  createdAt: Date
}

/** Add a comment to a campaign, whose row must be locked. */
export async function insertCampaignComment(
  tx: Db,
  campaignId: string,
  comment: CampaignComment & { authorId: string },
): Promise<void> {
  await tx.execute(
    `insert into campaign_comments (campaign_id, author, author_id, body, created_at) values ($1, $2, $3, $4, $5)`,
    [campaignId, comment.author, comment.authorId, comment.body, comment.createdAt],
  )
}

/** How many comments a campaign has, and how many of an account. Its row should be locked. */
export async function countCampaignComments(
  tx: Db,
  campaignId: string,
  authorId: string,
): Promise<CommentCount> {
  const rows = await tx.query<CommentCount>(
    `select count(*)::int as all, (count(*) filter (where author_id = $2))::int as own
     from campaign_comments where campaign_id = $1`,
    [campaignId, authorId],
  )
  return rows[0]!
}

/** The comments of a campaign, the first one first. */
export async function listCampaignComments(db: Db, campaignId: string): Promise<CampaignComment[]> {
  return db.query<CampaignComment>(
    `select author, body, created_at as "createdAt" from campaign_comments where campaign_id = $1 order by id`,
    [campaignId],
  )
}
