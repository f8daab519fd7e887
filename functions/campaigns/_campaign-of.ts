import { string, type } from 'superstruct'
import type { CampaignReader } from '../../lib/campaigns/campaigns.ts'
import type { CampaignOutcome } from '../../lib/campaigns/decisions.ts'
import { isReachReadable } from '../../lib/campaigns/judge/readable-campaign.ts'
import { reachOfCampaign } from '../../lib/campaigns/judge/scope.ts'
import type { CampaignDraft } from '../../lib/campaigns/read-campaign.ts'
import { CAMPAIGN_STEPS, type CampaignStep } from '../../lib/model/campaign-steps.ts'
import type { Permission } from '../../lib/model/permissions.ts'
import { PRODUCTION_UNCONFIRMED } from '../../lib/model/production.ts'
import { scopesOf } from '../../lib/model/scopes.ts'
import { mayReach } from '../../lib/selectors/within-scope.ts'
import { type CampaignSummary, findCampaignSummary } from '../../lib/store/campaigns.ts'
import type { Db } from '../../lib/store/db.ts'
import type { CampaignRecord } from '../../lib/wire/campaigns.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor, Sight } from '../../runtime/define.ts'
import { coversReach, refuseOthers, refuseReach, sightBy, unlessRefused } from '../../runtime/reach.ts'
import { json, problem, problemOf, type Reply } from '../../runtime/reply.ts'
import { readablePartOf } from '../fleet-configs/_fleet-config-path.ts'

/** The path parameters of one campaign. */
export const campaignParams = type({ id: string() })
/** The path parameters of one group of equal changes in a campaign's plan. */
export const groupParams = type({ id: string(), group: string() })

/**
 * Somebody as a reader of campaigns. The texts of one are shown to whoever may read those of all that it can reach, and
 * the workloads that it names to those who may request configs for them.
 */
function readerOf(
  ctx: Context,
  actor: Actor,
  withHelp: boolean,
): (campaign: CampaignSummary) => CampaignReader {
  const { scopes, sees } = sightBy('config:request', actor, ctx)
  return (campaign) => ({
    userId: actor.userId,
    withTexts: coversReach(actor, 'config:read_content', reachOfCampaign(campaign)),
    sees: scopes === null ? null : sees,
    withHelp,
  })
}

/** Campaigns as the caller may see them: every answer with a campaign is made here, whether to a read or a decision. */
export const showCampaigns = (
  ctx: Context,
  actor: Actor,
  campaigns: readonly CampaignSummary[],
): Promise<CampaignRecord[]> => ctx.campaigns.records(campaigns, readerOf(ctx, actor, false))

/** One campaign as the caller may see it, with who could approve it. */
export async function showCampaign(
  ctx: Context,
  actor: Actor,
  campaign: CampaignSummary,
): Promise<CampaignRecord> {
  const [record] = await ctx.campaigns.records([campaign], readerOf(ctx, actor, true))
  return record!
}

/** Whether a campaign has to do with the scopes that a sight ends at: it means a workload there, or could. */
export function seesCampaign(
  { fleetConfigs }: Context,
  { scopes, sees }: Sight,
  campaign: Pick<CampaignSummary, 'scope' | 'change'>,
): boolean {
  if (scopes === null) return true
  // What it reaches cannot be told where it cannot be read.
  if (!isReachReadable(campaign)) return false
  const { scope, change } = campaign
  const reach = reachOfCampaign(campaign)
  if (scope.workload_ids !== undefined && !scope.workload_ids.some(sees)) return false
  const isOfConfig = scope.workload_ids === undefined && scope.selector === undefined
  const selector =
    isOfConfig && change.kind === 'version'
      ? fleetConfigs.config(change.fleet_config_id)?.selector
      : reach.selector
  return mayReach(scopes, { ...reach, selector })
}

/** The reply where a campaign can reach workloads on which the caller lacks a permission; null where it cannot. */
export async function refuseCampaign(
  db: Db,
  id: string,
  actor: Actor,
  permission: Permission,
  { isBack = false } = {},
): Promise<Reply | null> {
  if (actor.permissions.has(permission)) return null
  const campaign = await findCampaignSummary(db, id)
  if (campaign === null) return null
  // Former configs go back to all that were changed, also those that the selector does not select any more.
  const { cutTo, ...selection } = reachOfCampaign(campaign)
  return refuseReach(actor, permission, { cutTo, ...(isBack ? {} : selection) })
}

/** The actor of a decision about a campaign, or the reply where it is refused; asked again in its transaction. */
export const mayDecide = (
  ctx: Context,
  id: string,
  actor: Actor,
  step: CampaignStep,
): ReturnType<typeof unlessRefused> =>
  unlessRefused(ctx, actor, async (caller, db) => {
    const { permission } = CAMPAIGN_STEPS[step]
    const refused = await refuseCampaign(db, id, caller, permission, { isBack: step === 'roll-back' })
    if (refused !== null || step !== 'withdraw') return refused
    const campaign = await findCampaignSummary(db, id)
    return campaign?.requestedById == null ? null : refuseOthers(caller, campaign.requestedById)
  })

/** The reply where somebody may not request configs for all that a draft of a campaign can reach; null where that is allowed. */
export const refuseDraft = (actor: Actor, draft: CampaignDraft): Reply | null =>
  refuseReach(actor, 'config:request', reachOfCampaign(draft))

/** What is asked for, cut to where the caller may request configs. */
export function cutToScopes(draft: CampaignDraft, { grants }: Actor): CampaignDraft {
  const scopes = scopesOf(grants, 'config:request')
  if (scopes === null) return draft
  const cut_to = scopes.map(({ key, values }) => ({ key, values: [...values] }))
  return { ...draft, scope: { ...draft.scope, cut_to } }
}

/**
 * The reply where somebody would carry a version of a fleet config that none of the workloads is under on which the
 * caller may request configs: its text is nobody's there. Null where one is.
 */
export async function refuseVersion(
  ctx: Context,
  actor: Actor,
  { change }: CampaignDraft,
): Promise<Reply | null> {
  if (change.kind !== 'version' || actor.permissions.has('config:request')) return null
  const id = change.fleet_config_id
  const config = ctx.fleetConfigs.config(id)
  // Whether there is such a fleet config is told in the plan, as for everybody.
  if (config === null) return null
  const { part } = await readablePartOf(ctx, config, actor, 'config:request')
  return part === 'none' ? problem('out-of-scope') : null
}

/** The reply to a decision: the campaign as it is now. Browsers are told as well. */
export async function replyToDecision(
  ctx: Context,
  actor: Actor,
  outcome: CampaignOutcome,
  status = 200,
): Promise<Reply> {
  if (outcome.ok) {
    ctx.campaigns.decided(outcome.campaign)
    return json(await showCampaign(ctx, actor, outcome.campaign), status)
  }
  switch (outcome.code) {
    case 'audit-unavailable':
      return auditUnavailable(outcome)
    case 'production-confirmation-required':
      return problem(outcome.code, PRODUCTION_UNCONFIRMED)
    case 'campaign-not-ready':
      return problem(outcome.code, { status: outcome.status })
    default:
      return problemOf(outcome)
  }
}

/** The same of a decision about the plan with a hash, which has to be named: where it is empty none was. */
export const replyToPlanDecision = async (
  ctx: Context,
  actor: Actor,
  outcome: CampaignOutcome,
  planHash: string,
): Promise<Reply> =>
  !outcome.ok && outcome.code === 'campaign-plan-changed' && planHash === ''
    ? problem('campaign-plan-unnamed')
    : replyToDecision(ctx, actor, outcome)
