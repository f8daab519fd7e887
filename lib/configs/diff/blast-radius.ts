import { CLUSTER_KEYS } from '../../model/labels.ts'
import { namesProduction } from '../../model/production.ts'
import { compareText } from '../../model/text-order.ts'
import type {
  DiffBlastRadius,
  DiffComponent,
  DiffEndpoint,
  DiffPipeline,
  DiffRiskItem,
} from '../../wire/diff.ts'
import type { FleetPeer } from '../check/target.ts'
import { isSecretName, redactName, redactString } from '../redact/redact.ts'
import { signalOf } from './pipelines.ts'

/** The labels whose values `impacted_clusters` lists. */
const PLACE_KEYS = [...CLUSTER_KEYS, 'k8s.namespace.name', 'deployment.environment'] as const
const SERVICE_KEYS = ['service.name', 'service', 'app.kubernetes.io/name'] as const

/** What and whom a change reaches. */
export function blastRadius(
  changes: {
    components: readonly DiffComponent[]
    pipelines: readonly DiffPipeline[]
    endpoints: readonly DiffEndpoint[]
    risks: readonly DiffRiskItem[]
  },
  workload: FleetPeer | null,
  peers: readonly FleetPeer[],
): DiffBlastRadius {
  const clusters = new Set(workload ? placesOf(workload) : [])
  const scoped = workload ? peers.filter((peer) => isNeighbour(workload, peer)) : []
  const reached = workload ? [workload, ...scoped] : []
  return {
    schema_version: 'otel-config-blast-radius.v1',
    affected_signals: affectedSignals(changes),
    touched_exporters: touchedExporters(changes),
    impacted_services: reached
      .flatMap(service)
      .sort(
        (a, b) =>
          compareText(a.service_name, b.service_name) ||
          compareText(a.workload_id ?? '', b.workload_id ?? ''),
      ),
    impacted_clusters: [...clusters].sort(compareText),
    critical_collectors: reached
      .flatMap(criticalCollector)
      .sort((a, b) => compareText(a.workload_id, b.workload_id)),
  }
}

/** The radius of a change that nothing is known about. */
export function emptyBlastRadius(): DiffBlastRadius {
  return blastRadius({ components: [], pipelines: [], endpoints: [], risks: [] }, null, [])
}

function affectedSignals({ components, pipelines, risks }: Parameters<typeof blastRadius>[0]): string[] {
  const names = [
    ...pipelines.map(({ pipeline_key }) => pipeline_key),
    ...components.flatMap(({ impacted_pipelines }) => impacted_pipelines),
    ...risks.flatMap(({ affected_pipelines }) => affected_pipelines),
  ]
  return unique(names.map(signalOf).filter((signal) => signal !== 'unknown'))
}

function touchedExporters({ components, pipelines, endpoints }: Parameters<typeof blastRadius>[0]): string[] {
  const isExporter = ({ component }: { component: { category: string } }) =>
    component.category === 'exporters'
  return unique([
    ...components.filter(isExporter).map(({ component }) => component.id),
    ...endpoints.filter(isExporter).map(({ component }) => component.id),
    ...pipelines.flatMap(({ kind, before, after, component_ref_changes }) => [
      ...component_ref_changes.flatMap(({ section, component_id }) =>
        section === 'exporters' ? [component_id] : [],
      ),
      ...(kind === 'modified' ? [] : ((before ?? after)?.exporters ?? [])),
    ]),
  ]).map(redactName)
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort(compareText)
}

/**
 * Whether a peer may feel a change of a workload: it runs in the same cluster, and nothing says that it belongs to
 * another environment. Namespaces and environments have the same few names everywhere; they make no neighbours.
 */
function isNeighbour(workload: FleetPeer, peer: FleetPeer): boolean {
  if (peer.id === workload.id) return false
  const cluster = clusterNameOf(workload)
  if (cluster === '' || !CLUSTER_KEYS.some((key) => labelOf(peer, key) === cluster)) return false
  const environments = [workload, peer].map((one) => labelOf(one, 'deployment.environment'))
  return environments.includes('') || environments[0] === environments[1]
}

/** The cluster whose workloads may feel a change of this one; empty where none is named. */
export const clusterNameOf = (workload: FleetPeer): string =>
  CLUSTER_KEYS.map((key) => labelOf(workload, key)).find((name) => name !== '') ?? ''

/** Whether a label matters to a blast radius; the others need not go to the thread that makes it. */
export function isOfBlastRadius(key: string, value: string): boolean {
  return LOOKED_AT.has(key) || JUDGED_IN_ANY_CASE.test(key) || PRODUCTION_WORD.test(value)
}

const LOOKED_AT: ReadonlySet<string> = new Set([...PLACE_KEYS, ...SERVICE_KEYS])
const JUDGED_IN_ANY_CASE = /^(?:critical|tier)$/i
/** What makes a collector one of production in any label, beside what policy and confirmations go by. */
const PRODUCTION_WORD = /^\s*prod(?:uction)?\s*$/i

function labelOf(peer: FleetPeer, key: string): string {
  for (const source of [peer.labels, peer.fingerprintKeys]) {
    const value = Object.hasOwn(source, key) ? source[key]!.trim() : ''
    if (value !== '' && redactString(value) === value && !isSecretName(value)) return value
  }
  return ''
}

function placesOf(peer: FleetPeer): string[] {
  return PLACE_KEYS.map((key) => labelOf(peer, key)).filter((value) => value !== '')
}

function service(peer: FleetPeer): DiffBlastRadius['impacted_services'] {
  const name = SERVICE_KEYS.map((key) => labelOf(peer, key)).find((value) => value !== '')
  if (name === undefined) return []
  return [
    {
      service_name: name,
      workload_id: peer.id,
      display_name: peer.displayName,
      type: peer.type,
      status: peer.status,
    },
  ]
}

function criticalCollector(peer: FleetPeer): DiffBlastRadius['critical_collectors'] {
  if (peer.type !== 'collector' && !peer.displayName.toLowerCase().includes('collector')) return []
  const labels = Object.entries(peer.labels).map(([key, value]) => [
    key.toLowerCase(),
    value.trim().toLowerCase(),
  ])
  const has = (key: string, value: string) => labels.some((label) => label[0] === key && label[1] === value)
  const isProduction =
    peer.isProduction ||
    labels.some(([, value]) => PRODUCTION_WORD.test(value!)) ||
    placesOf(peer).some(namesProduction)
  const reasons = [
    'collector_workload',
    ...(has('critical', 'true') ? ['critical_true'] : []),
    ...(isProduction ? ['production_label'] : []),
    ...(peer.status === 'degraded' || peer.status === 'disconnected' ? [`status_${peer.status}`] : []),
    ...(has('tier', 'critical') ? ['tier_critical'] : []),
  ]
  return [{ workload_id: peer.id, display_name: peer.displayName, status: peer.status, reasons }]
}
