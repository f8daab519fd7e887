import { verifyAuditChain } from '../../lib/audit/verify.ts'
import { AuditVerification } from '../../lib/wire/audit.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** Walk the whole chain and say whether every record still follows from the one before. */
export default defineHttp({
  route: 'GET /api/audit/verify',
  summary: "Check the audit log's hash chain.",
  access: signedIn('audit:view'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'What the check found.', json: AuditVerification }],
  errors: [],
  async handle(_, ctx) {
    const { isIntact, checked, head, broken } = await verifyAuditChain(ctx.db)
    const body: AuditVerification = {
      valid: isIntact,
      checked_count: checked,
      ...(head.seq > 0 ? { head_seq: head.seq, head_hash: head.hash } : {}),
      ...(broken ? { first_bad_seq: broken.seq } : {}),
      checked_at: ctx.clock.now().toISOString(),
    }
    return json(body)
  },
})
