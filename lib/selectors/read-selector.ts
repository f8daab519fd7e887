import { TRUSTED_PREFIX } from '../model/labels.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { isStorableLine } from '../model/storable.ts'
import type { Selector, SelectorExpression } from '../wire/selectors.ts'
import { classifyKey, IDENTITY_KEYS, IDENTITY_PREFIX, type KeyClass } from './keys.ts'
import { isWantedByGlob } from './selector.ts'

/** What the selectors of a place may look at. */
export interface SelectorRules {
  /** The classes of the keys that labels may have. */
  classes: readonly KeyClass[]
  /** Whether types, versions and capabilities may be named; agents report these. */
  withReported: boolean
}

/** Rules for push groups: agents cannot label themselves into one. */
export const PUSH_GROUP_RULES: SelectorRules = { classes: ['trusted', 'identity'], withReported: true }

/** Rules for selectors that somebody uses once: in previews, as the scope of a campaign, to label many workloads. */
export const FREE_SELECTOR_RULES: SelectorRules = {
  classes: ['trusted', 'identity', 'reported'],
  withReported: true,
}

/**
 * Rules for selectors that go on counting by themselves, as those of fleet configs, label rules, freezes and waves:
 * they name nothing that an agent may change while it runs.
 */
export const FLEET_CONFIG_RULES: SelectorRules = { classes: ['trusted', 'identity'], withReported: false }

const ENTRIES_MAX = 50
/** Globs of a selector, and values in all of its expressions: a stored one is compared with every workload. */
const GLOBS_MAX = 50
const VALUES_MAX = 500
/** Characters of one text; what compares a glob with a name takes as long as the glob. */
export const TEXT_LENGTH_MAX = 256

/** Why labels, or the texts of a selector, cannot be kept. */
export const LABEL_ERRORS = [
  'labels-have-control-characters',
  'labels-have-empty-text',
  'labels-have-long-text',
  'labels-have-reserved-prefix',
  'labels-too-many',
] as const

/** Why a selector cannot be used. */
export const SELECTOR_ERRORS = [
  ...LABEL_ERRORS,
  'selector-empty',
  'selector-globs-too-many',
  'selector-key-nameless',
  'selector-key-reported',
  'selector-key-unknown',
  'selector-list-too-long',
  'selector-reads-reports',
  'selector-values-missing',
  'selector-values-too-many',
  'selector-values-unexpected',
] as const

/** Labels that cannot be kept; the detail `field` says which, with the key. */
export type LabelRefusal = Refusal<(typeof LABEL_ERRORS)[number]>
/** A selector that cannot be used; the details say which part. */
export type SelectorRefusal = Refusal<(typeof SELECTOR_ERRORS)[number]>

const NAMED_LENGTH = 64

/** A key that may hold anything, for a sentence, which writes out what nobody could read: cut. */
const named = (key: string): string => (key.length > NAMED_LENGTH ? `${key.slice(0, NAMED_LENGTH)}…` : key)

/** Refuse a text of the labels or the selector; `under` is its key, or the list that it stands in. */
function refuseText(of: string, text: string, under: string): LabelRefusal | null {
  const field = `${of} (${under})`
  if (text.trim() === '') return refuse('labels-have-empty-text', { field })
  if (text.length > TEXT_LENGTH_MAX) return refuse('labels-have-long-text', { field, max: TEXT_LENGTH_MAX })
  return isStorableLine(text) ? null : refuse('labels-have-control-characters', { field })
}

/** Refuse labels that cannot be kept; null when they can. Keys carry no prefix. */
export function refuseLabels(labels: Readonly<Record<string, string>>): LabelRefusal | null {
  const field = 'labels'
  const entries = Object.entries(labels)
  if (entries.length > ENTRIES_MAX) return refuse('labels-too-many', { field, max: ENTRIES_MAX })
  for (const [key, value] of entries) {
    const refusal = refuseText(field, key, named(key)) ?? refuseText(field, value, named(key))
    if (refusal !== null) return refusal
    if (key.startsWith(TRUSTED_PREFIX))
      return refuse('labels-have-reserved-prefix', {
        field: `${field} (${named(key)})`,
        prefix: TRUSTED_PREFIX,
      })
  }
  return null
}

const FIELD = 'selector'

function refuseKey(key: string, { classes }: SelectorRules): SelectorRefusal | null {
  const refusal = refuseText(FIELD, key, named(key))
  if (refusal !== null) return refusal
  const found = classifyKey(key)
  if (found.name.trim() === '') return refuse('selector-key-nameless', { key })
  if (found.class === 'identity' && !(IDENTITY_KEYS as readonly string[]).includes(found.name))
    return refuse('selector-key-unknown', { key, known: IDENTITY_KEYS.join(', ') })
  if (classes.includes(found.class)) return null
  return refuse('selector-key-reported', { key, prefixes: `${TRUSTED_PREFIX} or ${IDENTITY_PREFIX}` })
}

function refuseExpression(expression: SelectorExpression, rules: SelectorRules): SelectorRefusal | null {
  const { key, operator, values = [] } = expression
  const needsValues = operator === 'In' || operator === 'NotIn'
  if (needsValues && values.length === 0) return refuse('selector-values-missing', { key, operator })
  if (!needsValues && values.length > 0) return refuse('selector-values-unexpected', { key, operator })
  return refuseKey(key, rules) ?? refuseList(values, named(key))
}

function refuseList(texts: readonly string[], under: string): SelectorRefusal | null {
  if (texts.length > ENTRIES_MAX) return refuse('selector-list-too-long', { max: ENTRIES_MAX, list: under })
  return texts.map((text) => refuseText(FIELD, text, under)).find((refusal) => refusal !== null) ?? null
}

/** Refuse a selector that cannot be used; null when it can. */
export function refuseSelector(selector: Selector, rules: SelectorRules): SelectorRefusal | null {
  const { types = [], versions = [], capabilities = [], match_labels = {}, match_expressions = [] } = selector
  const lists = Object.entries({ types, versions, capabilities })
  const labels = Object.entries(match_labels)
  if (labels.length > ENTRIES_MAX || match_expressions.length > ENTRIES_MAX)
    return refuse('labels-too-many', { field: FIELD, max: ENTRIES_MAX })
  if (!rules.withReported && lists.some(([, list]) => list.length > 0))
    return refuse('selector-reads-reports')
  for (const [name, list] of lists) {
    const refusal = refuseList(list, name)
    if (refusal !== null) return refusal
  }
  for (const [key, value] of labels) {
    const refusal = refuseKey(key, rules) ?? refuseText(FIELD, value, named(key))
    if (refusal !== null) return refusal
  }
  for (const expression of match_expressions) {
    const refusal = refuseExpression(expression, rules)
    if (refusal !== null) return refusal
  }
  return refuseWidth(labels, match_expressions)
}

function refuseWidth(
  labels: readonly (readonly [string, string])[],
  expressions: readonly SelectorExpression[],
): SelectorRefusal | null {
  const values = expressions.flatMap(({ key, values = [] }) => values.map((value) => [key, value] as const))
  if (values.length > VALUES_MAX) return refuse('selector-values-too-many', { max: VALUES_MAX })
  const globs = [...labels, ...values].filter(([key, value]) => isWantedByGlob(key, value))
  return globs.length > GLOBS_MAX ? refuse('selector-globs-too-many', { max: GLOBS_MAX }) : null
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

/**
 * Check a selector as it was sent, and leave out its empty parts. One without conditions is refused, for it would
 * select every workload.
 */
export function readSelector(
  sent: Selector,
  rules: SelectorRules,
): { ok: true; selector: Selector } | SelectorRefusal {
  const selector = tidySelector(sent)
  if (Object.keys(selector).length === 0) return refuse('selector-empty')
  return refuseSelector(selector, rules) ?? { ok: true, selector }
}
