import { defaulted, string, type } from 'superstruct'
import { readOutlook } from '../../lib/changes/approval-outlook.ts'
import { refuseManaged } from '../../lib/changes/managed.ts'
import { isHeldOn } from '../../lib/model/scopes.ts'
import { ApprovalOutlook } from '../../lib/wire/approvals.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'

/** Who could approve a draft, before anybody asks for it: what is known of it is its hash. */
export default defineHttp({
  route: 'GET /api/workloads/:id/config/approval-outlook',
  summary: 'Say who could approve a draft if you asked for it, and who else could ask where nobody could.',
  access: signedIn('config:request', 'workload'),
  gate: 'config_safety.approvals',
  params: workloadParams,
  query: type({
    draft_hash: defaulted(string(), ''),
    target_group: defaulted(string(), ''),
    target_env: defaulted(string(), ''),
  }),
  body: noBody,
  replies: [{ status: 200, description: 'What would become of it.', json: ApprovalOutlook }],
  errors: ['workload-not-found', 'managed-elsewhere'],
  async handle({ params, query, actor }, ctx) {
    const target = await ctx.configTargets.find(params.id)
    if (target === null) return problem('workload-not-found')
    const targetGroup = query.target_group.trim()
    const refusal = await refuseManaged(ctx.db, { workloadId: params.id, targetGroup })
    if (refusal !== null) return problemOf(refusal)
    const { labels, trustedLabels } = target
    const sees = (id: string) =>
      isHeldOn(actor.grants, 'config:request', ctx.fleet.workload(id)?.trustedLabels ?? null)
    const wanted = {
      workloadId: params.id,
      draftHash: query.draft_hash,
      targetGroup,
      targetEnv: query.target_env.trim(),
      labels,
      trustedLabels,
      now: ctx.clock.now(),
    }
    return json(await readOutlook(ctx.db, wanted, { userId: actor.userId, sees }))
  },
})
