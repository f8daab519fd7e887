import { useSignal } from '@preact/signals'
import { useEffect, useId, useMemo } from 'preact/hooks'
import { isStepFrom } from '../../../lib/model/campaign-steps.ts'
import { nameStatus } from '../i18n/campaign-status.ts'
import { say } from '../i18n/define.ts'
import { formatDay, shortHash } from '../i18n/format.ts'
import { shellTexts } from '../i18n/shell.ts'
import { api } from '../state/endpoints.ts'
import { useFound } from '../state/found.ts'
import { labelOf, namedOf, useNames } from '../state/names.ts'
import { can, holds, may } from '../state/session.ts'
import { useDebounced } from '../state/use-debounced.ts'
import { useResource } from '../state/use-resource.ts'
import { hrefOf } from './change-href.ts'
import { Dialog } from './dialog.tsx'
import { FailureNotice } from './failure.tsx'
import { type Entry, listEntries, mayBreakGlass, type NamedPage, readMeant } from './palette-entries.ts'

interface PaletteProps {
  pages: readonly { href: string; text: string }[]
  onClose: () => void
}

/** The requests that can be pushed without approval, or in spite of a freeze, by those who may break the glass there. */
function useGlassRequests(): readonly NamedPage[] {
  const words = say(shellTexts).palette
  const { data } = useResource(mayBreakGlass() ? 'palette-requests' : null, (abort) =>
    api.approvals('pending,approved', abort),
  )
  const requests = (data ?? []).filter(({ workload_id: id }) => may('config:break_glass', id))
  useNames(requests.map(({ workload_id: id }) => id))
  return requests.map(({ id, workload_id: workloadId, requester, created_at: at }) => {
    const workload = namedOf(workloadId)
    return {
      href: `/workloads/${workloadId}/changes/${id}`,
      text: words.breakGlassFor(workload ? labelOf(workload) : workloadId.slice(0, 8)),
      kind: [words.request, requester, formatDay(at)].join(' · '),
      also: words.also.breakGlass,
      isExceptional: true,
    }
  })
}

/** Requests to break the glass for, campaigns and fleet configs, as far as the reader may see some. */
function useNamed(): readonly NamedPage[] {
  const words = say(shellTexts).palette
  const isShown = can('config_safety.campaigns')
  const campaigns = useResource(isShown && holds('config:request') ? 'campaigns' : null, (abort) =>
    api.campaigns(abort),
  )
  const configs = useResource(isShown ? 'fleet-configs' : null, (abort) => api.fleetConfigs(abort))
  const requests = useGlassRequests()
  return useMemo(
    () => [
      ...requests,
      ...(configs.data ?? []).map(({ id, name }) => ({
        href: `/fleet-configs/${id}`,
        text: name,
        kind: words.fleetConfig,
      })),
      ...(campaigns.data ?? []).map((of) => {
        // Several may have one name: how each stands and when it was made tells them apart.
        const state = nameStatus(of)
        return {
          href: `/campaigns/${of.id}`,
          text: of.name,
          kind: [words.campaign, state, formatDay(of.started_at ?? of.created_at)].join(' · '),
          also: [state, of.status, ...(isStepFrom('roll-back', of) ? words.takeBack : [])],
        }
      }),
    ],
    [campaigns.data, configs.data, requests, words],
  )
}

/** Workloads that are shown of those that a text finds. */
const FOUND_MAX = 30

const keyOf = ({ kind, id, text }: Entry): string => `${kind} ${id ?? text}`

/** Shorter texts are in nearly every comment. */
const SAID_MIN = 3
/** Changes that are shown of those that a text finds; the page of changes has them all. */
const CHANGES_MAX = 6
const REST_MS = 200
/** So much of what was said of a change is its title here. */
const TITLE_MAX = 90

/** The changes that a text finds by what was said of them. */
function useChanges(text: string): { pages: readonly NamedPage[]; isSearching: boolean } {
  const words = say(shellTexts).palette
  const typed = text.trim().length < SAID_MIN ? null : text.trim()
  const rested = useDebounced(typed, REST_MS)
  const isAsked = typed !== null && rested !== null
  const answer = useResource(isAsked ? `palette-changes:${rested}` : null, (abort) =>
    api.changes({ text: rested ?? '' }, null, abort),
  )
  const found = isAsked ? (answer.data ?? []).filter(({ kind }) => kind !== 'campaign') : []
  return {
    isSearching: typed !== null && (rested !== typed || answer.isLoading),
    pages: found.slice(0, CHANGES_MAX).flatMap((of) => {
      const href = hrefOf(of)
      if (href === null) return []
      const said = of.comment ?? of.campaign_name ?? of.fleet_config_name ?? shortHash(of.config_hash)
      return {
        href,
        text: said.length > TITLE_MAX ? `${said.slice(0, TITLE_MAX)}…` : said,
        kind: [words.aChange, of.workload_name ?? of.fleet_config_name ?? '', formatDay(of.at)]
          .filter((part) => part !== '')
          .join(' · '),
        also: [text.trim()],
      }
    }),
  }
}

/** People by their names, for those who may list them: what each of them changed. */
function usePeopleToFind(): readonly NamedPage[] {
  const words = say(shellTexts).palette
  const { data } = useResource(may('users:manage') ? 'users' : null, (abort) => api.users(abort))
  return (data ?? []).map(({ email }) => ({
    href: `/changes?person=${encodeURIComponent(email)}`,
    text: words.doneBy(email),
    kind: words.person,
  }))
}

/** What has a name or a title, and whether more of it may come. */
function useTitled(text: string): { named: readonly NamedPage[]; isSearching: boolean } {
  const named = useNamed()
  const said = useChanges(text)
  const people = usePeopleToFind()
  return { named: [...named, ...people, ...said.pages], isSearching: said.isSearching }
}

/** What is typed, what it finds, and which of that is chosen by the keys. */
function usePalette({ pages, onClose }: PaletteProps, listId: string) {
  const text = useSignal('')
  // By its key: what is found later comes between the others.
  const picked = useSignal<string | null>(null)
  const isEntered = useSignal(false)
  const titled = useTitled(text.value)
  const meant = readMeant(text.value)
  const found = useFound({ text: text.value.trim() === '' ? null : text.value, limit: FOUND_MAX })
  const meantFor = useFound({ text: meant?.name ?? null, limit: FOUND_MAX, only: meant?.only })
  const isSearching = found.isSearching || meantFor.isSearching
  const failure = found.failure ?? meantFor.failure
  const entries = listEntries(text.value, {
    pages,
    named: titled.named,
    workloads: found.workloads,
    meant,
    meantFor: meantFor.workloads,
  })
  const at = picked.value === null ? 0 : entries.findIndex((entry) => keyOf(entry) === picked.value)
  const chosen = Math.min(Math.max(at, 0), entries.length - 1)
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.run()
  }
  const type = (typed: string) => {
    text.value = typed
    picked.value = null
    isEntered.value = false
  }
  // Whoever types a name and presses Enter at once means the first that is found.
  const isRunning = isEntered.value && !isSearching
  useEffect(() => {
    if (isRunning) run(entries[chosen])
  }, [isRunning])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const next = (chosen + step + entries.length) % Math.max(entries.length, 1)
      const entry = entries[next]
      picked.value = entry === undefined ? null : keyOf(entry)
      document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (isSearching && picked.value === null) isEntered.value = true
      else run(entries[chosen])
    }
  }
  // What was said of changes is not waited for by whoever names a workload, and may yet come.
  const mayCome = isSearching || titled.isSearching
  return { text: text.value, entries, chosen, mayCome, failure, retry: found.retry, run, type, onKeyDown }
}

/** Finds workloads, pages and actions; all by keyboard. */
export function Palette(props: PaletteProps) {
  const words = say(shellTexts).palette
  const listId = useId()
  const { text, entries, chosen, mayCome, failure, retry, run, type, onKeyDown } = usePalette(props, listId)
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
              key={keyOf(entry)}
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
        {failure !== null && <FailureNotice failure={failure} retry={retry} />}
        {entries.length === 0 && failure === null && (
          <p class="empty" role="status">
            {mayCome ? words.searching : words.nothing}
          </p>
        )}
      </div>
    </Dialog>
  )
}
