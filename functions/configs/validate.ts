import { defaulted, string, type } from 'superstruct'
import { ValidationResult } from '../../lib/wire/validation.ts'
import { defineHttp, signedIn, textBody } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

/** Check a config against a workload. Nothing is stored. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/validate',
  summary: 'Run all five checks on a config for a workload.',
  access: signedIn('workload:validate_config', 'workload'),
  gate: null,
  params: type({ id: string() }),
  query: type({ target_collector_version: defaulted(string(), '') }),
  body: textBody({ bytesMax: 1_048_576 }),
  replies: [{ status: 200, description: 'The validation result.', json: ValidationResult }],
  errors: ['config-empty', 'server-busy', 'workload-not-found'],
  async handle({ params, query, body }, ctx) {
    if (body === '') return problem('config-empty')
    const target = await ctx.configTargets.find(params.id)
    if (target === null) return problem('workload-not-found')
    const found = await ctx.configs.validate(body, {
      target,
      requestedVersion: query.target_collector_version,
      minimumVersion: ctx.config.runtimeValidation.minVersion,
      validatedAt: ctx.clock.now(),
    })
    return found.ok ? json(found.result) : problem(found.code)
  },
})
