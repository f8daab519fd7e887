import type { ActTransaction, AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { Clock } from '../clock.ts'
import type { Hub } from '../hub/hub.ts'
import { type Random, randomHex } from '../ids.ts'
import { type ApprovalRule, LOWERING_WAIT_MS } from '../model/approval-policy.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { underscored } from '../model/underscored.ts'
import type { AskedText } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { insertReview, lockReview, markReviewed, type NewReview, type Review } from '../store/reviews.ts'
import { listAuthorsOfTexts } from '../store/text-authors.ts'
import type { ReviewRecord } from '../wire/reviews.ts'
import { type ApprovalActor, readComment, type TextRefusal } from './approval-parts.ts'
import { type Covers, readApproverStandings } from './approver-standing.ts'
import { type ApprovalCase, type Discount, discountOf, remedyOf } from './judge-approvals.ts'

/** Something that was done without an approval, before it is stored with an id. */
type Unreviewed = Pick<NewReview, 'kind'> &
  Partial<
    Pick<
      NewReview,
      | 'workloadId'
      | 'campaignId'
      | 'configHash'
      | 'pushId'
      | 'approvalId'
      | 'reason'
      | 'keptClasses'
      | 'newcomersAfter'
    >
  >

interface Parts {
  clock: Clock
  random: Random
  hub: Pick<Hub, 'broadcast'>
}

/**
 * Store what somebody did without an approval as an open review, for a second person to look at. Must come before the
 * audit record of its transaction.
 */
export async function noteUnreviewed(
  parts: Parts,
  tx: ActTransaction,
  actor: ApprovalActor,
  done: Unreviewed,
): Promise<Review> {
  const review = await insertReview(tx, {
    workloadId: '',
    campaignId: null,
    configHash: null,
    pushId: null,
    approvalId: null,
    reason: '',
    keptClasses: [],
    newcomersAfter: null,
    ...done,
    doneAt: parts.clock.now(),
    id: `rev_${randomHex(16, parts.random)}`,
    doneBy: actor.email,
    doneById: actor.userId,
  })
  tx.afterCommit(() => parts.hub.broadcast(toReviewFrame(review)))
  return review
}

/** Until when the classes that a review keeps are kept where nobody accepts it, as far as this process's clock is right. */
export const keptUntil = ({ doneAt }: Pick<Review, 'doneAt'>): Date =>
  new Date(doneAt.getTime() + LOWERING_WAIT_MS)

/** What came of closing a review. */
export type ReviewOutcome =
  | { ok: true; review: Review }
  | Refusal<'forbidden' | 'out-of-scope' | 'review-done' | 'review-needs-another' | 'review-not-found'>
  | TextRefusal
  | AuditFailure

/** The rule of every review, whatever the policy asks: one person who is not an author. */
const SOMEBODY_ELSE: ApprovalRule = { approvals: 1, authorCounts: false, validHours: null }

/** Whether somebody changed which rule of approvals holds: it is reviewed by who could have. */
const isOfLabels = ({ kind }: Pick<Review, 'kind'>): boolean => kind === 'labels' || kind === 'label_rule'

/** Close a review: a second person, who could have approved what was done, says whether it was in order. */
export async function reviewChange(
  parts: Parts & { db: AuditedDatabase },
  said: {
    id: string
    actor: ApprovalActor
    mayManage: boolean
    comment: string
    accepted: boolean
    /** Whether rights of somebody reach all that a review is about. */
    coversOf: (review: Review) => Covers
  },
): Promise<ReviewOutcome> {
  const { id, actor, accepted } = said
  const comment = readComment(said.comment, { isRequired: true })
  if (!comment.ok) return comment
  return parts.db.change<ReviewOutcome>('review', actor, async (tx) => {
    const locked = await lockReview(tx, id)
    if (locked === null) return { ok: false, code: 'review-not-found' }
    if (isOfLabels(locked) && !said.mayManage) return { ok: false, code: 'forbidden' }
    if (locked.reviewedAt !== null) return { ok: false, code: 'review-done' }
    const refusal = await refuseReviewer(tx, locked, actor, {
      now: parts.clock.now(),
      covers: said.coversOf(locked),
    })
    if (refusal !== null) return refusal
    const review = await markReviewed(tx, {
      id,
      by: actor.email,
      byId: actor.userId,
      at: parts.clock.now(),
      comment: comment.text,
      accepted,
    })
    await tx.record({
      action: 'config.review',
      ...(review.campaignId !== null
        ? { resource: 'campaign', resourceId: review.campaignId }
        : review.kind === 'label_rule'
          ? { resource: 'label_rule', resourceId: review.reason }
          : { resource: 'workload', resourceId: review.workloadId }),
      ...(review.configHash === null ? {} : { configHash: review.configHash }),
      detail: JSON.stringify({
        review_id: id,
        kind: review.kind,
        accepted,
        done_by: review.doneBy,
      }),
    })
    tx.afterCommit(() => parts.hub.broadcast(toReviewFrame(review)))
    return { ok: true, review }
  })
}

/** Somebody who looks at a review, with all that decides whether that counts. */
interface AskedReviewer {
  userIds: string[]
  authors: ReadonlySet<string>
  requestedAt: Date
  covers: Covers
}

/** Somebody as who looks at each of some reviews. */
async function askReviewer(
  db: Db,
  reviews: readonly Review[],
  userId: string,
  coversOf: (review: Review) => Covers,
): Promise<AskedReviewer[]> {
  // Whoever asked for the same text elsewhere would look at a text of their own.
  const texts = reviews.flatMap(toReviewedText)
  const ofText = await listAuthorsOfTexts(db, texts)
  return reviews.map((review) => ({
    userIds: [userId],
    authors: new Set([...review.authorIds, ...ofText(review.id).all]),
    requestedAt: review.doneAt,
    covers: coversOf(review),
  }))
}

/** The text that was brought by what a review is about; none where it is about none. */
const toReviewedText = ({ id, configHash, authorIds, workloadId, doneAt }: Review): AskedText[] =>
  configHash === null
    ? []
    : [
        {
          key: id,
          hash: configHash,
          askers: authorIds,
          textSetters: authorIds,
          places: [workloadId],
          at: doneAt,
        },
      ]

/**
 * Why a look by this user would not count: they did it or wrote what was pushed, or their account is tied to that of
 * somebody who did; null where it would.
 */
function whyNotLooked(
  { userIds, authors }: AskedReviewer,
  approvers: ApprovalCase['approvers'],
  now: Date,
): Discount | null {
  const [userId] = userIds
  if (!approvers.get(userId!)?.mayApprove) return 'no-right'
  const asked = { rule: SOMEBODY_ELSE, authors, approvers, isSoleApprover: false, now }
  return discountOf(asked, SOMEBODY_ELSE, { userId: userId!, at: now })
}

/** Refuse a reviewer whose look would not count. */
async function refuseReviewer(
  tx: Db,
  review: Review,
  { userId }: ApprovalActor,
  { now, covers }: { now: Date; covers: Covers },
): Promise<Refusal<'out-of-scope' | 'review-needs-another'> | null> {
  const asked = await askReviewer(tx, [review], userId, () => covers)
  const [approvers] = await readApproverStandings(tx, asked)
  const why = whyNotLooked(asked[0]!, approvers!, now)
  if (why === 'no-right') return refuse('out-of-scope')
  return why === null
    ? null
    : refuse('review-needs-another', { reason: underscored(why), hint: remedyOf(why) })
}

/** What a look by this user at each of some open reviews would come to, as the wire names it. */
export async function readOwnLooks(
  db: Db,
  reviews: readonly Review[],
  reader: { userId: string; mayManage: boolean; now: Date; coversOf: (review: Review) => Covers },
): Promise<NonNullable<ReviewRecord['own']>[]> {
  const asked = await askReviewer(db, reviews, reader.userId, reader.coversOf)
  const standings = await readApproverStandings(db, asked)
  return reviews.map((review, at) => {
    if (isOfLabels(review) && !reader.mayManage) return 'no_right'
    return underscored(whyNotLooked(asked[at]!, standings[at]!, reader.now) ?? 'counts')
  })
}

/** A review as the wire shows it. */
export function toReviewRecord(review: Review): ReviewRecord {
  const {
    campaignId,
    configHash,
    pushId,
    approvalId,
    reviewedBy,
    reviewedAt,
    comment,
    accepted,
    keptClasses,
  } = review
  return {
    id: review.id,
    kind: review.kind,
    workload_id: review.workloadId,
    reason: review.reason,
    done_by: review.doneBy,
    author_ids: review.authorIds,
    done_at: review.doneAt.toISOString(),
    ...(campaignId === null ? {} : { campaign_id: campaignId }),
    ...(configHash === null ? {} : { config_hash: configHash }),
    ...(pushId === null ? {} : { push_id: pushId }),
    ...(approvalId === null ? {} : { approval_id: approvalId }),
    ...(keptClasses.length === 0
      ? {}
      : {
          kept_classes: keptClasses,
          kept_until: keptUntil(review).toISOString(),
        }),
    ...(reviewedBy === null ? {} : { reviewed_by: reviewedBy }),
    ...(reviewedAt === null ? {} : { reviewed_at: reviewedAt.toISOString() }),
    ...(comment === null ? {} : { comment }),
    ...(accepted === null ? {} : { accepted }),
  }
}

const toReviewFrame = ({ id, workloadId, kind, reviewedAt }: Review) => ({
  type: 'review_update' as const,
  review: { id, workload_id: workloadId, kind, is_open: reviewedAt === null },
})
