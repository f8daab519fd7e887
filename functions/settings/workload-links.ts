import { WorkloadLinks } from '../../lib/wire/workload-links.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { readWorkloadLinks } from './_workload-links-record.ts'

/** The ways from a workload to other programs, such as dashboards. */
export default defineHttp({
  route: 'GET /api/settings/workload-links',
  summary: 'List the links that every workload has to other programs.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The links, 10 at most.', json: WorkloadLinks }],
  errors: [],
  async handle(_, ctx) {
    return json(await readWorkloadLinks(ctx.db))
  },
})
