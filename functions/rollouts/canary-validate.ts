import { judgeCanary } from '../../lib/changes/canary.ts'
import { CanaryValidation } from '../../lib/wire/rollouts.ts'
import { defineHttp, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'
import { refuseToJudge, toCanaryValidation } from './_canary-replies.ts'
import { canaryBody } from './_canary-request.ts'

/** Say which instances a canary would reach, in which stages, and what is in its way. Nothing is stored. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/canary/validate',
  summary: 'Check a config and a selection of instances for a canary.',
  access: signedIn('workload:validate_config', 'workload'),
  gate: 'config_safety.canary_rollout',
  params: workloadParams,
  query: noQuery,
  body: canaryBody,
  replies: [{ status: 200, description: 'The validation.', json: CanaryValidation }],
  errors: ['config-empty', 'workload-not-found', 'server-busy'],
  async handle({ params, body }, ctx) {
    const { config, selection } = body
    const verdict = await judgeCanary(ctx, { workloadId: params.id, config, selection })
    return verdict.ok ? json(toCanaryValidation(verdict)) : refuseToJudge(verdict)
  },
})
