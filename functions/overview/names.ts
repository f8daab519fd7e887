import { optional, string, type } from 'superstruct'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { rightsOn } from '../../lib/model/scopes.ts'
import { FleetNames, type NamedWorkload } from '../../lib/wire/fleet-names.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** Workloads that are named in one answer. */
const NAMED_MAX = 200

/** What workloads are called, and which names several have: pages that show some need not fetch the whole fleet. */
export default defineHttp({
  route: 'GET /api/fleet/names',
  summary: 'What workloads are called, and which names several have.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ ids: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The names; of more than 200 ids the first 200.', json: FleetNames }],
  errors: [],
  async handle({ query, actor }, ctx) {
    const ids = [...new Set((query.ids ?? '').split(','))].slice(0, NAMED_MAX)
    const workloads = ids.flatMap((id): NamedWorkload[] => {
      const workload = ctx.fleet.workload(id)
      if (workload === null) return []
      const sight = sightOf(rightsOn(actor.grants, workload.trustedLabels))
      const record = ctx.views.workload(workload, sight)
      const { display_name, fingerprint_keys, labels, connected_instance_count, trouble } = record
      const said = { id, display_name, fingerprint_keys, labels, connected_instance_count }
      return [{ ...said, ...(trouble === undefined ? {} : { trouble }) }]
    })
    const { counts, sharedNames } = await ctx.views.tally()
    return json({ workloads, shared_names: [...sharedNames], count: counts.all })
  },
})
