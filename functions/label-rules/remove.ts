import { optional, string, type } from 'superstruct'
import { changeLabelRules } from '../../lib/label-rules/change-rules.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, noBody } from '../../runtime/define.ts'
import { noContent, problem, problemOf } from '../../runtime/reply.ts'

/** Take a rule away, with the labels that it gives. What operators set stays. */
export default defineHttp({
  route: 'DELETE /api/label-rules/:id',
  summary: 'Remove a label rule with the labels that it gives.',
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: type({ id: string() }),
  query: type({ confirm_lowering: optional(string()) }),
  body: noBody,
  replies: [{ status: 204, description: 'The rule is gone.' }],
  errors: [
    'label-rule-lowers',
    'label-rule-not-found',
    'label-rules-full',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ params, query, actor }, ctx) {
    const by = { actor, confirmsLowering: query.confirm_lowering === 'true' }
    const outcome = await changeLabelRules(ctx, { id: params.id, rule: null }, by)
    if (outcome.ok) return noContent()
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    return outcome.code === 'label-rule-taken' ? problem('label-rule-not-found') : problemOf(outcome)
  },
})
