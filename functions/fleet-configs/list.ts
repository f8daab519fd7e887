import { array, optional, string, type } from 'superstruct'
import { toFleetConfigRecord } from '../../lib/fleet-configs/records.ts'
import { compareText } from '../../lib/model/text-order.ts'
import { listRanCommits } from '../../lib/store/managed-fleet-configs.ts'
import { FleetConfigRecord } from '../../lib/wire/fleet-configs.ts'
import { note } from '../../lib/wire/structs.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'

/** The fleet configs by name, each with how many workloads are under it. */
export default defineHttp({
  route: 'GET /api/fleet-configs',
  summary: 'List the fleet configs.',
  access: signedIn(),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: type({
    ...pageQuery,
    ran_commits: note(
      'With `true` also `managed.ran_commit_sha`, for which all workloads are looked at.',
      optional(string()),
    ),
  }),
  body: noBody,
  replies: [{ status: 200, description: 'The fleet configs.', json: array(FleetConfigRecord) }],
  errors: PAGE_ERRORS,
  async handle({ query, target }, ctx) {
    const counts = await ctx.fleetConfigs.counts()
    const ranCommits = query.ran_commits === 'true' ? await listRanCommits(ctx.db) : undefined
    const all = [...ctx.fleetConfigs.configs].sort((a, b) => compareText(a.name, b.name))
    return listReply(query, target, {
      order: 'fleet_configs.name',
      key: ['string'],
      fetch: async ({ after, limit }) => {
        const from = after === null ? 0 : all.findIndex(({ name }) => compareText(name, String(after[0])) > 0)
        return from === -1 ? [] : all.slice(from, from + limit)
      },
      keyOf: ({ name }) => [name],
      toWire: (config) => toFleetConfigRecord(ctx.fleetConfigs, config, counts, ranCommits),
    })
  },
})
