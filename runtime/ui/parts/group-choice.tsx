import { say } from '../i18n/define.ts'
import { groupChoiceTexts } from '../i18n/group-choice.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { me } from '../state/session.ts'
import { Checkbox } from './controls.tsx'

/** Groups by name, in words where they are those of the system. */
export const nameGroups = (names: readonly string[]): string =>
  names.map((name) => say(settingsTexts).role[name] ?? name).join(', ')

/** Why a choice of groups cannot be saved as what an account is to have; null where it can. */
export function whyNotSaved(chosen: readonly string[], before: readonly string[] | null): string | null {
  const words = say(groupChoiceTexts)
  if (chosen.length === 0) return words.none
  return before !== null && isSameChoice(chosen, before) ? words.nothingChanges : null
}

/** Whether two choices are of the same groups. */
export const isSameChoice = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name))

/** Groups of users, one or several to be chosen. */
export function GroupBoxes({
  known,
  chosen,
  onChosen,
}: {
  /** The names of all groups that there are. */
  known: readonly string[]
  chosen: readonly string[]
  onChosen: (chosen: string[]) => void
}) {
  const rest = (name: string) => chosen.filter((one) => one !== name)
  return (
    <fieldset class="stack">
      <legend class="legend">{say(settingsTexts).roles}</legend>
      {[...new Set([...known, ...chosen])].map((name) => (
        <Checkbox
          key={name}
          value={chosen.includes(name)}
          onValue={(isChosen) => onChosen(isChosen ? [...rest(name), name] : rest(name))}
        >
          {nameGroups([name])}
        </Checkbox>
      ))}
    </fieldset>
  )
}

/** What changes for an account with other groups, and what that means for whoever changes them. */
export function GroupChanges({
  id,
  name,
  before,
  after,
}: {
  id: string
  name: string
  before: readonly string[]
  after: readonly string[]
}) {
  const words = say(groupChoiceTexts)
  const joined = after.filter((one) => !before.includes(one))
  const left = before.filter((one) => !after.includes(one))
  if (joined.length + left.length === 0) return null
  return (
    <div role="status" class="stack">
      <ul class="bullets">
        {joined.length > 0 && <li>{words.joins(name, nameGroups(joined))}</li>}
        {left.length > 0 && <li>{words.leaves(name, nameGroups(left))}</li>}
      </ul>
      <p class="muted">{id === me.value?.id ? words.ownAccount : words.regroups}</p>
    </div>
  )
}
