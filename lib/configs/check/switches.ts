import type { ConfigValue } from '../yaml/value.ts'

const ON = new Set(['1', 't', 'true', 'y', 'yes', 'on'])
const OFF = new Set(['0', 'f', 'false', 'n', 'no', 'off'])

const textOf = (value: string): string => value.trim().toLowerCase()

/** What a collector may read as true: also texts and numbers, which it turns into booleans. */
export function isOn(value: ConfigValue | undefined): boolean {
  if (typeof value === 'string') return ON.has(textOf(value))
  return value === true || (typeof value === 'number' && value !== 0)
}

/** What a collector may read as false. */
export function isOff(value: ConfigValue | undefined): boolean {
  if (typeof value === 'string') return OFF.has(textOf(value))
  return value === false || value === 0
}
