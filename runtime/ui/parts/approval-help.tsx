import type { ComponentChildren } from 'preact'
import type { ApprovalTally, ApprovalHelp as Help } from '../../../lib/wire/approvals.ts'
import { helpTexts } from '../i18n/approval-help.ts'
import { say } from '../i18n/define.ts'
import { describeDiscount } from '../i18n/discounts.ts'
import { formatList } from '../i18n/format.ts'
import { gitTexts } from '../i18n/git.ts'
import { me } from '../state/session.ts'
import { ActionLink, unlessEverywhere } from './controls.tsx'

/** Whom the commits name that brought what is to be approved, and nobody here is called; nothing where there are none. */
export function UnknownAuthors({ of }: { of: Help | undefined }) {
  const names = of?.unknown_authors
  return names === undefined ? null : <p class="warn">{say(gitTexts).unknownAuthors(formatList(names))}</p>
}

/** When somebody asked for the same text before, and that they took it back; '' where that is not known. */
const sayWhen = ({
  asked_at: at,
  withdrawn,
}: Pick<Help['because'][number], 'asked_at' | 'withdrawn'>): string =>
  at === undefined ? '' : say(helpTexts).askedOn(at, withdrawn === true)

/** What one of the people in the way has to do with the request and with the reader's account. */
function describe(own: string, person: Help['because'][number]) {
  const words = say(helpTexts)
  const { who, account_at: at, same_text: isElsewhere, of_text: isOfText } = person
  if (own === 'author')
    return isElsewhere ? words.selfElsewhere(sayWhen(person)) : isOfText ? words.selfOfText : words.self
  const name = who ?? words.gone
  const asked = isElsewhere
    ? words.askedElsewhere(name, sayWhen(person))
    : isOfText
      ? words.ofText(name)
      : words.asked(name)
  if (at === undefined) return asked
  if (own === 'shaped_since_request')
    return !person.by_provider
      ? words.changedSince(name, at)
      : person.is_new
        ? words.cameSince(at)
        : words.regroupedSince(at)
  return asked + (own === 'shaped_an_author' ? words.andChangedByYou(at) : words.andChangedYours(at))
}

/** Who else may approve and does not count, those together of whom the same is why. */
export function Uncounted({ of }: { of: NonNullable<Help['do_not_count']> }) {
  const words = say(helpTexts)
  const byWhy = new Map<string, string[]>()
  for (const { who, why, by, ...before } of of) {
    const unnamed = why === 'same_person' ? words.another : words.anAuthor
    const name = by === undefined ? unnamed : by === me.value?.email ? words.you : by
    const when = sayWhen(before)
    const isBefore = before.asked_at !== undefined
    const text =
      why === 'author' && isBefore
        ? words.askedBefore(when)
        : (words.uncountedWhy[why] ?? describeDiscount(why)).replace('{by}', () => name) +
          (isBefore && by !== undefined ? words.whoAskedBefore(when) : '')
    byWhy.set(text, [...(byWhy.get(text) ?? []), who])
  }
  return (
    <div>
      <p>{words.others}</p>
      <ul class="bullets" aria-label={words.others}>
        {[...byWhy].map(([why, who]) => (
          <li key={why}>{words.uncounted(formatList(who), why)}</li>
        ))}
      </ul>
    </div>
  )
}

/** Ways to where those who are in the way asked for the same. */
function Elsewhere({ of }: { of: Help['because'] }) {
  return (
    <>
      {of.map(({ workload_id: id, approval_id: request }) =>
        id === undefined ? null : (
          <span key={request}>
            {' '}
            <a class="link" href={`/workloads/${id}/changes/${request}`}>
              {say(helpTexts).there}
            </a>
          </span>
        ),
      )}
    </>
  )
}

/** One thing that would end it, and what leads to it. */
export function Way({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <li>
      <div>{text}</div>
      {children}
    </li>
  )
}

/** What would end that nobody can approve, each with what leads there. */
export function WaysOut({ more, isOvertaken = false }: { more?: ComponentChildren; isOvertaken?: boolean }) {
  const words = say(helpTexts)
  return (
    <ul class="list ways" aria-label={words.waysOut}>
      {isOvertaken && <Way text={words.way.again} />}
      {more}
      <Way text={words.way.account}>
        <ActionLink href="/settings/users" reason={unlessEverywhere('users:manage')}>
          {words.go.account}
        </ActionLink>
      </Way>
      <Way text={words.way.policy}>
        <ActionLink href="/settings/approvals" reason={unlessEverywhere('settings:manage')}>
          {words.go.policy}
        </ActionLink>
      </Way>
    </ul>
  )
}

/**
 * Who keeps the reader's approval from counting, by name and with where, and who could approve instead; or in one sentence
 * that nobody could, and what would end that. Nothing else on the page says it again.
 */
export function ApprovalHelp({
  of,
  tally,
  ways,
}: {
  of: Help | undefined
  tally: ApprovalTally
  /** What else would end it here, first. */
  ways?: ComponentChildren
}) {
  const words = say(helpTexts)
  if (of === undefined || tally.given >= tally.needed) return null
  const { because, could_approve: could, could_approve_count: count, do_not_count: uncounted = [] } = of
  const isStuck = count === 0
  if (tally.own === 'counts' && !isStuck) return null
  const why = because.map((person) => describe(tally.own, person)).join('; ')
  if (isStuck)
    return (
      <>
        <p class="warn">
          {why === '' ? words.nobody : uncounted.length > 0 ? words.nobodyBut(why) : words.nobodyFor(why)}
          <Elsewhere of={because} />
        </p>
        {uncounted.length > 0 && <Uncounted of={uncounted} />}
        <WaysOut
          more={ways}
          isOvertaken={[tally.own, ...uncounted.map((one) => one.why)].includes('shaped_since_request')}
        />
      </>
    )
  const hasGiven = tally.own === 'approved_already' || tally.own === 'no_right'
  const more = (count ?? could.length) - could.length
  return (
    <p>
      {why !== '' && words.cannot(why)}
      <Elsewhere of={because} />{' '}
      {could.length > 0 && (
        <>
          {hasGiven ? words.couldToo : words.could} <b>{could.join(', ')}</b> {more > 0 && words.more(more)}
        </>
      )}
    </p>
  )
}
