import { string, type } from 'superstruct'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { findReportedConfig } from '../../lib/store/reported-configs.ts'
import { InstanceDetail } from '../../lib/wire/instances.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload } from './_workload-path.ts'

/** One live instance with its health tree; what it runs only for those who may read configs. */
export default defineHttp({
  route: 'GET /api/workloads/:id/instances/:uid',
  summary: 'One live instance in full.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: type({ id: string(), uid: string() }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The instance.', json: InstanceDetail }],
  errors: ['workload-not-found', 'instance-not-found'],
  async handle({ params, actor }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    const detail = await ctx.views.instance(workload, params.uid, sightOf(actor.permissions))
    if (detail === null) return problem('instance-not-found')
    const { reported_config_hash: hash } = detail
    const mayRead = actor.permissions.has('config:read_content')
    const text = hash !== undefined && mayRead ? await findReportedConfig(ctx.db, hash) : null
    return json(text === null ? detail : { ...detail, effective_config: text })
  },
})
