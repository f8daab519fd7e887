import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import { CHANGE_KINDS, CHANGE_OUTCOMES } from '../../../lib/wire/values.ts'
import { changeFeedTexts } from '../i18n/change-feed.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { touchesChanges } from '../logic/change-frames.ts'
import { fromLocalField, toLocalField } from '../logic/moments.ts'
import { ChangeList } from '../parts/change-list.tsx'
import { Action, Select, TextField } from '../parts/controls.tsx'
import { FailureNotice, Waiting } from '../parts/failure.tsx'
import { Filters } from '../parts/filters.tsx'
import { Head } from '../parts/page.tsx'
import { PolicyWaits } from '../parts/policy-waits.tsx'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { can } from '../state/session.ts'
import { useDebounced } from '../state/use-debounced.ts'
import { usePages } from '../state/use-pages.ts'

const FILTERS = ['text', 'workload', 'person', 'kind', 'outcome', 'from', 'to'] as const

/** The filters of the address as the API takes them. */
function readFilter(search: string): Record<string, string | undefined> {
  const wanted = new URLSearchParams(search)
  return Object.fromEntries(FILTERS.map((key) => [key, wanted.get(key) || undefined]))
}

function ChangeFilters() {
  const words = say(changeFeedTexts)
  const bound = (key: (typeof FILTERS)[number]) => ({
    value: query.value.get(key) ?? '',
    onValue: (value: string) => setQuery({ [key]: value }),
  })
  const time = (key: 'from' | 'to') => ({
    value: toLocalField(query.value.get(key) ?? ''),
    onValue: (value: string) => setQuery({ [key]: fromLocalField(value) }),
  })
  const isSet = FILTERS.some((key) => key !== 'text' && query.value.has(key))
  return (
    <Filters isSet={isSet} first={<TextField label={words.text} hint={words.textHint} {...bound('text')} />}>
      <TextField label={words.workload} hint={words.workloadHint} {...bound('workload')} />
      <TextField label={words.person} hint={words.personHint} {...bound('person')} />
      <Select
        label={words.kind}
        options={[['', words.any], ...CHANGE_KINDS.map((kind) => [kind, words.kinds[kind]] as const)]}
        {...bound('kind')}
      />
      <Select
        label={words.outcome}
        options={[
          ['', words.any],
          ...CHANGE_OUTCOMES.map((outcome) => [outcome, words.outcomes[outcome]] as const),
        ]}
        {...bound('outcome')}
      />
      <TextField label={words.from} type="datetime-local" {...time('from')} />
      <TextField label={words.to} type="datetime-local" {...time('to')} />
    </Filters>
  )
}

/** Everything that was done to the configs of the fleet, newest first. */
export function ChangesPage() {
  const words = say(changeFeedTexts)
  const search = useDebounced(query.value.toString(), 300)
  const filter = readFilter(search)
  const isFiltered = FILTERS.some((key) => filter[key] !== undefined)
  const feed = usePages<ChangeRecord>(`changes:${search}`, {
    idOf: ({ kind, id }) => `${kind}${id}`,
    load: (address, abort) => api.changes(filter, address, abort),
    touches: touchesChanges,
  })
  return (
    <div class="stack">
      <Head title={words.title} />
      <p class="muted">{words.lead}</p>
      <PolicyWaits isAsked={can('config_safety.approvals')} />
      <ChangeFilters />
      {isFiltered && (
        <p>
          <a class="link" href="/changes">
            {words.clear}
          </a>
        </p>
      )}
      {feed.failure && <FailureNotice failure={feed.failure} retry={feed.reload} />}
      <ChangeList changes={feed.rows} />
      {feed.rows.length === 0 && feed.isLoading && <Waiting />}
      {feed.rows.length === 0 && !feed.isLoading && !feed.failure && (
        <p class="empty" role="status">
          {feed.hasOlder ? words.noneYet : isFiltered ? words.noneFits : words.none}
        </p>
      )}
      {feed.hasOlder && (
        <div class="actions">
          <Action onClick={feed.older}>{say(commonTexts).older}</Action>
        </div>
      )}
    </div>
  )
}
