import { string, type } from 'superstruct'
import { ConfigPlan } from '../../lib/wire/plan.ts'
import { defineHttp, noQuery, signedIn, textBody } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { buildPlan } from './_build-plan.ts'

/** Say what a push of a draft would do. An empty draft has a plan as well, which says that it cannot be pushed. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/plan',
  summary: 'Plan the push of a draft to a workload.',
  access: signedIn('workload:validate_config', 'workload'),
  gate: 'config_safety.policy_preview',
  params: type({ id: string() }),
  query: noQuery,
  body: textBody({ bytesMax: 1_048_576 }),
  replies: [{ status: 200, description: 'The plan.', json: ConfigPlan }],
  errors: ['server-busy', 'workload-not-found'],
  async handle({ params, body }, ctx) {
    const built = await buildPlan(params.id, body, ctx)
    return built.ok ? json(built.plan) : problem(built.code)
  },
})
