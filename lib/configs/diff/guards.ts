import { componentType } from '../check/components.ts'
import { isSameValue } from '../yaml/equal.ts'
import { type ConfigValue, isObject } from '../yaml/value.ts'

/** The rule about losing a processor that protects something; null for the others. */
export function guardRule(id: string, settings: ConfigValue | undefined): string | null {
  const type = componentType(id)
  if (type === 'batch') return 'batch_processor_removed_from_pipeline'
  if (type === 'memory_limiter') return 'memory_limiter_removed_from_pipeline'
  if (isSampling(id)) return 'sampling_guard_removed'
  return redactions(type, settings).length > 0 ? 'redaction_removed' : null
}

/** Whether a component keeps a share of the data only. */
export function isSampling(id: string): boolean {
  return id.includes('sampling') || id.includes('probabilistic_sampler')
}

/** Whether a processor takes data away from what passes it: what it drops reaches nobody any more. */
export function isDropping(id: string): boolean {
  return componentType(id) === 'filter' || isSampling(id)
}

/** Whether a change of a processor takes away or changes a setting by which it hid data from the destinations. */
export function weakensRedaction(id: string, before: ConfigValue, after: ConfigValue): boolean {
  const type = componentType(id)
  const kept = redactions(type, after)
  return redactions(type, before).some((one) => !kept.some((other) => isSameValue(one, other)))
}

const HIDING_ACTIONS = new Set(['delete', 'hash'])
const HIDING_FUNCTION =
  /\b(?:delete_key|delete_matching_keys|delete_index|keep_keys|keep_matching_keys|replace_pattern|replace_all_patterns|replace_match|replace_all_matches|sha1|sha256|sha512|md5|fnv)\s*\(/i

/** The single settings by which a processor hides data, each as one value. */
function redactions(type: string, settings: ConfigValue | undefined): ConfigValue[] {
  if (type === 'redaction') return ofRedaction(settings)
  if (!isObject(settings)) return []
  if (type === 'attributes') return list(settings['actions']).filter(isHidingAction)
  if (type === 'resource') return list(settings['attributes']).filter(isHidingAction)
  return type === 'transform' ? statements(settings) : []
}

/**
 * Each blocked value and key pattern and, unless all keys pass, the lists of allowed and ignored keys as one value: a
 * change of these lists counts as a weaker redaction, whatever it is.
 */
function ofRedaction(settings: ConfigValue | undefined): ConfigValue[] {
  const set = isObject(settings) ? settings : {}
  const blocked = ['blocked_values', 'blocked_key_patterns'].flatMap((key) =>
    list(set[key]).map((value): ConfigValue => [key, value]),
  )
  if (set['allow_all_keys'] === true) return blocked
  return [['allowed_keys', set['allowed_keys'] ?? [], set['ignored_keys'] ?? []], ...blocked]
}

function isHidingAction(entry: ConfigValue): boolean {
  return isObject(entry) && HIDING_ACTIONS.has(String(entry['action']).toLowerCase())
}

function statements(value: ConfigValue): ConfigValue[] {
  if (typeof value === 'string') return HIDING_FUNCTION.test(value) ? [value] : []
  if (Array.isArray(value)) return value.flatMap(statements)
  return isObject(value) ? Object.values(value).flatMap(statements) : []
}

function list(value: ConfigValue | undefined): ConfigValue[] {
  return Array.isArray(value) ? value : []
}
