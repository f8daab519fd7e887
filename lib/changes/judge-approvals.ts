import { type ApprovalRule, stricterRule } from '../model/approval-policy.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { underscored } from '../model/underscored.ts'
import type { ApprovalHelp, ApprovalTally } from '../wire/approvals.ts'

/** An approval as it was given. */
export interface GivenApproval {
  userId: string
  at: Date
  /** The rule that was in force when it was given; null where none was stored. */
  rule: ApprovalRule | null
  /**
   * Something else was pushed to its workload since. Absent for a change of many workloads: its plan binds what each runs,
   * so that one which was changed since is skipped.
   */
  isOvertaken?: boolean
}

/** What is known of an account that approves. */
export interface ApproverStanding {
  /** The account has the right to approve now. */
  mayApprove: boolean
  /** An author made this account, set its password, linked or regrouped it, or made a token of it. */
  isShapedByAuthor: boolean
  /** This account did one of these to the account of an author: both accounts may be of one person. */
  hasShapedAuthor: boolean
  /** Somebody did one of these to this account after the request. */
  isShapedSinceRequest: boolean
  /** This account and one of an author are known to be of one person, by an e-mail or by the provider's subject. */
  isAuthorToo: boolean
  /** The accounts among the approvers that are known in this way to be of the same person. */
  alsoIds: readonly string[]
  /** The accounts among the approvers that made or changed this one, or that this one made or changed; absent for none. */
  tiedIds?: readonly string[]
}

/** Everything that decides whether a change is approved. */
export interface ApprovalCase {
  /** The rule that holds now; for a change of many workloads the strictest of theirs. */
  rule: ApprovalRule
  given: readonly GivenApproval[]
  /** Everybody who requested or wrote this text, by id. */
  authors: ReadonlySet<string>
  /** Those of the authors who only set, or chose, a value that becomes part of what is pushed; absent for none. */
  valueAuthors?: ReadonlySet<string>
  /** Those who asked for this very change or wrote it; absent for all authors. */
  askers?: ReadonlySet<string>
  /** By user id; one that is missing was removed, or is a service account. */
  approvers: ReadonlyMap<string, ApproverStanding>
  /** At most one person may approve, and there never were two: the approval of an author counts then. */
  isSoleApprover: boolean
  now: Date
}

/** Why an approval does not count. */
export type Discount =
  | 'author'
  | 'value-author'
  | 'no-right'
  | 'same-person'
  | 'shaped-an-author'
  | 'shaped-by-author'
  | 'shaped-since-request'
  | 'expired'
  | 'overtaken'

/**
 * Why an approval that was given does not count: also because its account changed that of somebody else who approved, or
 * was changed by it, so that of the two approvals one counts.
 */
type Uncounted = Discount | 'shaped-beside'

/** What the approvals come to. */
export interface ApprovalJudgement {
  isEnough: boolean
  needed: number
  /** Whose approvals count. */
  counted: readonly string[]
  discounted: ReadonlyMap<string, Uncounted>
  /**
   * The rule that was applied: in each point the strictest of the rule in force now and those stored with the
   * approvals.
   */
  rule: ApprovalRule
}

const HOUR_MS = 3_600_000

const doesAuthorCount = ({ authorCounts }: ApprovalRule, isSoleApprover: boolean): boolean =>
  authorCounts || isSoleApprover

/** Whether a user requested or wrote the text itself: whose accounts these made, and who made theirs, matters. */
export const wroteText = (
  { authors, valueAuthors }: Pick<ApprovalCase, 'authors' | 'valueAuthors'>,
  userId: string,
): boolean => authors.has(userId) && valueAuthors?.has(userId) !== true

/** Why an approval by this user would not count now; null where it would. */
export function discountOf(
  { authors, valueAuthors, approvers, isSoleApprover, now }: Omit<ApprovalCase, 'given'>,
  rule: ApprovalRule,
  { userId, at, isOvertaken = false }: Pick<GivenApproval, 'userId' | 'at' | 'isOvertaken'>,
): Discount | null {
  if (isOvertaken) return 'overtaken'

  const standing = approvers.get(userId)
  if (!standing?.mayApprove) return 'no-right'
  const isOwn = doesAuthorCount(rule, isSoleApprover)
  if (authors.has(userId))
    return isOwn ? age(rule, at, now) : valueAuthors?.has(userId) ? 'value-author' : 'author'
  if (standing.isAuthorToo && !isOwn) return 'same-person'
  if (standing.hasShapedAuthor && !isOwn) return 'shaped-an-author'
  if (standing.isShapedByAuthor) return 'shaped-by-author'
  if (standing.isShapedSinceRequest) return 'shaped-since-request'
  return age(rule, at, now)
}

const age = ({ validHours }: ApprovalRule, at: Date, now: Date): 'expired' | null =>
  validHours !== null && now.getTime() - at.getTime() > validHours * HOUR_MS ? 'expired' : null

/**
 * Judge the approvals of a change: of a request, a campaign, or a version that is to apply by itself. Pure; each caller
 * brings its own rule and authors.
 */
export function judgeApprovals(asked: ApprovalCase): ApprovalJudgement {
  const rules = asked.given.flatMap(({ rule }) => rule ?? [])
  const rule = rules.reduce(stricterRule, asked.rule)
  const discounted = new Map<string, Uncounted>()
  const valid: string[] = []
  for (const given of asked.given) {
    const why =
      discountOf(asked, rule, given) ?? (isCountedAs(asked, valid, given.userId) ? 'same-person' : null)
    if (why === null) valid.push(given.userId)
    else discounted.set(given.userId, why)
  }
  const counted = rule.approvals < 2 ? valid : untiedOf(asked, valid)
  for (const id of valid) if (!counted.includes(id)) discounted.set(id, 'shaped-beside')
  return { isEnough: counted.length >= rule.approvals, needed: rule.approvals, counted, discounted, rule }
}

/**
 * Those of some approvers of whom nobody made or changed the account of another, as both may be one person: the first two,
 * and whoever else is tied to none of them. Without two it is the last one, so that the next may be a second person beside
 * each of those who approved.
 */
function untiedOf({ approvers }: Pick<ApprovalCase, 'approvers'>, ids: readonly string[]): readonly string[] {
  const knowsTie = (one: string, other: string) => approvers.get(one)?.tiedIds?.includes(other) ?? false
  const isTied = (one: string, other: string) => knowsTie(one, other) || knowsTie(other, one)
  const first = ids.find((one) => ids.some((other) => other !== one && !isTied(one, other)))
  if (first === undefined) return ids.slice(-1)
  const untied: string[] = [first]
  for (const id of ids) if (id !== first && !untied.some((one) => isTied(id, one))) untied.push(id)
  return untied
}

/**
 * Whether what was approved for many workloads counts as approved for one that gets values of its own, by the rule of
 * that one: enough of those whose approvals counted (`approverIds`) neither set nor chose a value of it. How old their
 * approvals are by now, and what became of their accounts, does not matter.
 */
export function isEnoughBeside(
  approverIds: readonly string[],
  {
    rule,
    valueAuthors,
    isSoleApprover,
  }: Pick<ApprovalCase, 'rule' | 'isSoleApprover'> & { valueAuthors: ReadonlySet<string> },
): boolean {
  if (doesAuthorCount(rule, isSoleApprover)) return true
  const others = approverIds.filter((id) => !valueAuthors.has(id))
  // Where a rule asks for more since, that alone takes nothing back.
  return others.length === approverIds.length || others.length >= rule.approvals
}

/** What to do where an approval does not count, in English; `runtime/ui/i18n/discounts.ts` says the same to people. */
const REMEDIES: Record<Discount | 'approved-already', string> = {
  'approved-already': 'Somebody else has to approve it as well.',
  author: 'Whoever asked for it does not count as a second person.',
  'value-author':
    'A value that reaches one of its workloads was set, or chosen by a trusted label or a label rule, by this account: part of what is pushed was written by it. Somebody else has to approve it.',
  'no-right': 'The right to approve has to hold on all that the change reaches.',
  'same-person':
    'This account and that of whoever asked, or has approved already, have the same e-mail, so both are taken for one person, also when one of the two is removed: let somebody else approve.',
  'shaped-an-author':
    'The account of whoever asked was made or changed by this one, so both may be one person: let somebody approve whose account neither of them made (two accounts that a third person made count for each other), sign in with an identity provider, or ask less in the approval policy.',
  'shaped-by-author':
    'This account was made or changed by whoever asked, so both may be one person: let somebody approve whose account neither of them made (two accounts that a third person made count for each other), sign in with an identity provider, or ask less in the approval policy.',
  'shaped-since-request': 'This account was made or changed after the request: ask for the change again.',
  expired: 'Approve it again.',
  overtaken:
    'Something else was pushed to the workload since: look at the change again, and approve it again.',
}

/** What to do where a look at what was done without an approval does not count, in English. */
export const remedyOf = (why: Discount): string => REMEDIES[why]

/** The refusal of an approval that would not count, with why, and what to do about it. */
export const refuseDiscounted = (
  why: Discount | 'approved-already',
  because: readonly Because[] = [],
): Refusal<'approval-needs-another'> =>
  refuse('approval-needs-another', {
    reason: underscored(why),
    hint: nameAsker(REMEDIES[why], because),
    ...(because[0]?.who === undefined ? {} : { who: because[0].who }),
  })

type Because = ApprovalHelp['because'][number]

/** A remedy with the person by name who is meant by whoever asked: it may be one who asked for the same text before. */
function nameAsker(remedy: string, [first]: readonly Because[]): string {
  if (first?.who === undefined) return remedy
  return remedy.replace(/whoever asked,?/, () => `${first.who}, ${partOf(first)},`)
}

/** What somebody has to do with a change because of whom an approval of it does not count. */
function partOf({ same_text: isElsewhere, of_text: isOfText }: Because): string {
  if (isElsewhere === true) return 'who asked for the same text before'
  return isOfText === true ? 'who wrote its text or asked for that before' : 'who asked for it'
}

/** A change with what its approvals come to. */
export interface JudgedApprovals {
  asked: ApprovalCase
  judgement: ApprovalJudgement
}

/**
 * Why an approval by this user would add nothing now; null where it would count. `asked` must know the user
 * (`alsoAsking`).
 */
export function whyNotCounted(
  { asked, judgement }: JudgedApprovals,
  userId: string,
): 'approved-already' | Discount | null {
  if (judgement.counted.includes(userId) || judgement.discounted.get(userId) === 'shaped-beside')
    return 'approved-already'
  if (isCountedAs(asked, judgement.counted, userId)) return 'same-person'
  return discountOf(asked, judgement.rule, { userId, at: asked.now })
}

/** Whether one of those whose approvals count is known to be the same person as this user. */
const isCountedAs = (
  { approvers }: Pick<ApprovalCase, 'approvers'>,
  counted: readonly string[],
  userId: string,
): boolean => approvers.get(userId)?.alsoIds.some((id) => counted.includes(id)) ?? false

/** How many approvals count, of how many, and what one by this user would come to. */
export function tallyOf(judged: JudgedApprovals, userId: string): ApprovalTally {
  const { counted, discounted, needed } = judged.judgement
  const own = underscored(whyNotCounted(judged, userId) ?? 'counts')
  return { given: counted.length, discounted: discounted.size, needed, own }
}

/**
 * The refusal of a change that is not approved, with how many approvals count of how many: `approval-expired` where it
 * would be approved but for approvals that are too old.
 */
export function refuseUnapproved({
  counted,
  discounted,
  needed,
}: ApprovalJudgement): Refusal<'approval-expired' | 'approval-needs-another'> {
  const expired = [...discounted.values()].filter((why) => why === 'expired').length
  const code = counted.length + expired >= needed ? 'approval-expired' : 'approval-needs-another'
  const reason = `${counted.length}_of_${needed}`
  const hint = `${counted.length} of ${needed} ${needed === 1 ? 'approval counts' : 'approvals count'}. Somebody else has to approve it.`
  return refuse(code, { reason, hint })
}
