import type { FleetPeer } from '../../lib/configs/check/target.ts'
import { trustedAmong } from '../../lib/model/labels.ts'
import { isProductionByLabels } from '../../lib/model/production.ts'
import { ConfigDiff, type DiffPeer, DiffRequest } from '../../lib/wire/diff.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { jsonText, problem } from '../../runtime/reply.ts'

/** What differs in meaning between two configs. */
export default defineHttp({
  route: 'POST /api/configs/diff',
  summary: 'Compare two configs by meaning, with risks and blast radius.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(DiffRequest, { bytesMax: 2_097_152, valuesMax: 40_000 }),
  replies: [{ status: 200, description: 'The differences; secrets are masked.', json: ConfigDiff }],
  errors: ['diff-texts-required', 'server-busy'],
  async handle({ body }, ctx) {
    if (body.base_yaml === '' || body.target_yaml === '') return problem('diff-texts-required')
    const { context } = body
    const workloadId = context?.workload_id ?? ''
    const sent = context ? toPeer({ ...context, id: workloadId }) : null
    // What is stored wins over what was sent about the same workload.
    const workload = workloadId === '' ? sent : ((await ctx.configTargets.peer(workloadId)) ?? sent)
    const found = await ctx.configs.diffText({
      baseText: body.base_yaml,
      targetText: body.target_yaml,
      workload,
      peersText:
        workloadId === '' || workload === null
          ? JSON.stringify((context?.fleet_peers ?? []).map(toPeer))
          : await ctx.configTargets.neighbours(workload),
    })
    return found.ok ? jsonText(`${found.text}\n`) : problem(found.code)
  },
})

function toPeer(sent: DiffPeer): FleetPeer {
  return {
    id: sent.id,
    displayName: sent.display_name,
    type: sent.workload_type || sent.type,
    status: sent.status,
    labels: sent.labels,
    fingerprintKeys: sent.fingerprint_keys,
    isProduction: isProductionByLabels({ labels: sent.labels, trustedLabels: trustedAmong(sent.labels) }),
  }
}
