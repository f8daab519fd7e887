import { groupUnmanaged } from '../../lib/fleet-configs/adopt.ts'
import { findReportedConfig } from '../../lib/store/reported-configs.ts'
import { AdoptCheck, AdoptCheckRequest } from '../../lib/wire/adopt.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { refuseWorkloads } from '../../runtime/reach.ts'
import { json, problem } from '../../runtime/reply.ts'

/**
 * Compare a text with what a group of unmanaged workloads reports to run. Nothing is stored and nothing is pushed by
 * it.
 */
export default defineHttp({
  route: 'POST /api/adopt/check',
  summary: 'Compare a text with what a group of unmanaged workloads reports to run.',
  access: signedIn('config:read_content', 'handler'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: noQuery,
  body: jsonBody(AdoptCheckRequest, { bytesMax: 2_097_152 }),
  replies: [{ status: 200, description: 'How they compare.', json: AdoptCheck }],
  errors: ['config-not-found', 'server-busy'],
  async handle({ body, actor }, ctx) {
    const groups = await groupUnmanaged(ctx.fleet.state.workloads.values())
    const group = groups.find((one) => one.reportedConfigHash === body.reported_config_hash)
    // Guess by guess, the comparison would tell what they run.
    const ids = (group?.workloads ?? []).map(({ id }) => id)
    const outside = refuseWorkloads(actor, 'config:read_content', ctx, ids)
    if (outside !== null) return outside
    const reported =
      group === undefined || group.reportedConfigHash === ''
        ? null
        : await findReportedConfig(await ctx.db.upToDate(), group.reportedConfigHash)
    if (group === undefined || reported === null) return problem('config-not-found')
    const compared = await ctx.configs.effectiveMatch(body.content, reported)
    if (!compared.ok) return problem(compared.code)
    const { verdict, paths } = compared.match
    return json({
      effective_matches: verdict,
      paths,
      workload_count: group.workloads.length,
      instance_count: group.workloads.reduce((count, { live }) => count + live.count, 0),
    } satisfies AdoptCheck)
  },
})
