import { findTextFault, VARIABLES_MAX } from '../../lib/configs/render/variables.ts'
import { storeWorkloadVariables } from '../../lib/store/workload-variables.ts'
import { WorkloadVariables, WorkloadVariablesRequest } from '../../lib/wire/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** Replace a workload's own values of variables. Nothing is pushed by it. */
export default defineHttp({
  route: 'PUT /api/workloads/:id/variables',
  summary: "Replace a workload's own values of variables.",
  access: signedIn('config:create', 'workload'),
  gate: 'config_safety.campaigns',
  params: workloadParams,
  query: noQuery,
  body: jsonBody(WorkloadVariablesRequest, { bytesMax: 262_144 }),
  replies: [{ status: 200, description: 'The values as stored.', json: WorkloadVariables }],
  errors: ['workload-not-found', 'variables-invalid', 'variables-too-many', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    if (findWorkload(ctx, params.id) === null) return problem('workload-not-found')
    const entries = Object.entries(body.values)
    if (entries.length > VARIABLES_MAX) return problem('variables-too-many', { max: VARIABLES_MAX })
    for (const [name, value] of entries) {
      const fault = findTextFault(name, value)
      if (fault !== null) return problem('variables-invalid', fault)
    }
    const stored = await ctx.db.change('workload.variables', actor, async (tx) => {
      const { email: updatedBy, userId: updatedById } = actor
      const by = { values: body.values, updatedBy, updatedById, updatedAt: ctx.clock.now() }
      if (!(await storeWorkloadVariables(tx, params.id, by))) return { ok: false, code: 'workload-not-found' }
      await tx.record({
        action: 'workload.variables',
        resource: 'workload',
        resourceId: params.id,
        // Names only: a value may be delicate, and the trail is kept for ever.
        detail: JSON.stringify({ names: Object.keys(body.values).sort() }),
      })
      return { ok: true }
    })
    if (stored.ok) return json({ workload_id: params.id, values: body.values } satisfies WorkloadVariables)
    return stored.code === 'audit-unavailable' ? auditUnavailable(stored) : problem(stored.code)
  },
})
