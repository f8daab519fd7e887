import { type CampaignStanding, standingOf } from '../campaigns/approval.ts'
import { readApprovalPolicy } from '../changes/approval-policy.ts'
import { ruleForMany } from '../model/approval-policy.ts'
import { listAuthors, listAutoApplyAuthors } from '../store/approval-votes.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import type { Db } from '../store/db.ts'

/**
 * Read whether a request that a version applies by itself is approved by the policy as it is now. The rule is the
 * strictest of what the policy asks for `other` and `unlabelled` workloads, and for `production` where the request
 * reaches production. Authors are whoever made the request and whoever wrote the version.
 */
export async function readAutoApplyStanding(
  tx: Db,
  asked: StoredAutoApply,
  now: Date,
  alsoAsking: readonly string[] = [],
): Promise<CampaignStanding> {
  const { policy } = await readApprovalPolicy(tx, now)
  const authors = [
    ...(await listAutoApplyAuthors(tx, asked.id)),
    ...(await listAuthors(tx, asked.versionHash)),
  ]
  const { requestedAt, approvals, reachesProduction, selector } = asked
  const rule = ruleForMany(policy, reachesProduction)
  return standingOf(tx, { rule, authors, requestedAt, approvals, alsoAsking, reach: { selector } }, now)
}
