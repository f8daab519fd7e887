import { type ConfigValue, isObject } from './value.ts'

/** Whether two values are the same; the order of a mapping's keys means nothing. */
export function isSameValue(a: ConfigValue | undefined, b: ConfigValue | undefined): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return (
      Array.isArray(b) && a.length === b.length && a.every((entry, index) => isSameValue(entry, b[index]))
    )
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameValue(a[key], b[key]))
  )
}
