import { createCampaign, DRAFT_ERRORS } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_ERRORS, readCampaign } from '../../lib/campaigns/read-campaign.ts'
import { CampaignCreateRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { alsoAsking } from '../../runtime/reach.ts'
import { problemOf } from '../../runtime/reply.ts'
import { cutToScopes, refuseDraft, refuseVersion, replyToDecision } from './_campaign-of.ts'

/** Create a campaign, as a draft: a change that is to be carried to many workloads. */
export default defineHttp({
  route: 'POST /api/campaigns',
  summary: 'Create a campaign.',
  access: signedIn('config:request', 'handler'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: noQuery,
  body: jsonBody(CampaignCreateRequest, { bytesMax: 4_194_304, valuesMax: 60_000 }),
  replies: [{ status: 201, description: 'The draft.', json: CampaignRecord }],
  errors: [
    ...CAMPAIGN_ERRORS,
    ...DRAFT_ERRORS,
    'fleet-config-managed',
    'text-not-storable',
    'text-too-long',
    'audit-unavailable',
    'body-too-large',
  ],
  async handle({ body, actor }, ctx) {
    const read = readCampaign(body)
    if (!read.ok) return problemOf(read)
    const foreign = await refuseVersion(ctx, actor, read.value)
    if (foreign !== null) return foreign
    const draft = cutToScopes(read.value, actor)
    const asking = alsoAsking(actor, (caller) => refuseDraft(caller, draft))
    return replyToDecision(ctx, actor, await createCampaign(ctx.campaigns.parts, draft, asking), 201)
  },
})
