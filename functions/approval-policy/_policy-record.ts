import { hasSoleApprover, lacksSecondPerson, listGroupsThatEndIt } from '../../lib/changes/approval-case.ts'
import { needsAnother, type PolicyState } from '../../lib/changes/approval-policy.ts'
import {
  type ApprovalPolicy,
  type ApprovalRule,
  LOWERING_WAIT_MS,
  VALID_HOURS_MAX,
} from '../../lib/model/approval-policy.ts'
import { type Refusal, refuse } from '../../lib/model/refusal.ts'
import type {
  ApprovalPolicyRecord,
  ApprovalPolicyRequest,
  ApprovalRuleRecord,
} from '../../lib/wire/approval-policy.ts'
import { APPROVAL_CLASSES } from '../../lib/wire/values.ts'
import type { Context } from '../../runtime/context.ts'

const toRule = ({ approvals, authorCounts, validHours }: ApprovalRule): ApprovalRuleRecord => ({
  approvals,
  author_counts: authorCounts,
  ...(validHours === null ? {} : { valid_hours: validHours }),
})

const toClasses = ({ production, other, unlabelled }: ApprovalPolicy): ApprovalPolicyRequest => ({
  production: toRule(production),
  other: toRule(other),
  unlabelled: toRule(unlabelled),
})

/** The policy as the wire shows it to a reader. */
export async function toPolicyRecord(
  ctx: Context,
  { policy, pending, unreadable }: PolicyState,
  readerId: string,
): Promise<ApprovalPolicyRecord> {
  const waiting = pending && {
    ...toClasses(pending.policy),
    by: pending.by,
    by_id: pending.byId,
    asked_at: pending.at.toISOString(),
    effective_at: new Date(pending.at.getTime() + LOWERING_WAIT_MS).toISOString(),
    ...((await needsAnother(ctx.db, readerId, pending)) ? { needs_another: true as const } : {}),
  }
  const ending = await listGroupsThatEndIt(ctx.db)
  return {
    ...toClasses(policy),
    sole_approver: await hasSoleApprover(ctx.db),
    ...(ending.length > 0 ? { sole_approver_ends_with: ending } : {}),
    ...((await lacksSecondPerson(ctx.db)) ? { lacks_second_person: true } : {}),
    ...(waiting === null ? {} : { pending: waiting }),
    ...(unreadable === null ? {} : { unreadable }),
  }
}

const isHours = (hours: number): boolean => Number.isInteger(hours) && hours >= 1 && hours <= VALID_HOURS_MAX

function readRule({ approvals, author_counts: authorCounts, valid_hours: hours }: ApprovalRuleRecord) {
  if ((approvals !== 1 && approvals !== 2) || (hours !== undefined && !isHours(hours))) return null
  return { approvals, authorCounts, validHours: hours ?? null } satisfies ApprovalRule
}

/** The policy that a body asks for. */
export function readPolicy(
  body: ApprovalPolicyRequest,
): { ok: true; policy: ApprovalPolicy } | Refusal<'policy-invalid'> {
  const rules = new Map(APPROVAL_CLASSES.map((name) => [name, readRule(body[name])]))
  const bad = APPROVAL_CLASSES.find((name) => rules.get(name) === null)
  if (bad !== undefined) return refuse('policy-invalid', { class: bad, max: VALID_HOURS_MAX })
  return { ok: true, policy: Object.fromEntries(rules) as unknown as ApprovalPolicy }
}
