import { useMemo } from 'preact/hooks'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { AuditEventRecord } from '../../../lib/wire/audit.ts'
import type { EventStats, EventStatsWindow, WorkloadEventRecord } from '../../../lib/wire/events.ts'
import type { PushOutcome } from '../../../lib/wire/revisions.ts'
import { EVENT_STATS_WINDOWS } from '../../../lib/wire/values.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { alertTexts } from '../i18n/alerts.ts'
import { describeAction } from '../i18n/audit-actions.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatClock, formatDay, formatExact, formatNumber, shortHash } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { commentOf } from '../logic/audit-detail.ts'
import type { Tone } from '../logic/diagnosis.ts'
import { instanceName } from '../logic/instances.ts'
import { hrefOfMoment } from '../logic/moments.ts'
import { stateOf } from '../logic/pushes.ts'
import { countFired, mergeTimeline, readSince, type TimelineEntry } from '../logic/timeline.ts'
import { sayAlert } from '../parts/alert-table.tsx'
import type { ChartProps } from '../parts/chart.tsx'
import { Action, Select } from '../parts/controls.tsx'
import { Icon, type Shape } from '../parts/icons.tsx'
import { lazy } from '../parts/lazy.tsx'
import { PushMark } from '../parts/state.tsx'
import { WorstHealth } from '../parts/worst-health.tsx'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { may } from '../state/session.ts'
import { usePages } from '../state/use-pages.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'
import type { TabProps } from './workload.tsx'

const Chart = lazy<ChartProps>(async () => (await import('../parts/chart.tsx')).Chart)

interface StatsProps {
  workloadId: string
  /** Those of the workload, as far back as they were read. */
  alerts: readonly AlertRecord[]
}

function Stats({ stats, workloadId, alerts }: StatsProps & { stats: EventStats }) {
  const words = say(historyTexts)
  const times = useMemo(() => stats.buckets.map(({ start }) => Date.parse(start) / 1000), [stats])
  const fired = useMemo(
    () =>
      countFired(alerts, {
        starts: stats.buckets.map(({ start }) => start),
        bucketSeconds: stats.bucket_seconds,
      }),
    [stats, alerts],
  )
  const series = useMemo(
    () => [
      {
        name: words.connects,
        values: stats.buckets.map(({ connected }) => connected),
        color: '--ok',
        shape: 'full' as const,
      },
      {
        name: words.disconnects,
        values: stats.buckets.map(({ disconnected }) => disconnected),
        color: '--bad',
        shape: 'ring' as const,
      },
      // An hour in which all was unhealthy is not one in which nothing happened.
      ...(fired.some((count) => count > 0)
        ? [{ name: words.alerts, values: fired, color: '--sick', shape: 'cross' as const }]
        : []),
    ],
    [stats, words, fired],
  )
  return (
    <>
      <p class="muted">
        {words.stats(stats.connected, stats.disconnected, stats.version_changed)} ·{' '}
        {words.churn(formatNumber(stats.churn_rate_per_hour, 2))}
      </p>
      {times.length > 1 && (
        <Chart
          label={words.chart}
          times={times}
          bucketSeconds={stats.bucket_seconds}
          series={series}
          hrefOf={(from, to) => hrefOfMoment(from, to, workloadId)}
        />
      )}
    </>
  )
}

const isMissed = (outcome: PushOutcome) => outcome === 'failed' || outcome === 'in_part'

function describe(
  entry: TimelineEntry,
  workload: WorkloadRecord,
): { tone: Tone; shape: Shape; text: string } {
  const words = say(historyTexts).event
  if (entry.kind === 'event') {
    const { event } = entry
    const who = instanceName(event, workload)
    if (event.event_type === 'connected')
      return { tone: 'ok', shape: 'full', text: words.connected(who, event.version ?? '') }
    if (event.event_type === 'disconnected')
      return { tone: 'idle', shape: 'ring', text: words.disconnected(who) }
    if (event.event_type === 'config_altered')
      return { tone: 'warn', shape: 'triangle', text: words.config_altered(who) }
    if (event.event_type === 'config_restored')
      return { tone: 'ok', shape: 'tick', text: words.config_restored(who) }
    return {
      tone: 'busy',
      shape: 'dot',
      text: words.version_changed(who, event.prev_version ?? '?', event.version ?? '?'),
    }
  }
  if (entry.kind === 'push') {
    const { push } = entry
    const isAuto = push.pushed_by === 'auto-rollback'
    const who = isAuto ? say(historyTexts).autoRollback : (push.pushed_by ?? '?')
    const text = words.push(shortHash(push.config_hash), who)
    return {
      tone: isMissed(push.outcome) ? 'bad' : 'busy',
      shape: isMissed(push.outcome) ? 'cross' : 'clock',
      text,
    }
  }
  if (entry.kind === 'alert') {
    const { rule } = entry.alert
    const name = say(alertTexts).rules[rule] ?? rule
    return entry.isEnd
      ? { tone: 'ok', shape: 'tick', text: words.alertResolved(name) }
      : { tone: 'bad', shape: 'triangle', text: words.alertFired(name, sayAlert(entry.alert, workload)) }
  }
  return {
    tone: 'idle',
    shape: 'dot',
    text: words.audit(
      describeAction(entry.audit.action),
      entry.audit.email ?? '–',
      commentOf(entry.audit).split('\n')[0] ?? '',
    ),
  }
}

function Entry({ entry, workload }: { entry: TimelineEntry; workload: WorkloadRecord }) {
  const { tone, shape, text } = describe(entry, workload)
  return (
    <li>
      <time class="faint" dateTime={entry.at} title={formatExact(entry.at)}>
        {formatClock(entry.at)}
      </time>
      <span class={tone}>
        <Icon shape={shape} />
      </span>
      <div class="wrap">
        {entry.kind === 'push' ? (
          <>
            <a href={`/workloads/${workload.id}/pushes/${entry.push.config_hash}?push=${entry.push.push_id}`}>
              {text}
            </a>{' '}
            <PushMark state={stateOf(entry.push)} />
            <WorstHealth of={entry.push.worst_health} />
          </>
        ) : (
          text
        )}
      </div>
    </li>
  )
}

/** The window of the figures that the address asks for. */
function readWindow(): EventStatsWindow {
  const wanted = query.value.get('window')
  return EVENT_STATS_WINDOWS.find((id) => id === wanted) ?? '24h'
}

/** How much happened, as bars over the chosen window. */
function StatsPane({ workloadId, alerts }: StatsProps) {
  const words = say(historyTexts)
  const window = readWindow()
  const touches = touchesWorkload(workloadId)
  const stats = useResource(
    `stats:${workloadId}:${window}`,
    (abort) => api.eventStats(workloadId, window, abort),
    (frame) => frame.type === 'workload_event' && touches(frame),
  )
  return (
    <section class="pane stack tight">
      <div class="tools" style={{ margin: '0' }}>
        <Select
          isBare
          label={words.window}
          value={window}
          options={EVENT_STATS_WINDOWS.map((id) => [id, words.windows[id]])}
          onValue={(id) => setQuery({ window: id === '24h' ? null : id })}
        />
      </div>
      <div class="chart-room stack tight">
        {stats.data && <Stats stats={stats.data} workloadId={workloadId} alerts={alerts} />}
      </div>
    </section>
  )
}

/** The past of a workload, newest first, as far back as all of its sources were read. */
function useTimeline(workloadId: string, pushes: TabProps['history']['data']) {
  const touches = touchesWorkload(workloadId)
  const events = usePages<WorkloadEventRecord>(`events:${workloadId}`, {
    idOf: ({ id }) => String(id),
    load: (address, abort) => api.events(workloadId, address, abort),
    touches: (frame) => frame.type === 'workload_event' && touches(frame),
  })
  const alerts = usePages<AlertRecord>(`alerts:${workloadId}`, {
    idOf: ({ id }) => id,
    load: (address, abort) => api.alertsOf(workloadId, address, abort),
    touches: (frame) => frame.type === 'alert_update' && touches(frame),
  })
  const audit = usePages<AuditEventRecord>(may('audit:view') ? `audit:${workloadId}` : null, {
    idOf: ({ id }) => String(id),
    load: (address, abort) => api.auditOf(workloadId, address, abort),
    touches: (frame) => frame.type === 'approval_update' && touches(frame),
  })
  const since = readSince([
    { hasOlder: events.hasOlder, oldest: events.rows.at(-1)?.occurred_at },
    { hasOlder: alerts.hasOlder, oldest: alerts.rows.at(-1)?.fired_at },
    { hasOlder: audit.hasOlder, oldest: audit.rows.at(-1)?.occurred_at },
  ])
  const sources = { events: events.rows, alerts: alerts.rows, audit: audit.rows, pushes: pushes ?? [] }
  const entries = mergeTimeline(sources).filter(({ at }) => since === null || at >= since)
  const older = () => {
    for (const pages of [events, alerts, audit]) pages.older()
  }
  return { entries, older, alerts: alerts.rows, hasOlder: since !== null, isLoading: events.isLoading }
}

/** Entries by the day on which they happened. */
function byDay(entries: readonly TimelineEntry[]): [string, TimelineEntry[]][] {
  const days = new Map<string, TimelineEntry[]>()
  for (const entry of entries) {
    const day = formatDay(entry.at)
    days.set(day, [...(days.get(day) ?? []), entry])
  }
  return [...days]
}

/** Everything that happened to a workload, in one list by time. */
export function ActivityTab({ workload, history }: TabProps) {
  const { entries, older, alerts, hasOlder, isLoading } = useTimeline(workload.id, history.data)
  return (
    <div class="stack">
      <StatsPane workloadId={workload.id} alerts={alerts} />
      {entries.length === 0 && !isLoading && <p class="empty">{say(historyTexts).noEvents}</p>}
      {byDay(entries).map(([day, list]) => (
        <section key={day}>
          <h2>{day}</h2>
          <ul class="timeline pane">
            {list.map((entry) => (
              <Entry key={entry.key} entry={entry} workload={workload} />
            ))}
          </ul>
        </section>
      ))}
      {hasOlder && (
        <div class="actions">
          <Action onClick={older}>{say(commonTexts).older}</Action>
        </div>
      )}
    </div>
  )
}
