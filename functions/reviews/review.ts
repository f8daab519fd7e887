import { string, type } from 'superstruct'
import { reviewChange, toReviewRecord } from '../../lib/changes/reviews.ts'
import { rightsSomewhere } from '../../lib/model/scopes.ts'
import { ReviewRecord, ReviewRequest } from '../../lib/wire/reviews.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { alsoAsking } from '../../runtime/reach.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import { COMMENT_ERRORS } from '../approvals/_approval-replies.ts'
import { reachesReview } from './_reach.ts'

/** Look at what somebody else did without an approval, and say whether it was in order. */
export default defineHttp({
  route: 'POST /api/reviews/:id',
  summary: 'Say that one has looked at what somebody else did without an approval.',
  access: inPerson('config:approve', 'handler'),
  gate: 'config_safety.approvals',
  params: type({ id: string() }),
  query: noQuery,
  body: jsonBody(ReviewRequest),
  replies: [{ status: 200, description: 'What was looked at.', json: ReviewRecord }],
  errors: [
    ...COMMENT_ERRORS,
    'forbidden',
    'out-of-scope',
    'review-done',
    'review-needs-another',
    'review-not-found',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const mayManage = actor.permissions.has('settings:manage')
    // Where it was done is asked with the review at hand; a change of labels takes this right besides.
    const asking = alsoAsking(actor, ({ permissions, grants }) => {
      if (!rightsSomewhere(grants).has('config:approve')) return problem('out-of-scope')
      return mayManage && !permissions.has('settings:manage') ? problem('forbidden') : null
    })
    const outcome = await reviewChange(ctx, {
      id: params.id,
      actor: asking,
      comment: body.comment,
      accepted: body.accepted,
      coversOf: (review) => (grants) => reachesReview(ctx, review, grants, 'config:approve'),
      mayManage,
    })
    if (outcome.ok) return json(toReviewRecord(outcome.review))
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    return problemOf(outcome)
  },
})
