import { string, type } from 'superstruct'
import { reviewChange, toReviewRecord } from '../../lib/changes/reviews.ts'
import { ReviewRecord, ReviewRequest } from '../../lib/wire/reviews.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { COMMENT_ERRORS } from '../approvals/_approval-replies.ts'

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
    const outcome = await reviewChange(ctx, {
      id: params.id,
      actor,
      comment: body.comment,
      accepted: body.accepted,
      placeOf: (workloadId) => ctx.fleet.workload(workloadId)?.trustedLabels ?? null,
      mayManage: actor.permissions.has('settings:manage'),
    })
    if (outcome.ok) return json(toReviewRecord(outcome.review))
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    return problem(outcome.code, outcome.details ?? {})
  },
})
