import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type Common, commonOf, sinceOf } from '../../../lib/model/alert-groups.ts'
import { toneOfTrouble } from '../../../lib/model/troubles.ts'
import { nameOf } from '../../../lib/model/workload-names.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import type { FleetHealth } from '../../../lib/wire/fleet-health.ts'
import type { FleetSummary } from '../../../lib/wire/fleet-summary.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { Outage } from '../../../lib/wire/outages.ts'
import { EVENT_STATS_WINDOWS } from '../../../lib/wire/values.ts'
import { alertTexts, describeAlertGroup, describeOutage, describeWhere } from '../i18n/alerts.ts'
import { describeError } from '../i18n/causes.ts'
import { language, say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { formatExact, formatNumber, tick } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { describeFleet, listSome, overviewTexts } from '../i18n/overview.ts'
import { describeShared } from '../i18n/trouble.ts'
import { touchesChanges } from '../logic/change-frames.ts'
import { hrefOfMoment } from '../logic/moments.ts'
import {
  countedSince,
  isMade,
  judgeFleet,
  toDrawn,
  toHealthBars,
  toneOf,
  windowOf,
} from '../logic/overview.ts'
import { COUNTED_STATES, type CountedState, isRare, PRESENCE_LOOK } from '../logic/presence.ts'
import { causeHref, nameOfSubject, sayAlert, useNamesOf } from '../parts/alert-table.tsx'
import { ChangeList } from '../parts/change-list.tsx'
import type { ChartProps } from '../parts/chart.tsx'
import { Select } from '../parts/controls.tsx'
import { FailureNotice, Loaded, Waiting } from '../parts/failure.tsx'
import { FreezeNotice, useFreeze } from '../parts/freeze-notice.tsx'
import { Icon } from '../parts/icons.tsx'
import { lazy } from '../parts/lazy.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Head } from '../parts/page.tsx'
import { PolicyWaits } from '../parts/policy-waits.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { WhyLink } from '../parts/trouble.tsx'
import { api } from '../state/endpoints.ts'
import { labelOf, lineOf } from '../state/names.ts'
import { soonFor } from '../state/refetch.ts'
import { query, setQuery } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { useApprovalPolicy } from '../state/use-approval-policy.ts'
import { usePages } from '../state/use-pages.ts'
import { isSettled, type Resource, useOnce, useResource } from '../state/use-resource.ts'

const Chart = lazy<ChartProps>(async () => (await import('../parts/chart.tsx')).Chart)

const DAY_MS = 86_400_000
/** How many alerts, versions and changes are shown here; each list leads to its page. */
const VERSIONS_SHOWN = 6
const CHANGES_SHOWN = 8
const NAMES_SHOWN = 5
/** Until when the chart is fetched again though nothing changed: a stretch may have ended. */
const TURN_MS = 60_000

/** What a state is called where workloads are counted; those of which no instance is healthy are among the degraded. */
function nameState(state: CountedState): string {
  const words = say(fleetTexts)
  return state === 'all_unhealthy' ? words.allUnhealthyOfThem : words[state]
}

/** How many workloads are how now; each number leads to them. */
function Shares({ of }: { of: FleetSummary['counts'] }) {
  return (
    <ul class="shares">
      {COUNTED_STATES.filter((state) => !isRare(state) || of[state] > 0).map((state) => {
        const [tone, shape] = PRESENCE_LOOK[state]
        return (
          <li key={state} class={of[state] === 0 ? 'zero' : ''}>
            <a href={`/?show=${state}`}>
              <strong>{formatNumber(of[state])}</strong>
              <Mark tone={of[state] === 0 ? 'idle' : tone} shape={shape}>
                {nameState(state)}
              </Mark>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

function OverTime({ health }: { health: FleetHealth }) {
  const words = say(overviewTexts)
  const bars = useMemo(() => toHealthBars(health), [health])
  const drawn = useMemo(() => toDrawn(bars), [bars])
  const spoken = language.value
  const series = useMemo(
    () =>
      COUNTED_STATES.filter((state) => !isRare(state) || bars[state].some((count) => count > 0)).map(
        (state) => {
          const [tone, shape] = PRESENCE_LOOK[state]
          const name = nameState(state)
          return { name, values: drawn.values[state], counts: bars[state], color: `--${tone}`, shape }
        },
      ),
    [bars, drawn, spoken],
  )
  if (bars.times.length === 0) return <p class="muted">{words.noChart}</p>
  const since = countedSince(health)
  return (
    <div class="stack tight">
      <Chart
        label={words.chart}
        times={bars.times}
        bucketSeconds={health.bucket_seconds}
        series={series}
        isSum={false}
        hrefOf={hrefOfMoment}
      />
      <p class="muted small">
        {drawn.isUnwellAlone && <b>{words.unwellAlone}</b>} {words.gap}{' '}
        {since !== null && words.countedSince(formatExact(since))}
      </p>
    </div>
  )
}

function Health({ shares }: { shares: FleetSummary['counts'] }) {
  const words = say(overviewTexts)
  const { windows } = say(historyTexts)
  const wanted = query.value.get('window')
  const chosen = EVENT_STATS_WINDOWS.find((id) => id === wanted)
  const day = useResource(chosen ? null : 'health:24h', (abort) => api.fleetHealth('24h', abort))
  const window = chosen ?? (day.data === null ? '24h' : windowOf(day.data, Date.now()))
  const part = useResource(chosen || window !== '24h' ? `health:${window}` : null, (abort) =>
    api.fleetHealth(window, abort),
  )
  const health = chosen || window !== '24h' ? part : day
  // The stretch that runs is drawn as the numbers beside it are: both are read again when these change.
  const numbers = `${Math.floor(tick.value / TURN_MS)} ${Object.values(shares).join()}`
  const drawn = useRef(numbers)
  useEffect(() => {
    if (drawn.current === numbers) return
    drawn.current = numbers
    health.reload()
  }, [numbers])
  return (
    <section class="pane stack health" aria-label={words.health}>
      <div class="head">
        <h2>{words.health}</h2>
        <div class="actions">
          <Select
            isBare
            label={words.window}
            value={window}
            options={EVENT_STATS_WINDOWS.map((id) => [id, windows[id]])}
            onValue={(id) => setQuery({ window: id })}
          />
        </div>
      </div>
      <Shares of={shares} />
      <div class="chart-room">
        <Loaded of={health}>{(data) => <OverTime health={data} />}</Loaded>
      </div>
    </section>
  )
}

type Pressing = FleetSummary['alerts']['pressing'][number]

/** An alert, or all of one cause as one: what it is, what it is about, since when, and what happened. */
function PressingAlert({ of: { alert, alike, is_over: isOver, workload } }: { of: Pressing }) {
  const words = say(overviewTexts)
  const { rules, count, severity } = say(alertTexts)
  const isCritical = alert.severity === 'critical'
  const rule = rules[alert.rule] ?? alert.rule
  const common: Common | null | undefined = alike?.outage
    ? { kind: 'outage', outage: alike.outage }
    : alike && commonOf(alert)
  const names = alike?.workloads.map(labelOf) ?? []
  const more = (alike?.count ?? 0) - names.length
  return (
    <li>
      <span class={isCritical ? 'bad' : 'warn'}>
        <Icon shape={isCritical ? 'cross' : 'triangle'} />
        <span class="sr">{severity[alert.severity]}</span>
      </span>
      <div>
        {alike && common ? (
          <>
            <a class="name" href="/alerts">
              {describeAlertGroup(alert.rule, common)}
            </a>{' '}
            <span class="muted">
              · {alike.outage ? describeWhere(alike.outage) : count(alike.count)} ·{' '}
              <Ago at={alike.outage?.since ?? alike.since} />
            </span>
            <div>{listSome(names, more)}</div>
          </>
        ) : (
          <>
            <a class="name" href={causeHref(alert)}>
              {nameOfSubject(alert, workload)}
            </a>{' '}
            <span class="muted">
              · {rule} · <Ago at={sinceOf(alert)} />
            </span>
          </>
        )}
        {isOver && <span class="muted"> · {words.isOver}</span>}
        <div class="muted small">{sayAlert(alert, workload)}</div>
      </div>
    </li>
  )
}

function Alerts({ of: { open_count: count, pressing } }: { of: FleetSummary['alerts'] }) {
  const words = say(overviewTexts)
  const shown = pressing.reduce((sum, { alike }) => sum + (alike?.count ?? 1), 0)
  useNamesOf(pressing.map(({ alert }) => alert))
  return (
    <section class="ground" aria-label={words.alerts}>
      <h2>{words.alerts}</h2>
      {count === 0 && <p class="muted">{words.noAlerts}</p>}
      <ul class="list">
        {pressing.map((one) => (
          <PressingAlert key={one.alert.id} of={one} />
        ))}
      </ul>
      {(count > shown || pressing.some(({ alike }) => alike)) && (
        <a class="link" href="/alerts">
          {words.allAlerts(count)}
        </a>
      )}
    </section>
  )
}

function Versions({ of: { first } }: { of: FleetSummary['versions'] }) {
  const words = say(overviewTexts)
  const shown = first.slice(0, VERSIONS_SHOWN)
  // Shares of all, as on the page of the versions: one version on half of the fleet is half a bar.
  const total = Math.max(
    1,
    first.reduce((sum, { count }) => sum + count, 0),
  )
  return (
    <section class="ground" aria-label={words.versions}>
      <h2>{words.versions}</h2>
      <ul class="versions">
        {shown.map((one) => (
          <li key={one.version}>
            <a class="mono" href={`/?q=${encodeURIComponent(`version:${one.version}`)}`}>
              {one.version || words.unknownVersion}
            </a>
            <div class="share">
              <span class="share-bar" aria-hidden="true">
                <i style={{ width: `${(100 * one.count) / total}%` }} />
              </span>
              <span>{formatNumber(one.count)}</span>
            </div>
            {one.mixed_count > 0 && <span class="muted small">{words.partly(one.mixed_count)}</span>}
            {one.is_outdated && (
              <Mark tone="warn" shape="triangle">
                {words.outdated}
              </Mark>
            )}
          </li>
        ))}
      </ul>
      {can('config_safety.version_intelligence') && (
        <a class="link" href="/versions">
          {words.allVersions}
        </a>
      )}
    </section>
  )
}

function columnsOf(): TableColumn<ExportDestination>[] {
  const words = say(overviewTexts)
  const { destination } = words
  return [
    {
      title: destination.address,
      look: 'name',
      cell: (one) => (
        <>
          {one.address ? <span class="mono">{one.address}</span> : <i>{words.noAddress}</i>}
          {one.likely && (
            <div class="likely">
              {words.likely}{' '}
              <a href={`/workloads/${one.likely.id}`}>
                {lineOf(one.likely.display_name || one.likely.id.slice(0, 8), one.likely.place)}
              </a>
            </div>
          )}
          {one.failing && (
            <div class="failing">
              <Mark tone="bad" shape="cross">
                {words.failingNow(one.failing.workload_count, one.workload_count)}
              </Mark>{' '}
              <span class="muted small">{describeError(one.failing)}</span>
            </div>
          )}
        </>
      ),
    },
    { title: destination.exporter, cell: ({ exporter }) => exporter },
    { title: destination.signals, look: 'muted', cell: ({ signals }) => signals.join(', ') },
    {
      title: destination.who,
      look: 'text',
      cell: ({ workloads: known, workload_count: count }) => {
        const shown = known.slice(0, NAMES_SHOWN)
        return (
          <>
            {shown.map(({ id, display_name: name, place, is_failing: isFailing }, at) => (
              <span key={id}>
                {at > 0 && ', '}
                <a
                  class={isFailing ? 'bad' : ''}
                  href={`/workloads/${id}/${isFailing ? 'health' : 'configuration'}`}
                >
                  {lineOf(name || id.slice(0, 8), place)}
                </a>
              </span>
            ))}{' '}
            {count > shown.length && <span class="muted">{words.andMore(count - shown.length)}</span>}
          </>
        )
      },
    },
  ]
}

/** Who exports where, for those who may read configs. */
function Destinations() {
  const words = say(overviewTexts)
  const { destination } = words
  const destinations = useResource(
    may('config:read_content') ? 'destinations' : null,
    (abort) => api.destinations(abort),
    (frame) =>
      (frame.type === 'push_update' && frame.push.phase === 'applied') ||
      (frame.type === 'alert_update' && frame.alert.rule === 'workload_unhealthy'),
  )
  if (!may('config:read_content')) return null
  return (
    <section class="ground stack tight" aria-label={words.destinations}>
      <h2>{words.destinations}</h2>
      <p class="muted small">{words.destinationsMore}</p>
      <Loaded of={destinations}>
        {(data) => (
          <>
            {data.length + destinations.outside === 0 && <p class="muted">{words.noDestinations}</p>}
            {data.length > 0 && (
              <Table
                label={destination.address}
                columns={columnsOf()}
                rows={data}
                keyOf={({ exporter, address }) => `${exporter} ${address}`}
              />
            )}
            <OutsideScope count={destinations.outside} />
          </>
        )}
      </Loaded>
    </section>
  )
}

/** What was changed in the last day, the newest first. */
function useDay() {
  // The beginning moves on by the hour, so that the list does not jump while somebody reads it.
  const hour = Math.floor(tick.value / 3_600_000)
  const from = new Date(hour * 3_600_000 - DAY_MS).toISOString()
  return usePages<ChangeRecord>(`day:${from}`, {
    idOf: ({ kind, id }) => `${kind}${id}`,
    load: (address, abort) => api.changes({ from }, address, abort),
    touches: touchesChanges,
  })
}

/** Many that were lost at once: how many, when, and where. */
function OutageLine({ kind, of }: { kind: string | undefined; of: Outage }) {
  const where = describeWhere(of)
  return (
    <>
      <a class="name" href={`/?show=${kind}`}>
        {describeOutage(kind === 'leaving' ? 'leaving' : 'down', of)}
      </a>{' '}
      <span class="muted">
        {where !== '' && <>· {where} </>}· <Ago at={of.since} />
      </span>
    </>
  )
}

type WorstOne = FleetSummary['worst'][number]

/** Several that are in trouble for one reason: how many, why, since when, and the worst by name. */
function AlikeLine({ of, count, since }: { of: WorstOne; count: number; since: string | undefined }) {
  const words = say(overviewTexts)
  const { trouble } = of
  return (
    <>
      <a class="name" href="/?show=wrong&group=cause">
        {words.ofCause(count)}
      </a>{' '}
      {trouble && (
        <>
          · <span class={`trouble ${toneOfTrouble(trouble)}`}>{describeShared(trouble)}</span>{' '}
        </>
      )}
      <span class="muted">
        {since && (
          <>
            · <Ago at={since} />{' '}
          </>
        )}
        · {listSome([nameOf(of)], count - 1)}
      </span>
    </>
  )
}

/** One of the worst: an outage of many, several with one cause, or a workload. */
function WorstLine({ of }: { of: WorstOne }) {
  const { trouble, outage, alike } = of
  if (outage) return <OutageLine kind={trouble?.kind} of={outage} />
  if (alike) return <AlikeLine of={of} count={alike.count} since={alike.since} />
  return (
    <>
      <a class="name" href={`/workloads/${of.id}`}>
        {labelOf(of)}
      </a>{' '}
      <WhyLink workload={of} />
    </>
  )
}

/** The workloads that something is wrong with, the worst first, each with what it is and since when. */
function Worst({ of: { worst, troubled_count: troubledCount } }: { of: FleetSummary }) {
  const words = say(overviewTexts)
  if (worst.length === 0) return null
  const more = worst.reduce(
    (rest, { outage, alike }) => rest - (outage?.count ?? alike?.count ?? 1),
    troubledCount,
  )
  return (
    <ul class="worst" aria-label={words.worst}>
      {worst.map((workload) => (
        <li key={workload.id}>
          <WorstLine of={workload} />
        </li>
      ))}
      {more > 0 && (
        <li>
          <a class="link" href="/?show=wrong">
            {words.moreWorst(more)}
          </a>
        </li>
      )}
    </ul>
  )
}

const COUNTED: ReadonlySet<HubFrame['type']> = new Set([
  'workload_update',
  'workload_removed',
  'push_update',
  'alert_update',
])

/** The fleet in numbers, counted by the server: fetching all of it to count it takes megabytes. */
function useSummary(): Resource<FleetSummary> {
  const last = useRef(0)
  const summary = useResource(
    'fleet-summary',
    (abort) => api.fleetSummary(abort),
    ({ type }) => COUNTED.has(type),
    () => soonFor(last.current),
  )
  last.current = summary.data?.counts.all ?? 0
  return summary
}

function Verdict({ now, day }: { now: FleetSummary; day: ReturnType<typeof useDay> }) {
  if (now.counts.all === 0) return null
  // A feed that did not come is not one that is empty.
  const changes = day.failure && day.rows.length === 0 ? null : day.rows
  const verdict = judgeFleet(now, changes, day.hasOlder)
  const { state, cause } = describeFleet(verdict)
  return (
    <div class={`say t-${toneOf(verdict)}`}>
      <p role="status">
        <b>{state}</b> {cause}
      </p>
      <Worst of={now} />
    </div>
  )
}

/** Is it us? How the fleet is and was, what is wrong, and what somebody changed. */
export function OverviewPage() {
  const words = say(overviewTexts)
  const summary = useSummary()
  const day = useDay()
  const asksPolicy = can('config_safety.approvals') && may('settings:manage')
  const freeze = useFreeze()
  const policy = useApprovalPolicy(asksPolicy)
  // Drawn once all of it is there: half of the answer would be a wrong one, and what comes later pushes the rest aside.
  const isThere = useOnce(
    [summary, freeze, policy].every(isSettled) && !(day.isLoading && day.rows.length === 0),
  )
  if (!isThere)
    return (
      <div class="stack">
        <Head title={words.title} />
        <Waiting />
      </div>
    )
  return (
    <div class="stack">
      <Head title={words.title} />
      <FreezeNotice />
      <PolicyWaits isAsked={asksPolicy} />
      <Loaded of={summary}>
        {(now) => (
          <>
            <Verdict now={now} day={day} />
            <Health shares={now.counts} />
            <div class="two even">
              <Alerts of={now.alerts} />
              <Versions of={now.versions} />
            </div>
          </>
        )}
      </Loaded>
      <Changed of={day} />
      <Destinations />
    </div>
  )
}

/** What was changed: what the sentence counts, while requests and drafts are on the page of all changes. */
function Changed({ of: day }: { of: ReturnType<typeof useDay> }) {
  const words = say(overviewTexts)
  const made = day.rows.filter(isMade)
  return (
    <section class="ground" aria-label={words.changes}>
      <h2>{words.changes}</h2>
      {day.failure && <FailureNotice failure={day.failure} retry={day.reload} />}
      {made.length === 0 && !day.isLoading && !day.failure && <p class="muted">{words.noChanges}</p>}
      <ChangeList isPart changes={made.slice(0, CHANGES_SHOWN)} />
      <p class="touched">
        <a class="link" href="/changes">
          {words.allChanges}
        </a>
      </p>
    </section>
  )
}
