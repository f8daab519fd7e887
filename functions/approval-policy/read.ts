import { readApprovalPolicy } from '../../lib/changes/approval-policy.ts'
import { ApprovalPolicyRecord } from '../../lib/wire/approval-policy.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toPolicyRecord } from './_policy-record.ts'

/** The approval policy in force, and one that waits. Whoever requests an approval has to know it. */
export default defineHttp({
  route: 'GET /api/approval-policy',
  summary: 'The approval policy, and one that waits.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The policy.', json: ApprovalPolicyRecord }],
  errors: [],
  async handle({ actor }, ctx) {
    return json(await toPolicyRecord(ctx, await readApprovalPolicy(ctx.db), actor.userId))
  },
})
