import { string, type } from 'superstruct'
import { LabelRuleRecord } from '../../lib/wire/label-rules.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findRuleRecord } from './_rule-record.ts'

/** One label rule, with its list where it has one. */
export default defineHttp({
  route: 'GET /api/label-rules/:id',
  summary: 'Read a label rule with its list.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The rule.', json: LabelRuleRecord }],
  errors: ['label-rule-not-found'],
  async handle({ params }, ctx) {
    const record = await findRuleRecord(ctx, params.id)
    return record === null ? problem('label-rule-not-found') : json(record)
  },
})
