import { previewAskedChange } from '../../lib/label-rules/change-rules.ts'
import { LABEL_RULE_ERRORS, readLabelRule } from '../../lib/label-rules/read-rule.ts'
import { LabelRulePreview, LabelRulePreviewRequest } from '../../lib/wire/label-rules.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'

/** Say what a new label rule, a changed one, or the removal of one would do. Nothing is stored by it. */
export default defineHttp({
  route: 'POST /api/label-rules/preview',
  summary: 'Say which workloads would get what by a change of the label rules.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(LabelRulePreviewRequest, { bytesMax: 4_194_304 }),
  replies: [{ status: 200, description: 'What would change.', json: LabelRulePreview }],
  errors: [...LABEL_RULE_ERRORS, 'label-rule-not-found'],
  async handle({ body }, ctx) {
    const { id = null, remove } = body
    if (remove) {
      const looked = await previewAskedChange(ctx, { id: id ?? '', rule: null })
      return looked.ok ? json(looked.preview) : problem(looked.code)
    }
    const read = await readLabelRule(body)
    if (!read.ok) return problemOf(read)
    const looked = await previewAskedChange(ctx, { id, rule: read.rule })
    return looked.ok ? json(looked.preview) : problem(looked.code)
  },
})
