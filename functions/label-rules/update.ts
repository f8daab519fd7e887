import { string, type } from 'superstruct'
import { changeLabelRules, LABEL_RULE_CHANGE_ERRORS } from '../../lib/label-rules/change-rules.ts'
import { LABEL_RULE_ERRORS, readLabelRule } from '../../lib/label-rules/read-rule.ts'
import { LabelRuleRecord, LabelRuleRequest } from '../../lib/wire/label-rules.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import { findRuleRecord } from './_rule-record.ts'

/** Replace a label rule. Labels that it gives no longer are taken away. */
export default defineHttp({
  route: 'PUT /api/label-rules/:id',
  summary: 'Replace a label rule.',
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: jsonBody(LabelRuleRequest, { bytesMax: 4_194_304 }),
  replies: [{ status: 200, description: 'The rule as stored.', json: LabelRuleRecord }],
  errors: [...LABEL_RULE_ERRORS, ...LABEL_RULE_CHANGE_ERRORS, 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    const read = await readLabelRule(body)
    if (!read.ok) return problemOf(read)
    const by = { actor, confirmsLowering: body.confirm_lowering }
    const outcome = await changeLabelRules(ctx, { id: params.id, rule: read.rule }, by)
    if (!outcome.ok)
      return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problemOf(outcome)
    const record = await findRuleRecord(ctx, params.id)
    return record === null ? problem('label-rule-not-found') : json(record)
  },
})
