import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { alsoAsking } from '../../runtime/reach.ts'
import { noContent, problem } from '../../runtime/reply.ts'
import { type Lifted, listLifted, refuseHiding, refuseLifting } from './_lifted-by-deletion.ts'
import { workloadParams } from './_workload-path.ts'

/**
 * Remove a workload with its history. Live instances are asked for their full state, and register as a new workload. What
 * people have set for it goes too, so that whoever deletes it must be one who might lift that.
 */
export default defineHttp({
  route: 'DELETE /api/workloads/:id',
  summary: 'Remove a workload for good.',
  access: signedIn('workload:delete', 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The workload is gone.' }],
  errors: [
    'workload-not-found',
    'deletion-hides-labels',
    'deletion-hides-review',
    'deletion-lowers',
    'deletion-lifts-labels',
    'deletion-lifts-hold',
    'deletion-lifts-git',
    'deletion-lifts-variables',
    'audit-unavailable',
  ],
  async handle({ params, actor }, ctx) {
    const { id } = params
    let lifted: readonly Lifted[] = []
    const asking = alsoAsking(
      actor,
      async (caller, tx) => {
        lifted = await listLifted(ctx, tx, id)
        return refuseLifting(ctx, caller, id, lifted) ?? (await refuseHiding(ctx, tx, id))
      },
      'at-begin',
    )
    const outcome = await ctx.fleet.remove(id, asking, (tx) => {
      const detail = lifted.length === 0 ? '' : JSON.stringify({ lifted })
      return tx.record({ action: 'workload.delete', resource: 'workload', resourceId: id, detail })
    })
    if (lifted.length > 0) await ctx.fleetConfigs.load()
    if (outcome.ok) return noContent()
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
