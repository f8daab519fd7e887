import { isSecretKey, MASK, redactText, replaceAssigned } from '../configs/redact/redact.ts'
import type { FactValue } from '../wire/reports.ts'

/** What stands where something was removed. */
export const REMOVED = '[redacted]'

// What is removed in addition to what `redactText` removes. Every pattern takes time in proportion to the text
// (test/fuzz/expressions.test.ts).
const PEM = /-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g

/** A credential behind the word that announces it. */
const ANNOUNCED: readonly RegExp[] = [
  /\b(?:proxy-)?authorization\b["']?\s*[:=]\s*["']?(?:(?:bearer|basic|digest|negotiate|apikey|token)\s+)?[^\s"',;]+["']?/gi,
  /\b(?:bearer|apikey)\s+[^\s"',;]+/gi,
  /\bbasic\s+[A-Za-z0-9+/=_-]{6,}/gi,
]

const TOKENS: readonly RegExp[] = [
  /\bSECRET_\w*/g,
  // Tokens with a form of their own: JWT, GitHub, GitLab, Slack, AWS, Google, npm, Stripe and OpenAI, Vault.
  /\beyJ[\w-]{6,}(?:\.[\w-]*){0,4}/g,
  /\b(?:gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|npm_|hvs\.|[rs]k[-_](?:live|test|proj)?[-_]?|AIza)[\w-]{12,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  // Long and mixed: nothing that a report needs (ids and hashes are lower case) looks like this.
  /(?<![\w+/=-])(?=[\w+/=-]*?[a-z])(?=[\w+/=-]*?[A-Z])(?=[\w+/=-]*?\d)[\w+/=-]{32,}/g,
]

/** A URL with its host, path and whatever else may hold a credential. */
const URL_PATTERN = /\b([a-z][a-z0-9+.-]{0,30}):\/\/[^\s"'<>`|\\^{}]*/gi
/** `name:password@host` without a scheme. */
const USERINFO = /(?<![^\s@/"'<>])[^\s@:/"'<>]*:[^\s@/"'<>]+@[^\s@"'<>]+/g
/**
 * An e-mail address, its local part and domain in any script, with brackets in it as those of bots have; a full stop or
 * comma at the end is not part of it.
 */
const EMAIL =
  /(?:"[^"\n]{1,128}"|(?<![^\s@"'<>,;:\\])[^\s@"'<>,;:\\]+)@[^\s@"'<>()[\],;:\\]{0,255}[\p{L}\p{N}]/gu

/** Whether any pattern above could match: a cheap test that spares most texts the patterns. */
const SUSPICIOUS =
  /[@:=]|-----BEGIN|authorization|bearer|basic|apikey|secret|token|passw|passphrase|pwd|api[_-]?key|access[_-]?key|private[_-]?key|credential|cookie|eyJ|gh[oprsu]_|github_pat_|glpat-|xox|npm_|hvs\.|[rs]k[-_]|AIza|AKIA|ASIA|[\w+/=-]{32}/i

/** Hashes and UUIDs, times and numbers, short words: most of a report's texts. */
const HARMLESS = /^(?:[0-9a-f-]{16,64}|[0-9T:.Z-]*|[a-z_]{1,12})$/

/** Longest text of a report, in UTF-16 units: no honest text comes near it. */
export const REPORT_TEXT_MAX = 65_536
/**
 * How much of a text is redacted: more than is kept, so that what is removed does not depend on where the cut falls.
 */
const LOOKED_AT_MAX = 2 * REPORT_TEXT_MAX

const cut = (text: string): string =>
  text.length > REPORT_TEXT_MAX
    ? `${text.slice(0, REPORT_TEXT_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`
    : text

const lastBracket = (text: string): number => Math.max(...[...'()[]'].map((sign) => text.lastIndexOf(sign)))

/** Takes secrets, credentials, hosts of URLs and e-mail addresses out of texts; see `createRedactor`. */
export interface Redactor {
  /** The text itself when there is nothing to remove. */
  text(text: string): string
  /** Redact texts at every depth; under a key that names a secret the whole value is removed. */
  value(value: FactValue): { value: FactValue; isRedacted: boolean }
}

/**
 * The redactor `strict` of one report. `userIds` maps e-mail addresses in lower case to user ids: a known address
 * becomes `user:<id>`, which is the same in every report; an unknown one is removed.
 */
export function createRedactor(userIds: ReadonlyMap<string, string>): Redactor {
  const toUser = (email: string) => {
    // Words in brackets before it, or one bracket: what is behind the last may be the address of a user.
    const start = userIds.has(email.toLowerCase()) ? 0 : 1 + lastBracket(email)
    const id = userIds.get(email.slice(start).toLowerCase())
    return id === undefined ? REMOVED : `${redactText(email.slice(0, start))}user:${id}`
  }
  const text = (raw: string): string => {
    if (HARMLESS.test(raw) || !SUSPICIOUS.test(raw)) return cut(raw)
    // Where the whole text is the address of a user, it needs no pattern.
    if (userIds.has(raw.trim().toLowerCase())) return toUser(raw.trim())
    let clean = raw.slice(0, LOOKED_AT_MAX).replace(PEM, REMOVED)
    clean = clean.replace(URL_PATTERN, (_, scheme: string) => `${scheme.toLowerCase()}://${REMOVED}`)
    for (const pattern of ANNOUNCED) clean = clean.replace(pattern, REMOVED)
    // The name is removed with the value: names of secrets tell where to look for them.
    clean = replaceAssigned(clean, REMOVED, true)
    for (const pattern of TOKENS) clean = clean.replace(pattern, REMOVED)
    clean = clean.replace(USERINFO, REMOVED).replace(EMAIL, toUser)
    return cut(redactText(clean).replaceAll(MASK, REMOVED))
  }
  const value: Redactor['value'] = (raw) => {
    if (typeof raw === 'string') {
      const clean = text(raw)
      return { value: clean, isRedacted: clean !== raw }
    }
    if (raw === null || typeof raw !== 'object') return { value: raw, isRedacted: false }
    if (Array.isArray(raw)) {
      const entries = raw.map(value)
      return { value: entries.map((e) => e.value), isRedacted: entries.some((e) => e.isRedacted) }
    }
    let isRedacted = false
    const entries = Object.entries(raw).map(([key, field]) => {
      const cleanKey = text(key)
      const isSecret = isSecretKey(key) && field !== null && field !== '' && typeof field !== 'boolean'
      const cleanField = isSecret ? { value: REMOVED, isRedacted: true } : value(field)
      isRedacted ||= cleanKey !== key || cleanField.isRedacted
      return [cleanKey, cleanField.value] as const
    })
    return { value: Object.fromEntries(entries), isRedacted }
  }
  return { text, value }
}
