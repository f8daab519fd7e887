import { string, type } from 'superstruct'
import type { CampaignReader } from '../../lib/campaigns/campaigns.ts'
import type { CampaignOutcome } from '../../lib/campaigns/decisions.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { json, problem, type Reply } from '../../runtime/reply.ts'

/** The path parameters of one campaign. */
export const campaignParams = type({ id: string() })

/** Somebody as a reader of campaigns: their texts are shown with `config:read_content` only. */
export const readerOf = ({ userId, permissions }: Pick<Actor, 'userId' | 'permissions'>): CampaignReader => ({
  ...{ userId, withTexts: permissions.has('config:read_content') },
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
    return json(await ctx.campaigns.record(outcome.campaign, readerOf(actor)), status)
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
