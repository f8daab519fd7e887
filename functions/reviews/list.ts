import { array, defaulted, enums, type } from 'superstruct'
import { readOwnLooks, toReviewRecord } from '../../lib/changes/reviews.ts'
import type { Grant } from '../../lib/model/scopes.ts'
import { listDoneReviews, listOpenReviews, type Review } from '../../lib/store/reviews.ts'
import { ReviewRecord } from '../../lib/wire/reviews.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { reachesReview } from './_reach.ts'

/** A review with what a look by the reader would come to; null for one that is closed. */
type ListedReview = Review & { own: string | null }

/** What was done without an approval: what waits for a second person, the oldest first, or what has been looked at. */
export default defineHttp({
  route: 'GET /api/reviews',
  summary: 'List what was done without an approval, until somebody else has looked at it.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.approvals',
  params: noParams,
  query: type({ ...pageQuery, status: defaulted(enums(['open', 'done']), 'open') }),
  body: noBody,
  replies: [{ status: 200, description: 'What waits, or was looked at.', json: array(ReviewRecord) }],
  errors: [...PAGE_ERRORS],
  handle({ query, target, sight, actor }, ctx) {
    const isOpen = query.status === 'open'
    const mayManage = actor.permissions.has('settings:manage')
    const coversOf = (review: Review) => (grants: readonly Grant[]) =>
      reachesReview(ctx, review, grants, 'config:approve')
    const withOwn = async (reviews: readonly Review[]): Promise<ListedReview[]> => {
      const reader = { userId: actor.userId, mayManage, now: ctx.clock.now(), coversOf }
      const looks = isOpen ? await readOwnLooks(ctx.db, reviews, reader) : []
      return reviews.map((review, at) => ({ ...review, own: looks[at] ?? null }))
    }
    return listReply<ListedReview>(query, target, {
      order: isOpen ? 'reviews.done_at' : 'reviews.reviewed_at',
      key: ['number', 'string'],
      async fetch({ after, limit }) {
        const place = after === null ? null : { at: new Date(Number(after[0])), id: String(after[1]) }
        const page = { after: place, limit }
        return withOwn(isOpen ? await listOpenReviews(ctx.db, page) : await listDoneReviews(ctx.db, page))
      },
      isSeen:
        sight.scopes === null ? null : (review) => reachesReview(ctx, review, actor.grants, 'config:request'),
      keyOf: ({ id, doneAt, reviewedAt }) => [(isOpen ? doneAt : (reviewedAt ?? doneAt)).getTime(), id],
      toWire: ({ own, ...review }) => ({ ...toReviewRecord(review), ...(own === null ? {} : { own }) }),
    })
  },
})
