import { useSignal } from '@preact/signals'
import { useEffect, useId, useMemo } from 'preact/hooks'
import { say } from '../i18n/define.ts'
import { shellTexts } from '../i18n/shell.ts'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, fleetLoading, fleetVersion, loadFleet } from '../state/fleet.ts'
import { can, holds } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import { Dialog } from './dialog.tsx'
import { type Entry, listEntries, type NamedPage } from './palette-entries.ts'

interface PaletteProps {
  pages: readonly { href: string; text: string }[]
  onClose: () => void
}

/** The campaigns and fleet configs, as far as the reader may see some. */
function useNamed(): readonly NamedPage[] {
  const words = say(shellTexts).palette
  const isShown = can('config_safety.campaigns')
  const campaigns = useResource(isShown && holds('config:request') ? 'campaigns' : null, (abort) =>
    api.campaigns(abort),
  )
  const configs = useResource(isShown ? 'fleet-configs' : null, (abort) => api.fleetConfigs(abort))
  return useMemo(
    () => [
      ...(configs.data ?? []).map(({ id, name }) => ({
        href: `/fleet-configs/${id}`,
        text: name,
        kind: words.fleetConfig,
      })),
      ...(campaigns.data ?? []).map(({ id, name }) => ({
        href: `/campaigns/${id}`,
        text: name,
        kind: words.campaign,
      })),
    ],
    [campaigns.data, configs.data, words],
  )
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
  const named = useNamed()
  const entries = useMemo(
    () => listEntries(text.value, pages, named),
    [text.value, version, pages.length, named],
  )
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
