import { changeCampaign, DECISION_ERRORS, DRAFT_ERRORS } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_ERRORS, readCampaign } from '../../lib/campaigns/read-campaign.ts'
import { CampaignCreateRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { alsoAsking } from '../../runtime/reach.ts'
import { problemOf } from '../../runtime/reply.ts'
import {
  campaignParams,
  cutToScopes,
  refuseCampaign,
  refuseDraft,
  refuseVersion,
  replyToDecision,
} from './_campaign-of.ts'

/** Change what a campaign asks for, as long as nobody was asked to approve it. */
export default defineHttp({
  route: 'PUT /api/campaigns/:id',
  summary: 'Change a campaign that is a draft, or planned; its plan is gone.',
  access: signedIn('config:request', 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignCreateRequest, { bytesMax: 4_194_304, valuesMax: 60_000 }),
  replies: [{ status: 200, description: 'The draft.', json: CampaignRecord }],
  errors: [...CAMPAIGN_ERRORS, ...DECISION_ERRORS, ...DRAFT_ERRORS, 'body-too-large', 'fleet-config-managed'],
  async handle({ params, body, actor }, ctx) {
    const outside = await refuseCampaign(ctx.db, params.id, actor, 'config:request')
    if (outside !== null) return outside
    const read = readCampaign(body)
    if (!read.ok) return problemOf(read)
    const foreign = await refuseVersion(ctx, actor, read.value)
    if (foreign !== null) return foreign
    const draft = cutToScopes(read.value, actor)
    const asking = alsoAsking(
      actor,
      async (caller, db) =>
        refuseDraft(caller, draft) ?? (await refuseCampaign(db, params.id, caller, 'config:request')),
    )
    const outcome = await changeCampaign(ctx.campaigns.parts, params.id, draft, asking)
    return replyToDecision(ctx, actor, outcome)
  },
})
