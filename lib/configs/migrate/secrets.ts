import { isSecretKey, MASK, redactSecrets } from '../redact/redact.ts'

/** What is written where a vendor's text held a secret; whoever uses the draft replaces it. */
export type Placeholder =
  | '${DATADOG_API_KEY}'
  | '${SPLUNK_HEC_TOKEN}'
  | '${NEW_RELIC_LICENSE_KEY}'
  | '${REDACTED_SECRET}'

/**
 * Forms that give a secret away here, wherever they stand, besides those that are masked everywhere. All of them take
 * linear time: sources come from outside.
 */
const SECRET_FORMS: readonly RegExp[] = [
  // A secret word with its value behind it: `password=…`, `"token": …`.
  /(?:api[-_]?key|token|license[-_]?key|passw(?:or)?d|secret|private[-_]?key|access[-_]?key|app[-_]?key)["']?\s*[=:]\s*\S/i,
  /\b(?:bearer|basic)\s+[a-z0-9+/=._~-]{6}/i,
  /\/\/[^/\s@:]*:[^/\s@]+@/,
  /-----BEGIN [A-Z ]+-----/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\b(?:gh[pousr]_|glpat-|xox[abprs]-|sk-|NRAK-|NRII-)[A-Za-z0-9_-]{10}/,
  /\beyJ[A-Za-z0-9_-]{8}/,
  /\b[0-9a-f]{32,}\b/i,
]

/** Whether a text looks like it holds a secret, whatever its key is called. */
export function looksSecret(text: string): boolean {
  return SECRET_FORMS.some((form) => form.test(text)) || redactSecrets(text).includes(MASK)
}

/** Shorter values are words, switches and numbers; they would be found everywhere. */
const KNOWN_LENGTH_MIN = 4

/** No honest config holds more secret values; beyond this every text counts as secret, so that searches stay short. */
const KNOWN_MAX = 2_000

/** The secret values that a source is known to hold, so that a second copy of one is not carried over either. */
export class KnownSecrets {
  readonly #values = new Set<string>()

  /** Remember the value of a secret key, with and without its quotes. */
  add(value: string): void {
    const trimmed = value.trim()
    const bare = /^["']/.test(trimmed) && trimmed.endsWith(trimmed[0]!) ? trimmed.slice(1, -1) : trimmed
    for (const text of [trimmed, bare]) {
      if (text.length >= KNOWN_LENGTH_MIN && this.#values.size <= KNOWN_MAX) this.#values.add(text)
    }
  }

  /** Whether a text contains one of the values; true for every text once there are too many of them. */
  isIn(text: string): boolean {
    if (this.#values.size > KNOWN_MAX) return true
    for (const value of this.#values) if (text.includes(value)) return true
    return false
  }
}

/** One secret value that was left out. */
export interface Redaction {
  path: string
  placeholder: string
  reason: string
}

const PLAIN_KEY = /^[a-z0-9]+(?:[_.-][a-z0-9]+)*$/i

/** A secret that stands on one line of a source. */
export interface SecretLine {
  /** The `[header]` it stands under; empty when there is none. */
  section: string
  key: string
  value: string
  /** In a comment: nothing of it is used, but its value may stand elsewhere too. */
  isComment: boolean
}

/**
 * The secret keys of a text, line by line: `key: value` and `key = value`, in `conf` also `key value` and
 * `Operation key value`. It needs no parser, so that it also finds those in comments and in a source with errors.
 */
export function scanSecretLines(source: string, format: 'conf' | 'ini' | 'yaml'): SecretLine[] {
  const found: SecretLine[] = []
  let section = ''
  for (const raw of source.split(/\r\n|\r|\n/)) {
    const isComment = /^\s*[#;]/.test(raw)
    const line = raw.replace(/^[\s#;]+/, '').replace(/^(?:-|@SET)\s+/i, '')
    if (format !== 'yaml' && line.startsWith('[') && line.trimEnd().endsWith(']')) {
      section = line.trimEnd().slice(1, -1).trim()
    }
    const note = (key: string, value: string) => {
      if (isSecretKey(key) && PLAIN_KEY.test(key)) found.push({ section, key, value, isComment })
    }
    const pair = /^["']?([^\s"'=:]{1,80})["']?\s*[=:]([\s\S]*)$/.exec(line)
    if (pair) note(pair[1]!, pair[2]!)
    if (format !== 'conf') continue
    const [first, second, ...rest] = line.trim().split(/\s+/, 40)
    if (!pair && first !== undefined && second !== undefined) note(first, line.trim().slice(first.length))
    const name = second?.replace(/^["']|["']$/g, '') ?? ''
    if (rest.length > 0 && isSecretKey(name)) {
      const value = line.slice(line.indexOf(second!, first!.length) + second!.length)
      found.push({ section, key: `${first!.toLowerCase()}.${name}`, value, isComment })
    }
  }
  return found
}

/** The secret parts of the URLs in a text: passwords, and the values of secret parameters. */
export function findUrlSecrets(source: string): string[] {
  const passwords = [...source.matchAll(/\/\/[^/\s:@"']*:([^/\s@"']+)@/g)].map((match) => match[1]!)
  const values = [...source.matchAll(/[?&]([^\s=&?#"']{1,80})=([^\s&#"',;]+)/g)]
    .filter((match) => isSecretKey(match[1]!))
    .map((match) => match[2]!)
  return [...passwords, ...values]
}
