import { array, type } from 'superstruct'
import { isAfter, showComing } from '../../lib/auto-apply/groups.ts'
import type { ShownGroup } from '../../lib/campaigns/plan/groups.ts'
import { CampaignGroup } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { problem } from '../../runtime/reply.ts'
import { readGroupLimit, replyGroups } from '../campaigns/_group-pages.ts'
import { fleetConfigParams } from '../fleet-configs/_fleet-config-path.ts'
import { COMING_ERRORS, readComing } from './_coming-groups.ts'

/** The workloads under a fleet config by what they run now, with what the asked version would become there. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/auto-apply/groups',
  summary: 'List what the version that is to apply by itself becomes on the workloads under a fleet config.',
  access: signedIn('config:read_content', 'filtered'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: type(pageQuery),
  body: noBody,
  replies: [
    {
      status: 200,
      description:
        'Groups as those of a plan of a campaign, of what waits for approval or else of what is in force: those with production workloads first, then the rarest; 100 a page at most.',
      json: array(CampaignGroup),
    },
  ],
  errors: [...COMING_ERRORS, 'server-busy', ...PAGE_ERRORS],
  async handle({ params, query, target, actor, sight }, ctx) {
    const limit = readGroupLimit(query)
    if (limit === null) return problem('invalid-limit')
    const found = await readComing(ctx, params.id, actor, sight)
    if (!found.ok) return found.reply
    const { version, groups } = found.coming
    const page = { order: 'auto_apply_groups.rarest', limit }
    return replyGroups(query, target, page, async ({ after, limit }) => {
      const shown: ShownGroup[] = []
      for (const group of groups.filter((one) => isAfter(one, after)).slice(0, limit))
        shown.push({ position: group, shown: await showComing(ctx.autoApply.parts, version, group) })
      return shown
    })
  },
})
