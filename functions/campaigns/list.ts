import { array, type } from 'superstruct'
import { listCampaigns } from '../../lib/store/campaigns.ts'
import { CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { readerOf, seesCampaign } from './_campaign-of.ts'

/** All campaigns, the newest first. */
export default defineHttp({
  route: 'GET /api/campaigns',
  summary: 'List the campaigns.',
  access: signedIn('workload:push_config', 'filtered'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: type(pageQuery),
  body: noBody,
  replies: [{ status: 200, description: 'The campaigns.', json: array(CampaignRecord) }],
  errors: [...PAGE_ERRORS],
  handle({ query, target, actor, sight }, ctx) {
    return listReply(query, target, {
      order: 'campaigns.created_at',
      key: ['number', 'string'],
      async fetch({ after, limit }) {
        const position =
          after === null ? null : { createdAt: new Date(Number(after[0])), id: String(after[1]) }
        const rows = await listCampaigns(ctx.db, { after: position, limit })
        return Promise.all(
          rows.map(async (stored) => ({
            stored,
            record: await ctx.campaigns.record(stored, readerOf(actor, stored, sight)),
          })),
        )
      },
      isSeen: sight.scopes === null ? null : ({ stored }) => seesCampaign(ctx, sight, stored),
      keyOf: ({ stored }) => [stored.createdAt.getTime(), stored.id],
      toWire: ({ record }) => record,
    })
  },
})
