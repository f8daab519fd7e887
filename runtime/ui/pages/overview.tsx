import { useMemo } from 'preact/hooks'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import type { FleetHealth } from '../../../lib/wire/fleet-health.ts'
import { EVENT_STATS_WINDOWS } from '../../../lib/wire/values.ts'
import { alertTexts } from '../i18n/alerts.ts'
import { describeError } from '../i18n/causes.ts'
import { say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { formatNumber, tick } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { describeFleet, overviewTexts } from '../i18n/overview.ts'
import { pressingFirst } from '../logic/alerts.ts'
import { hrefOfMoment } from '../logic/moments.ts'
import {
  countShares,
  countVersions,
  type HealthShares,
  isMade,
  isOver,
  judgeFleet,
  judgeNow,
  toHealthBars,
  toneOf,
  type WrongNow,
} from '../logic/overview.ts'
import { causeHref, nameOfSubject, sayAlert } from '../parts/alert-table.tsx'
import { ChangeList } from '../parts/change-list.tsx'
import type { ChartProps } from '../parts/chart.tsx'
import { Select } from '../parts/controls.tsx'
import { FailureNotice, Loaded, Waiting } from '../parts/failure.tsx'
import { lazy } from '../parts/lazy.tsx'
import { OutsideScope } from '../parts/outside-scope.tsx'
import { Head } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { WhyLink } from '../parts/trouble.tsx'
import { useFleet } from '../parts/workload-search.tsx'
import { api } from '../state/endpoints.ts'
import { fleetLoaded, fleetVersion, workloads } from '../state/fleet.ts'
import { labelOf, lineOf } from '../state/names.ts'
import { query, setQuery } from '../state/router.ts'
import { can, may } from '../state/session.ts'
import { usePages } from '../state/use-pages.ts'
import { type Resource, useResource } from '../state/use-resource.ts'
import { CHANGE_FRAMES } from './changes.tsx'

const Chart = lazy<ChartProps>(async () => (await import('../parts/chart.tsx')).Chart)

const DAY_MS = 86_400_000
/** How many alerts, versions and changes are shown here; each list leads to its page. */
const ALERTS_SHOWN = 5
const VERSIONS_SHOWN = 6
const CHANGES_SHOWN = 8
const NAMES_SHOWN = 5
/** The fleet is counted every five minutes, and nothing tells browsers when. */
const COUNT_EVERY_MS = 300_000

const STATES = [
  ['connected', 'ok', 'full'],
  ['degraded', 'warn', 'half'],
  ['disconnected', 'bad', 'ring'],
  ['leaving', 'warn', 'ring'],
] as const

/** How many workloads are how now; each number leads to them. */
function Shares({ of }: { of: HealthShares }) {
  const words = say(fleetTexts)
  return (
    <ul class="shares">
      {STATES.filter(([state]) => state !== 'leaving' || of.leaving > 0).map(([state, tone, shape]) => (
        <li key={state} class={of[state] === 0 ? 'zero' : ''}>
          <a href={`/?show=${state}`}>
            <strong>{formatNumber(of[state])}</strong>
            <Mark tone={of[state] === 0 ? 'idle' : tone} shape={shape}>
              {words[state]}
            </Mark>
          </a>
        </li>
      ))}
    </ul>
  )
}

function OverTime({ health }: { health: FleetHealth }) {
  const words = say(overviewTexts)
  const status = say(fleetTexts)
  const bars = useMemo(() => toHealthBars(health), [health])
  const series = useMemo(
    () => [
      { name: status.connected, values: bars.connected, color: '--ok' },
      { name: status.degraded, values: bars.degraded, color: '--warn' },
      { name: status.disconnected, values: bars.disconnected, color: '--bad' },
      // Nearly always nobody is about to leave just as the fleet is counted: then the legend does without.
      ...(bars.leaving.some((count) => count > 0)
        ? [{ name: status.leaving, values: bars.leaving, color: '--idle' }]
        : []),
    ],
    [bars, status],
  )
  if (bars.times.length === 0) return <p class="muted">{words.noChart}</p>
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
      <p class="muted small">{words.gap}</p>
    </div>
  )
}

function Health({ shares }: { shares: HealthShares | null }) {
  const words = say(overviewTexts)
  const { windows } = say(historyTexts)
  const wanted = query.value.get('window')
  const window = EVENT_STATS_WINDOWS.find((id) => id === wanted) ?? '24h'
  const health = useResource(`health:${window}:${Math.floor(tick.value / COUNT_EVERY_MS)}`, (abort) =>
    api.fleetHealth(window, abort),
  )
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
            onValue={(id) => setQuery({ window: id === '24h' ? null : id })}
          />
        </div>
      </div>
      {shares && <Shares of={shares} />}
      <Loaded of={health}>{(data) => <OverTime health={data} />}</Loaded>
    </section>
  )
}

function Alerts({ alerts }: { alerts: readonly AlertRecord[] }) {
  const words = say(overviewTexts)
  const { rules } = say(alertTexts)
  // Alerts may come before the names of their workloads.
  void fleetVersion.value
  return (
    <section class="ground" aria-label={words.alerts}>
      <h2>{words.alerts}</h2>
      {alerts.length === 0 && <p class="muted">{words.noAlerts}</p>}
      <ul class="list">
        {pressingFirst(alerts)
          .slice(0, ALERTS_SHOWN)
          .map((alert) => (
            <li key={alert.id}>
              <div>
                <a class="name" href={causeHref(alert)}>
                  {nameOfSubject(alert)}
                </a>{' '}
                · {rules[alert.rule] ?? alert.rule} · <Ago at={alert.fired_at} />
                {isOver(alert, workloads) && <span class="muted"> · {words.isOver}</span>}
                <div class="muted small">{sayAlert(alert)}</div>
              </div>
            </li>
          ))}
      </ul>
      {alerts.length > ALERTS_SHOWN && (
        <a class="link" href="/alerts">
          {words.allAlerts(alerts.length)}
        </a>
      )}
    </section>
  )
}

function Versions() {
  const words = say(overviewTexts)
  const version = fleetVersion.value
  // `workloads` is no signal; `fleetVersion` counts its changes.
  const counts = useMemo(() => countVersions(workloads.values()), [version])
  const largest = Math.max(1, ...counts.map(({ count }) => count))
  return (
    <section class="ground" aria-label={words.versions}>
      <h2>{words.versions}</h2>
      <ul class="versions">
        {counts.slice(0, VERSIONS_SHOWN).map((one) => (
          <li key={one.version}>
            <a class="mono" href={`/?q=${encodeURIComponent(`version:${one.version}`)}`}>
              {one.version || words.unknownVersion}
            </a>
            <div class="share">
              <span class="share-bar" aria-hidden="true">
                <i style={{ width: `${(100 * one.count) / largest}%` }} />
              </span>
              <span>{formatNumber(one.count)}</span>
            </div>
            {one.mixedCount > 0 && <span class="muted small">{words.partly(one.mixedCount)}</span>}
            {one.isOutdated && (
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
    touches: ({ type }) => CHANGE_FRAMES.has(type),
  })
}

/** The workloads that something is wrong with, the worst first, each with what it is and since when. */
function Worst({ of: { worst, troubledCount } }: { of: WrongNow }) {
  const words = say(overviewTexts)
  if (worst.length === 0) return null
  return (
    <ul class="worst" aria-label={words.worst}>
      {worst.map((workload) => (
        <li key={workload.id}>
          <a class="name" href={`/workloads/${workload.id}`}>
            {labelOf(workload)}
          </a>{' '}
          <WhyLink workload={workload} />
        </li>
      ))}
      {troubledCount > worst.length && (
        <li>
          <a class="link" href="/">
            {words.moreWorst(troubledCount - worst.length)}
          </a>
        </li>
      )}
    </ul>
  )
}

function Verdict({ alerts, day }: { alerts: Resource<AlertRecord[]>; day: ReturnType<typeof useDay> }) {
  const version = fleetVersion.value
  // `workloads` is no signal; `fleetVersion` counts its changes.
  const now = useMemo(() => judgeNow(workloads, alerts.data ?? []), [version, alerts.data])
  // Half of the answer would be a wrong one.
  if (!fleetLoaded.value || alerts.data === null || (day.isLoading && day.rows.length === 0))
    return <Waiting />
  if (now.shares.all === 0) return null
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
  useFleet()
  const version = fleetVersion.value
  // `workloads` is no signal; `fleetVersion` counts its changes.
  const shares = useMemo(() => countShares(workloads.values()), [version])
  // Counts of a part of the fleet would be wrong ones.
  const isWhole = fleetLoaded.value
  const alerts = useResource(
    'overview-alerts',
    (abort) => api.alerts(false, abort),
    (frame) => frame.type === 'alert_update' || frame.type === 'workload_removed',
  )
  const day = useDay()
  // What the sentence counts is what is listed: requests and drafts are on the page of all changes.
  const made = day.rows.filter(isMade)
  return (
    <div class="stack">
      <Head title={words.title} />
      <Verdict alerts={alerts} day={day} />
      <Health shares={isWhole ? shares : null} />
      <div class="two even">
        <Loaded of={alerts}>{(data) => <Alerts alerts={data} />}</Loaded>
        {isWhole && <Versions />}
      </div>
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
      <Destinations />
    </div>
  )
}
