import { matchScope } from '../../lib/campaigns/plan/match.ts'
import { CAMPAIGN_ERRORS, readScope } from '../../lib/campaigns/read-campaign.ts'
import { CampaignMatch, CampaignMatchRequest, type CampaignScope } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problemOf } from '../../runtime/reply.ts'

/** Say which workloads a scope means, while somebody still writes it. Nothing is stored by it. */
export default defineHttp({
  route: 'POST /api/campaigns/match',
  summary: 'Count the workloads that a scope means.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: noQuery,
  body: jsonBody(CampaignMatchRequest, { bytesMax: 4_194_304, valuesMax: 60_000 }),
  replies: [{ status: 200, description: 'Whom it means.', json: CampaignMatch }],
  errors: [...CAMPAIGN_ERRORS, 'body-too-large'],
  async handle({ body, sight }, ctx) {
    const fleetConfigId = body.fleet_config_id || null
    const read = readScope(body.scope as CampaignScope, fleetConfigId !== null)
    if (!read.ok) return problemOf(read)
    // As the campaign will be, that whoever asks makes of it.
    const cut = sight.scopes?.map(({ key, values }) => ({ key, values: [...values] }))
    const scope = cut === undefined ? read.value : { ...read.value, cut_to: cut }
    return json(await matchScope(ctx.campaigns.parts, scope, fleetConfigId))
  },
})
