import type { Scope } from '../model/scopes.ts'
import type { Selector } from '../wire/selectors.ts'
import { classifyKey } from './keys.ts'

/** Which workloads a change of many can reach, now and later. */
export interface ChangeReach {
  /** Those that the selector selects; absent where they are chosen in another way. */
  selector?: Selector | undefined
  /** And, of these, those within one of the scopes; absent where the change is not cut. */
  cutTo?: readonly Scope[] | undefined
}

/** The values that a trusted label must have one of for a selector to select a workload; null where it may have any. */
function valuesAskedFor(
  { match_labels = {}, match_expressions = [] }: Selector,
  key: string,
): readonly string[] | null {
  const label = Object.hasOwn(match_labels, key) ? [[match_labels[key]!]] : []
  const lists = match_expressions.flatMap((one) =>
    one.key === key && one.operator === 'In' ? [one.values ?? []] : [],
  )
  const [first, ...others] = [...label, ...lists]
  if (first === undefined || classifyKey(key).class !== 'trusted') return null
  return first.filter((value) => others.every((other) => other.includes(value)))
}

/** Whether values of a label all lie within scopes that look at it. */
const areWithin = (scopes: readonly Scope[], key: string, values: readonly string[]): boolean =>
  values.every((value) => scopes.some((scope) => scope.key === key && scope.values.includes(value)))

/** Whether a selector selects only workloads within one of the scopes, whatever their labels become. */
const isSelectorWithin = (scopes: readonly Scope[], selector: Selector): boolean =>
  scopes.some(({ key }) => {
    const values = valuesAskedFor(selector, key)
    return values !== null && areWithin(scopes, key, values)
  })

/**
 * Whether a change reaches only workloads within one of the scopes, whatever labels they get later. `scopes` are null
 * for a right that holds everywhere, and empty for one that is not held.
 */
export function isReachWithin(scopes: readonly Scope[] | null, { selector, cutTo }: ChangeReach): boolean {
  if (scopes === null) return true
  if (scopes.length === 0) return false
  if (cutTo?.every(({ key, values }) => areWithin(scopes, key, values))) return true
  return selector !== undefined && isSelectorWithin(scopes, selector)
}

/** Whether a workload could ever be selected by both; true where that cannot be told. */
export function mayOverlap(one: Selector, other: Selector): boolean {
  const keys = [
    ...Object.keys(one.match_labels ?? {}),
    ...(one.match_expressions ?? []).map(({ key }) => key),
  ]
  return !keys.some((key) => {
    const [here, there] = [valuesAskedFor(one, key), valuesAskedFor(other, key)]
    return here !== null && there !== null && !here.some((value) => there.includes(value))
  })
}

/** Whether a change could reach a workload within one of these scopes; true where that cannot be told. */
export function mayReach(scopes: readonly Scope[], { selector, cutTo }: ChangeReach): boolean {
  const asSelector = ({ key, values }: Scope): Selector => ({
    match_expressions: [{ key, operator: 'In', values: [...values] }],
  })
  return scopes.some((scope) => {
    const within = asSelector(scope)
    if (cutTo !== undefined && !cutTo.some((cut) => mayOverlap(asSelector(cut), within))) return false
    return selector === undefined || mayOverlap(selector, within)
  })
}
