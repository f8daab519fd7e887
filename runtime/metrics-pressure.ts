import type { Context } from './context.ts'
import type { Metric } from './metrics.ts'
import type { Listener } from './uws.ts'

/** What fills up under load, besides what the context holds. */
export interface PressureSources {
  listeners: Readonly<
    Record<'api' | 'opamp', Pick<Listener, 'inFlight' | 'bufferedBytes' | 'bodyBytesFree' | 'socketCounts'>>
  >
  workers: Readonly<Record<'password' | 'config' | 'report', { load(): { threads: number; queued: number } }>>
}

const gauge = (name: string, help: string, samples: Metric['samples']): Metric => ({
  ...{ name, help, kind: 'gauge' },
  samples,
})

/** One metric for each queue and buffer of the process: all are bounded, and this is how full they are. */
export function pressureMetrics(
  { fleet, hub, reportTurns, webhooks }: Context,
  sources: PressureSources,
): Metric[] {
  const listeners = Object.entries(sources.listeners)
  const workers = Object.entries(sources.workers)
  return [
    gauge(
      'muster_http_requests_in_flight',
      'Requests that are not answered to the end, by listener.',
      listeners.map(([name, listener]) => ({ labels: `listener="${name}"`, value: listener.inFlight() })),
    ),
    gauge(
      'muster_http_body_free_bytes',
      'Bytes left of the budget for bodies that are being received, by listener.',
      listeners.map(([name, listener]) => ({
        labels: `listener="${name}"`,
        value: listener.bodyBytesFree() ?? 0,
      })),
    ),
    gauge(
      'muster_sockets_open',
      'WebSockets that are open, by listener.',
      listeners.map(([name, listener]) => ({
        labels: `listener="${name}"`,
        value: listener.socketCounts().open,
      })),
    ),
    {
      ...{
        name: 'muster_sockets_turned_away_total',
        kind: 'counter',
        help: 'Handshakes refused because the listener, or one address, had as many WebSockets as it may, by listener.',
      },
      samples: listeners.map(([name, listener]) => ({
        labels: `listener="${name}"`,
        value: listener.socketCounts().turnedAway,
      })),
    },
    {
      ...{
        name: 'muster_sockets_cut_total',
        kind: 'counter',
        help: 'WebSockets cut in want of memory because they had finished no message for long, by listener.',
      },
      samples: listeners.map(([name, listener]) => ({
        labels: `listener="${name}"`,
        value: listener.socketCounts().cut,
      })),
    },
    gauge(
      'muster_socket_buffered_bytes',
      'Bytes sent to WebSockets that their peers have not read, by listener.',
      listeners.map(([name, listener]) => ({
        labels: `listener="${name}"`,
        value: listener.bufferedBytes(),
      })),
    ),
    gauge(
      'muster_worker_threads',
      'Worker threads that live, by kind of work.',
      workers.map(([name, pool]) => ({ labels: `worker="${name}"`, value: pool.load().threads })),
    ),
    gauge(
      'muster_worker_jobs_queued',
      'Jobs that wait for a worker thread, by kind of work.',
      workers.map(([name, pool]) => ({ labels: `worker="${name}"`, value: pool.load().queued })),
    ),
    gauge('muster_report_reads', 'Reports that are being read from the database.', [
      { value: reportTurns.taken },
    ]),
    gauge('muster_offers_waiting', 'Offers that wait to be stored before they are sent.', [
      { value: fleet.offers.waitingCount },
    ]),
    gauge('muster_rows_waiting', 'Rows other than events that wait to be stored.', [
      { value: fleet.writer.waitingRows },
    ]),
    gauge('muster_hub_states_waiting', 'States that wait to be told to browsers.', [
      { value: hub.waitingCount },
    ]),
    gauge('muster_hub_queued_bytes', 'Bytes of frames that wait for browsers to read.', [
      { value: hub.queuedBytes },
    ]),
    {
      ...{
        name: 'muster_webhook_attempts_total',
        kind: 'counter',
        help: 'Calls of the alert webhook, by outcome.',
      },
      samples: Object.entries(webhooks.stats).map(([outcome, value]) => ({
        labels: `outcome="${outcome}"`,
        value,
      })),
    },
  ]
}
