import type { Workload } from '../fleet/state/model.ts'
import { approvalClassOf } from '../model/approval-policy.ts'
import type { ProductionFacts } from '../model/production.ts'
import { listApprovalVotes } from '../store/approval-votes.ts'
import { findApproval } from '../store/approvals.ts'
import { findAutoApply } from '../store/auto-apply.ts'
import { findCampaignSummary, type StoredCampaignApproval } from '../store/campaigns.ts'
import { type AskedText, toAskedVersion } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { type BroughtBy, listWhatBrought } from '../store/pushes.ts'
import { listKeptClasses } from '../store/reviews.ts'
import {
  listAuthors,
  listAutoApplyAuthors,
  listCampaignAuthors,
  listWhoPutText,
} from '../store/text-authors.ts'
import { type ApprovedChange, readApprovalCase } from './approval-case.ts'
import type { ApprovalActor, ApprovalParts } from './approval-parts.ts'
import { readApprovalPolicy } from './approval-policy.ts'
import { ruleOfRequest, toAskedText } from './approval-standing.ts'
import { type ApproverStanding, type GivenApproval, judgeApprovals } from './judge-approvals.ts'

/** A workload, and what decides by its labels which rule holds there. */
type Where = { workloadId: string } & Pick<ProductionFacts, 'labels' | 'trustedLabels'>

/** What approved a change, and who made that. */
type Decided = Pick<ApprovedChange, 'authors' | 'askers' | 'requestedAt' | 'given'>

/**
 * Whether somebody may bring back, or pin, a config that was approved on a workload. A person may at once, for an incident
 * does not wait, and somebody looks at it afterwards; a token only what was approved by the rule that holds there now.
 */
export async function mayBringBack(
  { clock, fleet }: Pick<ApprovalParts, 'clock' | 'fleet'>,
  tx: Db,
  { apiToken }: ApprovalActor,
  target: Where,
  hash: string,
): Promise<boolean> {
  if ((apiToken ?? null) === null) return true
  // Its labels may have been changed while the target was checked.
  const { labels, trustedLabels } = fleet.workload(target.workloadId) ?? target
  return isApprovedAsNow(tx, { workloadId: target.workloadId, labels, trustedLabels }, hash, clock.now())
}

/**
 * Whether somebody may give a workload the config back that it ran before a campaign. Where only some instances run what the
 * campaign brought, the others run the former one: it comes back at once, as it does where a rollout is taken back, for
 * nothing is brought there by that.
 */
export async function mayReturnTo(
  parts: Parameters<typeof mayBringBack>[0],
  tx: Db,
  actor: ApprovalActor,
  { id, activeHash, labels, trustedLabels }: Workload,
  hash: string,
): Promise<boolean> {
  return (
    activeHash === hash || mayBringBack(parts, tx, actor, { workloadId: id, labels, trustedLabels }, hash)
  )
}

/**
 * Whether a config that was approved on a workload was so by as many, and by others than its authors, as the rule asks that
 * holds there now: the workload may have become production since, or the policy stricter. How old the approvals are by now,
 * what was pushed since, and what became of the rights of whoever gave them does not matter.
 */
async function isApprovedAsNow(
  tx: Db,
  { workloadId, labels, trustedLabels }: Where,
  hash: string,
  now: Date,
): Promise<boolean> {
  const { policy } = await readApprovalPolicy(tx)
  const kept = (await listKeptClasses(tx, [workloadId])).get(workloadId)
  const ofWorkload = approvalClassOf({ targetEnv: '', targetGroup: '', labels, trustedLabels })
  const rule = { ...ruleOfRequest(policy, ofWorkload, kept), validHours: null }
  if (rule.approvals === 1 && rule.authorCounts) return true
  for (const brought of await listWhatBrought(tx, workloadId, hash)) {
    // A second person has looked at it and found it in order.
    if (brought.isBrokenGlass) return true
    const decided = await readDecided(tx, workloadId, brought)
    if (decided === null) continue
    const change = { ...decided, rule, alsoAsking: [], covers: () => true }
    const asked = await readApprovalCase(tx, change, now)
    const approvers = new Map(
      decided.given.map(({ userId }) => [userId, asThen(asked.approvers.get(userId))] as const),
    )
    if (judgeApprovals({ ...asked, approvers }).isEnough) return true
  }
  return false
}

/** What is known of an account of which nothing is known any more. */
const REMOVED: ApproverStanding = {
  mayApprove: true,
  isShapedByAuthor: false,
  hasShapedAuthor: false,
  isShapedSinceRequest: false,
  isAuthorToo: false,
  alsoIds: [],
}

/** How somebody stood who approved, as far as it was known by then: the account may have been changed, or be gone. */
const asThen = (standing = REMOVED): ApproverStanding => ({
  ...standing,
  mayApprove: true,
  isShapedSinceRequest: false,
})

async function readDecided(
  tx: Db,
  workloadId: string,
  { approvalId, campaignId, autoApplyId }: BroughtBy,
): Promise<Decided | null> {
  if (approvalId !== null) {
    const approval = await findApproval(tx, workloadId, approvalId)
    if (approval === null) return null
    const votes = await listApprovalVotes(tx, [approvalId])
    return decide(tx, approval.createdAt, votes.map(toGiven), [], toAskedText(approval))
  }
  if (campaignId !== null) {
    const campaign = await findCampaignSummary(tx, campaignId)
    if (campaign === null) return null
    const { change, approvals, requestedAt, createdAt } = campaign
    const own = await listCampaignAuthors(tx, campaignId)
    const textSetters = await listWhoPutText(tx, campaignId)
    const text =
      change.kind === 'version'
        ? toAskedVersion({ fleetConfigId: change.fleet_config_id, number: change.number }, own)
        : change.kind === 'text'
          ? { hash: change.hash, askers: own, textSetters, places: [], at: null }
          : null
    return decide(tx, requestedAt ?? createdAt, approvals.map(toGivenOfMany), own, text)
  }
  const asked = autoApplyId === null ? null : await findAutoApply(tx, autoApplyId)
  if (asked === null) return null
  const own = await listAutoApplyAuthors(tx, asked.id)
  return decide(tx, asked.requestedAt, asked.approvals.map(toGivenOfMany), own, toAskedVersion(asked, own))
}

const toGiven = ({ userId, at }: Pick<GivenApproval, 'userId' | 'at'>): GivenApproval => ({
  userId,
  at,
  rule: null,
})

const toGivenOfMany = ({ byId, at }: StoredCampaignApproval): GivenApproval =>
  toGiven({ userId: byId, at: new Date(at) })

async function decide(
  tx: Db,
  requestedAt: Date,
  given: readonly GivenApproval[],
  own: readonly string[],
  text: Omit<AskedText, 'key'> | null,
): Promise<Decided> {
  const ofText = text === null ? { all: [], own: [] } : await listAuthors(tx, text)
  return { authors: [...own, ...ofText.all], askers: [...own, ...ofText.own], requestedAt, given }
}
