import { changeLabelRules, LABEL_RULE_CHANGE_ERRORS } from '../../lib/label-rules/change-rules.ts'
import { LABEL_RULE_ERRORS, readLabelRule } from '../../lib/label-rules/read-rule.ts'
import { LabelRuleRecord, LabelRuleRequest } from '../../lib/wire/label-rules.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { created, problem, problemOf } from '../../runtime/reply.ts'
import { findRuleRecord } from './_rule-record.ts'

/** Create a rule that gives trusted labels to all workloads of some identity, those that are to come as well. */
export default defineHttp({
  route: 'POST /api/label-rules',
  summary: 'Create a label rule.',
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(LabelRuleRequest, { bytesMax: 4_194_304 }),
  replies: [{ status: 201, description: 'The rule.', json: LabelRuleRecord }],
  errors: [...LABEL_RULE_ERRORS, ...LABEL_RULE_CHANGE_ERRORS, 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const read = await readLabelRule(body)
    if (!read.ok) return problemOf(read)
    const by = { actor, confirmsLowering: body.confirm_lowering }
    const outcome = await changeLabelRules(ctx, { id: null, rule: read.rule }, by)
    if (!outcome.ok)
      return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problemOf(outcome)
    const record = await findRuleRecord(ctx, outcome.rule!.id)
    return record === null ? problem('label-rule-not-found') : created(record)
  },
})
