import { createHash } from 'node:crypto'
import { TRUSTED_PREFIX } from '../../model/labels.ts'
import { AGENT_CAPABILITIES } from '../../opamp/report.ts'

/** Which workload an agent belongs to, worked out from its description. */
export interface WorkloadIdentity {
  /** The first 24 hex characters of SHA-256 over the identity text. */
  id: string
  source: 'k8s' | 'host' | 'uid'
  keys: Record<string, string>
}

/** A run of a CronJob carries both names: the CronJob's comes first, so that its runs are one workload. */
const KUBERNETES_KINDS = ['deployment', 'daemonset', 'statefulset', 'cronjob', 'job'] as const

const identify = (source: WorkloadIdentity['source'], text: string, keys: Record<string, string>) => ({
  id: createHash('sha256').update(text).digest('hex').slice(0, 24),
  source,
  keys,
})

/** The workload of an agent: by its Kubernetes owner, else by service and host, else by its own uid. */
export function identifyWorkload(attributes: ReadonlyMap<string, string>, uid: string): WorkloadIdentity {
  const value = (key: string) => attributes.get(key) ?? ''
  const namespace = value('k8s.namespace.name')
  if (namespace !== '') {
    for (const kind of KUBERNETES_KINDS) {
      const name = value(`k8s.${kind}.name`)
      if (name === '') continue
      const cluster = value('k8s.cluster.name') || 'unknown'
      return identify('k8s', `k8s|${cluster}|${namespace}|${kind}|${name}`, {
        cluster,
        namespace,
        kind,
        name,
      })
    }
  }
  const host = value('host.name')
  if (host !== '') {
    const service = value('service.name')
    return identify('host', `host|${service}|${host}`, { 'service.name': service, 'host.name': host })
  }
  return identify('uid', `uid|${uid}`, { instance_uid: uid })
}

const BRIDGE = 'io.opentelemetry.operator-opamp-bridge'
const SUPERVISOR_CAPABILITIES =
  AGENT_CAPABILITIES.acceptsRemoteConfig | AGENT_CAPABILITIES.reportsEffectiveConfig

/** Distributions of SDKs that speak OpAMP and would not know what to do with a collector config. */
const SDK_DISTRIBUTIONS =
  /^(elastic|splunk-otel|aws-otel|opentelemetry-(java|python|node|js|dotnet|php|ruby))/

/** Is this agent an application's SDK, or a bridge that manages other agents? No config is ever pushed to those. */
export function isExcludedFromConfigs(attributes: ReadonlyMap<string, string>): boolean {
  if (attributes.get('service.name') === BRIDGE) return true
  if ((attributes.get('telemetry.sdk.language') ?? '') !== '') return !namesCollector(attributes)
  return SDK_DISTRIBUTIONS.test((attributes.get('telemetry.distro.name') ?? '').toLowerCase())
}

function namesCollector(attributes: ReadonlyMap<string, string>): boolean {
  if ((attributes.get('otelcol.version') ?? '') !== '') return true
  return (attributes.get('os.description') ?? '').toLowerCase().includes('otelcol')
}

/** `collector` by its description, by what it reports, or by the capabilities of a supervisor; else `sdk`. */
export function classifyAgent(
  attributes: ReadonlyMap<string, string>,
  evidence: { capabilities: number; reportsComponents: boolean; runsPipelines: boolean },
): 'collector' | 'sdk' {
  if (namesCollector(attributes)) return 'collector'
  if (isExcludedFromConfigs(attributes)) return 'sdk'
  const service = (attributes.get('service.name') ?? '').toLowerCase()
  if (service.startsWith('otelcol') || /opentelemetry[-.]collector/.test(service)) return 'collector'
  if (evidence.reportsComponents || evidence.runsPipelines) return 'collector'
  return (evidence.capabilities & SUPERVISOR_CAPABILITIES) === SUPERVISOR_CAPABILITIES ? 'collector' : 'sdk'
}

/** Does this attribute of a description label the workload? Trusted labels are never taken from an agent. */
export const isWorkloadLabel = (key: string): boolean =>
  key !== 'service.name' && key !== 'service.version' && !key.startsWith(TRUSTED_PREFIX)
