import { noPresences, PRESENCES, presenceOf } from '../lib/model/presence.ts'
import { inTurns } from '../lib/turns.ts'
import type { Context } from './context.ts'
import type { LoopWatch } from './loop-watch.ts'
import { campaignMetrics } from './metrics-campaigns.ts'
import { keptMetrics } from './metrics-kept.ts'
import { type PressureSources, pressureMetrics } from './metrics-pressure.ts'
import { VERSION } from './version.ts'

/** One metric with its samples; the labels of a sample are written as they stand. */
export interface Metric {
  name: string
  kind: 'gauge' | 'counter'
  help: string
  samples: readonly { labels?: string; value: number }[]
}

const gauge = (name: string, help: string, value: number): Metric => ({
  name,
  help,
  kind: 'gauge',
  samples: [{ value }],
})

const counter = (name: string, help: string, value: number): Metric => ({
  name,
  help,
  kind: 'counter',
  samples: [{ value }],
})

/** What a scrape reads besides the context. */
export interface MetricSources {
  loop: LoopWatch
  pressure: PressureSources
}

/**
 * How many workloads are counted before agents get their turn. It takes time, as each lies in another place of memory.
 */
const CHUNK = 1_000

async function fleetMetrics({ fleet }: Context): Promise<Metric[]> {
  const { state } = fleet
  const byPresence = noPresences()
  let pendingPushes = 0
  let openAgents = 0
  for await (const piece of inTurns(state.workloads.values(), CHUNK))
    for (const { archivedAt, status, newestPush, live } of piece) {
      openAgents += live.count
      if (newestPush?.status === 'pending') pendingPushes++
      if (archivedAt === null) byPresence[presenceOf(status, live.count)]++
    }
  return [
    gauge('muster_agents', 'Agents that are connected and belong to a workload.', openAgents),
    gauge(
      'muster_agents_held',
      'Agents in memory: connected, away for less than the grace, or not described yet.',
      state.instances.size,
    ),
    {
      name: 'muster_workloads',
      kind: 'gauge',
      help: 'Workloads that are not archived, by status; one whose last instance just left is leaving.',
      samples: PRESENCES.map((status) => ({ labels: `status="${status}"`, value: byPresence[status] })),
    },
    gauge('muster_pushes_pending', 'Workloads whose newest push has not converged.', pendingPushes),
    counter('muster_pushes_applied_total', 'Pushes that converged.', fleet.pushStats.applied),
    counter('muster_pushes_failed_total', 'Pushes that failed or were undone.', fleet.pushStats.failed),
    counter(
      'muster_push_convergence_seconds_total',
      'Time from submission to convergence, of all pushes that converged together.',
      fleet.pushStats.convergenceMs / 1000,
    ),
    gauge('muster_offers_outstanding', 'Offers without a final answer.', state.outstanding.size),
    {
      name: 'muster_offers_sent_total',
      kind: 'counter',
      help: 'Offers sent to agents, or to the fronts that have them, by cause.',
      samples: [...fleet.offers.sentCounts].map(([cause, value]) => ({ labels: `cause="${cause}"`, value })),
    },
    gauge('muster_events_waiting', 'Events that wait to be stored.', fleet.writer.stats.waitingEvents),
    counter(
      'muster_events_lost_total',
      'Events lost because too many waited.',
      fleet.writer.stats.lostEvents,
    ),
    counter('muster_rows_dropped_total', 'Rows that could not be stored.', fleet.writer.stats.droppedRows),
    counter(
      'muster_write_batches_total',
      'Batches of presence and status written.',
      fleet.writer.stats.flushes,
    ),
  ]
}

function listenerMetrics({ fleet, opamp, hub }: Context): Metric[] {
  const { perConnection, inAll, workloads } = fleet.limits
  const { messages, refused, turnedAway, forgottenPollers } = opamp.counts()
  const { clients, frames, resyncs, slowClients } = hub.stats
  return [
    counter('muster_opamp_messages_total', 'Messages of agents.', messages),
    counter('muster_opamp_refused_total', 'Messages refused as malformed.', refused),
    counter('muster_opamp_turned_away_total', 'Messages turned away for want of room to decode.', turnedAway),
    counter(
      'muster_opamp_agents_refused_total',
      `Messages of agents that found no room: a connection carries ${perConnection} agents at most, and the fleet has ${inAll} and ${workloads} workloads.`,
      fleet.refusedAgents,
    ),
    counter(
      'muster_opamp_pollers_forgotten_total',
      'Agents over HTTP that were forgotten to make room for others, of their address or in all.',
      forgottenPollers,
    ),
    gauge(
      'muster_opamp_decoding_free_bytes',
      'Bytes left of the budget for decoding.',
      opamp.decoding.free(),
    ),
    gauge('muster_hub_clients', 'Browsers that listen.', clients),
    counter('muster_hub_frames_total', 'Frames told to the browsers.', frames),
    counter('muster_hub_resyncs_total', 'Bursts told as one request to fetch again.', resyncs),
    counter('muster_hub_slow_clients_total', 'Browsers cut because they read too slowly.', slowClients),
  ]
}

function databaseMetrics(ctx: Context): Metric[] {
  const statistics = ctx.databaseStatistics?.()
  if (statistics === undefined) return []
  const { maxIdleClosed, maxIdleTimeClosed, maxLifetimeClosed } = statistics
  return [
    gauge('muster_database_connections_max', 'Sessions allowed.', statistics.maxOpenConnections),
    {
      name: 'muster_database_connections',
      kind: 'gauge',
      help: 'Open sessions, by state.',
      samples: [
        { labels: 'state="in_use"', value: statistics.inUse },
        { labels: 'state="idle"', value: statistics.idle },
      ],
    },
    counter('muster_database_waits_total', 'Callers that waited for a session.', statistics.waitCount),
    counter('muster_database_wait_seconds_total', 'How long they waited.', statistics.waitDurationMs / 1000),
    {
      name: 'muster_database_closed_total',
      kind: 'counter',
      help: 'Sessions closed by the pool, by reason.',
      samples: [
        { labels: 'reason="idle_limit"', value: maxIdleClosed },
        { labels: 'reason="idle_time"', value: maxIdleTimeClosed },
        { labels: 'reason="lifetime"', value: maxLifetimeClosed },
      ],
    },
  ]
}

function auditLockMetrics({ db }: Context): Metric[] {
  const taken = db.auditLock.take()
  const metric = (
    kind: Metric['kind'],
    name: string,
    help: string,
    read: (holds: (typeof taken)[number][1]) => number,
  ): Metric => ({
    name,
    kind,
    help,
    samples: taken.map(([transaction, holds]) => ({
      labels: `transaction="${transaction}"`,
      value: read(holds),
    })),
  })
  return [
    metric(
      'counter',
      'muster_audit_lock_holds_total',
      'Transactions that held the lock of the audit trail, by transaction.',
      ({ count }) => count,
    ),
    metric(
      'counter',
      'muster_audit_lock_held_seconds_total',
      'How long they held it.',
      ({ totalMs }) => totalMs / 1000,
    ),
    metric(
      'gauge',
      'muster_audit_lock_held_longest_seconds',
      'Longest time one of them held it since the last scrape.',
      ({ longestMs }) => longestMs / 1000,
    ),
  ]
}

/** What is measured of the process itself. */
export function processMetrics({ config }: Pick<Context, 'config'>, loop: LoopWatch): Metric[] {
  const { user, system } = process.cpuUsage()
  return [
    {
      name: 'muster_build_info',
      kind: 'gauge',
      help: 'What runs.',
      samples: [{ labels: `version="${VERSION}",edition="${config.edition}"`, value: 1 }],
    },
    gauge(
      'muster_event_loop_held_seconds',
      'Longest time the event loop was held since the last scrape.',
      loop.takeLongestMs() / 1000,
    ),
    gauge('process_resident_memory_bytes', 'Memory in use.', process.memoryUsage.rss()),
    gauge(
      'muster_heap_used_bytes',
      'Heap in use, garbage not yet collected included.',
      process.memoryUsage().heapUsed,
    ),
    counter('process_cpu_seconds_total', 'CPU time of all threads.', (user + system) / 1e6),
  ]
}

/** Everything that is measured, in Prometheus' text format (version 0.0.4). */
export async function renderMetrics(ctx: Context, sources: MetricSources): Promise<string> {
  const fleet = await fleetMetrics(ctx)
  const metrics = [
    ...processMetrics(ctx, sources.loop),
    gauge('muster_alerts_open', 'Alerts that are open.', ctx.counters.openAlertsInAll()),
    ...fleet,
    ...listenerMetrics(ctx),
    ...databaseMetrics(ctx),
    ...auditLockMetrics(ctx),
    ...pressureMetrics(ctx, sources.pressure),
    ...(await campaignMetrics(ctx)),
    await keptMetrics(ctx),
  ]
  return writeMetrics(metrics)
}

/** Metrics in Prometheus' text format. */
export const writeMetrics = (metrics: readonly Metric[]): string => metrics.map(renderMetric).join('')

function renderMetric({ name, kind, help, samples }: Metric): string {
  const lines = samples.map(
    ({ labels, value }) => `${name}${labels === undefined ? '' : `{${labels}}`} ${value}\n`,
  )
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}`
}
