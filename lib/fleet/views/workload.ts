import { TRUSTED_PREFIX } from '../../model/labels.ts'
import type { RevisionRecord } from '../../wire/revisions.ts'
import type { RemoteConfigStatus, WorkloadRecord, WorkloadTrouble } from '../../wire/workloads.ts'
import type { Workload } from '../state/model.ts'
import type { VersionMix } from '../state/version-tally.ts'
import { errorFields, type TextAccess } from './errors.ts'
import { countRunning } from './running-configs.ts'
import { shownLabel } from './shown-labels.ts'

/** What a workload's record is made of beside the workload itself. */
export interface WorkloadSurroundings {
  driftedCount: number
  alteredCount: number
  alteredSince: Date | null
  openAlerts: number
  waitingApprovals: number
  isVersionOutdated: boolean
  retentionMs: number
  push: RevisionRecord | null
  trouble: WorkloadTrouble | null
}

/** A record without `last_seen_at`, which changes with every message. */
export type SteadyRecord = Omit<WorkloadRecord, 'last_seen_at'>

/** The labels of a workload: the agents' own, without the trusted prefix, and the operators' under it. */
export function toLabels(workload: Workload): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const [key, value] of Object.entries(workload.labels))
    if (!key.startsWith(TRUSTED_PREFIX)) labels[key] = shownLabel(key, value)
  for (const [key, value] of Object.entries(workload.trustedLabels)) labels[TRUSTED_PREFIX + key] = value
  return labels
}

/** The config status of a workload as the fleet derives it: the worst report for its active config. */
export function toWorkloadConfigStatus(workload: Workload, texts: TextAccess): RemoteConfigStatus | null {
  const status = workload.remoteConfigStatus
  if (status === null) return null
  return {
    status: status.status,
    config_hash: status.configHash,
    updated_at: status.updatedAt,
    ...errorFields(status.error, texts),
  }
}

/** When a disconnected workload will be archived; null for one that is not disconnected, or is archived. */
export function retentionUntil(workload: Workload, retentionMs: number): Date | null {
  const { disconnectedAt, archivedAt, status } = workload
  if (archivedAt !== null || disconnectedAt === null || status !== 'disconnected') return null
  return new Date(disconnectedAt.getTime() + retentionMs)
}

/** One workload as lists, details and hub frames show it. */
export function toWorkloadRecord(
  workload: Workload,
  around: WorkloadSurroundings,
  texts: TextAccess,
): SteadyRecord {
  const status = toWorkloadConfigStatus(workload, texts)
  const until = retentionUntil(workload, around.retentionMs)
  const hash = workload.activeHash
  const running = countRunning(workload)
  const reported = workload.live.commonReportedHash()
  const mix = workload.live.versionMix()
  return {
    id: workload.id,
    fingerprint_source: workload.fingerprintSource,
    fingerprint_keys: { ...workload.fingerprintKeys },
    display_name: workload.displayName,
    type: workload.type,
    version: workload.version,
    ...(mix === null ? {} : { version_mix: toVersionMix(mix) }),
    status: workload.status,
    labels: toLabels(workload),
    ...(hash === null ? {} : { active_config_id: hash, active_config_hash: hash }),
    ...(running === null ? {} : { running_configs: running }),
    ...(status === null ? {} : { remote_config_status: status }),
    ...(around.push === null ? {} : { current_config_push: around.push }),
    ...(workload.availableComponents === null ? {} : { available_components: toComponents(workload) }),
    accepts_remote_config: workload.acceptsRemoteConfig,
    ...(until === null ? {} : { retention_until: until.toISOString() }),
    ...(workload.archivedAt === null ? {} : { archived_at: workload.archivedAt.toISOString() }),
    ...(reported === '' ? {} : { reported_config_hash: reported }),
    connected_instance_count: workload.live.count,
    drifted_instance_count: around.driftedCount,
    ...(around.alteredCount === 0 ? {} : { altered_instance_count: around.alteredCount }),
    ...(around.alteredSince === null ? {} : { altered_since: around.alteredSince.toISOString() }),
    applying_instance_count: workload.live.applyingCount,
    open_alert_count: around.openAlerts,
    waiting_approval_count: around.waitingApprovals,
    version_outdated: around.isVersionOutdated,
    ...(around.trouble === null ? {} : { trouble: around.trouble }),
  }
}

/** The versions of instances that differ, as answers name them. */
export const toVersionMix = ({ count, lowest }: VersionMix): NonNullable<WorkloadRecord['version_mix']> => ({
  count,
  lowest: lowest.map(({ version, instanceCount }) => ({ version, instance_count: instanceCount })),
})

function toComponents({ availableComponents }: Workload): WorkloadRecord['available_components'] {
  const { components, hash } = availableComponents!
  return {
    components: Object.fromEntries(
      Object.entries(components).map(([category, types]) => [category, [...types]]),
    ),
    ...(hash === '' ? {} : { hash }),
  }
}

/** The fields that may be absent from a record; in a hub frame they are null then. */
export const CLEARABLE = [
  'active_config_hash',
  'active_config_id',
  'altered_instance_count',
  'altered_since',
  'archived_at',
  'available_components',
  'remote_config_status',
  'reported_config_hash',
  'retention_until',
  'running_configs',
  'trouble',
  'version_mix',
] as const
