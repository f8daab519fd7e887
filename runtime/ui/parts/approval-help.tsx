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

/** Who keeps the reader's approval from counting, by name and with where, and who could approve instead. */
export function ApprovalHelp({ of, tally }: { of: Help | undefined; tally: ApprovalTally }) {
  const words = say(helpTexts)
  if (of === undefined || tally.given >= tally.needed) return null
  const more = of.could_approve_count - of.could_approve.length
  return (
    <>
      {of.because.length > 0 && (
        <ul aria-label={words.who}>
          {of.because.map((person) => (
            <li key={`${person.who} ${person.account_at}`}>
              {describe(tally.own, person)}{' '}
              {person.workload_id && (
                <a href={`/workloads/${person.workload_id}/changes/${person.approval_id}`}>{words.there}</a>
              )}
            </li>
          ))}
        </ul>
      )}
      {of.could_approve.length === 0 ? (
        <p class="warn">{words.nobody}</p>
      ) : (
        tally.own !== 'counts' && (
          <p>
            {tally.own === 'approved_already' || tally.own === 'no_right' ? words.couldToo : words.could}{' '}
            <b>{of.could_approve.join(', ')}</b> {more > 0 && words.more(more)}
          </p>
        )
      )}
    </>
  )
}
