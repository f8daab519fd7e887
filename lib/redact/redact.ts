import { type ConfigObject, type ConfigValue, emptyObject, isObject } from '../configs/yaml/value.ts'

/** What stands in place of a secret, wherever one is taken out. */
export const MASK = '••••masked••••'

/** Words that make a key, header or query parameter secret when they are part of its name (`-` read as `_`). */
const SECRET_WORDS = [
  'access_key',
  'account_key',
  'api_key',
  'apikey',
  'auth_key',
  'authorization',
  'cert_pem',
  'client_key',
  'community_string',
  'conn_str',
  'connection_str',
  'connectionstr',
  'cookie',
  'credential',
  'dsn',
  'encryption_key',
  'honeycomb_team',
  'ingest_key',
  'ingestion_key',
  'insert_key',
  'instrumentation_key',
  'key_pem',
  'license_key',
  'passphrase',
  'passwd',
  'password',
  'private_key',
  'pwd',
  'sas_',
  'secret',
  'shared_key',
  'signature',
  'signing_key',
  'token',
]
const SECRET_WORD = new RegExp(SECRET_WORDS.join('|'))

/** Names that are secret as a whole but too short to look for inside others. */
const SECRET_NAMES = new Set([
  'auth_data',
  'connstring',
  'htpasswd',
  'jwt',
  'pass',
  'pat',
  'psk',
  'sas',
  'sig',
])

/** Parents whose values are secret whatever their own names: one cannot know what a header carries. */
const SECRET_PARENTS = new Set(['headers', 'additional_headers', 'metadata_headers'])

/** Whether a name, such as a key or a query parameter, says that its value is secret. */
export function isSecretName(name: string): boolean {
  const lower = /[A-Z-]/.test(name) ? toSnakeCase(name) : name
  return SECRET_NAMES.has(lower) || SECRET_WORD.test(lower) || isCamelSecret(name)
}

const toSnakeCase = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('-', '_')

function isCamelSecret(name: string): boolean {
  if (!/key/i.test(name)) return false
  // `APIKey` and `AccessKey` lose their underscore when they are only lower-cased.
  const joined = name.toLowerCase().replace(/[-_ ]/g, '')
  return /(api|access|account|license|private|shared|signing)key/.test(joined)
}

/** What the last keys were judged to be: a config has a few dozen of them, thousands of times. */
const judgedKeys = new Map<string, boolean>()
const JUDGED_KEYS_MAX = 2_000
const JUDGED_LENGTH_MAX = 64

/** Whether the values below a key are secret: it is a secret name itself, or holds headers. */
export function isSecretKey(key: string): boolean {
  const known = judgedKeys.get(key)
  if (known !== undefined) return known
  const isSecret =
    SECRET_PARENTS.has(key.toLowerCase().replaceAll('-', '_')) || key.split(/[./[\]]/).some(isSecretName)
  if (key.length > JUDGED_LENGTH_MAX) return isSecret
  if (judgedKeys.size >= JUDGED_KEYS_MAX) judgedKeys.clear()
  judgedKeys.set(key, isSecret)
  return isSecret
}

const PEM = /-----BEGIN [A-Z0-9 ]{0,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g
const SCHEME_TOKEN = /\b(bearer|basic|apikey|api-key|digest|negotiate|token)(\s+)[A-Za-z0-9._~+/=-]{6,}/gi
const JWT = /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)?/g
/** Keys of well-known services, which their fixed prefixes give away. */
const KNOWN_TOKEN =
  /\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl(?:sa|c|pat)[-_][A-Za-z0-9_=-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{16,}|NRAK-[A-Z0-9]{10,}|[A-Za-z0-9]{36}NRAL|dt0[a-z]\d\d\.[A-Za-z0-9.]{20,}|AIza[A-Za-z0-9_-]{30,}|hc[a-z]{2}_[A-Za-z0-9]{20,})/g
/** `xoxb-` and ten characters. */
const KNOWN_TOKEN_LENGTH_MIN = 15
const URL_LIKE = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>`]+/gi
/** Also `user:pass@tcp(host)`, as database drivers write it. */
const BARE_CREDENTIALS = /(^|[\s"'=,;(])[^\s"'=,;:/@()]{1,256}:[^\s"'@/]{1,256}@(?=[A-Za-z0-9[])/g
const E_MAIL = /(?<![A-Za-z0-9._%+'-])[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g
const ASSIGNED_NAME = /(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]{2,80})["']?\s{0,3}[:=]\s{0,3}/g
const ASSIGNED_VALUE = /"(?:[^"\\]|\\.){0,4000}"?|'[^']{0,4000}'?|[^\s,;}\])"']+/y
const SECRET_VALUE = /bearer |secret|token|api[-_]?key|password/i

/**
 * A text without secrets: key blocks, tokens, credentials and secret parameters of URLs, values assigned to
 * secret names, e-mail addresses. Time grows linearly with the text.
 */
export function redactText(text: string): string {
  return redactAssigned(redactAddresses(redactTokens(text))).replace(E_MAIL, MASK)
}

/** Masks what follows a secret name and `:` or `=`. */
function redactAssigned(text: string): string {
  let clean = ''
  let kept = 0
  const value = new RegExp(ASSIGNED_VALUE)
  for (const match of text.matchAll(ASSIGNED_NAME)) {
    const end = match.index + match[0].length
    if (match.index < kept || !isSecretName(match[1]!)) continue
    value.lastIndex = end
    const found = value.exec(text)
    if (!found || found[0].startsWith(MASK)) continue
    clean += text.slice(kept, end) + MASK
    kept = end + found[0].length
  }
  return clean + text.slice(kept)
}

/** Most texts of a config are short words: a pattern is only tried where it could be found at all. */
function redactTokens(text: string): string {
  let clean = text
  if (text.includes('-----BEGIN')) clean = clean.replace(PEM, MASK)
  if (/\s/.test(text)) clean = clean.replace(SCHEME_TOKEN, `$1$2${MASK}`)
  if (text.includes('eyJ')) clean = clean.replace(JWT, MASK)
  return text.length < KNOWN_TOKEN_LENGTH_MIN ? clean : clean.replace(KNOWN_TOKEN, MASK)
}

/** URLs without what is secret in them, and credentials that stand before a host. */
function redactAddresses(text: string): string {
  const clean = text.includes('://') ? text.replace(URL_LIKE, (url) => redactUrl(url)) : text
  return clean.includes('@') ? clean.replace(BARE_CREDENTIALS, `$1${MASK}@`) : clean
}

/** A URL without user information and fragment, with the values of secret query parameters masked. */
export function redactUrl(url: string): string {
  const authority = url.indexOf('://') + 3
  const end = indexOfAny(url, '/?#', authority)
  const at = url.lastIndexOf('@', end - 1)
  const clean = at >= authority ? url.slice(0, authority) + url.slice(at + 1) : url
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

/** A string of a config that may be shown: masked whole when it looks secret, else without credentials. */
export function redactString(value: string): string {
  if (SECRET_VALUE.test(value) || redactTokens(value) !== value) return MASK
  return redactAddresses(value)
}

/**
 * A value of a config that may be shown. Keys stay; everything below a secret key is masked, mappings and
 * lists as a whole, so that not even their shape tells anything. `keys` is the path that leads to the value.
 */
export function redactValue(value: ConfigValue, keys: readonly string[] = []): ConfigValue {
  if (keys.some(isSecretKey)) return value === null ? null : MASK
  return redactBelow(value)
}

function redactBelow(value: ConfigValue): ConfigValue {
  if (typeof value === 'string') return redactString(value)
  if (Array.isArray(value)) return redactList(value)
  if (!isObject(value)) return value
  const redacted: ConfigObject = emptyObject()
  for (const [key, entry] of Object.entries(value)) {
    const shownKey = redactName(key)
    redacted[shownKey] = isSecretKey(key) ? maskDeep(entry) : redactBelow(entry)
  }
  return isNamedSecret(value) ? maskValues(redacted) : redacted
}

function redactList(list: readonly ConfigValue[]): ConfigValue[] {
  return list.map(redactBelow)
}

/** Keys stay visible; what they hold does not. */
function maskDeep(value: ConfigValue): ConfigValue {
  if (isObject(value)) {
    const masked = emptyObject()
    for (const [key, entry] of Object.entries(value)) masked[redactName(key)] = maskDeep(entry)
    return masked
  }
  return value === null ? null : MASK
}

/** Entries such as `{key: api_key, value: …}`, which actions and header lists are made of. */
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
