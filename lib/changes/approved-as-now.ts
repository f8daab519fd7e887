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
  parts: Pick<ApprovalParts, 'clock' | 'fleet'>,
  tx: Db,
  actor: Pick<ApprovalActor, 'apiToken'>,
  target: Where,
  hash: string,
): Promise<boolean> {
  return (await findKeptBack(parts, tx, actor, [{ ...target, hash }])) === null
}

/**
 * The first of these workloads to which somebody may not give the config back that it ran before a campaign; null where there
 * is none. Where only some instances run what the campaign brought, the others run the former one: it comes back at once, as
 * it does where a rollout is taken back, for nothing is brought there by that.
 */
export async function findNotReturning(
  parts: Pick<ApprovalParts, 'clock' | 'fleet'>,
  tx: Db,
  actor: Pick<ApprovalActor, 'apiToken'>,
  ways: readonly { workload: Workload; hash: string }[],
): Promise<Workload | null> {
  const brought = ways.flatMap(({ workload: { id, activeHash, labels, trustedLabels }, hash }) =>
    activeHash === hash ? [] : [{ workloadId: id, labels, trustedLabels, hash }],
  )
  const found = await findKeptBack(parts, tx, actor, brought)
  return found === null ? null : ways.find(({ workload }) => workload.id === found.workloadId)!.workload
}

/** The first of these workloads to which somebody may not bring its config back; null where there is none. */
async function findKeptBack(
  { clock, fleet }: Pick<ApprovalParts, 'clock' | 'fleet'>,
  tx: Db,
  { apiToken }: Pick<ApprovalActor, 'apiToken'>,
  targets: readonly (Where & { hash: string })[],
): Promise<Where | null> {
  if ((apiToken ?? null) === null || targets.length === 0) return null
  // Labels may have been changed while a target was checked.
  const now = targets.map(({ workloadId, labels, trustedLabels, hash }) => {
    const known = fleet.workload(workloadId) ?? { labels, trustedLabels }
    return { workloadId, labels: known.labels, trustedLabels: known.trustedLabels, hash }
  })
  return findApprovedForLess(tx, now, clock.now())
}

/**
 * The first of these workloads on which its config was approved by fewer, or by others, than the rule asks that holds there
 * now: the workload may have become production since, or the policy stricter. How old the approvals are by now, what was
 * pushed since, and what became of the rights of whoever gave them does not matter.
 */
async function findApprovedForLess(
  tx: Db,
  targets: readonly (Where & { hash: string })[],
  now: Date,
): Promise<Where | null> {
  const { policy } = await readApprovalPolicy(tx)
  const keptBy = await listKeptClasses(
    tx,
    targets.map(({ workloadId }) => workloadId),
  )
  const asking = targets.flatMap((target) => {
    const { workloadId, labels, trustedLabels } = target
    const ofWorkload = approvalClassOf({ targetEnv: '', targetGroup: '', labels, trustedLabels })
    const rule = { ...ruleOfRequest(policy, ofWorkload, keptBy.get(workloadId)), validHours: null }
    return rule.approvals === 1 && rule.authorCounts ? [] : [{ ...target, rule }]
  })
  const brought = await listWhatBrought(tx, asking)
  // What was approved for many workloads at once is judged once by each rule.
  const judged = new Map<string, boolean>()
  for (const [at, { rule, ...target }] of asking.entries()) {
    let isEnough = false
    for (const by of brought[at]!) {
      const key = JSON.stringify([rule, by])
      isEnough = judged.get(key) ?? (await isEnoughBy(tx, target.workloadId, by, rule, now))
      judged.set(key, isEnough)
      if (isEnough) break
    }
    if (!isEnough) return target
  }
  return null
}

/** Whether what brought a config to a workload was approved as a rule asks. */
async function isEnoughBy(
  tx: Db,
  workloadId: string,
  brought: BroughtBy,
  rule: ApprovedChange['rule'],
  now: Date,
): Promise<boolean> {
  // A second person has looked at it and found it in order.
  if (brought.isBrokenGlass) return true
  const decided = await readDecided(tx, workloadId, brought)
  if (decided === null) return false
  const asked = await readApprovalCase(tx, { ...decided, rule, alsoAsking: [], covers: () => true }, now)
  const approvers = new Map(
    decided.given.map(({ userId }) => [userId, asThen(asked.approvers.get(userId))] as const),
  )
  return judgeApprovals({ ...asked, approvers }).isEnough
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
