import { string, type } from 'superstruct'
import type { CampaignOutcome } from '../../lib/campaigns/decisions.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { json, problem, type Reply } from '../../runtime/reply.ts'

/** The path parameters of one campaign. */
export const campaignParams = type({ id: string() })

/** Whether somebody is shown the texts that a campaign carries. */
export const seesTexts = ({ permissions }: Pick<Actor, 'permissions'>): { withTexts: boolean } => ({
  withTexts: permissions.has('config:read_content'),
})

/** The reply to a decision: the campaign as it is now. Browsers are told as well. */
export async function replyToDecision(
  ctx: Context,
  actor: Actor,
  outcome: CampaignOutcome,
  status = 200,
): Promise<Reply> {
  if (outcome.ok) {
    ctx.campaigns.decided(outcome.campaign)
    return json(await ctx.campaigns.record(outcome.campaign, seesTexts(actor)), status)
  }
  switch (outcome.code) {
    case 'audit-unavailable':
      return auditUnavailable(outcome)
    case 'campaign-not-ready':
      return problem(outcome.code, { status: outcome.status })
    default:
      return problem(outcome.code, 'details' in outcome ? outcome.details : {})
  }
}
