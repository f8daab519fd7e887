import { isSecretKey, MASK, redactSecrets } from '../../configs/redact/redact.ts'

/** Values that need no redaction: short names, versions and numbers, as most labels have. */
const PLAIN = /^[A-Za-z0-9_. -]{0,24}$/

/** The redacted forms of other values: a fleet has a few of them on thousands of instances. */
const shown = new Map<string, string>()
const SHOWN_MAX = 2_000

/**
 * The value of a label as it is shown to everyone who may see the fleet, secrets taken out: agents put into their
 * description whatever their host told them, such as a command line with a password in it.
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
