import { hasSoleApprover, readApprovalCase } from '../changes/approval-case.ts'
import type { HelpedChange } from '../changes/approval-help.ts'
import { readApprovalPolicy } from '../changes/approval-policy.ts'
import type { Covers } from '../changes/approver-standing.ts'
import { type ApprovalCase, type ApprovalJudgement, judgeApprovals } from '../changes/judge-approvals.ts'
import { type ManyFacts, ruleOfMany, sayRuleInForce } from '../changes/rule-in-force.ts'
import { chosenBy } from '../fleet-configs/values.ts'
import type { ApprovalPolicy, ApprovalRule } from '../model/approval-policy.ts'
import { scopesOf } from '../model/scopes.ts'
import { type ChangeReach, isReachWithin } from '../selectors/within-scope.ts'
import type { CampaignSummary, StoredCampaignApproval } from '../store/campaigns.ts'
import { toAskedVersion } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { findVersion, type StoredVersion } from '../store/fleet-configs.ts'
import { keepsProduction } from '../store/reviews.ts'
import { listAuthors, listCampaignAuthors, listWhoPutText } from '../store/text-authors.ts'
import { listValueAuthorsOfCampaign } from '../store/value-authors.ts'
import type { ApprovalRuleInForce } from '../wire/approvals.ts'
import { reachOfCampaign } from './judge/scope.ts'

/** A campaign with everything that decides whether it is approved. */
export interface CampaignStanding extends HelpedChange {
  asked: ApprovalCase
  judgement: ApprovalJudgement
}

/** What decides which rule a campaign is approved by, with the policy as it is now. */
async function readFacts(
  tx: Db,
  { id, plan }: Pick<CampaignSummary, 'id' | 'plan'>,
): Promise<{ policy: ApprovalPolicy; facts: ManyFacts }> {
  const { policy } = await readApprovalPolicy(tx)
  const facts = {
    productionCount: plan?.production_count ?? 0,
    keepsProduction: await keepsProduction(tx, id),
    unlabelledCount: plan?.unlabelled_count ?? null,
  }
  return { policy, facts }
}

/** Read which rule a campaign is approved by, and why; `standing` of one that waits for approval, null before that. */
export async function readCampaignRule(
  tx: Db,
  campaign: Pick<CampaignSummary, 'id' | 'plan'>,
  standing: Pick<CampaignStanding, 'asked' | 'judgement'> | null,
): Promise<ApprovalRuleInForce> {
  const { policy, facts } = await readFacts(tx, campaign)
  return sayRuleInForce(policy, facts, {
    applied: standing?.judgement.rule ?? ruleOfMany(policy, facts),
    isSoleApprover: standing?.asked.isSoleApprover ?? (await hasSoleApprover(tx)),
  })
}

/**
 * Read whether a campaign is approved by the approval policy as it is now. One rule holds for the whole campaign: the
 * strictest of what the policy asks for `other` and `unlabelled` workloads, and for `production` where the plan changes
 * a production workload, or one that was production until its labels were changed (`keepsProduction`). Authors are all
 * who wrote, changed or requested the campaign, requested the same text elsewhere, or wrote it as a version, and
 * whoever set or chose a value that becomes part of it on one of its workloads.
 * `alsoAsking` are users who have not approved and want to.
 */
export async function readCampaignStanding(
  tx: Db,
  campaign: CampaignSummary,
  now: Date,
  alsoAsking: readonly string[] = [],
): Promise<CampaignStanding> {
  const { policy, facts } = await readFacts(tx, campaign)
  const { change } = campaign
  const version =
    change.kind === 'version' ? await findVersion(tx, change.fleet_config_id, change.number) : null
  const ownAuthors = await listCampaignAuthors(tx, campaign.id)
  const carried = await readCarried(tx, campaign, version, ownAuthors)
  const ofText = carried === null ? { all: [], own: [] } : await listAuthors(tx, carried)
  const valueAuthors =
    version === null ? [] : await listValueAuthorsOfCampaign(tx, campaign.id, chosenBy(version))
  const rule = ruleOfMany(policy, facts)
  const requestedAt = campaign.requestedAt ?? campaign.createdAt
  const { approvals } = campaign
  const reach = reachOfCampaign(campaign)
  const hash = change.kind === 'text' ? change.hash : (version?.hash ?? '')
  const plan = {
    rule,
    authors: [...ownAuthors, ...ofText.all],
    askers: [...ownAuthors, ...ofText.own],
    ownAuthors,
    valueAuthors,
    requestedAt,
    approvals,
    alsoAsking,
    reach,
    hash,
    carried,
  }
  return standingOf(tx, plan, now)
}

/**
 * Judge the approvals of a plan by a rule: whose count, given who wrote it. Campaigns and versions that apply by
 * themselves share this.
 */
export async function standingOf(
  tx: Db,
  plan: {
    rule: ApprovalRule
    authors: readonly string[]
    /** Those of the authors who asked for this very plan, or wrote what it brings; the others asked for the same elsewhere. */
    askers: readonly string[]
    /** Those of the authors who wrote or requested this very plan. */
    ownAuthors: readonly string[]
    /** Everybody who set or chose a value that becomes part of what is pushed. */
    valueAuthors: readonly string[]
    requestedAt: Date
    approvals: readonly StoredCampaignApproval[]
    alsoAsking: readonly string[]
    /** Approvers count only where their right covers all of it. */
    reach: ChangeReach
    /** Of the text that it brings; '' for a patch, which has none of its own. */
    hash: string
    carried: CampaignStanding['carried']
  },
  now: Date,
): Promise<CampaignStanding> {
  const { rule, authors, askers, valueAuthors, requestedAt, approvals, alsoAsking } = plan
  const given = approvals.map(({ byId, at, rule }) => ({
    userId: byId,
    at: new Date(at),
    rule: rule ?? null,
  }))
  const covers: Covers = (grants) => isReachWithin(scopesOf(grants, 'config:approve'), plan.reach)
  const change = { rule, authors, askers, valueAuthors, requestedAt, given, alsoAsking, covers }
  const asked = await readApprovalCase(tx, change, now)
  const text = { id: '', draftHash: plan.hash, ownAuthors: plan.ownAuthors }
  return { asked, judgement: judgeApprovals(asked), requestedAt, covers, text, carried: plan.carried }
}

/** The text or version that a campaign carries; null for a patch, which has no text of its own. */
async function readCarried(
  tx: Db,
  { id, change }: CampaignSummary,
  version: StoredVersion | null,
  askers: readonly string[],
): Promise<CampaignStanding['carried']> {
  if (change.kind !== 'text') return version && toAskedVersion(version, askers)
  return { hash: change.hash, askers, textSetters: await listWhoPutText(tx, id), places: [], at: null }
}
