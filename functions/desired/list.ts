import { array, optional, string, type } from 'superstruct'
import { listWishes } from '../../lib/store/managed-configs.ts'
import { ManagedConfigRecord } from '../../lib/wire/desired.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toManagedRecord } from './_managed-record.ts'

/** What owners in Git keep or ask for: of all workloads, one owner's, or one of them. */
export default defineHttp({
  route: 'GET /api/managed-configs',
  summary: 'List what owners in Git keep or ask for, by workload.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ owner: optional(string()), workload_id: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The workloads.', json: array(ManagedConfigRecord) }],
  errors: [],
  async handle({ query }, ctx) {
    const filter = { owner: query.owner ?? null, workloadId: query.workload_id ?? null }
    const managed = await listWishes(ctx.db, filter)
    return json(
      managed.map((each) => toManagedRecord(each, ctx.fleet.workload(each.workloadId)?.activeHash ?? null)),
    )
  },
})
