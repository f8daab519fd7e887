import { isSecretKey, MASK, redactSecrets } from '../../redact/redact.ts'

/** Most values of labels: names, versions and numbers, in which nothing can hide. */
const PLAIN = /^[A-Za-z0-9_. -]{0,24}$/

/** What the last other values look like: a fleet has a few of them, thousands of times. */
const shown = new Map<string, string>()
const SHOWN_MAX = 2_000

/**
 * The value of a label, as everybody may see it who may see the fleet. Agents describe themselves with whatever their
 * host told them, such as a command line with a password in it.
 */
export function shownLabel(key: string, value: string): string {
  if (isSecretKey(key)) return MASK
  if (PLAIN.test(value)) return value
  const known = shown.get(value)
  if (known !== undefined) return known
  const clean = redactSecrets(value)
  if (shown.size >= SHOWN_MAX) shown.clear()
  shown.set(value, clean)
  return clean
}
