import { signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { troubleNow } from '../../../lib/model/troubles.ts'
import { nameOf } from '../../../lib/model/workload-names.ts'
import { parseSearch } from '../../../lib/model/workload-search.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { language, say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { describeShared } from '../i18n/trouble.ts'
import { matchesSearch } from '../logic/search.ts'
import { keysBetween, withTicked } from '../logic/selection.ts'
import {
  FLEET_FILTERS,
  FLEET_SORTS,
  type FleetFilter,
  type FleetSort,
  groupWorkloads,
  sortWorkloads,
} from '../logic/workloads.ts'
import { BigTable, type RowSelection, type TableLine, TICKS_WIDTH } from '../parts/big-table.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { FailureNotice } from '../parts/failure.tsx'
import { FreezeNotice } from '../parts/freeze-notice.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Head } from '../parts/page.tsx'
import { sayBeneath } from '../parts/trouble.tsx'
import { density } from '../state/density.ts'
import { fleetFailure, fleetLoaded, fleetVersion, listByName, loadFleet, workloads } from '../state/fleet.ts'
import { query, setQuery } from '../state/router.ts'
import { selection } from '../state/selection.ts'
import { isNarrow, isTight, pageWidth } from '../state/viewport.ts'
import { DEFAULT_COLUMNS, fitColumns, listColumns, narrowColumn } from './fleet-columns.tsx'
import { FleetCounters } from './fleet-counters.tsx'
import { FleetEmpty } from './fleet-empty.tsx'
import { FleetChips } from './fleet-search.tsx'
import { Beginnings, COLUMNS_KEY, FleetTools } from './fleet-tools.tsx'

type Line = TableLine<WorkloadRecord>

/** The height in pixels of a row with the line below it; the styles have the same numbers. */
const HEIGHTS: Record<typeof density.value, (line: Line) => number> = {
  dense: () => 38,
  comfortable: () => 46,
}
/** Of a narrow row with name and config, and of each line that says what is wrong with it. */
const NARROW = { row: 46, line: 17 }

/** What stands beside the text of a narrow row, and how wide a letter is at the most on average, in px. */
const BESIDE_TEXT = 96
const LETTER = 6.6
/** Lines of a reason that are shown; the styles have the same number. */
const REASON_LINES = 3

/** A narrow row is as high as what it says, where so many letters fit in a line: there is no pointer for what is cut. */
const narrowHeights = (letters: number) =>
  function narrowHeight(line: Line): number {
    const trouble = line.kind === 'row' ? line.row.trouble : undefined
    if (!trouble) return NARROW.row
    const reason = Math.min(Math.ceil(sayBeneath(trouble).length / letters), REASON_LINES)
    return NARROW.row + NARROW.line * (1 + reason)
  }

const isFilter = (text: string | null): text is FleetFilter => text !== null && text in FLEET_FILTERS
const isSort = (text: string | null): text is FleetSort => text !== null && text in FLEET_SORTS

interface View {
  filter: FleetFilter | null
  search: string
  sort: FleetSort
  isDescending: boolean
  group: string
  hasArchived: boolean
}

/** What the address asks for. */
function readView(): View {
  const wanted = query.value
  const filter = wanted.get('show')
  const [sort, direction] = (wanted.get('sort') ?? 'why').split(':')
  return {
    filter: isFilter(filter) ? filter : null,
    search: wanted.get('q') ?? '',
    sort: isSort(sort ?? null) ? (sort as FleetSort) : 'why',
    isDescending: direction === 'desc',
    group: wanted.get('group') ?? '',
    hasArchived: wanted.get('archived') === 'true',
  }
}

function selectRows(view: View): WorkloadRecord[] {
  const terms = parseSearch(view.search)
  const passes = view.filter === null ? () => true : FLEET_FILTERS[view.filter]
  const rows: WorkloadRecord[] = []
  for (const workload of listByName()) {
    if (workload.archived_at && !view.hasArchived) continue
    if (passes(workload) && matchesSearch(workload, terms)) rows.push(workload)
  }
  return sortWorkloads(rows, view.sort, view.isDescending, true)
}

function toLines(
  rows: readonly WorkloadRecord[],
  view: View,
  turned: ReadonlySet<string>,
  fold: Fold | null,
): Line[] {
  const toLine = (row: WorkloadRecord): Line => ({ kind: 'row', key: row.id, row })
  const toGroup = (
    key: string,
    title: string,
    members: readonly WorkloadRecord[],
    isOpen: boolean,
  ): Line[] => [
    { kind: 'group', key, title, isOpen, members: members.map(({ id }) => id) },
    ...(isOpen ? members.map(toLine) : []),
  ]
  if (view.group === '') {
    if (fold === null) return rows.map(toLine)
    const { outages, others } = fold(rows, isNarrow.value)
    // What is folded hides nothing where nothing else is there.
    const isOpen = (key: string) => (others.length === 0 && outages.length === 1) !== turned.has(key)
    return [
      ...outages.flatMap(({ key, title, members }) => toGroup(key, title, members, isOpen(key))),
      ...others.map(toLine),
    ]
  }
  const words = say(fleetTexts)
  return groupWorkloads(rows, view.group, isWorstFirst(view)).flatMap(({ value, members, wrongCount }) => {
    const key = `group:${value}`
    // All of a group of one cause are in trouble for it.
    const title =
      view.group === 'cause'
        ? words.groupTitle(sayCause(members[0]), members.length, 0)
        : words.groupTitle(value, members.length, wrongCount)
    return toGroup(key, title, members, !turned.has(key))
  })
}

/** What a group of one cause is in trouble for; those that are well have none. */
function sayCause(of: WorkloadRecord | undefined): string {
  const trouble = of && troubleNow(of)
  return trouble ? describeShared(trouble) : say(fleetTexts).noTrouble
}

const isWorstFirst = ({ sort, isDescending }: View): boolean => sort === 'why' && !isDescending

type Fold = typeof import('./fleet-outages.ts')['foldOutages']
/** Comes when it is first needed. */
const foldOutages = signal<Fold | null>(null)

/** What folds the outages among rows; null where there is none, or the rows have another order. */
function useFold(rows: readonly WorkloadRecord[], view: View, isHeld: boolean): Fold | null {
  const isWanted =
    view.group === '' &&
    isWorstFirst(view) &&
    rows.some((row) => FLEET_FILTERS.disconnected(row) || FLEET_FILTERS.leaving(row))
  const last = useRef<Fold | null>(null)
  useEffect(() => {
    if (isWanted && foldOutages.value === null)
      void import('./fleet-outages.ts').then((part) => {
        foldOutages.value = part.foldOutages
      })
  }, [isWanted])
  // Nothing is folded away from under the pointer.
  if (!isHeld) last.current = isWanted ? foldOutages.value : null
  return last.current
}

/**
 * The rows in their order. While the pointer is over the table the order stands still: rows change in place,
 * and new ones wait.
 */
function useRows(view: View) {
  const isOver = useSignal(false)
  const isHeld = isOver.value
  // Counts how often somebody asked to see the new rows that wait.
  const letIn = useSignal(0)
  const order = useRef<string[]>([])
  const version = fleetVersion.value
  const key = JSON.stringify([view, language.value, letIn.value])
  const heldKey = useRef(key)
  // `workloads` is no signal and `view` is always another object: `version` and `key` say whether they changed.
  return useMemo(() => {
    const rows = selectRows(view)
    const isSameView = heldKey.current === key
    heldKey.current = key
    if (!isHeld || !isSameView || order.current.length === 0) {
      order.current = rows.map(({ id }) => id)
      return { rows, waiting: 0, isOver, letIn }
    }
    const known = new Set(order.current)
    const held = order.current.flatMap((id) => workloads.get(id) ?? [])
    return { rows: held, waiting: rows.filter(({ id }) => !known.has(id)).length, isOver, letIn }
  }, [version, key, isHeld, isOver, letIn])
}

type Rows = ReturnType<typeof useRows>

function chosenColumns(): string[] {
  const stored = query.value.get('cols') ?? localStorage.getItem(COLUMNS_KEY)
  const ids = stored?.split(',').filter((id) => id !== '') ?? []
  return ids.length > 0 ? ids : DEFAULT_COLUMNS
}

/** The columns that fit the page. */
function listFitting(chosen: readonly string[]) {
  if (isNarrow.value) return [narrowColumn()]
  return fitColumns(
    listColumns().filter(({ id }) => chosen.includes(id)),
    pageWidth.value - TICKS_WIDTH,
    isTight.value,
  )
}

function NothingFits() {
  const words = say(fleetTexts)
  return (
    <div class="sheet empty">
      <p>{words.nothing}</p>
      <p>
        <a class="link" href="/">
          {words.clear}
        </a>
      </p>
    </div>
  )
}

/** Which groups somebody opened or closed; with another grouping none. */
function useClosedGroups(group: string) {
  const closed = useSignal<{ of: string; keys: ReadonlySet<string> }>({ of: group, keys: NOTHING })
  const keys = closed.value.of === group ? closed.value.keys : NOTHING
  const turn = (key: string) => {
    closed.value = { of: group, keys: withTicked(keys, [key], !keys.has(key)) }
  }
  return { keys, turn }
}

const NOTHING: ReadonlySet<string> = new Set()

/** The ticked workloads, and how boxes tick them: a range goes from the last box that was touched. */
function useSelection(
  rows: readonly WorkloadRecord[],
  lines: readonly TableLine<WorkloadRecord>[],
): RowSelection<WorkloadRecord> {
  const last = useRef<string | null>(null)
  const keys = useMemo(() => rows.map(({ id }) => id), [rows])
  return {
    ticked: selection.value,
    keys,
    onTick: (key, isTicked, isRange) => {
      const order = isRange ? lines.flatMap((line) => (line.kind === 'row' ? [line.key] : [])) : []
      const meant = isRange ? keysBetween(order, last.current, key) : [key]
      // The rows of a range become as the box is that the range starts from.
      const wanted = isRange && meant.length > 1 ? selection.value.has(last.current ?? key) : isTicked
      selection.value = withTicked(selection.value, meant, wanted)
      last.current = key
    },
    onTickAll: (meant, isTicked) => {
      selection.value = withTicked(selection.value, meant, isTicked)
    },
    nameOf,
  }
}

const SelectionBar = lazy(async () => (await import('./fleet-selection.tsx')).SelectionBar)

const FleetKinds = lazy(async () => (await import('./fleet-kinds.tsx')).FleetKinds)

/** The rows, and how many wait while the pointer rests on them. */
function FleetRows({ view, chosen, of }: { view: View; chosen: readonly string[]; of: Rows }) {
  const { rows, waiting, isOver, letIn } = of
  const closed = useClosedGroups(view.group)
  const fold = useFold(rows, view, isOver.value)
  const letters = Math.floor((pageWidth.value - BESIDE_TEXT) / LETTER)
  const narrowHeight = useMemo(() => narrowHeights(letters), [letters])
  const lines = useMemo(
    () => toLines(rows, view, closed.keys, fold),
    [rows, view.group, view.sort, view.isDescending, closed.keys, fold, isNarrow.value],
  )
  const ticks = useSelection(rows, lines)
  const sortBy = (id: string) => {
    const isTurned = view.sort === id && !view.isDescending
    setQuery({ sort: isTurned ? `${id}:desc` : id === 'why' ? null : id })
  }
  return (
    <div onPointerEnter={() => (isOver.value = true)} onPointerLeave={() => (isOver.value = false)}>
      {waiting > 0 && (
        <div class="pill">
          <button type="button" class="btn" onClick={() => letIn.value++}>
            {say(commonTexts).newRows(waiting)}
          </button>
        </div>
      )}
      {rows.length === 0 ? (
        <NothingFits />
      ) : (
        <BigTable
          label={say(fleetTexts).title}
          columns={listFitting(chosen)}
          lines={lines}
          heightOf={isNarrow.value ? narrowHeight : HEIGHTS[density.value]}
          sort={view.sort}
          isDescending={view.isDescending}
          onSort={sortBy}
          selection={ticks}
          onGroup={closed.turn}
        />
      )}
      {ticks.ticked.size > 0 && <SelectionBar shown={ticks.keys} />}
    </div>
  )
}

/** The fleet: counters that are filters, and the table. */
export function FleetPage() {
  const words = say(fleetTexts)
  const view = readView()
  useEffect(() => {
    void loadFleet({ withArchived: view.hasArchived })
  }, [view.hasArchived])
  const rows = useRows(view)
  const chosen = chosenColumns()
  const isEmpty = workloads.size === 0
  return (
    <>
      <Head title={words.title}>{!isEmpty && <Beginnings />}</Head>
      {!isEmpty && <FreezeNotice />}
      {fleetFailure.value && <FailureNotice failure={fleetFailure.value} retry={() => void loadFleet()} />}
      {fleetLoaded.value && isEmpty && <FleetEmpty />}
      {!isEmpty && (
        <>
          <FleetCounters current={view.filter} />
          {(view.filter === null || view.filter === 'wrong') && <FleetKinds search={view.search} />}
          <FleetTools view={view} chosenColumns={chosen} shown={rows.rows.length} />
          <FleetChips view={view} />
          <FleetRows view={view} chosen={chosen} of={rows} />
        </>
      )}
      {fleetLoaded.value && <EditionLine parts={['approvals', 'version_intelligence', 'drift_dashboard']} />}
      {!fleetLoaded.value && isEmpty && !fleetFailure.value && (
        <p class="empty" role="status">
          {say(commonTexts).loading}
        </p>
      )}
    </>
  )
}
