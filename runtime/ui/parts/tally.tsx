import type { ApprovalHelp, ApprovalTally } from '../../../lib/wire/approvals.ts'
import { say } from '../i18n/define.ts'
import { describeDiscount, tallyTexts } from '../i18n/discounts.ts'

/** Why the reader's own approval would add nothing, said before the click; null where it would count. */
export function refuseOwn(tally: ApprovalTally | undefined, help?: ApprovalHelp): string | null {
  const words = say(tallyTexts)
  if (tally === undefined || tally.own === 'counts') return null
  if (tally.own === 'approved_already') return words.ownGiven
  return isToldBeside(tally, help)
    ? words.ownBeside
    : words.ownNot(describeDiscount(tally.own, help?.because[0]?.who))
}

/** How many approvals count, of how many. */
export const countOf = ({ given, needed }: ApprovalTally): string => say(tallyTexts).count(given, needed)

/** Whether the help about an approval says who is in the way, by name: nothing else then says it again. */
export const isToldBeside = ({ given, needed }: ApprovalTally, help: ApprovalHelp | undefined): boolean =>
  help !== undefined && given < needed && (help.because.length > 0 || help.could_approve_count === 0)

/** How far a change is approved, and whether the reader's own approval would count, as far as `help` does not say it. */
export function Tally({
  of,
  help,
  isOwn = false,
}: {
  of: ApprovalTally
  help?: ApprovalHelp | undefined
  /** The reader asked for the change. */
  isOwn?: boolean
}) {
  const words = say(tallyTexts)
  const isEnough = of.given >= of.needed
  const isSaid = isEnough ? of.own !== 'counts' : !isToldBeside(of, help) || of.own === 'approved_already'
  return (
    <p class={isEnough ? 'muted' : ''}>
      {countOf(of)} {of.discounted > 0 && words.discounted(of.discounted)}{' '}
      {isSaid && (refuseOwn(of, help) ?? (isOwn ? words.ownCountsAsAuthor : words.ownCounts))}
    </p>
  )
}
