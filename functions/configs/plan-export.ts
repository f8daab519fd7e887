import { defaulted, string, type } from 'superstruct'
import { planMarkdown } from '../../lib/configs/plan.ts'
import { ConfigPlan } from '../../lib/wire/plan.ts'
import { defineHttp, signedIn, textBody } from '../../runtime/define.ts'
import { bytes, json, problem } from '../../runtime/reply.ts'
import { buildPlan } from './_build-plan.ts'

/** The plan of a draft as a file. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/plan/export',
  summary: 'Export the plan of a draft as JSON or Markdown.',
  access: signedIn('workload:validate_config', 'workload'),
  gate: 'config_safety.policy_preview',
  params: type({ id: string() }),
  query: type({ format: defaulted(string(), '') }),
  body: textBody({ bytesMax: 1_048_576 }),
  replies: [
    { status: 200, description: 'The plan.', json: ConfigPlan },
    { status: 200, description: 'The plan as a page.', contentType: 'text/markdown' },
  ],
  errors: ['unsupported-export-format', 'server-busy', 'workload-not-found'],
  async handle({ params, query, body }, ctx) {
    const format = query.format.trim().toLowerCase() || 'json'
    if (!['json', 'markdown', 'md'].includes(format)) {
      return problem('unsupported-export-format')
    }
    const built = await buildPlan(params.id, body, ctx)
    if (!built.ok) return problem(built.code)
    if (format === 'json') return json(built.plan)
    return bytes(planMarkdown(built.plan), 'text/markdown; charset=utf-8', {
      'Content-Disposition': 'attachment; filename="config-safety-plan.md"',
    })
  },
})
