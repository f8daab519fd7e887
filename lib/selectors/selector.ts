import type { Selector, SelectorExpression } from '../wire/selectors.ts'
import { isGlob, openGlob } from './glob.ts'
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

/** Make a function that says which values a workload has under a key; see `valuesOf`. */
function openKey(key: string): (workload: SelectableWorkload) => string[] {
  const { class: keyClass, name } = classifyKey(key)
  const isSet = (value: string | undefined) => value !== undefined
  switch (keyClass) {
    case 'trusted':
      return ({ trustedLabels }) => [valueIn(trustedLabels, name)].filter(isSet)
    case 'identity':
      return ({ fingerprintKeys }) => [valueIn(fingerprintKeys, name)].filter(isSet)
    case 'reported':
      return ({ labels, fingerprintKeys }) =>
        [valueIn(labels, name), valueIn(fingerprintKeys, name)].filter(isSet)
  }
}

/**
 * The values that a workload has under a key. A key without prefix looks at the labels that agents report and at the
 * identity.
 */
export const valuesOf = (workload: SelectableWorkload, key: string): string[] => openKey(key)(workload)

/** Says of a workload whether it meets something. */
export type Condition = (workload: SelectableWorkload) => boolean

/** Whether a wanted value is a glob: only identities are wanted by globs. */
export const isWantedByGlob = (key: string, wanted: string): boolean =>
  isGlob(wanted) && classifyKey(key).class === 'identity'

/** Make a function that says whether a workload has one of these values under a key. */
function openValues(key: string, wanted: readonly string[]): Condition {
  const valuesUnder = openKey(key)
  const plain = new Set(wanted.filter((value) => !isWantedByGlob(key, value)))
  const globs = wanted.filter((value) => isWantedByGlob(key, value)).map(openGlob)
  return (workload) =>
    valuesUnder(workload).some((value) => plain.has(value) || globs.some((isFit) => isFit(value)))
}

function openExpression({ key, operator, values = [] }: SelectorExpression): Condition {
  const valuesUnder = openKey(key)
  const hasOne = openValues(key, values)
  switch (operator) {
    case 'In':
      return hasOne
    case 'NotIn':
      return (workload) => !hasOne(workload)
    case 'Exists':
      return (workload) => valuesUnder(workload).length > 0
    case 'DoesNotExist':
      return (workload) => valuesUnder(workload).length === 0
  }
}

function hasCapability(workload: SelectableWorkload, capability: string): boolean {
  if (['push_config', 'remote_config', 'remote_config_capable'].includes(capability)) {
    return workload.acceptsRemoteConfig
  }
  if (capability === 'report_config') return workload.type === 'collector'
  return Object.values(workload.availableComponents ?? {}).some((types) => types.includes(capability))
}

/**
 * Read a selector: make a function that says whether it means a workload, which is so where all of its conditions hold.
 * One without conditions means every workload. Read it once, and not for each workload.
 */
export function openSelector(selector: Selector): Condition {
  const { match_labels = {}, match_expressions = [], types = [], versions = [], capabilities = [] } = selector
  const conditions: Condition[] = [
    ...Object.entries(match_labels).map(([key, value]) => openValues(key, [value])),
    ...match_expressions.map(openExpression),
  ]
  const [wantedTypes, wantedVersions] = [new Set(types), new Set(versions)]
  if (wantedTypes.size > 0) conditions.push(({ type }) => wantedTypes.has(type))
  if (wantedVersions.size > 0) conditions.push(({ version }) => wantedVersions.has(version))
  for (const capability of new Set(capabilities))
    conditions.push((workload) => hasCapability(workload, capability))
  return (workload) => conditions.every((isMet) => isMet(workload))
}

/** How much a selector asks of each workload: its conditions, and one more for each glob. */
export function widthOf({ match_labels = {}, match_expressions = [] }: Selector): number {
  const wanted = [
    ...Object.entries(match_labels).map(([key, value]) => ({ key, values: [value] })),
    ...match_expressions,
  ]
  const globs = wanted.flatMap(({ key, values = [] }) => values.filter((value) => isWantedByGlob(key, value)))
  return wanted.length + globs.length
}
