import type { ConfigValue } from '../yaml/value.ts'

/** A reference such as `${1}` that the collector refuses to fill in. */
export interface BadExpansion {
  reason: 'invalid-variable-name' | 'default-without-env' | 'invalid-reference' | 'unknown-provider'
  /** The variable or provider that is named; never the default value, which may be a secret. */
  name: string
}

const VARIABLE = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const REFERENCE = /^([A-Za-z][A-Za-z0-9+.-]+):([\s\S]*)$/
const NAME_LENGTH_MAX = 60
/** Most bad references that are reported of one text; the rest would say the same. */
const BAD_MAX = 1_000
const PROVIDERS_MAX = 100
/** Stands for a nested reference that has been checked; nothing is known about its text. */
const NESTED = '\ue000'

/** Providers of the collector and of its known distributions. */
const PROVIDERS = new Set([
  'aes',
  'azblob',
  'env',
  'etcd2',
  'file',
  'glob',
  'googlesecretmanager',
  'http',
  'https',
  'include',
  's3',
  'secretsmanager',
  'vault',
  'yaml',
  'zookeeper',
])

/** A reference that is being read: `${` came and its `}` did not. */
interface OpenReference {
  isEscaped: boolean
  inner: string
}

/**
 * The providers that a text refers to, and the references in it that no collector can fill in. Each `}` ends what the
 * nearest `${` before it began (confmap, expand.go); a `}` behind an escaped `${`, or behind none, ends them all.
 */
export function checkExpansions(text: string): { providers: string[]; bad: BadExpansion[] } {
  const providers = new Set<string>()
  const bad: BadExpansion[] = []
  let open: OpenReference[] = []
  let from = 0
  let at = 0
  for (const { 0: bracket, index } of text.matchAll(/\$\{|\}/g)) {
    const outer = open.at(-1)
    if (outer) outer.inner += text.slice(at, index)
    at = index + bracket.length
    if (bracket !== '}') {
      open.push({ isEscaped: isEscaped(text, index, from), inner: '' })
      continue
    }
    const ended = open.pop()
    if (!ended || ended.isEscaped) {
      open = []
      from = at
      continue
    }
    const problem = checkReference(ended.inner, providers)
    if (problem && bad.length < BAD_MAX) bad.push(problem)
    const around = open.at(-1)
    if (around) around.inner += NESTED
  }
  return { providers: [...providers].sort(), bad }
}

/** What a collector would follow if it read this config. */
export interface ConfigReferences {
  /** The sorted names of the providers that are referred to anywhere. */
  providers: string[]
  /** They reach environment variables only, also where a filled-in value makes up a further reference. */
  areHarmless: boolean
}

/** What a config refers to; `text` is what the value was read from. */
export function referencesOf(text: string, value: ConfigValue): ConfigReferences {
  const providers = new Set<string>()
  let areHarmless = !DECODING_TAG.test(text)
  const pending: ConfigValue[] = [value]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') {
      for (const name of checkExpansions(next).providers) providers.add(name)
      areHarmless &&= isHarmless(next)
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, entry] of Object.entries(next)) {
        areHarmless &&= isHarmless(key)
        pending.push(entry)
      }
    }
  }
  return { providers: [...providers].sort(), areHarmless }
}

/** A tag under which other characters are read than are written, as `!!binary` does. */
const DECODING_TAG = /!!(?!(?:bool|float|int|map|null|seq|str)(?![\w%-]))|!<|%TAG/
/** Put in the place of a harmless reference. A config that holds this character already passes nothing by it. */
const FILLED_IN = '\ue001'
/**
 * A reference that can only become the value of an environment variable or the text written in it. YAML without
 * backslash, tag and alias consists of its own characters, and without dollar and brace these form no reference.
 */
const HARMLESS_REFERENCE =
  /\$\{(?:[^:${}\ue001]*|env:[a-zA-Z_][a-zA-Z0-9_]*(?::-[^\\!&*${}]*)?|yaml:[^\\!&*${}]*)\}/g
/** Nesting beyond this has no use. */
const NESTED_MAX = 10

/**
 * Whether a text reaches environment variables only, however often a collector fills in what came out. An escape does
 * not count: the collector fills in every copy of a reference that it found once, also the escaped ones.
 */
function isHarmless(text: string): boolean {
  if (!text.includes('$')) return true
  let filled = text
  for (let round = 0; round < NESTED_MAX; round++) {
    const next = filled.replace(HARMLESS_REFERENCE, FILLED_IN)
    if (next === filled) break
    filled = next
  }
  // A reference may become an empty text; the `$` before it and the `{` behind it then make a new reference.
  return !filled.replaceAll(FILLED_IN, '').includes('${')
}

/** An odd number of dollars before it makes `$${…}`, which is a literal. */
function isEscaped(text: string, start: number, from: number): boolean {
  let dollars = 0
  while (start - dollars - 1 >= from && text[start - dollars - 1] === '$') dollars++
  return dollars % 2 === 1
}

function checkReference(inner: string, providers: Set<string>): BadExpansion | null {
  if (inner.startsWith(NESTED)) return null
  if (!inner.includes(':')) {
    providers.add('env')
    return isVariable(inner) ? null : { reason: 'invalid-variable-name', name: shorten(inner) }
  }
  const name = shorten(inner.slice(0, inner.indexOf(':')))
  const match = REFERENCE.exec(inner)
  if (/^[^:]*:-/.test(inner)) return { reason: 'default-without-env', name }
  if (!match) return { reason: 'invalid-reference', name }
  const [, provider, value] = match
  if (providers.size < PROVIDERS_MAX) providers.add(shorten(provider!))
  if (provider === 'env') {
    const variable = value!.split(':-', 1)[0]!
    return isVariable(variable) ? null : { reason: 'invalid-variable-name', name: shorten(variable) }
  }
  return PROVIDERS.has(provider!) ? null : { reason: 'unknown-provider', name }
}

function isVariable(name: string): boolean {
  return name.includes(NESTED) || VARIABLE.test(name)
}

function shorten(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name
}
