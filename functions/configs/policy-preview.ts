import { namesProduction } from '../../lib/model/production.ts'
import { PolicyEvaluation, PolicyPreviewRequest } from '../../lib/wire/policy.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

/** Judge a config by rules that the caller sets; no workload is read and the server's settings do not count. */
export default defineHttp({
  route: 'POST /api/configs/policy/preview',
  summary: 'Evaluate the config policies for a draft.',
  access: signedIn('workload:validate_config', 'anywhere'),
  gate: 'config_safety.policy_preview',
  params: noParams,
  query: noQuery,
  body: jsonBody(PolicyPreviewRequest, { invalidText: 'invalid JSON' }),
  replies: [{ status: 200, description: 'The evaluation.', json: PolicyEvaluation }],
  errors: ['target-yaml-required', 'server-busy'],
  async handle({ body }, ctx) {
    const candidate = body.candidate_yaml || body.target_yaml || ''
    if (candidate.trim() === '') return problem('target-yaml-required')
    const context = body.context ?? {}
    const environment = (body.target?.environment || context.environment || '').trim()
    const target = { ...body.target, ...(environment === '' ? {} : { environment }) }
    const filled = (own: string[] | undefined, other: string[] | undefined) =>
      own?.length ? own : (other ?? [])
    const maximum = context.max_sampling_percentage ?? 0
    const evaluated = await ctx.configs.policy({
      candidate,
      current: body.current_yaml || body.base_yaml || null,
      isProduction: namesProduction(environment),
      target,
      settings: {
        allowed_otlp_endpoints: filled(body.settings?.allowed_otlp_endpoints, context.endpoint_allowlist),
        critical_exporters: filled(body.settings?.critical_exporters, context.critical_exporters),
        required_resource_attributes: filled(
          body.settings?.required_resource_attributes,
          context.required_resource_attributes,
        ),
        sampling: {
          min_percentage: body.settings?.sampling?.min_percentage ?? 0,
          max_percentage: maximum > 0 ? maximum : (body.settings?.sampling?.max_percentage ?? 0),
        },
      },
    })
    return evaluated.ok ? json(evaluated.evaluation) : problem(evaluated.code)
  },
})
