import { useSignal } from '@preact/signals'
import { useEffect, useId, useMemo } from 'preact/hooks'
import { language, say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { shellTexts } from '../i18n/shell.ts'
import { matchesSearch, parseSearch } from '../logic/search.ts'
import { FLEET_FILTERS, type FleetFilter, nameOf, placeOf, readOnlyReason } from '../logic/workloads.ts'
import { isConnectOpen } from '../state/connecting.ts'
import { fleetLoaded, fleetLoading, fleetVersion, loadFleet, workloads } from '../state/fleet.ts'
import { navigate, path } from '../state/router.ts'
import { can, may, me, savePreferences, signOut } from '../state/session.ts'
import { Dialog } from './dialog.tsx'
import { areKeysShown } from './keys.tsx'

interface Entry {
  text: string
  kind: string
  run: () => void
}

const WORKLOADS_MAX = 30

const toAction = (text: string, run: () => void): Entry => ({
  text,
  kind: say(shellTexts).palette.action,
  run,
})

/** What can be done with the workload whose page is open. */
function listHere(): Entry[] {
  const id = /^\/workloads\/([^/]+)/.exec(path.value)?.[1]
  const workload = id === undefined ? undefined : workloads.get(decodeURIComponent(id))
  if (workload === undefined) return []
  const words = say(shellTexts).palette
  const name = nameOf(workload)
  const go = (text: string, tab: string) => toAction(text, () => navigate(`/workloads/${workload.id}/${tab}`))
  const mayPush = may('workload:push_config')
  const canRollBack = mayPush && can('config_safety.guided_rollback') && workload.current_config_push
  return [
    ...(canRollBack ? [go(words.rollBack(name), 'history?rollback=1')] : []),
    ...(mayPush && can('config_safety.approvals') && readOnlyReason(workload) === null
      ? [go(words.change(name), 'change')]
      : []),
    go(words.health(name), 'health'),
    go(words.instances(name), 'instances'),
  ]
}

/** The fleet, narrowed to what has one thing in common. */
function listFilters(): Entry[] {
  const words = say(fleetTexts)
  return (Object.keys(FLEET_FILTERS) as FleetFilter[]).map((filter) =>
    toAction(say(shellTexts).palette.fleet(words[filter]), () => navigate(`/?show=${filter}`)),
  )
}

function listActions(): Entry[] {
  const words = say(shellTexts)
  if (!me.value) return []
  const action = toAction
  return [
    ...listHere(),
    ...listFilters(),
    action(say(fleetTexts).connect, () => {
      isConnectOpen.value = true
    }),
    action(words.palette.keys, () => {
      areKeysShown.value = true
    }),
    action(words.palette.light, () => void savePreferences({ theme: 'light' })),
    action(words.palette.dark, () => void savePreferences({ theme: 'dark' })),
    action(words.palette.system, () => void savePreferences({ theme: 'system' })),
    action(
      words.palette.language,
      () => void savePreferences({ language: language.value === 'en' ? 'fr' : 'en' }),
    ),
    action(words.palette.refresh, () => void loadFleet()),
    action(words.signOut, () => void signOut()),
  ]
}

function listEntries(text: string, pages: readonly { href: string; text: string }[]): Entry[] {
  const words = say(shellTexts)
  const wanted = text.trim().toLowerCase()
  const fits = (entry: Entry) => entry.text.toLowerCase().includes(wanted)
  const toPage = (page: { href: string; text: string }): Entry => ({
    text: page.text,
    kind: words.palette.page,
    run: () => navigate(page.href),
  })
  const all = [...pages, { href: '/settings', text: words.nav.settings }].map(toPage)
  const fixed = [...all, ...listActions()].filter(fits)
  if (wanted === '') return fixed
  const terms = parseSearch(text)
  const found: Entry[] = []
  for (const workload of workloads.values()) {
    if (found.length >= WORKLOADS_MAX) break
    if (!matchesSearch(workload, terms)) continue
    const place = placeOf(workload)
    found.push({
      text: place ? `${nameOf(workload)} · ${place}` : nameOf(workload),
      kind: words.palette.workload,
      run: () => navigate(`/workloads/${workload.id}`),
    })
  }
  // Entries that begin with what was typed come first.
  const isBegun = (entry: Entry) => entry.text.toLowerCase().startsWith(wanted)
  return [...fixed.filter(isBegun), ...found, ...fixed.filter((entry) => !isBegun(entry))]
}

interface PaletteProps {
  pages: readonly { href: string; text: string }[]
  onClose: () => void
}

/** What is typed, what it finds, and which of that is chosen by the keys. */
function usePalette({ pages, onClose }: PaletteProps, listId: string) {
  const text = useSignal('')
  const index = useSignal(0)
  useEffect(() => {
    if (!fleetLoaded.peek() && !fleetLoading.peek()) void loadFleet()
  }, [])
  const version = fleetVersion.value
  // `workloads` is no signal; `fleetVersion` counts its changes.
  const entries = useMemo(() => listEntries(text.value, pages), [text.value, version, pages.length])
  const chosen = Math.min(index.value, entries.length - 1)
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.run()
  }
  const type = (typed: string) => {
    text.value = typed
    index.value = 0
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      index.value = (chosen + step + entries.length) % Math.max(entries.length, 1)
      document.getElementById(`${listId}-${index.value}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(entries[chosen])
    }
  }
  return { text: text.value, entries, chosen, run, type, onKeyDown }
}

/** Finds workloads, pages and actions; all by keyboard. */
export function Palette(props: PaletteProps) {
  const words = say(shellTexts).palette
  const listId = useId()
  const { text, entries, chosen, run, type, onKeyDown } = usePalette(props, listId)
  return (
    <Dialog title={words.title} onClose={props.onClose} isBare>
      <div class="palette">
        <input
          role="combobox"
          aria-label={words.placeholder}
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={entries.length > 0 ? `${listId}-${chosen}` : undefined}
          aria-autocomplete="list"
          placeholder={words.placeholder}
          value={text}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <div class="options" id={listId} role="listbox" tabIndex={-1} aria-label={words.title}>
          {entries.map((entry, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are on the input, as in every combobox.
            <div
              key={`${entry.kind}-${entry.text}-${at}`}
              id={`${listId}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === chosen}
              onClick={() => run(entry)}
            >
              <span>{entry.text}</span>
              <span class="faint">{entry.kind}</span>
            </div>
          ))}
        </div>
        {entries.length === 0 && <p class="empty">{words.nothing}</p>}
      </div>
    </Dialog>
  )
}
