import { AGENT_CAPABILITIES, type HealthNode as ReportedHealth } from '../../opamp/report.ts'
import type { AgentError } from '../../store/pushes.ts'
import type { HealthNode, InstanceDetail, InstanceFault, LiveInstance } from '../../wire/instances.ts'
import type { RemoteConfigStatus } from '../../wire/workloads.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { runningHash } from '../decide/running-hash.ts'
import type { Instance, RemoteConfigReport } from '../state/model.ts'
import { errorFields, type TextAccess } from './errors.ts'
import { shownLabel } from './shown-labels.ts'

/** Whether the effective config holds everything that the assigned one asks for. */
export interface EffectiveMatch {
  matches: boolean | 'unknown'
  /** The config paths at which it does not. */
  paths: readonly string[]
}

/** Says in safe words what an agent's error text means; without `withText` its `text` is left empty. */
export type ClassifyError = (raw: string, options?: { withText: boolean }) => AgentError

/** The newest remote config status of an instance. */
export function toRemoteConfigStatus(report: RemoteConfigReport, texts: TextAccess): RemoteConfigStatus {
  return {
    status: report.status,
    config_hash: report.hash,
    updated_at: report.at.toISOString(),
    ...errorFields(report.error, texts),
  }
}

/** Does this instance say that it is healthy? Without a health report it counts as healthy. */
export const isHealthy = (instance: Instance): boolean => instance.health === null || instance.health.healthy

/** One live instance as lists and the topology show it. */
export function toLiveInstance(
  instance: Instance,
  about: {
    assignedHash: string | null
    match: EffectiveMatch
    alteredSince: Date | null
    fault: InstanceFault | null
    /** Whether it makes its workload degraded now: what counts as unhealthy is decided there alone. */
    isUnwell: boolean
  },
  texts: TextAccess,
): LiveInstance {
  const { match, alteredSince } = about
  const runs = runningHash(instance)
  return {
    instance_uid: instance.uid,
    ...(instance.podName === '' ? {} : { pod_name: instance.podName }),
    ...(instance.version === '' ? {} : { version: instance.version }),
    connected_at: instance.connectedAt.toISOString(),
    last_message_at: instance.lastMessageAt.toISOString(),
    ...(instance.isDescribed ? {} : { described: false as const }),
    healthy: isHealthy(instance),
    ...(isHealthy(instance) || about.isUnwell ? {} : { settling: true as const }),
    accepts_remote_config: isCapable(instance),
    ...(instance.hasCapabilities ? { remote_config_capability_known: true } : {}),
    reports_remote_config: canReport(instance),
    ...(runs === '' ? {} : { effective_config_hash: runs }),
    ...(instance.reportedConfigHash === '' ? {} : { reported_config_hash: instance.reportedConfigHash }),
    ...(about.assignedHash === null ? {} : { assigned_config_hash: about.assignedHash }),
    effective_matches: match.matches,
    ...(match.matches === false ? { effective_mismatch_paths: [...match.paths] } : {}),
    ...(match.matches === false && alteredSince !== null
      ? { altered_since: alteredSince.toISOString() }
      : {}),
    ...(instance.report === null
      ? {}
      : { remote_config_status: toRemoteConfigStatus(instance.report, texts) }),
    ...(about.fault === null ? {} : { fault: about.fault }),
  }
}

/** The health tree as the wire shows it, errors in safe words. */
export function toHealth(node: ReportedHealth, classifyError: ClassifyError, texts: TextAccess): HealthNode {
  const { error_message, ...error } =
    node.lastError === ''
      ? {}
      : errorFields(classifyError(node.lastError, { withText: texts.withTexts }), texts)
  const children = [...node.children].map(([name, child]): [string, HealthNode] => [
    name,
    toHealth(child, classifyError, texts),
  ])
  return {
    healthy: node.healthy,
    ...(node.status === '' ? {} : { status: node.status }),
    ...(node.startTimeMs === null ? {} : { started_at: new Date(node.startTimeMs).toISOString() }),
    ...(node.statusTimeMs === null ? {} : { updated_at: new Date(node.statusTimeMs).toISOString() }),
    ...error,
    ...(error_message === undefined ? {} : { last_error: error_message }),
    ...(children.length === 0 ? {} : { components: Object.fromEntries(children) }),
  }
}

/** The capabilities of an agent by name, in the order of their bits. */
function capabilityNames(bits: number): string[] {
  return Object.entries(AGENT_CAPABILITIES).flatMap(([name, bit]) =>
    (bits & bit) === 0 ? [] : [name.charAt(0).toUpperCase() + name.slice(1)],
  )
}

/** Everything that is shown of one instance, except the text of its effective config. */
export function toInstanceDetail(
  instance: Instance,
  record: LiveInstance,
  classifyError: ClassifyError,
  texts: TextAccess,
): InstanceDetail {
  const { components } = instance
  return {
    ...record,
    workload_id: instance.workload?.id ?? '',
    ...(instance.connection === null
      ? {}
      : { transport: instance.connection.transport === 'http' ? 'http' : 'websocket' }),
    capabilities: capabilityNames(instance.capabilities),
    attributes: Object.fromEntries(
      [...(instance.attributes ?? [])].map(([key, value]) => [key, shownLabel(key, value)]),
    ),
    ...(instance.health === null ? {} : { health: toHealth(instance.health, classifyError, texts) }),
    ...(components === null
      ? {}
      : {
          available_components: {
            components: Object.fromEntries(
              [...components.components].map(([category, types]) => [category, [...types]]),
            ),
            ...(components.hash === '' ? {} : { hash: components.hash }),
          },
        }),
  }
}
