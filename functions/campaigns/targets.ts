import { array, enums, optional, string, type } from 'superstruct'
import { toTargetRecord } from '../../lib/campaigns/record.ts'
import { listCampaignTargets } from '../../lib/store/campaign-targets.ts'
import { findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignTarget } from '../../lib/wire/campaigns.ts'
import { CAMPAIGN_TARGET_STATES, CAMPAIGN_VERDICTS } from '../../lib/wire/values.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { problem } from '../../runtime/reply.ts'
import { campaignParams } from './campaign-of.ts'

/** What a campaign does with each workload, in the order of the campaign. */
export default defineHttp({
  route: 'GET /api/campaigns/:id/targets',
  summary: 'List the workloads of a campaign.',
  access: signedIn('workload:push_config'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: type({
    ...pageQuery,
    state: optional(enums(CAMPAIGN_TARGET_STATES)),
    verdict: optional(enums(CAMPAIGN_VERDICTS)),
    group: optional(string()),
  }),
  body: noBody,
  replies: [{ status: 200, description: 'The targets.', json: array(CampaignTarget) }],
  errors: ['campaign-not-found', ...PAGE_ERRORS],
  async handle({ params, query, target }, ctx) {
    if ((await findCampaign(ctx.db, params.id)) === null) return problem('campaign-not-found')
    const filter = {
      ...(query.state === undefined ? {} : { states: [query.state] }),
      ...(query.verdict === undefined ? {} : { verdicts: [query.verdict] }),
      ...(query.group === undefined ? {} : { groupKey: query.group }),
    }
    return listReply(query, target, {
      order: 'campaign_targets.position',
      key: ['number'],
      fetch: ({ after, limit }) =>
        listCampaignTargets(ctx.db, params.id, filter, {
          after: after === null ? null : Number(after[0]),
          limit,
        }),
      keyOf: ({ position }) => [position],
      toWire: toTargetRecord,
    })
  },
})
