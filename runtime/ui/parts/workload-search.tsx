import { useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { matchesSearch, parseSearch } from '../logic/search.ts'
import { fleetLoaded, fleetLoading, fleetVersion, loadFleet, workloads } from '../state/fleet.ts'
import { labelOf } from '../state/names.ts'
import { Field, type FieldAttributes } from './controls.tsx'

const SHOWN_MAX = 8

/** Load the fleet once, for whatever chooses among it. */
const needFleet = (): void => {
  if (!fleetLoaded.peek() && !fleetLoading.peek()) void loadFleet()
}

/** The same where all that can be chosen is shown at once. */
export function useFleet(): void {
  void fleetVersion.value
  useEffect(needFleet, [])
}

function findWorkloads(text: string, fits: (workload: WorkloadRecord) => boolean): WorkloadRecord[] {
  const terms = parseSearch(text)
  const found: WorkloadRecord[] = []
  for (const workload of workloads.values()) {
    if (!workload.archived_at && fits(workload) && matchesSearch(workload, terms)) found.push(workload)
    if (found.length >= SHOWN_MAX) break
  }
  return found
}

/** What is typed, what it finds, and which of that is chosen by the keys. */
function useSearch(fits: (workload: WorkloadRecord) => boolean, onPick: (workload: WorkloadRecord) => void) {
  const text = useSignal('')
  const index = useSignal(0)
  const isOpen = useSignal(false)
  void fleetVersion.value
  const found = isOpen.value ? findWorkloads(text.value, fits) : []
  const chosen = Math.min(index.value, found.length - 1)
  const open = (typed: string) => {
    // The whole list is megabytes: it is fetched by whoever searches it.
    needFleet()
    text.value = typed
    isOpen.value = true
    index.value = 0
  }
  const pick = (workload: WorkloadRecord | undefined) => {
    if (workload === undefined) return
    text.value = ''
    isOpen.value = false
    onPick(workload)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      if (isOpen.value) index.value = (chosen + step + found.length) % Math.max(found.length, 1)
      isOpen.value = true
    } else if (event.key === 'Enter' && isOpen.value) {
      // Enter chooses, and does not send the form around the field.
      event.preventDefault()
      pick(found[chosen])
    } else if (event.key === 'Escape') isOpen.value = false
  }
  return { text, isOpen, found, chosen, open, pick, onKeyDown }
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
export function WorkloadSearch({
  label,
  hint,
  fits,
  onPick,
}: {
  label: string
  hint?: string
  /** Which workloads may be chosen. */
  fits: (workload: WorkloadRecord) => boolean
  onPick: (workload: WorkloadRecord) => void
}) {
  const listId = useId()
  const search = useSearch(fits, onPick)
  const { found, chosen, isOpen, pick } = search
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
        </div>
      )}
    </Field>
  )
}
