import { splitOf } from '../../../lib/model/workload-states.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { countValues, type InstanceSort, instanceName, sortInstances } from '../logic/instances.ts'
import { Select } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { ConfigCell, MatchesCell, whyFailed } from '../parts/instance-cells.tsx'
import { fitsSearch, InstanceSearch } from '../parts/instance-search.tsx'
import { describeFault, describeHeterogeneity } from '../parts/instance-words.ts'
import { Ago, HealthMark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { query, setQuery } from '../state/router.ts'
import { usePolling } from '../state/use-polling.ts'
import { isNarrow } from '../state/viewport.ts'
import type { TabProps } from './workload.tsx'

/** How often the times of a workload's instances are fetched again, and for how many at most. */
const REFRESH_MS = 30_000
const REFRESHED_MAX = 500

const COLUMNS = [
  'instance',
  'version',
  'health',
  'why',
  'config',
  'matches',
  'connected',
  'message',
  'uid',
] as const
type ColumnId = (typeof COLUMNS)[number]

interface Order {
  sort: InstanceSort
  isDescending: boolean
}

/** The order that the address asks for. */
function readOrder(): Order {
  const [id = '', direction] = (query.value.get('sort') ?? '').split(':')
  const sort = COLUMNS.find((column) => column === id) ?? 'odd'
  return { sort, isDescending: direction === 'desc' }
}

/** A column's heading, which sorts by it; the third time the odd ones come first again. */
function SortHeading({ id, title, order }: { id: ColumnId; title: string; order: Order }) {
  const isMine = order.sort === id
  const next = !isMine ? id : order.isDescending ? null : `${id}:desc`
  return (
    <button type="button" title={say(commonTexts).sortBy(title)} onClick={() => setQuery({ sort: next })}>
      {title}
      {isMine && <span aria-hidden="true">{order.isDescending ? ' ↓' : ' ↑'}</span>}
    </button>
  )
}

/** In which order they stand, where there are no headings. */
function SortField({ order }: { order: Order }) {
  const words = say(workloadTexts)
  const columns = COLUMNS.map((id) => [id, words.column[id]] as const)
  return (
    <Select
      isBare
      label={words.order}
      value={order.sort}
      options={[['odd', words.oddFirst], ...columns]}
      onValue={(sort) => setQuery({ sort: sort === 'odd' ? null : sort })}
    />
  )
}

/** A name of at most so many letters stands on one line, also where a hyphen would let it break. */
const SHORT_NAME = 30

function Name({ instance, workload }: { instance: LiveInstance; workload: WorkloadRecord }) {
  const words = say(workloadTexts)
  const name = instanceName(instance, workload)
  return (
    <>
      <a
        class={name.length <= SHORT_NAME ? 'name short' : 'name'}
        href={`/workloads/${workload.id}/health?instance=${instance.instance_uid}`}
      >
        {name}
      </a>
      {instance.described === false && (
        <span class="muted" title={words.undescribedTitle}>
          {' '}
          {words.undescribed}
        </span>
      )}
    </>
  )
}

function columnsOf(
  workload: WorkloadRecord,
  instances: readonly LiveInstance[],
  order: Order,
  told: ReadonlySet<string>,
): TableColumn<LiveInstance>[] {
  const { column } = say(workloadTexts)
  const cells: Record<ColumnId, Pick<TableColumn<LiveInstance>, 'look' | 'narrowTitle' | 'cell'>> = {
    instance: { cell: (instance) => <Name instance={instance} workload={workload} /> },
    version: { look: 'mono', narrowTitle: column.version, cell: (instance) => instance.version ?? '–' },
    health: { cell: (instance) => <HealthMark of={instance} /> },
    why: { look: 'text', cell: (instance) => <span class="warn">{describeFault(instance)}</span> },
    config: { cell: (instance) => <ConfigCell instance={instance} told={told} /> },
    matches: { narrowTitle: column.matches, cell: (instance) => <MatchesCell instance={instance} /> },
    connected: {
      look: 'muted',
      narrowTitle: column.connected,
      cell: (instance) => <Ago at={instance.connected_at} />,
    },
    message: {
      look: 'muted',
      narrowTitle: column.message,
      cell: (instance) => <Ago at={instance.last_message_at} />,
    },
    uid: {
      look: 'mono muted id',
      cell: ({ instance_uid: uid }) => <span title={uid}>{uid}</span>,
    },
  }
  // Where nothing is wrong there is nothing to say of each.
  const hasFaults = instances.some((instance) => describeFault(instance) !== '')
  return COLUMNS.filter((id) => id !== 'why' || hasFaults).map((id) => ({
    ...cells[id],
    // On a phone there are no headings, and a field orders them.
    title: isNarrow.value ? column[id] : <SortHeading id={id} title={column[id]} order={order} />,
    sort: order.sort === id ? (order.isDescending ? 'descending' : 'ascending') : undefined,
  }))
}

/** Instances that fail for one reason are told once from this many on. */
const ALIKE_MIN = 3

/** The reasons for which several failed their config, most first: in each of their rows they would hide what differs. */
const listAlike = (instances: readonly LiveInstance[]) =>
  countValues(instances, (instance) => whyFailed(instance) || undefined).filter(
    ({ count }) => count >= ALIKE_MIN,
  )

function Instances({ workload, topology }: { workload: WorkloadRecord; topology: WorkloadTopology }) {
  const words = say(workloadTexts)
  const { instances, summary } = topology
  const order = readOrder()
  const found = instances.filter((instance) => fitsSearch(instance, workload))
  const sorted = sortInstances(found, summary, order, (instance) => instanceName(instance, workload))
  const alike = listAlike(instances)
  const told = new Set(alike.map(({ value }) => value))
  return (
    <>
      {alike.map(({ value, count }) => (
        <p key={value} class="bad">
          {words.failedAlike(count, value)}
        </p>
      ))}
      <p class="muted" style={{ marginBottom: '12px' }}>
        {instances.length > 1 &&
          (describeHeterogeneity(instances, summary, splitOf(workload)).join(' ') || words.alike)}
      </p>
      {instances.length > 1 && (
        <div class="tools">
          <InstanceSearch found={found.length} all={instances.length} />
          {isNarrow.value && <SortField order={order} />}
        </div>
      )}
      {found.length === 0 ? (
        <p class="empty">{instances.length === 0 ? words.noInstances : words.noInstanceFits}</p>
      ) : (
        <Table
          label={words.tabs.instances}
          columns={columnsOf(workload, instances, order, told)}
          rows={sorted}
          keyOf={(instance) => instance.instance_uid}
        />
      )}
    </>
  )
}

/** One row per live instance, the odd ones first. */
export function InstancesTab({ workload, topology }: TabProps) {
  const isModest = (topology.data?.summary.connected_count ?? 0) <= REFRESHED_MAX
  // No frame tells that an instance was heard of again.
  usePolling(isModest, topology.reload, REFRESH_MS)
  return <Loaded of={topology}>{(data) => <Instances workload={workload} topology={data} />}</Loaded>
}
