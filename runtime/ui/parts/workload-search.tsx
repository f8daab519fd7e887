import { useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import type { FoundWorkload, SearchedOnly } from '../../../lib/wire/fleet-search.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { useFound } from '../state/found.ts'
import { labelOf } from '../state/names.ts'
import { Field, type FieldAttributes } from './controls.tsx'
import { FailureNotice } from './failure.tsx'

const SHOWN_MAX = 8

interface WorkloadSearchProps {
  label: string
  hint?: string
  /** Which workloads may be chosen, where not all. */
  only?: SearchedOnly
  /** The ids of those that are chosen already. */
  without?: readonly string[]
  onPick: (workload: FoundWorkload) => void
}

/** What is typed, what it finds, and which of that is chosen by the keys. */
function useSearch({ only, without = [], onPick }: WorkloadSearchProps) {
  const text = useSignal('')
  const index = useSignal(0)
  const isOpen = useSignal(false)
  const isEntered = useSignal(false)
  const limit = SHOWN_MAX + without.length
  const { workloads, isSearching, failure, retry } = useFound({
    text: isOpen.value ? text.value : null,
    limit,
    only,
  })
  const found = workloads.filter(({ id }) => !without.includes(id)).slice(0, SHOWN_MAX)
  const chosen = Math.min(index.value, found.length - 1)
  const open = (typed: string) => {
    text.value = typed
    isOpen.value = true
    index.value = 0
    isEntered.value = false
  }
  const pick = (workload: FoundWorkload | undefined) => {
    if (workload === undefined) return
    text.value = ''
    isOpen.value = false
    onPick(workload)
  }
  // Whoever types a name and presses Enter at once means the first that is found.
  const isPicking = isEntered.value && isOpen.value && !isSearching
  useEffect(() => {
    if (!isPicking) return
    isEntered.value = false
    pick(found[chosen])
  }, [isPicking])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      if (isOpen.value) index.value = (chosen + step + found.length) % Math.max(found.length, 1)
      isOpen.value = true
    } else if (event.key === 'Enter' && isOpen.value) {
      // Enter chooses, and does not send the form around the field.
      event.preventDefault()
      if (isSearching) isEntered.value = true
      else pick(found[chosen])
    } else if (event.key === 'Escape') isOpen.value = false
  }
  return { text, isOpen, found, chosen, failure, retry, open, pick, onKeyDown }
}

function SearchInput({
  attributes,
  listId,
  of,
}: {
  attributes: FieldAttributes
  listId: string
  of: ReturnType<typeof useSearch>
}) {
  const { text, isOpen, found, chosen } = of
  return (
    <input
      {...attributes}
      class="input"
      role="combobox"
      autoComplete="off"
      aria-expanded={isOpen.value}
      aria-controls={listId}
      aria-autocomplete="list"
      aria-activedescendant={isOpen.value && found.length > 0 ? `${listId}-${chosen}` : undefined}
      placeholder={say(commonTexts).findWorkload}
      value={text.value}
      onFocus={() => of.open(text.value)}
      onBlur={() => {
        isOpen.value = false
      }}
      onInput={(event) => of.open(event.currentTarget.value)}
      onKeyDown={of.onKeyDown}
    />
  )
}

/** A field that finds one workload among however many, by name, label or `key:value`. */
export function WorkloadSearch(props: WorkloadSearchProps) {
  const { label, hint } = props
  const listId = useId()
  const search = useSearch(props)
  const { found, chosen, isOpen, failure, retry, pick } = search
  return (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <div class="combo">
          <SearchInput attributes={attributes} listId={listId} of={search} />
          <div
            class="combo-list"
            id={listId}
            role="listbox"
            tabIndex={-1}
            aria-label={label}
            hidden={!isOpen.value || found.length === 0}
          >
            {found.map((workload, at) => (
              <div
                key={workload.id}
                id={`${listId}-${at}`}
                role="option"
                tabIndex={-1}
                aria-selected={at === chosen}
                // Before the field loses the focus, and the list with it.
                onPointerDown={(event) => {
                  event.preventDefault()
                  pick(workload)
                }}
              >
                {labelOf(workload)}
              </div>
            ))}
          </div>
          {failure !== null && <FailureNotice failure={failure} retry={retry} />}
        </div>
      )}
    </Field>
  )
}
