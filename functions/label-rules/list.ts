import { array, type } from 'superstruct'
import { countRules, toLabelRuleRecord } from '../../lib/label-rules/records.ts'
import { LabelRuleRecord } from '../../lib/wire/label-rules.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'

/** The label rules in the order in which they count. */
export default defineHttp({
  route: 'GET /api/label-rules',
  summary: 'List the label rules, the one that counts most first.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: type(pageQuery),
  body: noBody,
  replies: [{ status: 200, description: 'The rules, without their lists.', json: array(LabelRuleRecord) }],
  errors: PAGE_ERRORS,
  async handle({ query, target }, ctx) {
    const { rules } = ctx.labelRules
    const counts = await countRules(rules, ctx.fleet.state.workloads.values())
    return listReply(query, target, {
      order: 'label_rules.order',
      key: ['string'],
      fetch: async ({ after, limit }) => {
        const from = after === null ? 0 : rules.findIndex(({ id }) => id === String(after[0])) + 1
        return rules.slice(from, from + limit)
      },
      keyOf: ({ id }) => [id],
      toWire: (rule) => toLabelRuleRecord(rule, counts.get(rule.id), { withList: false }),
    })
  },
})
