import { changeApprovalPolicy } from '../../lib/changes/approval-policy.ts'
import { ApprovalPolicyRecord, ApprovalPolicyRequest } from '../../lib/wire/approval-policy.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import { readPolicy, toPolicyRecord } from './_policy-record.ts'

/** Ask for a policy. One that asks less waits for a second person, or a day. */
export default defineHttp({
  route: 'PUT /api/approval-policy',
  summary: 'Change the approval policy; one that asks less waits for a second person or 24 hours.',
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(ApprovalPolicyRequest, { bytesMax: 4_096 }),
  replies: [
    { status: 200, description: 'The policy that counts, and one that waits.', json: ApprovalPolicyRecord },
  ],
  errors: ['policy-invalid', 'policy-needs-another', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const wanted = readPolicy(body)
    if (!wanted.ok) return problemOf(wanted)
    const outcome = await changeApprovalPolicy(ctx, actor, wanted.policy)
    if (outcome.ok) return json(await toPolicyRecord(ctx, outcome.state, actor.userId))
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
