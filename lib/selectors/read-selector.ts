import { TRUSTED_PREFIX } from '../wire/labels.ts'
import type { Selector, SelectorExpression } from '../wire/selectors.ts'
import { classifyKey, IDENTITY_KEYS, IDENTITY_PREFIX, type KeyClass } from './keys.ts'

/** What the selectors of a place may look at. */
export interface SelectorRules {
  /** The classes of the keys that labels may have. */
  classes: readonly KeyClass[]
  /** Whether types, versions and capabilities may be named; agents report these. */
  withReported: boolean
}

/** Of a push group: agents cannot label themselves into one. */
export const PUSH_GROUP_RULES: SelectorRules = { classes: ['trusted', 'identity'], withReported: true }

/** Of what only looks, and changes nothing. */
export const FREE_SELECTOR_RULES: SelectorRules = {
  classes: ['trusted', 'identity', 'reported'],
  withReported: true,
}

/** Of what decides by itself which config a workload runs: nothing that an agent may change while it runs. */
export const FLEET_CONFIG_RULES: SelectorRules = { classes: ['trusted', 'identity'], withReported: false }

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

const PREFIXES = `${TRUSTED_PREFIX} or ${IDENTITY_PREFIX}`

function describeKey(key: string, { classes }: SelectorRules): string | null {
  const fault = describeText(key)
  if (fault !== null) return fault
  const found = classifyKey(key)
  if (found.name.trim() === '') return `has the key "${key}" without a name behind its prefix`
  if (found.class === 'identity' && !(IDENTITY_KEYS as readonly string[]).includes(found.name))
    return `has the unknown key "${key}"; an identity has ${IDENTITY_KEYS.join(', ')}`
  if (classes.includes(found.class)) return null
  return `has the key "${key}", which agents report; here it needs the prefix ${PREFIXES}`
}

function describeExpression(expression: SelectorExpression, rules: SelectorRules): string | null {
  const { key, operator, values = [] } = expression
  const needsValues = operator === 'In' || operator === 'NotIn'
  if (needsValues && values.length === 0) return `has ${operator} without values for "${key}"`
  if (!needsValues && values.length > 0) return `has values for ${operator} of "${key}"`
  if (values.length > ENTRIES_MAX) return `has more than ${ENTRIES_MAX} entries in a list`
  return describeKey(key, rules) ?? firstFault(values)
}

const firstFault = (texts: readonly string[]): string | null =>
  texts.map(describeText).find((fault) => fault !== null) ?? null

/** Why a selector cannot be used, in words; null when it can. */
export function describeSelectorFault(selector: Selector, rules: SelectorRules): string | null {
  const { types = [], versions = [], capabilities = [], match_labels = {}, match_expressions = [] } = selector
  const lists = [types, versions, capabilities]
  const labels = Object.entries(match_labels)
  if (lists.some((list) => list.length > ENTRIES_MAX)) return `has more than ${ENTRIES_MAX} entries in a list`
  if (labels.length > ENTRIES_MAX || match_expressions.length > ENTRIES_MAX)
    return `has more than ${ENTRIES_MAX} entries`
  if (!rules.withReported && lists.some((list) => list.length > 0))
    return 'has types, versions or capabilities, which agents report'
  for (const [key, value] of labels) {
    const fault = describeKey(key, rules) ?? describeText(value)
    if (fault !== null) return fault
  }
  for (const expression of match_expressions) {
    const fault = describeExpression(expression, rules)
    if (fault !== null) return fault
  }
  return firstFault(lists.flat())
}

/** A selector without empty parts. */
export function tidySelector(selector: Selector): Selector {
  const { match_labels = {}, match_expressions = [], types = [], versions = [], capabilities = [] } = selector
  return {
    ...(Object.keys(match_labels).length > 0 ? { match_labels } : {}),
    ...(match_expressions.length > 0 ? { match_expressions } : {}),
    ...(types.length > 0 ? { types } : {}),
    ...(versions.length > 0 ? { versions } : {}),
    ...(capabilities.length > 0 ? { capabilities } : {}),
  }
}

/** Check what was sent; one without conditions is refused, for it would mean everything. */
export function readSelector(
  sent: Selector,
  rules: SelectorRules,
): { ok: true; selector: Selector } | { ok: false; error: string } {
  const selector = tidySelector(sent)
  if (Object.keys(selector).length === 0) return { ok: false, error: 'selector has no condition' }
  const fault = describeSelectorFault(selector, rules)
  return fault === null ? { ok: true, selector } : { ok: false, error: `selector ${fault}` }
}
