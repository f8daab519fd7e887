import { type CampaignStanding, standingOf } from '../campaigns/approval.ts'
import { readApprovalPolicy } from '../changes/approval-policy.ts'
import { stricterRule } from '../model/approval-policy.ts'
import { listAuthors } from '../store/approval-votes.ts'
import { listAutoApplyAuthors, type StoredAutoApply } from '../store/auto-apply.ts'
import type { Db } from '../store/db.ts'

/**
 * Read how a request stands to the approval policy: to that of production where it reaches production, and at least that
 * of workloads that nobody labelled. Authors are whoever asked for it and whoever wrote the version.
 */
export async function readAutoApplyStanding(
  tx: Db,
  asked: StoredAutoApply,
  now: Date,
  alsoAsking: readonly string[] = [],
): Promise<CampaignStanding> {
  const { policy } = await readApprovalPolicy(tx, now)
  const anywhere = stricterRule(policy.other, policy.unlabelled)
  const authors = [
    ...(await listAutoApplyAuthors(tx, asked.id)),
    ...(await listAuthors(tx, asked.versionHash)),
  ]
  const { requestedAt, approvals, reachesProduction } = asked
  const rule = reachesProduction ? stricterRule(policy.production, anywhere) : anywhere
  return standingOf(tx, { rule, authors, requestedAt, approvals, alsoAsking }, now)
}
