import { array, defaulted, enums, type } from 'superstruct'
import { labelsSince, toReviewRecord } from '../../lib/changes/reviews.ts'
import { listDoneReviews, listOpenReviews, type Review } from '../../lib/store/reviews.ts'
import { ReviewRecord } from '../../lib/wire/reviews.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { reachesReview } from './_reach.ts'

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
    const since = labelsSince(ctx.clock.now())
    return listReply<Review>(query, target, {
      order: isOpen ? 'reviews.done_at' : 'reviews.reviewed_at',
      key: ['number', 'string'],
      fetch({ after, limit }) {
        const place = after === null ? null : { at: new Date(Number(after[0])), id: String(after[1]) }
        const page = { after: place, limit }
        return isOpen ? listOpenReviews(ctx.db, since, page) : listDoneReviews(ctx.db, page)
      },
      isSeen:
        sight.scopes === null ? null : (review) => reachesReview(ctx, review, actor.grants, 'config:request'),
      keyOf: ({ id, doneAt, reviewedAt }) => [(isOpen ? doneAt : (reviewedAt ?? doneAt)).getTime(), id],
      toWire: toReviewRecord,
    })
  },
})
