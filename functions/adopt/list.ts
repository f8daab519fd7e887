import { array, type } from 'superstruct'
import { type AdoptGroup as Group, groupUnmanaged, toAdoptWorkload } from '../../lib/fleet-configs/adopt.ts'
import { AdoptGroup } from '../../lib/wire/adopt.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'

const SHOWN = 20

/** Workloads that nothing was ever pushed to, by what they report to run; the largest group first. */
export default defineHttp({
  route: 'GET /api/adopt',
  summary: 'List the workloads that nothing was pushed to, by what they report to run.',
  access: signedIn(),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: type(pageQuery),
  body: noBody,
  replies: [{ status: 200, description: 'The groups.', json: array(AdoptGroup) }],
  errors: PAGE_ERRORS,
  async handle({ query, target }, ctx) {
    const groups = await groupUnmanaged(ctx.fleet.state.workloads.values())
    return listReply(query, target, {
      order: 'adopt.count',
      key: ['number', 'string'],
      fetch: async ({ after, limit }) => {
        const from = after === null ? 0 : groups.findIndex((group) => isBehind(group, after))
        return from === -1 ? [] : groups.slice(from, from + limit)
      },
      keyOf: ({ workloads, reportedConfigHash }) => [workloads.length, reportedConfigHash],
      toWire: toRecord,
    })
  },
})

const isBehind = ({ workloads, reportedConfigHash }: Group, [count, hash]: readonly (string | number)[]) =>
  workloads.length < Number(count) || (workloads.length === count && reportedConfigHash > String(hash))

const toRecord = ({ reportedConfigHash, workloads }: Group): AdoptGroup => ({
  ...(reportedConfigHash === '' ? {} : { reported_config_hash: reportedConfigHash }),
  workload_count: workloads.length,
  instance_count: workloads.reduce((count, { live }) => count + live.count, 0),
  workloads: workloads.slice(0, SHOWN).map(toAdoptWorkload),
})
