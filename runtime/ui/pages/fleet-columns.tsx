import { nameOf } from '../../../lib/model/workload-names.ts'
import {
  clusterOf,
  configStateOf,
  deadEndOf,
  environmentOf,
  placeOf,
  readOnlyReason,
  splitOf,
} from '../../../lib/model/workload-states.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { describeVersions, fleetTexts } from '../i18n/fleet.ts'
import { formatNumber, shortHash } from '../i18n/format.ts'
import { tellingLabels } from '../logic/workloads.ts'
import type { Column } from '../parts/big-table.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { SeenAgo, StatusMark, Track } from '../parts/state.tsx'
import { Why, WhyLink } from '../parts/trouble.tsx'
import { besideName, WorkloadName } from '../parts/workload-link.tsx'
import { useActivity } from '../state/row-activity.ts'

/** The width in px of the line of a row. */
const LINE_WIDTH = 56

/** What the workload's config is and does, in one line. */
export function ConfigCell({ workload }: { workload: WorkloadRecord }) {
  const words = say(fleetTexts)
  const state = configStateOf(workload)
  const push = workload.current_config_push
  if (push && (state === 'applying' || state === 'halted' || (state === 'failed' && push.target_count > 0))) {
    const parts = [
      ['ok', push.applied_count],
      ['bad', push.failed_count],
      ['busy', state === 'applying' ? workload.applying_instance_count : 0],
    ] as const
    return (
      <>
        <Track
          isSmall
          parts={parts}
          total={
            push.rollout_id
              ? Math.max(workload.connected_instance_count, push.target_count)
              : push.target_count
          }
        />
        {push.failed_count > 0 ? (
          <span class="bad">{words.failedCount(push.failed_count)}</span>
        ) : state === 'halted' ? (
          <span class="bad">{words.haltedCount(push.applied_count, workload.connected_instance_count)}</span>
        ) : push.rollout_id ? (
          words.stagedCount(push.applied_count, workload.connected_instance_count)
        ) : (
          words.applyingCount(push.applied_count, push.target_count)
        )}
      </>
    )
  }
  const split = state === 'split' ? splitOf(workload) : null
  if (split !== null)
    return (
      <>
        <Track isSmall parts={[['warn', split.count]]} total={split.total} />
        <span class="warn">{words.splitCount(split.count, split.total)}</span>
      </>
    )
  if (state === 'not_managed' || state === 'none') return <span class="muted">{words.config[state]}</span>
  const text =
    state === 'drifted'
      ? words.driftedCount(workload.drifted_instance_count)
      : state === 'altered'
        ? words.alteredCount(workload.altered_instance_count ?? 0)
        : words.config[state]
  const tone = { drifted: 'warn', altered: 'warn', failed: 'bad' }[state as string] ?? 'muted'
  return (
    <>
      <span class="mono muted">{shortHash(deadEndOf(workload) ?? workload.active_config_hash)}</span>
      <span class={tone}> · {text}</span>
    </>
  )
}

const NameCell = ({ workload }: { workload: WorkloadRecord }) => (
  <div class="named">
    <WorkloadName name={nameOf(workload)} place={placeOf(workload)} href={`/workloads/${workload.id}`} />
  </div>
)

/** What is wrong with it; of one that nothing can be pushed to and that is well, why not. */
function WhyCell({ workload }: { workload: WorkloadRecord }) {
  const words = say(fleetTexts)
  const reason = workload.trouble ? null : readOnlyReason(workload)
  if (reason === null) return <WhyLink workload={workload} />
  return (
    <span class="muted" title={words.readOnlyLong[reason]}>
      {words.readOnly[reason]}
    </span>
  )
}

function VersionCell({ workload }: { workload: WorkloadRecord }) {
  const words = say(fleetTexts)
  const { version, version_mix: mix } = workload
  const text = describeVersions(version, mix)
  return (
    <span class={mix ? '' : 'mono'} title={mix && text}>
      {mix ? (
        <>
          <span aria-hidden="true">{words.mixed(mix.count)}</span>
          <span class="sr">{text}</span>
        </>
      ) : (
        text
      )}
      {workload.version_outdated && (
        <span class="warn" title={words.outdated1}>
          {' '}
          ▲<span class="sr"> {words.outdated1}</span>
        </span>
      )}
    </span>
  )
}

function LabelsCell({ workload }: { workload: WorkloadRecord }) {
  const entries = tellingLabels(workload)
  return (
    <span class="muted" title={entries.map(([key, value]) => `${key}=${value}`).join('\n')}>
      {entries
        .slice(0, 3)
        .map(([key, value]) => `${key}=${value}`)
        .join('  ')}
    </span>
  )
}

function AlertsCell({ workload }: { workload: WorkloadRecord }) {
  const { id, open_alert_count: count } = workload
  if (count === 0) return <span class="faint">–</span>
  return (
    <a class="bad" href={`/workloads/${id}/alerts`}>
      {say(fleetTexts).alertCount(count)}
    </a>
  )
}

function SeenCell({ workload }: { workload: WorkloadRecord }) {
  return (
    <span class="muted">
      <SeenAgo workload={workload} />
    </span>
  )
}

/** How much happened to its instances in the last day: one that restarts again and again stands out. */
function ActivityCell({ workload }: { workload: WorkloadRecord }) {
  const events = useActivity(workload.id)
  if (events === null) return null
  const count = events.reduce((sum, one) => sum + one, 0)
  if (count === 0) return <span class="faint">–</span>
  const text = say(fleetTexts).activityCount(count)
  return (
    <span title={text}>
      <Sparkline values={events} color="--muted" title={text} width={LINE_WIDTH} />
      <span class="sr">{text}</span>
    </span>
  )
}

const orDash = (text: string) => text || <span class="faint">–</span>

type FleetColumn = Column<WorkloadRecord>
type ColumnId = keyof (typeof fleetTexts)['en']['column']

/** Every column but its title, in their order. */
const COLUMNS: readonly (Omit<FleetColumn, 'id' | 'title'> & { id: ColumnId })[] = [
  { id: 'status', width: '138px', render: (workload) => <StatusMark of={workload} /> },
  { id: 'name', render: (workload) => <NameCell workload={workload} /> },
  { id: 'why', width: '384px', render: (workload) => <WhyCell workload={workload} /> },
  { id: 'type', width: '90px', render: (workload) => workload.type },
  { id: 'environment', width: '120px', render: (workload) => orDash(environmentOf(workload)) },
  { id: 'cluster', width: '120px', render: (workload) => orDash(clusterOf(workload)) },
  {
    id: 'instances',
    width: '84px',
    isNumeric: true,
    render: (workload) => formatNumber(workload.connected_instance_count),
  },
  { id: 'config', width: '188px', render: (workload) => <ConfigCell workload={workload} /> },
  { id: 'version', width: '104px', render: (workload) => <VersionCell workload={workload} /> },
  { id: 'alerts', width: '92px', render: (workload) => <AlertsCell workload={workload} /> },
  { id: 'labels', width: '220px', render: (workload) => <LabelsCell workload={workload} /> },
  {
    id: 'activity',
    width: '80px',
    isUnordered: true,
    render: (workload) => <ActivityCell workload={workload} />,
  },
  { id: 'seen', width: '104px', isNumeric: true, render: (workload) => <SeenCell workload={workload} /> },
]

/** The columns of the wide table, all of them; the chooser leaves some out. */
export function listColumns(): FleetColumn[] {
  const { column } = say(fleetTexts)
  return COLUMNS.map((one) => ({ ...one, title: column[one.id] }))
}

/** The columns that are shown unless somebody chose others. */
export const DEFAULT_COLUMNS = [
  'status',
  'name',
  'why',
  'environment',
  'instances',
  'config',
  'version',
  'activity',
  'seen',
]

/**
 * The columns that are left out where the page is too narrow, the first one first: the default columns before those
 * that somebody added. Status, names and causes always stay.
 */
const GIVE_WAY = [
  'seen',
  'activity',
  'version',
  'instances',
  'environment',
  'config',
  'alerts',
  'cluster',
  'type',
  'labels',
]
/** Of these, those that leave before the causes have less than they want. */
const GIVE_WAY_FIRST = 4
const NAME_WIDTH = 200
/** The narrowest that causes get before columns that tell whom they concern give way. */
const WHY_WIDTH_MIN = 270
/** What columns need less where cells stand closer, and how wide some of them are then: a config has no meter. */
const TIGHTER = 8
const TIGHT: Partial<Record<string, number>> = { status: 136, name: 182, environment: 103, config: 153 }
/** A name has no use for more than this, with its place below it. */
const NAME_WIDTH_MAX = 300
const MARGINS = 64

/** The columns that fit the width, with room to read the names. */
export function fitColumns(
  columns: readonly Column<WorkloadRecord>[],
  width: number,
  isTight: boolean,
): readonly Column<WorkloadRecord>[] {
  const widthOf = (all: typeof columns) =>
    all.reduce((sum, { width: own }) => sum + (own === undefined ? NAME_WIDTH : Number.parseInt(own, 10)), 0)
  let fitting: typeof columns = isTight ? columns.map(tighten) : columns
  GIVE_WAY.forEach((id, at) => {
    if (widthOf(fitting) <= width - MARGINS) return
    if (at === GIVE_WAY_FIRST)
      fitting = fitting.map((one) => (one.id === 'why' ? { ...one, width: `${WHY_WIDTH_MIN}px` } : one))
    if (widthOf(fitting) > width - MARGINS) fitting = fitting.filter((column) => column.id !== id)
  })
  const has = (all: typeof columns, wanted: string) => all.some(({ id }) => id === wanted)
  if (has(columns, 'instances') && !has(fitting, 'instances'))
    fitting = fitting.map((one) =>
      one.id === 'environment'
        ? { ...one, render: (workload) => <EnvironmentAndCount workload={workload} /> }
        : one,
    )
  return shareRest(fitting, width - MARGINS - widthOf(fitting))
}

/** How many instances there are, below the environment: in a narrower table their column has given way. */
function EnvironmentAndCount({ workload }: { workload: WorkloadRecord }) {
  return (
    <div class="named">
      {orDash(environmentOf(workload))}
      <span class="sub place">{say(fleetTexts).instanceCount(workload.connected_instance_count)}</span>
    </div>
  )
}

/** A column as it is where cells stand closer. */
function tighten(column: Column<WorkloadRecord>): Column<WorkloadRecord> {
  const { id, width = `${NAME_WIDTH}px` } = column
  return { ...column, width: `${TIGHT[id] ?? Number.parseInt(width, 10) - TIGHTER}px` }
}

/** What causes want beyond their width before names get more of theirs. */
const WHY_FIRST = 100

/** Give what is left of the width to the causes, then to the names as well, up to what these can use. */
function shareRest(
  columns: readonly Column<WorkloadRecord>[],
  rest: number,
): readonly Column<WorkloadRecord>[] {
  if (rest <= 0 || !columns.some(({ id }) => id === 'why')) return columns
  const nameWidth = Math.min(NAME_WIDTH_MAX, NAME_WIDTH + Math.max(0, Math.floor((rest - WHY_FIRST) / 2)))
  return columns.map((column) => {
    if (column.id === 'name') return { ...column, width: `${nameWidth}px` }
    if (column.id !== 'why') return column
    const { width: _fixed, ...shared } = column
    return shared
  })
}

const placeBeside = (workload: WorkloadRecord): string => besideName(nameOf(workload), placeOf(workload))

/** The one column of the narrow table: two lines for each workload. */
export function narrowColumn(): Column<WorkloadRecord> {
  return {
    id: 'name',
    title: say(fleetTexts).column.name,
    render: (workload) => (
      <div class="narrow-row">
        <div>
          <StatusMark of={workload} />{' '}
          <WorkloadName
            name={nameOf(workload)}
            place={placeOf(workload)}
            href={`/workloads/${workload.id}`}
            isAlone
          />
        </div>
        <div class="second">{workload.trouble && <Why of={workload.trouble} />}</div>
        <div class="second">
          {formatNumber(workload.connected_instance_count)} · <ConfigCell workload={workload} />
          {[describeVersions(workload.version, workload.version_mix), placeBeside(workload)].map(
            (part) =>
              part !== '' && (
                <>
                  {' · '}
                  <span>{part}</span>
                </>
              ),
          )}
        </div>
      </div>
    ),
  }
}
