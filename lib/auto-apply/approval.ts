import { type CampaignStanding, standingOf } from '../campaigns/approval.ts'
import { readApprovalPolicy } from '../changes/approval-policy.ts'
import type { Discount } from '../changes/judge-approvals.ts'
import { listMembersThen } from '../fleet-configs/members-then.ts'
import { chosenBy } from '../fleet-configs/values.ts'
import { ruleForMany } from '../model/approval-policy.ts'
import { listAuthors, listAutoApplyAuthors } from '../store/approval-votes.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import type { Db } from '../store/db.ts'
import { findVersion, type StoredVersionSummary } from '../store/fleet-configs.ts'
import { listValueAuthors } from '../store/value-authors.ts'
import type { AutoApplyParts } from './parts.ts'

/**
 * Whoever set or chose a value of a workload that would be under the fleet config by a request. It looks at every
 * workload of the fleet.
 */
export async function listValueAuthorsOfRequest(
  parts: Pick<AutoApplyParts, 'fleet' | 'fleetConfigs' | 'clock'>,
  tx: Db,
  asked: StoredAutoApply,
): Promise<string[]> {
  const version = await findVersion(tx, asked.fleetConfigId, asked.number)
  if (version === null) return []
  const { under } = await listMembersThen(parts, asked.fleetConfigId, asked)
  const ids = under.map(({ id }) => id)
  return listValueAuthors(tx, ids, chosenBy(version))
}

/**
 * Read whether a request that a version applies by itself is approved by the policy as it is now. The rule is the
 * strictest of what the policy asks for `other` and `unlabelled` workloads, and for `production` where the request
 * reaches production. Authors are whoever made the request, whoever wrote the version, and `valueAuthors`.
 */
export async function readAutoApplyStanding(
  tx: Db,
  asked: StoredAutoApply,
  {
    valueAuthors,
    alsoAsking = [],
    now,
  }: { valueAuthors: readonly string[]; alsoAsking?: readonly string[]; now: Date },
): Promise<CampaignStanding> {
  const { policy } = await readApprovalPolicy(tx)
  const authors = [
    ...(await listAutoApplyAuthors(tx, asked.id)),
    ...(await listAuthors(tx, asked.versionHash)),
  ]
  const { requestedAt, approvals, reachesProduction, selector } = asked
  const rule = ruleForMany(policy, reachesProduction)
  const plan = { rule, authors, valueAuthors, requestedAt, approvals, alsoAsking, reach: { selector } }
  return standingOf(tx, plan, now)
}

/** Why an approval does not count for a workload although it did when it was given: its values are of an approver. */
const OF_VALUES: ReadonlySet<Discount> = new Set(['value-author', 'shaped-an-author', 'shaped-by-author'])

/**
 * Whether what was approved still is for one workload: enough of those who approved neither set nor chose a value of it.
 * Their age does not matter any more, nor what became of their accounts.
 */
export async function isApprovedFor(
  tx: Db,
  asked: StoredAutoApply,
  workloadId: string,
  version: StoredVersionSummary,
  now: Date,
): Promise<boolean> {
  const valueAuthors = await listValueAuthors(tx, [workloadId], chosenBy(version))
  if (valueAuthors.length === 0) return true
  const { judgement } = await readAutoApplyStanding(tx, asked, { valueAuthors, now })
  const lost = [...judgement.discounted.values()].filter((why) => OF_VALUES.has(why)).length
  return lost === 0 || asked.approvals.length - lost >= judgement.needed
}
