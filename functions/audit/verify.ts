import { optional, string, type } from 'superstruct'
import { type AuditFault, parseHead, verifyAuditChain } from '../../lib/audit/verify.ts'
import { AuditVerification } from '../../lib/wire/audit.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

const REASONS = {
  gap: 'gap',
  'prev-hash': 'prev_hash',
  'event-hash': 'event_hash',
  'shorter-than-before': 'shorter_than_before',
  'other-than-before': 'other_than_before',
} as const satisfies Record<AuditFault, string>

/**
 * Walk the whole chain and say whether every record still follows from the one before, and, with `head` as `seq:hash`
 * from the log or an evidence pack, whether it still holds what was its head then.
 */
export default defineHttp({
  route: 'GET /api/audit/verify',
  summary: "Check the audit log's hash chain, and that it still holds a head seen before.",
  access: signedIn('audit:view', 'nothing'),
  gate: null,
  params: noParams,
  query: type({ head: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'What the check found.', json: AuditVerification }],
  errors: ['invalid-audit-head'],
  async handle({ query }, ctx) {
    const expected = query.head ? parseHead(query.head) : null
    if (query.head && expected === null) return problem('invalid-audit-head')
    const { isIntact, checked, head, broken } = await verifyAuditChain(ctx.db, expected)
    const body: AuditVerification = {
      valid: isIntact,
      checked_count: checked,
      ...(head.seq > 0 ? { head_seq: head.seq, head_hash: head.hash } : {}),
      ...(broken ? { first_bad_seq: broken.seq, reason: REASONS[broken.reason] } : {}),
      checked_at: ctx.clock.now().toISOString(),
    }
    return json(body)
  },
})
