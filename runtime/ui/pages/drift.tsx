import { useMemo, useRef } from 'preact/hooks'
import { driftsNow } from '../../../lib/model/drift-counts.ts'
import { deadEndOf } from '../../../lib/model/workload-states.ts'
import type { DriftOverview, DriftStatus } from '../../../lib/wire/drift.ts'
import { describeAftermath } from '../i18n/aftermath.ts'
import { describeCause } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { formatNumber, shortHash } from '../i18n/format.ts'
import { postureTexts } from '../i18n/posture.ts'
import { describeReason } from '../i18n/trouble.ts'
import { workloadTexts } from '../i18n/workload.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { tellingReasons, touchesDrift } from '../logic/drift.ts'
import { Action } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import type { Shape } from '../parts/icons.tsx'
import { Head } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { WorkloadName } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { soonFor } from '../state/refetch.ts'
import { hrefWith, query, setQuery } from '../state/router.ts'
import { type Resource, useResource } from '../state/use-resource.ts'

const LOOK: Record<DriftStatus, readonly [Tone, Shape]> = {
  remote_config_unsupported: ['idle', 'dot'],
  missing_effective_config: ['warn', 'ring'],
  heterogeneous_effective_config: ['warn', 'half'],
  drifted: ['bad', 'triangle'],
  altered: ['warn', 'triangle'],
  differs_from_git: ['warn', 'triangle'],
  pending_too_long: ['warn', 'clock'],
  in_sync: ['ok', 'tick'],
}

type DriftItem = DriftOverview['items'][number]

/** Whether a rollout was aborted that a part of its instances had come to, which keep its config. */
const isLeftSplit = ({ drift_reasons: reasons }: DriftItem): boolean =>
  reasons?.includes('rollout_aborted') === true

/** Whether an item is shown by default: a workload that agrees, or that cannot take a config, has no drift. */
const isDrift = (item: DriftItem): boolean =>
  !['in_sync', 'remote_config_unsupported'].includes(item.drift_status) ||
  item.drift_reasons?.includes('runs_failed_config') === true ||
  isLeftSplit(item)

/** How a workload stands to what it should run. One that nothing was assigned to agrees with nothing. */
function DriftMark({ of: item }: { of: DriftItem }) {
  const { drift_status: status, drift_reasons: reasons } = item
  const words = say(postureTexts)
  const isUnmanaged = status === 'in_sync' && reasons?.includes('unmanaged') === true
  // Who is counted as drifted is called so: that instances differ is one of its causes.
  const isDiffering = status === 'in_sync' && isLeftSplit(item)
  const shown = saysDrifted(item) ? 'drifted' : isDiffering ? 'heterogeneous_effective_config' : status
  const [tone, shape] = isUnmanaged ? (['idle', 'ring'] as const) : LOOK[shown]
  return (
    <Mark tone={tone} shape={shape}>
      {isUnmanaged ? words.unmanaged : words.driftStatus[shown]}
    </Mark>
  )
}

/**
 * What it is to run: while a rollout goes on or waits, a part is to run another config than the rest. A config that failed
 * with nothing to go back to is what nobody is to run, and what an aborted rollout left is not meant either.
 */
function wantedBy(item: DriftItem): string {
  const { expected_config_hash: hash, last_push } = item
  const staged = isLeftSplit(item) ? undefined : item.rollout_config_hash
  const deadEnd = deadEndOf({ current_config_push: last_push, active_config_hash: hash })
  if (deadEnd !== null) return say(workloadTexts).noneWorks(shortHash(deadEnd))
  return [...new Set([hash, staged])].flatMap((one) => (one ? [shortHash(one)] : [])).join(' ')
}

/** Why an instance of it has not applied its config, where that is known. */
function Fault({ of: { fault } }: { of: DriftItem }) {
  const why = fault === undefined ? '' : describeReason(fault)
  return why === '' ? null : <div class="first">{why}</div>
}

/** Why it counts as it does, and since when somebody changed it where it runs. */
function Reasons({ of: { drift_reasons: reasons = [], altered_since: since } }: { of: DriftItem }) {
  const words = say(postureTexts)
  return (
    <div class="muted small">
      {tellingReasons(reasons)
        .map((reason) => words.reason[reason] ?? reason)
        .join(' · ')}
      {since && (
        <>
          {' · '}
          <Ago at={since} />
        </>
      )}
    </div>
  )
}

/** What its fault is, without what that is about: as what was done about it names it. */
const causeOf = ({ fault }: DriftItem): string => describeCause(fault?.error_cause, fault?.error_title)

/** What its instances run, and of how many that is not known. */
function Runs({
  of: { effective_config_hashes: hashes, effective_config_hash: hash, unknown_instance_count: unknown = 0 },
}: {
  of: DriftItem
}) {
  return (
    <>
      {(hashes ?? [hash ?? '']).map(shortHash).join(' ') || '–'}
      {unknown > 0 && <div>{say(postureTexts).runsUnknown(unknown)}</div>}
    </>
  )
}

function columnsOf(): TableColumn<DriftItem>[] {
  const words = say(postureTexts)
  const { column } = words
  return [
    {
      title: column.workload,
      cell: (item) => (
        <WorkloadName
          name={item.collector}
          place={item.place}
          href={`/workloads/${item.workload_id}/instances`}
        />
      ),
    },
    { title: column.environment, cell: (item) => item.env },
    {
      title: column.state,
      cell: (item) => <DriftMark of={item} />,
    },
    {
      title: column.wanted,
      narrowTitle: column.wanted,
      look: 'mono muted',
      cell: (item) => wantedBy(item) || '–',
    },
    {
      title: column.runs,
      narrowTitle: column.runs,
      look: 'mono muted',
      cell: (item) => <Runs of={item} />,
    },
    {
      title: column.cause,
      look: 'text',
      cell: (item) => (
        <>
          <Fault of={item} />
          <Reasons of={item} />
          {item.rollout_id && (
            <div>
              <a class="link" href={`/workloads/${item.workload_id}/rollouts/${item.rollout_id}`}>
                {words.seeRollout}
              </a>
            </div>
          )}
          {item.last_push?.aftermath && (
            <div>{describeAftermath(item.last_push.aftermath, causeOf(item))}</div>
          )}
        </>
      ),
    },
  ]
}

/** Workloads of one environment that run different configs are nothing to look at, so those are not counted here. */
type CountKey = Exclude<keyof DriftOverview['summary'], 'heterogeneous_groups'>

const saysReason =
  (reason: string) =>
  ({ drift_reasons: reasons }: DriftItem): boolean =>
    reasons?.includes(reason) === true

/** Whether instances of it say themselves that they do not run what they were assigned. */
const saysDrifted = saysReason('drifted')

/** Whom each counter counts: each is a filter. */
const COUNTED: Record<CountKey, (item: DriftItem) => boolean> = {
  total_collectors: () => true,
  drifted_collectors: driftsNow,
  differ_from_git: saysReason('differs_from_git'),
  pending_too_long: (item) => item.pending_too_long,
  missing_effective_config: (item) => item.missing_effective_config,
  remote_config_unsupported: (item) => !item.accepts_remote_config,
  outdated_versions: saysReason('version_outdated'),
  unknown_incomplete_components: (item) => item.unknown_incomplete_components,
}

/** The number beside a counter. Who drifts is counted as the fleet's list does; the API adds those with an open alert. */
const countOf = ({ summary, items }: DriftOverview, key: CountKey): number =>
  key === 'drifted_collectors' ? items.filter(driftsNow).length : summary[key]

const isCount = (text: string | null): text is CountKey => text !== null && text in COUNTED

function Overview({ drift }: { drift: DriftOverview }) {
  const words = say(postureTexts)
  const withAll = query.value.get('all') === 'true'
  const wanted = query.value.get('show')
  const show = isCount(wanted) ? wanted : null
  const shown = drift.items.filter(show === null ? (item) => withAll || isDrift(item) : COUNTED[show])
  return (
    <div class="stack" style={{ marginTop: '20px' }}>
      <div class="quant">
        {(Object.keys(words.counts) as (keyof typeof words.counts)[]).map((key) => (
          <a
            key={key}
            href={hrefWith({ show: key === show ? null : key })}
            aria-current={key === show ? 'true' : undefined}
          >
            <b>{formatNumber(countOf(drift, key))}</b>
            {words.counts[key]}
          </a>
        ))}
      </div>
      <div class="tools" style={{ margin: '0' }}>
        <Action
          isPressed={withAll && show === null}
          onClick={() => setQuery({ all: withAll ? null : 'true', show: null })}
        >
          {words.driftAll}
        </Action>
      </div>
      {shown.length === 0 ? (
        <p class="empty">{words.driftNone}</p>
      ) : (
        <Table label={words.drift} columns={columnsOf()} rows={shown} keyOf={(item) => item.workload_id} />
      )}
    </div>
  )
}

/** What differs from its assigned config, with the cause. */
export function DriftPage() {
  const listed = useRef<ReadonlyMap<string, DriftItem>>(new Map())
  const drift: Resource<DriftOverview> = useResource(
    'drift',
    (abort) => api.drift(abort),
    (frame) => touchesDrift(frame, listed.current),
    () => soonFor(drift.data?.items.length ?? 0),
  )
  const items = drift.data?.items
  listed.current = useMemo(() => new Map(items?.map((item) => [item.workload_id, item])), [items])
  return (
    <>
      <Head title={say(postureTexts).drift} />
      <Loaded of={drift}>{(data) => <Overview drift={data} />}</Loaded>
    </>
  )
}
