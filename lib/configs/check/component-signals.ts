import type { PipelineSection } from '../yaml/value.ts'

/** The signals that every collector carries; `profiles` needs a feature gate and is judged apart. */
export const SIGNALS = ['traces', 'metrics', 'logs'] as const
/** One of `SIGNALS`. */
export type Signal = (typeof SIGNALS)[number]

const TRACES: readonly Signal[] = ['traces']
const METRICS: readonly Signal[] = ['metrics']
const LOGS: readonly Signal[] = ['logs']
const METRICS_LOGS: readonly Signal[] = ['metrics', 'logs']
const TRACES_LOGS: readonly Signal[] = ['traces', 'logs']

/**
 * Signals of well-known components that do not carry all of them, from their published stability tables.
 * A component that is not listed is taken to carry everything. Spelled without underscores.
 */
const CARRIED: Readonly<Record<PipelineSection, Readonly<Record<string, readonly Signal[]>>>> = {
  receivers: {
    dockerstats: METRICS,
    filelog: LOGS,
    fluentforward: LOGS,
    hostmetrics: METRICS_LOGS,
    httpcheck: METRICS,
    jaeger: TRACES,
    journald: LOGS,
    k8scluster: METRICS_LOGS,
    k8sevents: LOGS,
    k8sobjects: LOGS,
    kafkametrics: METRICS,
    kubeletstats: METRICS,
    nginx: METRICS,
    prometheus: METRICS,
    redis: METRICS,
    statsd: METRICS,
    syslog: LOGS,
    tcplog: LOGS,
    udplog: LOGS,
    zipkin: TRACES,
  },
  processors: {
    cumulativetodelta: METRICS,
    deltatocumulative: METRICS,
    deltatorate: METRICS,
    groupbytrace: TRACES,
    interval: METRICS,
    logdedup: LOGS,
    metricsgeneration: METRICS,
    metricstarttime: METRICS,
    metricstransform: METRICS,
    probabilisticsampler: TRACES_LOGS,
    span: TRACES,
    tailsampling: TRACES,
  },
  exporters: {
    awsxray: TRACES,
    prometheus: METRICS,
    prometheusremotewrite: METRICS,
    zipkin: TRACES,
  },
}

/** Whether a component can stand in a pipeline of a signal; true where nothing is known against it. */
export function carriesSignal(category: PipelineSection, type: string, signal: Signal): boolean {
  const key = type.replaceAll('_', '')
  const table = CARRIED[category]
  return !Object.hasOwn(table, key) || table[key]!.includes(signal)
}

/** The pairs of signals, taken and given, of well-known connectors; `same`: any signal, given as it was taken. */
const CONNECTED: Readonly<Record<string, 'same' | ReadonlyArray<readonly [Signal, Signal]>>> = {
  count: [
    ['traces', 'metrics'],
    ['metrics', 'metrics'],
    ['logs', 'metrics'],
  ],
  exceptions: [
    ['traces', 'metrics'],
    ['traces', 'logs'],
  ],
  failover: 'same',
  forward: 'same',
  roundrobin: 'same',
  routing: 'same',
  servicegraph: [['traces', 'metrics']],
  spanmetrics: [['traces', 'metrics']],
}

/** Whether a connector can lead from a pipeline of one signal into one of another. */
export function connects(type: string, from: Signal, to: Signal): boolean {
  const key = type.replaceAll('_', '')
  if (!Object.hasOwn(CONNECTED, key)) return true
  const pairs = CONNECTED[key]!
  return pairs === 'same' ? from === to : pairs.some(([source, target]) => source === from && target === to)
}
