import { compareWithRunning } from '../../lib/configs/compare-running.ts'
import { planPush } from '../../lib/configs/plan.ts'
import { policyForWorkload } from '../../lib/configs/policy/policy.ts'
import type { ConfigPlan } from '../../lib/wire/plan.ts'
import type { Context } from '../../runtime/context.ts'

type Built = { ok: true; plan: ConfigPlan } | { ok: false; code: 'workload-not-found' | 'server-busy' }

/**
 * Make the plan of a push of a draft: validation, config policy, and the difference to what runs. Nothing is stored.
 */
export async function buildPlan(workloadId: string, draft: string, ctx: Context): Promise<Built> {
  const target = await ctx.configTargets.find(workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  const compared = await compareWithRunning(ctx, workloadId, draft)
  if (!compared.ok) return compared
  const { current, diff, comparedWith } = compared
  const validated = await ctx.configs.validate(draft, {
    target,
    requestedVersion: '',
    minimumVersion: ctx.config.runtimeValidation.minVersion,
    validatedAt: ctx.clock.now(),
  })
  if (!validated.ok) return validated
  const approval = { targetEnv: '', targetGroup: '' }
  const judged = await ctx.configs.policy(
    policyForWorkload(target, { candidate: draft, current }, approval, ctx.config.policy),
  )
  if (!judged.ok) return judged
  const { result: validation, required } = validated
  return {
    ok: true,
    plan: {
      ...planPush({
        draft,
        target,
        validation,
        required,
        diff,
        policy: judged.evaluation,
        comparedWith,
      }),
      export: exportOf(workloadId),
    },
  }
}

/** Where the plan can be downloaded as a file. */
function exportOf(workloadId: string): ConfigPlan['export'] {
  const endpoint = `/api/workloads/${encodeURIComponent(workloadId)}/config/plan/export?format=`
  return {
    supported: true,
    formats: ['json', 'markdown'],
    json_endpoint: `${endpoint}json`,
    markdown_endpoint: `${endpoint}markdown`,
    persisted_rollout: 'not_persisted',
  }
}
