import { CATEGORIES } from '../../wire/values.ts'
import { MASK } from '../redact/redact.ts'
import type { ParsedConfig } from '../yaml/parse.ts'
import { type ConfigValue, isObject, sortedKeys } from '../yaml/value.ts'

/** Whether what runs holds everything that was asked for, and where it does not. */
export interface EffectiveMatch {
  verdict: boolean | 'unknown'
  /** Sorted; at most 100. Paths only, never values. */
  paths: string[]
}

const PATHS_MAX = 100
const REDACTED = /^(?:\[redacted\]|<redacted>|redacted|\*{3,}|x{5,})$/i

/**
 * Compare an effective config with the assigned one by meaning. What the collector added does not count;
 * neither does a plain setting that is absent from a component's reported settings, because collectors leave
 * out values that they take for empty; nor `service.telemetry`, which supervisors rewrite. Unknown when one
 * of the two is missing.
 */
export function effectiveMatches(asked: ParsedConfig | null, reported: ParsedConfig | null): EffectiveMatch {
  if (asked === null || reported === null) return { verdict: 'unknown', paths: [] }
  const paths: string[] = []
  for (const category of CATEGORIES) {
    compare(asked.root[category], reported.root[category], category, paths)
  }
  const askedService = asked.root['service']
  const service = reported.root['service']
  if (isObject(askedService)) {
    const running = isObject(service) ? service : null
    compareExtensions(askedService['extensions'], running?.['extensions'], paths)
    compare(askedService['pipelines'], running?.['pipelines'], 'service.pipelines', paths)
  }
  return { verdict: paths.length === 0, paths: paths.sort().slice(0, PATHS_MAX) }
}

function compare(
  asked: ConfigValue | undefined,
  reported: ConfigValue | undefined,
  path: string,
  paths: string[],
): void {
  if (isHeld(asked, reported)) return
  if (isObject(asked)) {
    if (!isObject(reported)) {
      if (Object.keys(asked).length > 0) paths.push(path)
      return
    }
    for (const key of sortedKeys(asked)) {
      const value = asked[key]
      const isLeftOut = !Object.hasOwn(reported, key)
      if (isLeftOut && isInsideComponent(path) && !isObject(value) && !Array.isArray(value)) continue
      if (isLeftOut && value === null) paths.push(`${path}.${key}`)
      else compare(value, reported[key], `${path}.${key}`, paths)
    }
    return
  }
  if (Array.isArray(asked)) {
    if (!Array.isArray(reported) || asked.length !== reported.length) {
      if (asked.length > 0 || (Array.isArray(reported) && reported.length > 0)) paths.push(path)
      return
    }
    asked.forEach((entry, index) => {
      compare(entry, reported[index], `${path}[${index}]`, paths)
    })
    return
  }
  if (!isSameScalar(asked, reported)) paths.push(path)
}

function isInsideComponent(path: string): boolean {
  return path.includes('.') && !path.startsWith('service.')
}

/** The supervisor adds its own extension, anywhere in the list. */
function compareExtensions(
  asked: ConfigValue | undefined,
  reported: ConfigValue | undefined,
  paths: string[],
): void {
  if (!Array.isArray(asked)) return
  const running = Array.isArray(reported) ? reported : []
  asked.forEach((id, index) => {
    if (!isHeld(id, null) && !running.includes(id)) paths.push(`service.extensions[${index}]`)
  })
}

function isHeld(asked: ConfigValue | undefined, reported: ConfigValue | undefined): boolean {
  // Null stands for defaults, which are filled in.
  if (asked === undefined || asked === null) return true
  if (typeof asked === 'string' && asked.includes('${')) return true
  return isMasked(reported)
}

/** Whether a reported value is what a collector, or this service, shows in place of a secret. */
export const isMasked = (reported: unknown): boolean =>
  typeof reported === 'string' && (reported.includes(MASK) || REDACTED.test(reported))

/** Whether a collector that was asked for one plain value, and reports another, runs what was asked for. */
export function isSameScalar(asked: ConfigValue | undefined, reported: ConfigValue | undefined): boolean {
  if (asked === reported) return true
  if (isObject(reported) || Array.isArray(reported) || reported === undefined) return false
  // Collectors write their levels capitalised (`Normal`) and durations in their own form (`1m0s`).
  const left = String(asked).trim()
  const right = String(reported).trim()
  if (left.toLowerCase() === right.toLowerCase()) return true
  const duration = nanoseconds(left)
  return duration !== null && duration === nanoseconds(right)
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
}

/** A duration as Go writes it; null when the text is none. */
function nanoseconds(text: string): number | null {
  if (text === '0') return 0
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return null
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy)) {
    total += Number(amount) * UNITS[unit!]!
  }
  return Math.round(total)
}
