import { array, type } from 'superstruct'
import { type CampaignSummary, listCampaigns } from '../../lib/store/campaigns.ts'
import { CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { seesCampaign, showCampaigns } from './_campaign-of.ts'

/** A campaign in a list: which workloads it names is told by the campaign itself, since these may be thousands. */
function toRow({ scope, ...record }: CampaignRecord): CampaignRecord {
  const { workload_ids: ids, exclude_ids: _left, ...rest } = scope
  return { ...record, scope: rest, ...(ids === undefined ? {} : { named_count: ids.length }) }
}

/** All campaigns, the newest first. */
export default defineHttp({
  route: 'GET /api/campaigns',
  summary: 'List the campaigns.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: type(pageQuery),
  body: noBody,
  replies: [{ status: 200, description: 'The campaigns.', json: array(CampaignRecord) }],
  errors: [...PAGE_ERRORS],
  handle({ query, target, actor, sight }, ctx) {
    const isSeen = (campaign: CampaignSummary) => seesCampaign(ctx, sight, campaign)
    return listReply(query, target, {
      order: 'campaigns.created_at',
      key: ['number', 'string'],
      async fetch({ after, limit }) {
        const position =
          after === null ? null : { createdAt: new Date(Number(after[0])), id: String(after[1]) }
        const rows = await listCampaigns(ctx.db, { after: position, limit })
        // A record costs statements, so none is made of a campaign that is not shown.
        const shown = sight.scopes === null ? rows : rows.filter(isSeen)
        const records = await showCampaigns(ctx, actor, shown)
        const byId = new Map(records.map((record) => [record.id, record]))
        return rows.map((stored) => ({ stored, record: byId.get(stored.id) ?? null }))
      },
      isSeen: sight.scopes === null ? null : ({ record }) => record !== null,
      keyOf: ({ stored }) => [stored.createdAt.getTime(), stored.id],
      toWire: ({ record }) => record && toRow(record),
    })
  },
})
