import type { Selector, SelectorExpression } from '../wire/selectors.ts'
import { isGlob, matchesGlob } from './glob.ts'
import { classifyKey } from './keys.ts'

/** What a selector looks at in a workload. */
export interface SelectableWorkload {
  type: string
  version: string
  /** As agents report them. */
  labels: Readonly<Record<string, string>>
  /** What operators set and label rules give, by key without the prefix. */
  trustedLabels: Readonly<Record<string, string>>
  /** The identity of the workload, from which its id is made. */
  fingerprintKeys: Readonly<Record<string, string>>
  acceptsRemoteConfig: boolean
  availableComponents: Readonly<Record<string, readonly string[]>> | null
}

/** A workload as the fleet holds it: its components come with their hash. */
type HeldWorkload = Omit<SelectableWorkload, 'availableComponents'> & {
  availableComponents: { components: SelectableWorkload['availableComponents'] } | null
}

/** A workload of the fleet as selectors see it. */
export function toSelectable(workload: HeldWorkload): SelectableWorkload {
  const { type, version, labels, trustedLabels, fingerprintKeys, acceptsRemoteConfig } = workload
  return {
    type,
    version,
    labels,
    trustedLabels,
    fingerprintKeys,
    acceptsRemoteConfig,
    availableComponents: workload.availableComponents?.components ?? null,
  }
}

/** The value of a key; absent when it is not set, or empty. */
const valueIn = (labels: Readonly<Record<string, string>>, name: string): string | undefined =>
  (Object.hasOwn(labels, name) && labels[name]) || undefined

/**
 * The values that a workload has under a key. A key without prefix looks at the labels that agents report and at the
 * identity.
 */
export function valuesOf(workload: SelectableWorkload, key: string): string[] {
  const { class: keyClass, name } = classifyKey(key)
  const { labels, trustedLabels, fingerprintKeys } = workload
  const found =
    keyClass === 'trusted'
      ? [valueIn(trustedLabels, name)]
      : keyClass === 'identity'
        ? [valueIn(fingerprintKeys, name)]
        : [valueIn(labels, name), valueIn(fingerprintKeys, name)]
  return found.filter((value) => value !== undefined)
}

/** Whether one of a workload's values under a key is the wanted one; for identities the wanted one may be a glob. */
function hasValue(workload: SelectableWorkload, key: string, wanted: string): boolean {
  const withGlobs = isGlob(wanted) && classifyKey(key).class === 'identity'
  return valuesOf(workload, key).some((value) => (withGlobs ? matchesGlob(wanted, value) : value === wanted))
}

function meets(workload: SelectableWorkload, { key, operator, values = [] }: SelectorExpression): boolean {
  switch (operator) {
    case 'In':
      return values.some((value) => hasValue(workload, key, value))
    case 'NotIn':
      return !values.some((value) => hasValue(workload, key, value))
    case 'Exists':
      return valuesOf(workload, key).length > 0
    case 'DoesNotExist':
      return valuesOf(workload, key).length === 0
  }
}

function hasCapability(workload: SelectableWorkload, capability: string): boolean {
  if (['push_config', 'remote_config', 'remote_config_capable'].includes(capability)) {
    return workload.acceptsRemoteConfig
  }
  if (capability === 'report_config') return workload.type === 'collector'
  return Object.values(workload.availableComponents ?? {}).some((types) => types.includes(capability))
}

/** Whether a workload is meant by a selector: all of its conditions hold. Without conditions it means every one. */
export function isSelected(workload: SelectableWorkload, selector: Selector): boolean {
  return (
    Object.entries(selector.match_labels ?? {}).every(([key, value]) => hasValue(workload, key, value)) &&
    (selector.match_expressions ?? []).every((expression) => meets(workload, expression)) &&
    (!selector.types?.length || selector.types.includes(workload.type)) &&
    (!selector.versions?.length || selector.versions.includes(workload.version)) &&
    (selector.capabilities ?? []).every((capability) => hasCapability(workload, capability))
  )
}
