import { array, string, type } from 'superstruct'
import { listValues } from '../../lib/auto-apply/groups.ts'
import { compareText } from '../../lib/model/text-order.ts'
import type { GroupValue } from '../../lib/store/campaign-targets.ts'
import { CampaignVariable } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { replyValues } from '../campaigns/_group-pages.ts'
import { COMING_ERRORS, comingGroupParams, readComing } from './_coming-groups.ts'

/** All values of one variable in one group, with how many workloads have each, and what chose them. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/auto-apply/groups/:group/values',
  summary: 'List the values of a variable in a group of what is to apply by itself.',
  access: signedIn('config:read_content', 'filtered'),
  gate: 'config_safety.campaigns',
  params: comingGroupParams,
  query: type({ ...pageQuery, variable: string() }),
  body: noBody,
  replies: [{ status: 200, description: 'The values, the rarest first.', json: array(CampaignVariable) }],
  errors: [...COMING_ERRORS, ...PAGE_ERRORS],
  async handle({ params, query, target, actor, sight }, ctx) {
    const found = await readComing(ctx, params.id, actor, sight)
    if (!found.ok) return found.reply
    const group = found.coming.groups.find(({ key }) => key === params.group)
    const values = group === undefined ? [] : await listValues(group, query.variable)
    return replyValues(query, target, 'auto_apply_values.rarest', async ({ after, limit }) => {
      if (after === null) return values.slice(0, limit)
      const isLater = ({ count, value }: GroupValue) =>
        count > after.count || (count === after.count && compareText(value, after.value) > 0)
      return values.filter(isLater).slice(0, limit)
    })
  },
})
