import { changeCampaign, DECISION_ERRORS } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_ERRORS, readCampaign } from '../../lib/campaigns/read-campaign.ts'
import { CampaignCreateRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'
import { campaignParams, replyToDecision } from './campaign-of.ts'

/** Change what a campaign asks for, as long as nobody was asked to approve it. */
export default defineHttp({
  route: 'PUT /api/campaigns/:id',
  summary: 'Change a campaign that is a draft, or planned; its plan is gone.',
  access: signedIn('workload:push_config', 'nothing'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignCreateRequest, { bytesMax: 4_194_304 }),
  replies: [{ status: 200, description: 'The draft.', json: CampaignRecord }],
  errors: [...CAMPAIGN_ERRORS, ...DECISION_ERRORS, 'body-too-large'],
  async handle({ params, body, actor }, ctx) {
    const read = readCampaign(body)
    if (!read.ok) return problem(read.code, read.details)
    const outcome = await changeCampaign(ctx.campaigns.parts, params.id, read.value, actor)
    return replyToDecision(ctx, actor, outcome)
  },
})
