import { missingComponents } from '../configs/check/components.ts'
import type { ConfigOutline } from '../configs/outline.ts'
import type { VersionMix } from '../fleet/state/version-tally.ts'
import { placeFieldOf } from '../model/places.ts'
import { byBytes } from '../model/text-order.ts'
import { compareVersions, isComparable } from '../model/versions.ts'
import type {
  BlockingReason,
  CompatibilityRow,
  UnsupportedComponent,
  VersionStanding,
} from '../wire/version-intelligence.ts'

/** The components of the config that a workload should run. */
export interface PostureConfig extends ConfigOutline {
  hash: string
}

/** One workload that is not archived, as far as its version and components matter. */
export interface PostureWorkload {
  id: string
  displayName: string
  type: string
  status: string
  version: string
  /** The versions of its instances where they differ; null where they agree. */
  versionMix: VersionMix | null
  labels: Readonly<Record<string, string>>
  fingerprintKeys: Readonly<Record<string, string>>
  acceptsRemoteConfig: boolean
  remoteConfigStatus: { status: string; configHash: string } | null
  availableComponents: { components: Readonly<Record<string, readonly string[]>>; hash: string } | null
  /** The active config, else the newest applied one, else null. */
  config: PostureConfig | null
}

const GROUP_KEYS = [
  'group',
  'service.name',
  'app.kubernetes.io/name',
  'k8s.deployment.name',
  'k8s.daemonset.name',
  'k8s.statefulset.name',
] as const

const CATEGORIES: readonly string[] = ['receivers', 'processors', 'exporters', 'extensions', 'connectors']

/** The only known issue: older collectors mishandle remote config. */
const KNOWN_ISSUE = {
  code: 'collector_pre_0_80_remote_config_issue',
  severity: 'blocking',
  below: '0.80.0',
  message:
    'collector versions before 0.80.0 are blocked by the local compatibility catalog for remote config safety',
} as const

/** The group a workload is counted in: the first label or fingerprint key that names one. */
export function groupOf(workload: Pick<PostureWorkload, 'labels' | 'fingerprintKeys'>): string {
  for (const key of GROUP_KEYS) {
    for (const value of [workload.labels[key], workload.fingerprintKeys[key]]) {
      if (value !== undefined && value.trim() !== '') return value.trim()
    }
  }
  return 'ungrouped'
}

/** How the version of a workload compares with the recommended one. */
export function standingOf(workload: PostureWorkload, recommended: string): VersionStanding {
  if (workload.type !== 'collector') return 'not_applicable'
  return standingOfVersion(workload.version, recommended)
}

function standingOfVersion(version: string, recommended: string): VersionStanding {
  const order = compareVersions(version, recommended)
  if (order === null) return 'unknown'
  return order < 0 ? 'below_recommended' : order > 0 ? 'above_recommended' : 'at_recommended'
}

const rateMix = ({ count, lowest }: VersionMix, recommended: string): CompatibilityRow['version']['mix'] => ({
  count,
  lowest: lowest.map(({ version, instanceCount }) => ({
    version,
    instance_count: instanceCount,
    status: standingOfVersion(version, recommended),
  })),
})

function requiredComponents(config: PostureConfig | null): CompatibilityRow['required_components'] {
  if (config === null) return []
  const seen = new Set<string>()
  const required = config.defined.filter(({ category, type }) => {
    const key = `${category}.${type}`
    return CATEGORIES.includes(category) && !seen.has(key) && seen.add(key)
  })
  required.sort(
    (a, b) => CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category) || byBytes(a.type, b.type),
  )
  return required.map(({ category, type }) => ({
    category,
    component_type: type,
    path: `${category}.${type}`,
  }))
}

/** Components that the config uses and that a reported category does not have; one entry for each path. */
function unsupportedComponents(workload: PostureWorkload): UnsupportedComponent[] {
  const { config, availableComponents: available } = workload
  if (config === null || available === null) return []
  const seen = new Set<string>()
  return missingComponents(config.used, new Map(Object.entries(available.components))).flatMap((missing) => {
    const { category, type, path } = missing
    const types = available.components[category] ?? []
    const key = `${category}\n${type}\n${path}`
    if (seen.has(key)) return []
    seen.add(key)
    return {
      workload_id: workload.id,
      display_name: workload.displayName,
      ...placeFieldOf(workload.fingerprintKeys),
      config_hash: config.hash,
      category,
      component_type: type,
      path,
      ...(available.hash === '' ? {} : { available_hash: available.hash }),
      ...(types.length === 0 ? {} : { available_types: [...types].sort(byBytes) }),
    }
  })
}

function versionReason(version: string): 'unknown_version' | 'invalid_version' | null {
  if (isComparable(version)) return null
  return version.trim() === '' ? 'unknown_version' : 'invalid_version'
}

function capabilityReasons(
  workload: PostureWorkload,
  required: CompatibilityRow['required_components'],
): BlockingReason[] {
  const available = workload.availableComponents
  if (required.length === 0) return []
  if (available === null || Object.keys(available.components).length === 0) {
    const message = 'collector has not reported component capabilities for compatibility checks'
    return [{ code: 'component_capabilities_unknown', message }]
  }
  const categories = [...new Set(required.map((one) => one.category))].sort(byBytes)
  return categories
    .filter((category) => (available.components[category] ?? []).length === 0)
    .map((category) => ({
      code: 'component_capability_category_missing',
      message: `collector capabilities do not report ${category} needed by this config`,
    }))
}

function blockingReasons(
  workload: PostureWorkload,
  required: CompatibilityRow['required_components'],
  unsupported: readonly UnsupportedComponent[],
  isAffected: boolean,
): BlockingReason[] {
  const reasons = capabilityReasons(workload, required)
  const reason = versionReason(workload.version)
  if (reason !== null) {
    reasons.push({ code: reason, message: `collector version "${workload.version}" cannot be compared` })
  }
  for (const one of unsupported) {
    const message = `${one.category} "${one.component_type}" is required by config ${one.config_hash} but is not installed`
    reasons.push({ code: 'unsupported_component', message })
  }
  if (isAffected) reasons.push({ code: 'known_issue', message: KNOWN_ISSUE.message })
  if (!workload.acceptsRemoteConfig) {
    const message = 'collector has not reported OpAMP remote config acceptance'
    reasons.push({ code: 'remote_config_not_accepted', message })
  }
  return reasons
}

type Available = NonNullable<PostureWorkload['availableComponents']>
type ShownComponents = CompatibilityRow['available_components']
/** By the reported list, what is shown of it: workloads that report the same list share both. */
const shown = new WeakMap<Available, ShownComponents>()

function reportedComponents({ availableComponents: available }: PostureWorkload): ShownComponents {
  if (available === null) return { categories: [], component_types: {} }
  const known = shown.get(available)
  if (known !== undefined) return known
  const made = showComponents(available)
  shown.set(available, made)
  return made
}

function showComponents(available: Available): ShownComponents {
  const categories = Object.keys(available.components).sort(byBytes)
  return {
    ...(available.hash === '' ? {} : { hash: available.hash }),
    categories,
    component_types: Object.fromEntries(
      categories.map((category) => [category, [...(available.components[category] ?? [])]]),
    ),
  }
}

/** One collector against the recommended version and the config that it should run. */
export interface Assessment {
  row: CompatibilityRow
  unsupported: UnsupportedComponent[]
}

/** Assess one collector. */
export function assessCollector(workload: PostureWorkload, recommended: string): Assessment {
  const required = requiredComponents(workload.config)
  const unsupported = unsupportedComponents(workload)
  const isAffected = (compareVersions(workload.version, KNOWN_ISSUE.below) ?? 0) < 0
  const blocking = blockingReasons(workload, required, unsupported, isAffected)
  const reason = versionReason(workload.version)
  const { remoteConfigStatus, versionMix } = workload
  const row: CompatibilityRow = {
    workload_id: workload.id,
    display_name: workload.displayName,
    ...placeFieldOf(workload.fingerprintKeys),
    group: groupOf(workload),
    status: workload.status,
    version: {
      reported: workload.version.trim() || 'unknown',
      status: standingOf(workload, recommended),
      comparable: reason === null,
      ...(reason === null ? {} : { reason }),
      ...(versionMix === null ? {} : { mix: rateMix(versionMix, recommended) }),
    },
    available_components: reportedComponents(workload),
    required_components: required,
    config: workload.config
      ? { hash: workload.config.hash, source: 'active_or_applied' }
      : { source: 'none' },
    known_issues: isAffected
      ? [
          {
            code: KNOWN_ISSUE.code,
            severity: KNOWN_ISSUE.severity,
            affected_version: `< ${KNOWN_ISSUE.below}`,
            message: KNOWN_ISSUE.message,
          },
        ]
      : [],
    opamp: {
      accepts_remote_config: workload.acceptsRemoteConfig,
      ...(remoteConfigStatus === null ? {} : { remote_config_status: remoteConfigStatus.status }),
      ...(remoteConfigStatus === null || remoteConfigStatus.configHash === ''
        ? {}
        : { config_hash: remoteConfigStatus.configHash }),
    },
    runnable: blocking.length === 0,
    blocking_reasons: blocking,
  }
  return { row, unsupported }
}
