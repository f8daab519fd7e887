import type { ApprovalTally } from '../../../lib/wire/approvals.ts'
import { say } from '../i18n/define.ts'
import { describeDiscount, tallyTexts } from '../i18n/discounts.ts'

/** Why the reader's own approval would add nothing, said before the click; null where it would count. */
export function refuseOwn(tally: ApprovalTally | undefined): string | null {
  const words = say(tallyTexts)
  if (tally === undefined || tally.own === 'counts') return null
  return tally.own === 'approved_already' ? words.ownGiven : words.ownNot(describeDiscount(tally.own))
}

/** How many approvals count, of how many. */
export const countOf = ({ given, needed }: ApprovalTally): string => say(tallyTexts).count(given, needed)

/** How far a change is approved, and whether the reader's own approval would count. */
export function Tally({ of }: { of: ApprovalTally }) {
  const words = say(tallyTexts)
  const isEnough = of.given >= of.needed
  return (
    <p class={isEnough ? 'muted' : ''}>
      {countOf(of)} {of.discounted > 0 && words.discounted(of.discounted)}{' '}
      {(!isEnough || of.own !== 'counts') && (refuseOwn(of) ?? words.ownCounts)}
    </p>
  )
}
