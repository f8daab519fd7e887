import { type CampaignStanding, standingOf } from '../campaigns/approval.ts'
import type { CoversValues } from '../campaigns/judge/judge.ts'
import { hasSoleApprover } from '../changes/approval-case.ts'
import { readApprovalPolicy } from '../changes/approval-policy.ts'
import { ruleOfRequest } from '../changes/approval-standing.ts'
import { isEnoughBeside } from '../changes/judge-approvals.ts'
import { type ManyFacts, ruleOfMany, sayRuleInForce } from '../changes/rule-in-force.ts'
import { listMembersThen } from '../fleet-configs/members-then.ts'
import { chosenBy } from '../fleet-configs/values.ts'
import { approvalClassOf, needsSecondPerson } from '../model/approval-policy.ts'
import { listSamePeople } from '../store/account-ties.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import { toAskedVersion } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { findVersion } from '../store/fleet-configs.ts'
import { listKeptClasses } from '../store/reviews.ts'
import { listAuthors, listAutoApplyAuthors } from '../store/text-authors.ts'
import { listValueAuthors } from '../store/value-authors.ts'
import type { ApprovalRuleInForce } from '../wire/approvals.ts'
import type { AutoApplyPlan } from '../wire/auto-apply.ts'
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

/** What decides by which rule it is approved that a version applies by itself. */
const factsOf = (
  { production_count: productionCount }: AutoApplyPlan,
  reachesProduction: boolean,
): ManyFacts => ({
  productionCount: reachesProduction ? productionCount : 0,
  mayReachProduction: reachesProduction,
  keepsProduction: false,
  unlabelledCount: null,
})

/**
 * Read which rule holds for a version that is to apply by itself, as planned, and why; `standing` of one that waits for
 * approval, null before that.
 */
export async function readAutoApplyRule(
  db: Db,
  plan: AutoApplyPlan,
  standing: Pick<CampaignStanding, 'asked' | 'judgement'> | null,
): Promise<ApprovalRuleInForce> {
  const { policy } = await readApprovalPolicy(db)
  const facts = factsOf(plan, plan.reaches_production)
  return sayRuleInForce(policy, facts, {
    applied: standing?.judgement.rule ?? ruleOfMany(policy, facts),
    isSoleApprover: standing?.asked.isSoleApprover ?? (await hasSoleApprover(db)),
  })
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
  const ownAuthors = await listAutoApplyAuthors(tx, asked.id)
  const carried = toAskedVersion(asked, ownAuthors)
  const ofText = await listAuthors(tx, carried)
  const authors = [...ownAuthors, ...ofText.all]
  const askers = [...ownAuthors, ...ofText.own]
  const { requestedAt, approvals, reachesProduction, selector } = asked
  const rule = ruleOfMany(policy, factsOf(asked.plan, reachesProduction))
  const about = { requestedAt, approvals, alsoAsking, reach: { selector }, hash: asked.versionHash, carried }
  const plan = { rule, authors, askers, ownAuthors, valueAuthors, ...about }
  return standingOf(tx, plan, now)
}

/**
 * Open the question whether what was approved covers the values that a workload gets by it: what the policy asks is read
 * once. Where it asks for a second person on a workload of its kind, those values must not be of whoever approved, and
 * its own ones not younger than the request: nobody else would have looked at them. It is asked once the values are
 * chosen, so that whoever chose them is known by then.
 */
export async function openCoversValues(
  { db }: Pick<AutoApplyParts, 'db'>,
  { requestedAt, approvals }: StoredAutoApply,
): Promise<CoversValues> {
  const { policy } = await readApprovalPolicy(db)
  const isSoleApprover = await hasSoleApprover(db)
  const approverIds = approvals.filter(({ counted }) => counted !== false).map(({ byId }) => byId)
  return async ({ id, labels, trustedLabels }, version, ownSetAt) => {
    const kept = (await listKeptClasses(db, [id])).get(id)
    const now = approvalClassOf({ targetEnv: '', targetGroup: '', labels, trustedLabels })
    const rule = ruleOfRequest(policy, now, kept)
    if (!needsSecondPerson(rule) && now !== 'production' && !kept?.includes('production')) return true
    if (ownSetAt !== null && ownSetAt > requestedAt) return false
    const valueAuthors = await listSamePeople(
      db,
      approverIds,
      await listValueAuthors(db, [id], chosenBy(version)),
    )
    return isEnoughBeside(approverIds, { rule, valueAuthors, isSoleApprover })
  }
}
