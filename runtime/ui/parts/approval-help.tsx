import type { ApprovalTally, ApprovalHelp as Help } from '../../../lib/wire/approvals.ts'
import { helpTexts } from '../i18n/approval-help.ts'
import { say } from '../i18n/define.ts'

/** What one of the people in the way has to do with the request and with the reader's account. */
function describe(own: string, { who, account_at: at, same_text: isElsewhere }: Help['because'][number]) {
  const words = say(helpTexts)
  if (own === 'author') return isElsewhere ? words.selfElsewhere : words.self
  const name = who ?? words.gone
  const asked = isElsewhere ? words.askedElsewhere(name) : words.asked(name)
  if (at === undefined) return asked
  if (own === 'shaped_since_request') return words.changedYours(name, at)
  return `${asked} ${own === 'shaped_an_author' ? words.changedByYou(name, at) : words.changedYours(name, at)}`
}

/** Who is in the way, each with what he has to do with it, and a way to where he asked for the same. */
function InTheWay({ of, own }: { of: Help['because']; own: string }) {
  return (
    <>
      {of.map((person) => (
        <span key={`${person.who} ${person.account_at}`}>
          {describe(own, person)}{' '}
          {person.workload_id && (
            <>
              <a class="link" href={`/workloads/${person.workload_id}/changes/${person.approval_id}`}>
                {say(helpTexts).there}
              </a>{' '}
            </>
          )}
        </span>
      ))}
    </>
  )
}

/**
 * Who keeps the reader's approval from counting, by name and with where, and who could approve instead, or that nobody
 * could: one paragraph, which nothing else on the page says again.
 */
export function ApprovalHelp({ of, tally }: { of: Help | undefined; tally: ApprovalTally }) {
  const words = say(helpTexts)
  if (of === undefined || tally.given >= tally.needed) return null
  const { because, could_approve: could, could_approve_count: count } = of
  const isStuck = count === 0
  if (tally.own === 'counts' && !isStuck) return null
  const hasGiven = tally.own === 'approved_already' || tally.own === 'no_right'
  const more = count - could.length
  return (
    <p class={isStuck ? 'warn' : ''}>
      {isStuck ? `${words.nobody} ` : because.length > 0 && `${words.cannot} `}
      <InTheWay of={because} own={tally.own} />
      {isStuck ? (
        words.wayOut
      ) : (
        <>
          {hasGiven ? words.couldToo : words.could} <b>{could.join(', ')}</b> {more > 0 && words.more(more)}
        </>
      )}
    </p>
  )
}
