import type { ApprovalRuleInForce } from '../wire/approvals.ts'

type Because = ApprovalRuleInForce['because'][number]

const ofThem = (count: number): string => `${count} ${count === 1 ? 'workload' : 'workloads'}`

/** How many approvals a rule takes, of whom, and for how long they hold, in English; pages say it in both languages. */
export function sayApprovalRule(rule: ApprovalRuleInForce): string {
  const { approvals, author_counts: authorCounts, valid_hours: hours, sole_approver: isSole } = rule
  const count = approvals === 2 ? 'two approvals' : 'one approval'
  const whose = authorCounts
    ? ', its authors count'
    : isSole
      ? ', its authors count while only one person may approve'
      : ', not by an author of it'
  return `${count}${whose}${hours === undefined ? '' : `, valid for ${hours} h`}`
}

/** Why a rule holds, in English. */
export function sayRuleReason({ why, count = 0, like_production: isLike }: Because): string {
  switch (why) {
    case 'production':
      return `${ofThem(count)} of it ${count === 1 ? 'is' : 'are'} production`
    case 'may_reach_production':
      return 'newcomers that it reaches by itself may be production'
    case 'kept_production':
      return 'a workload of it was production until its labels were changed, which nobody has confirmed yet'
    case 'unlabelled': {
      const treated = isLike ? ': treated as production' : ''
      return count > 0
        ? `no trusted label names the environment of ${ofThem(count)} of it${treated}`
        : `every change of many workloads is asked for as much as unlabelled ones are${treated}`
    }
    case 'other':
      return 'the policy asks it of every change of many workloads'
    case 'given_before':
      return 'an approval was given under a stricter policy'
    default:
      return why satisfies never
  }
}
