import { TRUSTED_PREFIX } from '../../wire/labels.ts'
import type { PushSelector } from '../../wire/pushes.ts'

/** What a selector looks at in a workload. */
export interface SelectableWorkload {
  type: string
  version: string
  labels: Readonly<Record<string, string>>
  trustedLabels: Readonly<Record<string, string>>
  acceptsRemoteConfig: boolean
  availableComponents: Readonly<Record<string, readonly string[]>> | null
}

/** Whether a selector's labels are compared with what operators set, or with what agents say. */
export type SelectorSource = 'collector_labels' | 'trusted_labels'

function hasCapability(workload: SelectableWorkload, capability: string): boolean {
  if (['push_config', 'remote_config', 'remote_config_capable'].includes(capability)) {
    return workload.acceptsRemoteConfig
  }
  if (capability === 'report_config') return workload.type === 'collector'
  return Object.values(workload.availableComponents ?? {}).some((types) => types.includes(capability))
}

/**
 * Whether a workload is meant by a selector: all of its conditions hold. An agent cannot label itself into a
 * group, and a free selector cannot name a trusted label.
 */
export function isSelected(
  workload: SelectableWorkload,
  selector: PushSelector,
  source: SelectorSource,
): boolean {
  const labels = source === 'trusted_labels' ? workload.trustedLabels : workload.labels
  const wanted = Object.entries(selector.match_labels ?? {})
  if (source === 'collector_labels' && wanted.some(([key]) => key.startsWith(TRUSTED_PREFIX))) return false
  return (
    wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value) &&
    (!selector.types?.length || selector.types.includes(workload.type)) &&
    (!selector.versions?.length || selector.versions.includes(workload.version)) &&
    (selector.capabilities ?? []).every((capability) => hasCapability(workload, capability))
  )
}

const ENTRIES_MAX = 50
const TEXT_LENGTH_MAX = 256
const UNSTORABLE = /[\0-\u001f\u007f]|\p{Surrogate}/u

function describeText(text: string): string | null {
  if (text.trim() === '') return 'has an empty text'
  if (text.length > TEXT_LENGTH_MAX) return `has a text of more than ${TEXT_LENGTH_MAX} characters`
  return UNSTORABLE.test(text) ? 'has a text with control characters' : null
}

/** Why labels cannot be kept, in words; null when they can. Keys carry no prefix. */
export function describeLabelFault(labels: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(labels)
  if (entries.length > ENTRIES_MAX) return `has more than ${ENTRIES_MAX} entries`
  for (const [key, value] of entries) {
    const fault = describeText(key) ?? describeText(value)
    if (fault !== null) return fault
    if (key.startsWith(TRUSTED_PREFIX)) return `has a key with the prefix ${TRUSTED_PREFIX}`
  }
  return null
}

/** Why a group cannot have this selector, in words; null when it can. One without conditions would mean everything. */
export function describeSelectorFault(selector: PushSelector): string | null {
  const lists = [selector.types ?? [], selector.versions ?? [], selector.capabilities ?? []]
  const labels = selector.match_labels ?? {}
  if (lists.every((list) => list.length === 0) && Object.keys(labels).length === 0) return 'has no condition'
  if (lists.some((list) => list.length > ENTRIES_MAX)) return `has more than ${ENTRIES_MAX} entries in a list`
  return (
    lists
      .flat()
      .map(describeText)
      .find((fault) => fault !== null) ?? describeLabelFault(labels)
  )
}
