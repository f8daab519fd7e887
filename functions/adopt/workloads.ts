import { array, defaulted, string, type } from 'superstruct'
import { groupUnmanaged, toAdoptWorkload } from '../../lib/fleet-configs/adopt.ts'
import { compareText } from '../../lib/model/text-order.ts'
import { AdoptWorkload } from '../../lib/wire/adopt.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'

/** All workloads of one group, by id: a campaign that takes them over names each of them. */
export default defineHttp({
  route: 'GET /api/adopt/workloads',
  summary: 'List the workloads of a group that nothing was pushed to.',
  access: signedIn(),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: type({ ...pageQuery, reported_config_hash: defaulted(string(), '') }),
  body: noBody,
  replies: [
    {
      status: 200,
      description: 'The workloads; none where there is no such group.',
      json: array(AdoptWorkload),
    },
  ],
  errors: PAGE_ERRORS,
  async handle({ query, target }, ctx) {
    const groups = await groupUnmanaged(ctx.fleet.state.workloads.values())
    const group = groups.find((one) => one.reportedConfigHash === query.reported_config_hash)
    const all = [...(group?.workloads ?? [])].sort((a, b) => compareText(a.id, b.id))
    return listReply(query, target, {
      order: 'adopt.workloads',
      key: ['string'],
      fetch: async ({ after, limit }) => {
        const from = after === null ? 0 : all.findIndex(({ id }) => compareText(id, String(after[0])) > 0)
        return from === -1 ? [] : all.slice(from, from + limit)
      },
      keyOf: ({ id }) => [id],
      toWire: toAdoptWorkload,
    })
  },
})
