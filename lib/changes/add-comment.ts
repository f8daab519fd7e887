import { type Refusal, refuse } from '../model/refusal.ts'
import { countComments, insertComment, type TalkedAbout } from '../store/comments.ts'
import type { Db } from '../store/db.ts'
import type { ApprovalActor } from './approval-parts.ts'

/** Comments that one request, or campaign, can have; a longer discussion belongs elsewhere. */
const COMMENTS_MAX = 200
/** So many of them can be of one account, so that nobody, and no token, keeps the others from saying anything. */
const COMMENTS_OF_ONE_MAX = 50

/** Why there is no room for another comment. */
export type CommentsFull = Refusal<'comments-full' | 'comments-full-of-one'>

/** Say something about a request, or campaign, whose row is locked; why there is no room for it, or null. */
export async function addComment(
  tx: Db,
  about: TalkedAbout,
  of: string,
  { actor, body, now }: { actor: ApprovalActor; body: string; now: Date },
): Promise<CommentsFull | null> {
  const { all, own } = await countComments(tx, about, of, actor.userId)
  if (all >= COMMENTS_MAX) return refuse('comments-full', { max: COMMENTS_MAX })
  if (own >= COMMENTS_OF_ONE_MAX) return refuse('comments-full-of-one', { max: COMMENTS_OF_ONE_MAX })
  const by = { author: actor.email, authorId: actor.userId, isByToken: (actor.apiToken ?? null) !== null }
  await insertComment(tx, about, { of, ...by, body, createdAt: now })
  return null
}
