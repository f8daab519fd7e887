import { useMemo } from 'preact/hooks'
import { adoptTexts } from '../i18n/adopt.ts'
import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { Action, Checkbox, Select } from '../parts/controls.tsx'
import { Menu } from '../parts/menu.tsx'
import { isConnectOpen } from '../state/connecting.ts'
import { fleetLoading, fleetVersion, workloads } from '../state/fleet.ts'
import { setQuery } from '../state/router.ts'
import { can } from '../state/session.ts'
import { isNarrow } from '../state/viewport.ts'
import { DEFAULT_COLUMNS, listColumns } from './fleet-columns.tsx'
import { FleetSearch } from './fleet-search.tsx'
import { FleetViews } from './fleet-views.tsx'

/** Where this browser keeps the columns somebody chose. */
export const COLUMNS_KEY = 'muster.columns'
const GROUPABLE_LABELS_MAX = 12

/** Labels with few values are worth grouping by; those with one for each workload are not. */
function listGroupableLabels(): string[] {
  const values = new Map<string, Set<string>>()
  for (const workload of workloads.values()) {
    for (const [key, value] of Object.entries(workload.labels ?? {})) {
      const known = values.get(key) ?? new Set()
      if (known.size < 60) known.add(value)
      values.set(key, known)
    }
  }
  return [...values]
    .filter(([, known]) => known.size > 1 && known.size < 60)
    .map(([key]) => key)
    .sort()
    .slice(0, GROUPABLE_LABELS_MAX)
}

function ColumnChooser({ chosen }: { chosen: readonly string[] }) {
  const words = say(fleetTexts)
  const choose = (id: string, isShown: boolean) => {
    const all = listColumns().map((column) => column.id)
    const next = all.filter((column) => (column === id ? isShown : chosen.includes(column)))
    const isDefault = next.join() === all.filter((column) => DEFAULT_COLUMNS.includes(column)).join()
    if (isDefault) localStorage.removeItem(COLUMNS_KEY)
    else localStorage.setItem(COLUMNS_KEY, next.join())
    setQuery({ cols: isDefault ? null : next.join() })
  }
  return (
    <Menu label={words.columns}>
      {listColumns()
        .filter(({ id }) => id !== 'name')
        .map(({ id, title }) => (
          <Checkbox key={id} value={chosen.includes(id)} onValue={(isShown) => choose(id, isShown)}>
            {title}
          </Checkbox>
        ))}
    </Menu>
  )
}

/** Ways to have more collectors here, or more of them managed. */
export function Beginnings() {
  return (
    <>
      <Action
        onClick={() => {
          isConnectOpen.value = true
        }}
      >
        {say(fleetTexts).connect}
      </Action>
      {can('config_safety.campaigns') && (
        <a class="btn" href="/adopt">
          {say(adoptTexts).open}
        </a>
      )}
    </>
  )
}

/** Search, grouping and columns; all of it goes into the address. */
export function FleetTools({
  view,
  chosenColumns,
  shown,
}: {
  view: { search: string; group: string; hasArchived: boolean }
  chosenColumns: readonly string[]
  shown: number
}) {
  const words = say(fleetTexts)
  const version = fleetVersion.value
  // `workloads` is no signal; `fleetVersion` counts its changes.
  const labels = useMemo(listGroupableLabels, [workloads.size, Math.floor(version / 50)])
  const groups: [string, string][] = [
    ['', words.groupNone],
    ...Object.entries(words.groups),
    ...labels.map((key): [string, string] => [`label:${key}`, words.groupLabel(key)]),
  ]
  if (view.group !== '' && !groups.some(([id]) => id === view.group))
    groups.push([view.group, words.groupLabel(view.group.replace(/^label:/, ''))])
  return (
    <div class="tools">
      <FleetSearch text={view.search} />
      <FleetViews />
      <Select
        isBare
        label={words.groupBy}
        value={view.group}
        options={groups}
        onValue={(group) => setQuery({ group })}
      />
      {!isNarrow.value && <ColumnChooser chosen={chosenColumns} />}
      <button
        type="button"
        class="btn"
        aria-pressed={view.hasArchived}
        onClick={() => setQuery({ archived: view.hasArchived ? null : 'true' })}
      >
        {words.archived}
      </button>
      <span class="muted shown" role="status">
        {fleetLoading.value && workloads.size > 999
          ? words.loadingMore(workloads.size)
          : words.shown(shown, workloads.size)}
      </span>
    </div>
  )
}
