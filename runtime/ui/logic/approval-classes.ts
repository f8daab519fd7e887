import { needsSecondPerson } from '../../../lib/model/approval-policy.ts'
import type { ApprovalPolicyRecord, ApprovalPolicyRequest } from '../../../lib/wire/approval-policy.ts'
import { APPROVAL_CLASSES } from '../../../lib/wire/values.ts'

type Rules = Pick<ApprovalPolicyRecord, keyof ApprovalPolicyRequest>

/** The classes for which the policy asks for somebody else than the author. */
export const classesForTwo = (policy: Rules): (typeof APPROVAL_CLASSES)[number][] =>
  APPROVAL_CLASSES.filter((name) => {
    const { approvals, author_counts: authorCounts } = policy[name]
    return needsSecondPerson({ approvals: approvals === 2 ? 2 : 1, authorCounts })
  })
