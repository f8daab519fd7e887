import { compareText } from '../../model/text-order.ts'
import type { CATEGORIES, PIPELINE_SECTIONS } from '../../wire/values.ts'

/** A value of a parsed config. Always expressible in JSON: what JSON cannot hold is kept as its text. */
export type ConfigValue = string | number | boolean | null | ConfigValue[] | ConfigObject

/** A mapping of a parsed config, without prototype, so that a key like `__proto__` is only a key. */
export interface ConfigObject {
  [key: string]: ConfigValue
}

/** A section of a config that defines components. */
export type Category = (typeof CATEGORIES)[number]
/** A list of a pipeline. */
export type PipelineSection = (typeof PIPELINE_SECTIONS)[number]

/** A mapping without prototype. */
export function emptyObject(): ConfigObject {
  return Object.create(null) as ConfigObject
}

/** Whether a value is a mapping. */
export function isObject(value: ConfigValue | undefined): value is ConfigObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a text is (partly) filled in by the collector itself at start, as in `${env:PORT}`; not `$${…}`. */
export function isExpanded(value: ConfigValue | undefined): value is string {
  if (typeof value !== 'string' || !value.includes('${')) return false
  return /(?<!\$)(?:\$\$)*\$\{/.test(value.slice(0, value.lastIndexOf('}') + 1))
}

/** The keys of a mapping, sorted. */
export function sortedKeys(object: object): string[] {
  return Object.keys(object).sort(compareText)
}

/** What a key names: the collector takes `tls::insecure` for `insecure` inside `tls`. */
export const lastName = (key: string): string => key.split('::').at(-1)!
