import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { splitSearch } from '../../../lib/model/workload-search.ts'
import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { formatNumber } from '../i18n/format.ts'
import { type Suggestion, suggestSearch, withoutWord } from '../logic/search.ts'
import type { FleetFilter } from '../logic/workloads.ts'
import { fleetVersion, listByName } from '../state/fleet.ts'
import { setQuery } from '../state/router.ts'

/** What the list of suggestions is about, and which of them the keys are on; none at first, so that Enter takes none. */
function useSuggestions(text: string) {
  const isOpen = useSignal(false)
  const index = useSignal(-1)
  void fleetVersion.value
  const found = isOpen.value ? suggestSearch(listByName(), text) : []
  const chosen = Math.min(index.value, found.length - 1)
  const show = (isShown: boolean) => {
    isOpen.value = isShown
    index.value = -1
  }
  const take = ({ text: next }: Suggestion) => {
    setQuery({ q: next })
    // Behind a key its values are next; behind a value nothing is.
    show(next.endsWith(':'))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      if (!isOpen.value) show(true)
      const from = chosen < 0 && step < 0 ? 0 : chosen
      if (found.length > 0) index.value = (from + step + found.length) % found.length
    } else if (event.key === 'Enter') {
      const suggestion = found[chosen]
      if (suggestion) take(suggestion)
      else show(false)
    } else if (event.key === 'Escape' && isOpen.value && found.length > 0) {
      // The first Escape closes the list, the next one empties the field.
      event.preventDefault()
      show(false)
    }
  }
  return { found, chosen, show, take, onKeyDown }
}

/** The field that searches the fleet, with suggestions of keys and of values that the fleet has. */
export function FleetSearch({ text }: { text: string }) {
  const words = say(fleetTexts)
  const listId = useId()
  const { found, chosen, show, take, onKeyDown } = useSuggestions(text)
  const isShown = found.length > 0
  return (
    <div class="combo grow">
      <input
        class="input"
        // The type of a field with a list of its own is told to TypeScript only: this one has none.
        {...({ type: 'search' } as object)}
        role="combobox"
        autoComplete="off"
        aria-label={words.search}
        aria-expanded={isShown}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 ? `${listId}-${chosen}` : undefined}
        placeholder={words.searchHint}
        value={text}
        onBlur={() => show(false)}
        onInput={(event) => {
          setQuery({ q: event.currentTarget.value })
          show(event.currentTarget.value !== '')
        }}
        onKeyDown={onKeyDown}
      />
      <div
        class="combo-list"
        id={listId}
        role="listbox"
        tabIndex={-1}
        aria-label={words.suggestions}
        hidden={!isShown}
      >
        {found.map((suggestion, at) => (
          <div
            key={suggestion.word}
            id={`${listId}-${at}`}
            class="suggestion"
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            // Before the field loses the focus, and the list with it.
            onPointerDown={(event) => {
              event.preventDefault()
              take(suggestion)
            }}
          >
            <span class="mono">{suggestion.word}</span>
            {suggestion.count !== null && <span class="faint">{formatNumber(suggestion.count)}</span>}
          </div>
        ))}
      </div>
    </div>
  )
}

function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  const words = say(fleetTexts)
  return (
    <li class="chip">
      {text}
      <button type="button" class="chip-off" aria-label={words.takeAway(text)} onClick={onRemove}>
        ×
      </button>
    </li>
  )
}

/** What narrows the list now, each part with a way to take it away. */
export function FleetChips({
  view,
}: {
  view: { filter: FleetFilter | null; search: string; group: string; hasArchived: boolean }
}) {
  const words = say(fleetTexts)
  const { filter, search, hasArchived } = view
  const terms = splitSearch(search)
  if (filter === null && terms.length === 0 && !hasArchived) return null
  return (
    <ul class="chips filters" aria-label={words.filters}>
      {filter !== null && <Chip text={words[filter]} onRemove={() => setQuery({ show: null })} />}
      {terms.map((term, at) => (
        <Chip key={`${at}${term}`} text={term} onRemove={() => setQuery({ q: withoutWord(search, at) })} />
      ))}
      {hasArchived && <Chip text={words.archived} onRemove={() => setQuery({ archived: null })} />}
      <li>
        <button
          type="button"
          class="btn plain"
          onClick={() => setQuery({ show: null, q: null, archived: null })}
        >
          {words.clear}
        </button>
      </li>
    </ul>
  )
}
