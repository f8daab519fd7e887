import type { Context } from './context.ts'
import type { Listener } from './listener.ts'
import type { Metric } from './metrics.ts'

type MeasuredListener = Pick<
  Listener,
  'inFlight' | 'bufferedBytes' | 'waitingBytes' | 'bodyBytesFree' | 'socketCounts' | 'connectionsTurnedAway'
>

/** What fills up under load, besides what the context holds. */
export interface PressureSources {
  /** By name: `api` and `opamp`, and `internal` of one process among several. */
  listeners: Readonly<Record<string, MeasuredListener>>
  workers: Readonly<Record<'password' | 'config' | 'report', { load(): { threads: number; queued: number } }>>
}

const gauge = (name: string, help: string, samples: Metric['samples']): Metric => ({
  name,
  help,
  kind: 'gauge',
  samples,
})

const counter = (name: string, help: string, samples: Metric['samples']): Metric => ({
  name,
  help,
  kind: 'counter',
  samples,
})

/** A sample of each of several parts of the process, told apart by a label. */
const samplesOf = <Part>(
  label: string,
  parts: Readonly<Record<string, Part>>,
  read: (part: Part) => number,
) => Object.entries(parts).map(([name, part]) => ({ labels: `${label}="${name}"`, value: read(part) }))

/** How full the listeners are: requests, bodies, sockets. */
export function listenerMetrics(listeners: PressureSources['listeners']): Metric[] {
  const of = (read: (listener: MeasuredListener) => number) => samplesOf('listener', listeners, read)
  return [
    gauge(
      'muster_http_requests_in_flight',
      'Requests that are not answered to the end, by listener.',
      of((listener) => listener.inFlight()),
    ),
    gauge(
      'muster_http_body_free_bytes',
      'Bytes left of the budget for bodies that are being received, by listener.',
      of((listener) => listener.bodyBytesFree() ?? 0),
    ),
    gauge(
      'muster_sockets_open',
      'WebSockets that are open, by listener.',
      of((listener) => listener.socketCounts().open),
    ),
    counter(
      'muster_sockets_turned_away_total',
      'Handshakes refused because the listener, or one address, had as many WebSockets as it may, by listener.',
      of((listener) => listener.socketCounts().turnedAway),
    ),
    counter(
      'muster_connections_turned_away_total',
      'Connections cut as they came because the listener had as many as strangers may hold, by listener.',
      of((listener) => listener.connectionsTurnedAway()),
    ),
    counter(
      'muster_sockets_cut_total',
      'WebSockets cut in want of memory because they had finished no message for long, by listener.',
      of((listener) => listener.socketCounts().cut),
    ),
    counter(
      'muster_sockets_flooded_total',
      'WebSockets cut because they said more than may wait for its turn, by listener.',
      of((listener) => listener.socketCounts().flooded),
    ),
    gauge(
      'muster_socket_buffered_bytes',
      'Bytes sent to WebSockets that their peers have not read, by listener.',
      of((listener) => listener.bufferedBytes()),
    ),
    gauge(
      'muster_socket_waiting_bytes',
      'What WebSockets have said that waits for its turn, by listener.',
      of((listener) => listener.waitingBytes()),
    ),
  ]
}

/** How busy the worker threads are. */
function workerMetrics(workers: PressureSources['workers']): Metric[] {
  return [
    gauge(
      'muster_worker_threads',
      'Worker threads that live, by kind of work.',
      samplesOf('worker', workers, (pool) => pool.load().threads),
    ),
    gauge(
      'muster_worker_jobs_queued',
      'Jobs that wait for a worker thread, by kind of work.',
      samplesOf('worker', workers, (pool) => pool.load().queued),
    ),
  ]
}

/** One metric for each queue and buffer of the process: all are bounded, and this is how full they are. */
export function pressureMetrics(
  { fleet, hub, reportTurns, webhooks }: Context,
  sources: PressureSources,
): Metric[] {
  const single = (name: string, help: string, value: number) => gauge(name, help, [{ value }])
  return [
    ...listenerMetrics(sources.listeners),
    ...workerMetrics(sources.workers),
    single('muster_report_reads', 'Reports that are being read from the database.', reportTurns.taken),
    single(
      'muster_offers_waiting',
      'Offers that wait to be stored before they are sent.',
      fleet.offers.waitingCount,
    ),
    single('muster_rows_waiting', 'Rows other than events that wait to be stored.', fleet.writer.waitingRows),
    single('muster_hub_states_waiting', 'States that wait to be told to browsers.', hub.waitingCount),
    single('muster_hub_queued_bytes', 'Bytes of frames that wait for browsers to read.', hub.queuedBytes),
    counter(
      'muster_webhook_attempts_total',
      'Calls of the alert webhook, by outcome.',
      samplesOf('outcome', { ...webhooks.stats }, (count) => count),
    ),
  ]
}
