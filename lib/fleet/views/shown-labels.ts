import { isSecretKey, MASK, redactSecrets } from '../../configs/redact/redact.ts'

/** Values that need no redaction: short names, versions and numbers, as most labels have. */
const PLAIN = /^[A-Za-z0-9_. -]{0,24}$/

/** The redacted forms of other values: a fleet has a few of them on thousands of instances. */
const shown = new Map<string, string>()
const SHOWN_MAX = 2_000

const isCommand = (key: string): boolean => key.startsWith('process.command')

/** `-p x`, `-u name:x`, `-a x`, `-W x`, and `-px` where it is no longer flag: by these many programs take a password. */
const SHORT_FLAG =
  /((?<![^\s"',[])-(?:[apuPW]["']?,?[ \t]{1,4}["']?|p(?![a-z-]{1,40}(?:[=\s"']|$))))(?![ \t-])[^\s"',\]]+/g

/**
 * The value of a label as it is shown to everyone who may see the fleet, secrets taken out: agents put into their
 * description whatever their host told them, such as a command line with a password in it.
 */
export function shownLabel(key: string, value: string): string {
  if (isSecretKey(key)) return MASK
  if (PLAIN.test(value)) return value
  const name = isCommand(key) ? `command ${value}` : value
  const known = shown.get(name)
  if (known !== undefined) return known
  const clean = redactSecrets(isCommand(key) ? value.replace(SHORT_FLAG, `$1${MASK}`) : value)
  if (shown.size >= SHOWN_MAX) shown.clear()
  shown.set(name, clean)
  return clean
}
