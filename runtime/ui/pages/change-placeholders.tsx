import { useSignal } from '@preact/signals'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { fillPlaceholders, listPlaceholders, suggestFor } from '../logic/placeholders.ts'
import { Action, TextField } from '../parts/controls.tsx'

/** What a template leaves to be filled in, as fields; gone when nothing is left. */
export function Placeholders({ draft, onFill }: { draft: string; onFill: (text: string) => void }) {
  const words = say(changeTexts)
  const names = listPlaceholders(draft)
  const typed = useSignal<ReadonlyMap<string, string>>(new Map())
  if (names.length === 0) return null
  const wanted = (name: string) => typed.value.get(name) ?? suggestFor(name)
  const hasAny = names.some((name) => wanted(name).trim() !== '')
  return (
    <form
      class="pane stack"
      aria-label={words.fillIn}
      onSubmit={(event) => {
        event.preventDefault()
        if (hasAny) onFill(fillPlaceholders(draft, new Map(names.map((name) => [name, wanted(name)]))))
      }}
    >
      <h2>{words.fillIn}</h2>
      <p class="muted">{words.fillInLead}</p>
      {names.map((name) => (
        <TextField
          key={name}
          label={name}
          value={wanted(name)}
          onValue={(value) => (typed.value = new Map(typed.value).set(name, value))}
        />
      ))}
      <div class="actions">
        <Action kind="primary" isSubmit reason={hasAny ? null : words.fillInNothing}>
          {words.fillInGo}
        </Action>
      </div>
    </form>
  )
}
