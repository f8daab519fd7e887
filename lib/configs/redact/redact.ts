import { type ConfigObject, type ConfigValue, emptyObject, isObject } from '../yaml/value.ts'

/** What stands in place of a secret, wherever one is taken out. */
export const MASK = '••••masked••••'

/** Words that make a key, header or query parameter secret when they are part of its name (`-` and `.` read as `_`). */
const SECRET_WORD =
  /(?:access|account|agent|api|app|application|auth|client|encryption|ingest|ingestion|insert|instrumentation|license|private|shared|signing|storage)_key|apikey|authorization|bearer|cert_pem|cloud_auth|community_string|conn_str|connection_?str|cookie|credential|dsn|honeycomb_team|key_pem|pass4_?symm_?key|passphrase|passwd|password|pwd|sas_|secret|signature|token/

/** Names that are secret as a whole but too short to look for inside others. */
const SECRET_NAMES = new Set([
  'auth_data',
  'community',
  'connstring',
  'htpasswd',
  'jwt',
  'pass',
  'pat',
  'psk',
  'sas',
  'sig',
])

/** Parents below which every value is secret, because nobody can know what a header carries. */
const SECRET_PARENTS = new Set(['headers', 'additional_headers', 'metadata_headers', 'required_header'])

/** Whether a name, such as a key or a query parameter, says that its value is secret. */
export function isSecretName(name: string): boolean {
  const lower = /[A-Z.-]/.test(name) ? toSnakeCase(name) : name
  return SECRET_NAMES.has(lower) || SECRET_WORD.test(lower) || isJoinedSecret(name)
}

const toSnakeCase = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[-.]/g, '_')

/** `APIKey`, `AccessKey` and `passWord`: without the marks between their words, which stand anywhere or nowhere. */
function isJoinedSecret(name: string): boolean {
  if (!/key|pass/i.test(name)) return false
  return SECRET_JOINED.test(name.toLowerCase().replace(/[-_ ]/g, ''))
}

const SECRET_JOINED =
  /(?:api|access|account|app|encryption|license|private|shared|signing|storage)key|passphrase|passw(?:or)?d/

/** The answers of `isSecretKey` for the last keys: a config has a few dozen keys, thousands of times. */
const judgedKeys = new Map<string, boolean>()
const JUDGED_KEYS_MAX = 2_000
const JUDGED_LENGTH_MAX = 64

/** Whether the values below a key are secret: it is a secret name itself, or holds headers. */
export function isSecretKey(key: string): boolean {
  const known = judgedKeys.get(key)
  if (known !== undefined) return known
  const isSecret = isSecretName(key) || key.split(/[./:[\]]/).some(isSecretPart)
  if (key.length > JUDGED_LENGTH_MAX) return isSecret
  if (judgedKeys.size >= JUDGED_KEYS_MAX) judgedKeys.clear()
  judgedKeys.set(key, isSecret)
  return isSecret
}

const isSecretPart = (part: string) => isHeaders(part) || isSecretName(part)

/** `headers`, `OTEL_EXPORTER_OTLP_HEADERS` and the like. */
function isHeaders(part: string): boolean {
  const lower = part.toLowerCase().replaceAll('-', '_')
  return SECRET_PARENTS.has(lower) || /^otel_exporter_otlp(?:_[a-z]{1,20})?_headers$/.test(lower)
}

/** Whether a path leads to something secret: through a secret key, or as `api` and `key`, which are one name in two. */
export function isSecretPath(keys: readonly string[]): boolean {
  return keys.some((key, i) => isSecretKey(key) || (i > 0 && isSecretPair(keys[i - 1]!, key)))
}

const isSecretPair = (parent: string, key: string) => /^keys?$/i.test(key) && isSecretName(`${parent}_${key}`)

/*
 * Every pattern below takes time in proportion to the text, whatever the text: none may start anew at each character
 * of a stretch that an earlier start has already gone through in vain (test/fuzz/expressions.test.ts).
 */
const PEM = /-----BEGIN [A-Z0-9 ]{0,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g
const SCHEME_TOKEN = /\b(bearer|basic|apikey|api-key|digest|negotiate|token)(\s+)[A-Za-z0-9._~+/=-]{6,}/gi
/** `eyJ` is `{"` in Base64: a text that begins so is a token, or the beginning of one. */
const JWT = /\beyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,2}/g
/** Keys of well-known services, and API tokens of muster itself (`mst_`), which their fixed prefixes give away. */
const KNOWN_TOKEN =
  /\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl(?:sa|c|pat|rt)[-_][A-Za-z0-9_=-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{16,}|NRAK-[A-Z0-9]{10,}|[A-Za-z0-9]{36}NRAL|dt0[a-z]\d\d\.[A-Za-z0-9.]{20,}|AIza[A-Za-z0-9_-]{30,}|hc[a-z]{2}_[A-Za-z0-9]{20,}|mst_[A-Za-z0-9_-]{30,}|hv[bs]\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{10,}|GOCSPX-[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|do[opr]_v1_[A-Za-z0-9]{16,}|shp(?:at|ca|pa|ss)_[A-Za-z0-9]{16,}|xapp-[A-Za-z0-9-]{16,}|ya29\.[A-Za-z0-9_-]{16,}|pul-[a-f0-9]{32,}|lin_api_[A-Za-z0-9]{16,}|sntrys_[A-Za-z0-9_=+/-]{16,})/g
/** `xoxb-` and ten characters. */
const KNOWN_TOKEN_LENGTH_MIN = 15
/**
 * What a URL begins with, up to its authority: browsers, proxies and drivers take slashes of either kind, any number of
 * them, and none behind `https:`. Without a scheme it begins as a word does.
 */
const URL_START =
  /(?:\b(?:https?|wss?|ftp):[\\/]*|\b[a-z][a-z0-9+.-]{0,30}:[\\/]+|(?<![^\s"'<>`=,;([{|])[\\/]{2,})(?=[^\s"'<>`\\/])/gi
/** The same at the start of a value, in which a browser passes over blanks and breaks of lines. */
const BEGINS_AS_URL =
  /^\s{0,20}(?:(?:https?|wss?|ftp):[\s\\/]{0,20}|[a-z][a-z0-9+.\t\r\n-]{0,30}:[\t\r\n]{0,4}[\\/][\s\\/]{0,20}|[\\/][\t\r\n]{0,4}[\\/][\s\\/]{0,20})/i
/** What ends a URL in a text, although a password may hold each but a blank. */
const URL_END = /[\s"'<>`]/g
/**
 * The text before an `@`, from the last character that cannot be part of a name or password. What follows may be any
 * host: one in letters of any script, or one that is filled in at start (`${env:HOST}`).
 */
const BEFORE_AT = /(?<![^\s"'@/])[^\s"'@/]+@(?=[^\s"'@/])/g
/** `user:pa/ss@tcp(host)`, as database drivers write it: a word with a colon up to the last such `@` in it. */
const BEFORE_DRIVER = /(?<![^\s"'])[^\s"':]+:[^\s"']*@(?=(?:tcp|udp|unix)6?\()/g
/** `user:pa/ss@host`: a name and, behind a colon, what is no port and has a slash before its last `@`. */
const BEFORE_SLASH =
  /(?<![^\s"'])([^\s"':/\\@]*):(?!\d{0,5}[/?#]|[\\/])[^\s"'@/\\]*[\\/][^\s"']*@(?=[^\s"'@/\\])/g
/** `user:pass@`, also behind the name of a setting. */
const NAME_AND_PASSWORD = /(?:^|[=,;(])[^=,;:()]+:./
const INNER_NAME_AND_PASSWORD = /[=,;(][^=,;:()]+:./
const E_MAIL = /(?<![A-Za-z0-9._%+'-])[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g
/** The paths of addresses that are secret themselves: whoever knows one can send there. */
const SECRET_PATH =
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/|api\.telegram\.org\/bot|\.webhook\.office\.com\/webhookb2\/)[^\s"'<>`]+/gi
/** What is set below `headers` in a command line or in one line of YAML: nobody can know what a header carries. */
const HEADER_VALUES = /\b(headers(?:::|=|["']?[ \t]{0,4}:[ \t]{0,4}\{))[^\n"'}]+/gi
/** What stands between a name and its value. */
const ASSIGNMENT = /(?<=[A-Za-z0-9_.-])["']?\s*(?:=>|[:=])\s*/g
/** A flag and the word behind it that is not a flag itself. */
const FLAG =
  /(?<![A-Za-z0-9_.-])(--?([A-Za-z][A-Za-z0-9_.-]{1,80})(?:\s{1,4}|["'],?\s{0,4}|,\s{1,4})["']?)[^\s"',-][^\s"',]*/g
const NAME_CHARACTER = /[A-Za-z0-9_.-]/
const ASSIGNED_NAME_MIN = 2
const ASSIGNED_NAME_MAX = 80
const SECRET_VALUE = /bearer |secret|token|api[-_]?key|password/i

/**
 * A text without secrets: key blocks, tokens, credentials and secret parameters of URLs, values assigned to
 * secret names, e-mail addresses. Time grows linearly with the text.
 */
export function redactText(text: string): string {
  return redactSecrets(text).replace(E_MAIL, MASK)
}

/** The same with e-mail addresses left in, where they say whom to ask. */
export function redactSecrets(text: string): string {
  return redactFlags(replaceAssigned(redactHeaders(redactAddresses(redactTokens(text))), MASK))
}

function redactHeaders(text: string): string {
  return /headers/i.test(text) ? text.replace(HEADER_VALUES, `$1${MASK}`) : text
}

/** Mask the value of `--password x` in a command line, also as a list of quoted words. */
function redactFlags(text: string): string {
  if (!text.includes('-')) return text
  return text.replace(FLAG, (whole, before: string, name: string) =>
    isSecretName(name) ? before + MASK : whole,
  )
}

/**
 * Replace each value that a text assigns to a secret name (`token: x`, `"password" => "x"`), with the name itself
 * where `withName` says so. Goes through the text once.
 */
export function replaceAssigned(text: string, mask: string, withName = false): string {
  let clean = ''
  let kept = 0
  for (const match of text.matchAll(ASSIGNMENT)) {
    if (match.index < kept) continue
    const name = nameBefore(text, match.index, kept)
    if (match.index - name < ASSIGNED_NAME_MIN || !isSecretName(text.slice(name, match.index))) continue
    const value = match.index + match[0].length
    if (text.startsWith(mask, value)) continue
    const isAuthorization = /authorization$/i.test(text.slice(name, match.index))
    const end = valueEnd(text, value, isAuthorization ? CREDENTIALS : WORD)
    if (end === value) continue
    clean += text.slice(kept, withName ? name : value) + mask
    kept = end
  }
  return clean + text.slice(kept)
}

function nameBefore(text: string, end: number, from: number): number {
  const first = Math.max(from, end - ASSIGNED_NAME_MAX)
  let at = end
  while (at > first && NAME_CHARACTER.test(text[at - 1]!)) at--
  return at
}

const WORD = /[^\s,;}\])]*/y
/** The name of a scheme and what stands behind it. */
const CREDENTIALS = /[^\s,;}\])]*(?:[ \t]{1,4}[^\s,;}\])"']+)?/y

/** Where a value that starts at `from` ends: behind its closing quote or bracket, or where the word ends. */
function valueEnd(text: string, from: number, word: RegExp): number {
  const quote = text[from]
  if (quote === '[') {
    const end = text.indexOf(']', from)
    return end < 0 ? text.length : end + 1
  }
  if (quote === "'" || quote === '"') {
    for (let at = from + 1; at < text.length; at++) {
      if (text[at] === quote) return at + 1
      if (text[at] === '\\' && quote === '"') at++
    }
    return text.length
  }
  word.lastIndex = from
  return from + word.exec(text)![0].length
}

/** Mask tokens and keys. Most texts of a config are short words, so a pattern is tried only where it could match. */
function redactTokens(text: string): string {
  let clean = text
  if (text.includes('-----BEGIN')) clean = clean.replace(PEM, MASK)
  if (/\s/.test(text)) clean = clean.replace(SCHEME_TOKEN, `$1$2${MASK}`)
  if (text.includes('eyJ')) clean = clean.replace(JWT, MASK)
  return text.length < KNOWN_TOKEN_LENGTH_MIN ? clean : clean.replace(KNOWN_TOKEN, MASK)
}

/** Take secrets out of URLs, and credentials that stand before a host. */
function redactAddresses(text: string): string {
  let clean = text.includes('://') || text.includes('@') ? redactUrls(text) : text
  if (clean.includes('/')) clean = clean.replace(SECRET_PATH, `$1${MASK}`)
  if (clean.includes('@'))
    clean = clean.replace(BEFORE_DRIVER, `${MASK}@`).replace(BEFORE_SLASH, maskBehindName)
  return clean.includes('@') ? clean.replace(BEFORE_AT, redactBeforeAt) : clean
}

/** `dsn=user:pa/ss@` with the name of the setting. */
function maskBehindName(_: string, user: string): string {
  const start = Math.max(...[...'=,;('].map((mark) => user.lastIndexOf(mark))) + 1
  return `${user.slice(0, start)}${MASK}@`
}

/** Take secrets out of the URLs of a text. Goes through the text once. */
function redactUrls(text: string): string {
  let clean = ''
  let kept = 0
  let word = { end: 0, lastAt: -1 }
  for (const match of text.matchAll(URL_START)) {
    if (match.index < kept) continue
    const authority = match.index + match[0].length
    let end = search(URL_END, text, authority)
    if (beginsPassword(text.slice(authority, end), isClosed(text, match.index, end))) {
      if (word.end <= authority) word = wordAt(text, authority)
      if (word.lastAt > end) end = search(URL_END, text, word.lastAt)
    }
    clean += text.slice(kept, match.index) + redactUrl(text.slice(match.index, end))
    kept = end
  }
  return clean + text.slice(kept)
}

/** Where the word at a place ends, and where its last `@` stands. */
function wordAt(text: string, from: number): { end: number; lastAt: number } {
  const end = search(/\s/g, text, from)
  const at = text.slice(from, end).lastIndexOf('@')
  return { end, lastAt: at < 0 ? -1 : from + at }
}

function search(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}

/**
 * Whether what follows the `://` of a URL up to a quote or bracket begins a password that goes on behind it. What may be
 * a host, and digits that may be a port, do so only where the mark does not close what stands around the URL.
 */
function beginsPassword(beginning: string, closed: boolean): boolean {
  const host = beginning.slice(0, indexOfAny(beginning, '/?#', 0))
  if (!beginning.includes('@') && holdsPassword(host)) return true
  if (host !== beginning || !/[:@]/.test(host)) return false
  return !closed || /[:@]$/.test(host)
}

/** Whether the mark at `end` closes the quote or bracket before `start`. No word goes on directly behind it. */
function isClosed(text: string, start: number, end: number): boolean {
  const opened = text[start - 1]
  return text[end] === (opened === '<' ? '>' : opened) && !/\w/.test(text[end + 1] ?? '')
}

/** `(user:pass@` without what stands behind the bracket. */
function redactBeforeAt(stretch: string, offset: number, text: string): string {
  // Behind a slash there is a path or a host, so credentials cannot begin there.
  const isInside = offset > 0 && '/@'.includes(text[offset - 1]!)
  const found = (isInside ? INNER_NAME_AND_PASSWORD : NAME_AND_PASSWORD).exec(stretch)
  if (found === null) return stretch
  const start = found.index + ('=,;('.includes(stretch[found.index]!) ? 1 : 0)
  return `${stretch.slice(0, start)}${MASK}@`
}

/**
 * A URL without user information and fragment, with the values of secret query parameters masked and the parameters
 * sorted.
 */
export function redactUrl(url: string): string {
  const clean = withoutCredentials(url)
  if (!hasScheme(url)) return clean
  const [withoutFragment] = clean.split('#', 1)
  const question = withoutFragment!.indexOf('?')
  if (question === -1) return withoutFragment!
  const query = withoutFragment!
    .slice(question + 1)
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=')
      return equals > 0 && isSecretName(decodeLoosely(pair.slice(0, equals)))
        ? `${pair.slice(0, equals)}=${MASK}`
        : pair
    })
  return `${withoutFragment!.slice(0, question)}?${query.sort().join('&')}`
}

/** What stands for a host or a port and is filled in at start. */
const FILLED_IN = /\$\{[^${}]{0,80}\}/g

/** A URL without what is certainly user information; what may be a host is masked and not left out. */
function withoutCredentials(url: string): string {
  const start = authorityOf(url)
  const masked = `${MASK}@`
  const found = findCredentials(url, url.startsWith(masked, start) ? start + masked.length : start)
  if (found === null) return url
  const rest = url.slice(found.end + 1)
  return found.isCertain ? url.slice(0, found.from) + rest : url.slice(0, found.from) + masked + rest
}

/** Where the authority of a URL begins, behind its slashes; 0 in what does not begin as a URL and holds none. */
function authorityOf(url: string): number {
  const inside = url.indexOf('://')
  return BEGINS_AS_URL.exec(url)?.[0].length ?? (inside < 0 ? 0 : inside + 3)
}

const hasScheme = (url: string) => url.slice(0, authorityOf(url)).includes(':')

/** Where credentials stand in a URL: from `from` up to the `@` at `end`. */
export interface FoundCredentials {
  from: number
  end: number
  /** False for what whoever reads the URL as a browser does takes for a host and a path. */
  isCertain: boolean
}

/**
 * Find the user information of a URL, whose scheme and slashes end at `authority`. A password may hold the marks that end a host, and
 * an `@` as well, and is not shown in favour of an address: all up to the last `@` belongs to the credentials where an
 * `@`, or a colon that no port follows, stands before such a mark. Behind a port that is true of the path, where an `@`
 * does not begin a part of it, and of a query without a `=` before the `@`. Without a port it may be so: see `findToken`.
 */
export function findCredentials(url: string, authority: number): FoundCredentials | null {
  const last = url.lastIndexOf('@')
  if (last < authority) return null
  const sure = (end: number): FoundCredentials => ({ from: authority, end, isCertain: true })
  const end = indexOfAny(url, '/?#', authority)
  const host = url.slice(authority, end)
  if (host.includes('@') || holdsPassword(host)) return sure(last)
  if (IN_BRACKETS.test(host)) return null
  const query = indexOfAny(url, '?#', end)
  if (last > query && !url.slice(query, last).includes('=')) {
    return host.includes(':') ? sure(last) : findToken(url, authority, end, last)
  }
  const inPath = url.lastIndexOf('@', query - 1)
  if (inPath <= end) return null
  if (!host.includes(':')) return findToken(url, authority, end, inPath)
  return url[inPath - 1] === '/' ? null : sure(inPath)
}

/**
 * The token that may stand before the `@` at `at` where no colon tells it from a host and its path. A name that
 * does not end as a host does is rather the beginning of one, but for this machine's; what does is shown: then a token is
 * only what leads to another host.
 */
function findToken(url: string, authority: number, hostEnd: number, at: number): FoundCredentials | null {
  const host = url.slice(authority, hostEnd)
  if (host.replace(FILLED_IN, '') === '' || host === 'localhost') return null
  const isHost = ENDS_AS_HOST.test(host)
  const isBeforeHost = A_HOST.test(url.slice(at + 1, indexOfAny(url, '/?#', at + 1)))
  if (!isBeforeHost && (isHost || url[at - 1] === '/')) return null
  return { from: isHost ? hostEnd + 1 : authority, end: at, isCertain: false }
}

/**
 * A name with a dot whose end is one that hosts have: a country, one of the common domains, a private one, or the last
 * number of an address. A token may hold a dot as well.
 */
const ENDS_AS_HOST =
  /[.](?:[a-z]{2}|\d{1,3}|\}|com|net|org|edu|gov|mil|int|info|biz|name|app|dev|cloud|tech|tools|online|site|xyz|host|systems|network|services|software|digital|solutions|run|page|live|team|example|test|invalid|localhost|local|localdomain|internal|intranet|lan|home|corp|private|svc|cluster|arpa|consul|xn--[a-z0-9-]{1,59})\.?$/i

/** What is a host and no name of a version or a person: an address, a name with a domain, or a name with a port. */
const A_HOST =
  /^(?:\[[0-9a-f:.]+\](?::\d{1,5})?|(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|[\w.-]+:\d{1,5}|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,})$/i

/** An IPv6 address, with a port or without. */
const IN_BRACKETS = /^\[[^\]]*\](?::\d{0,5})?$/

/** Whether a colon that no port follows stands in what should be a host. */
function holdsPassword(authority: string): boolean {
  const host = authority.replace(FILLED_IN, '0')
  const colon = IN_BRACKETS.test(host) ? -1 : host.indexOf(':')
  return colon >= 0 && !/^\d{0,5}$/.test(host.slice(colon + 1))
}

function indexOfAny(text: string, characters: string, from: number): number {
  for (let i = from; i < text.length; i++) if (characters.includes(text[i]!)) return i
  return text.length
}

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `host:4317/`, which may as well be a user and the beginning of a password. */
const BEGINS_AS_HOST = /^[^\s/:@]+:\d{0,5}[/?#]/

/** A string of a config that may be shown: masked whole when it looks secret, else without credentials. */
export function redactString(value: string): string {
  if (SECRET_VALUE.test(value) || redactTokens(value) !== value) return MASK
  // In a value that is an address, quotes and blanks end nothing.
  const isAddress = value.includes('@') && (BEGINS_AS_URL.test(value) || BEGINS_AS_HOST.test(value))
  return redactAddresses(isAddress ? redactUrl(value) : value)
}

/**
 * A value of a config that may be shown. `keys` is the path that leads to it: where the path is secret, the whole value
 * is masked. Below a secret key inside the value, scalars and lists are masked and the keys of mappings stay.
 */
export function redactValue(value: ConfigValue, keys: readonly string[] = []): ConfigValue {
  if (isSecretPath(keys)) return value === null ? null : MASK
  return redactBelow(value, keys.at(-1) ?? '')
}

function redactBelow(value: ConfigValue, parent: string): ConfigValue {
  if (typeof value === 'string') return redactString(value)
  if (Array.isArray(value)) return value.map((entry) => redactBelow(entry, parent))
  if (!isObject(value)) return value
  const redacted: ConfigObject = emptyObject()
  for (const [key, entry] of Object.entries(value)) {
    const shownKey = redactName(key)
    const isSecret = isSecretKey(key) || isSecretPair(parent, key)
    redacted[shownKey] = isSecret ? maskDeep(entry) : redactBelow(entry, key)
  }
  return isNamedSecret(value) ? maskValues(redacted) : redacted
}

/** Whether there is a secret key anywhere below a value; `parent` is the key of the value itself. */
export function holdsSecretKey(value: ConfigValue | undefined, parent = ''): boolean {
  if (Array.isArray(value)) return value.some((entry) => holdsSecretKey(entry, parent))
  if (!isObject(value)) return false
  return Object.entries(value).some(
    ([key, entry]) => isSecretKey(key) || isSecretPair(parent, key) || holdsSecretKey(entry, key),
  )
}

/** Mask every value and keep the keys. */
function maskDeep(value: ConfigValue): ConfigValue {
  if (isObject(value)) {
    const masked = emptyObject()
    for (const [key, entry] of Object.entries(value)) masked[redactName(key)] = maskDeep(entry)
    return masked
  }
  return value === null ? null : MASK
}

/** Whether an entry names a secret, such as `{key: api_key, value: …}` in lists of actions and headers. */
function isNamedSecret(entry: ConfigObject): boolean {
  const name = entry['key'] ?? entry['name']
  return typeof name === 'string' && isSecretName(name) && 'value' in entry
}

function maskValues(entry: ConfigObject): ConfigObject {
  const value = entry['value']
  if (value !== undefined && value !== null) entry['value'] = MASK
  return entry
}

/** A key or component id that may be shown: as it is, unless it is itself a credential. */
export function redactName(name: string): string {
  return redactAddresses(redactTokens(name))
}
