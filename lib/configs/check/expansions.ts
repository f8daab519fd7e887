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

/** The providers that a text refers to, and the references in it that no collector can fill in. */
export function checkExpansions(text: string): { providers: string[]; bad: BadExpansion[] } {
  const providers = new Set<string>()
  const bad: BadExpansion[] = []
  let rest = text
  // Each round takes out one reference, innermost first; a text of 2 MiB could hold very many.
  for (let round = 0; round < 1_000; round++) {
    const found = innermostReference(rest)
    if (found === null) break
    const inner = rest.slice(found.start + 2, found.end)
    const problem = checkReference(inner, providers)
    if (problem) bad.push(problem)
    rest = `${rest.slice(0, found.start)}${NESTED}${rest.slice(found.end + 1)}`
  }
  return { providers: [...providers].sort(), bad }
}

/** The sorted names of the providers that a config refers to anywhere. */
export function providersOf(value: ConfigValue): string[] {
  const found = new Set<string>()
  const pending: ConfigValue[] = [value]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') for (const name of checkExpansions(next).providers) found.add(name)
    else if (typeof next === 'object' && next !== null)
      for (const entry of Object.values(next)) pending.push(entry)
  }
  return [...found].sort()
}

/** The first `${…}` that is not escaped: from the first `}` back to the nearest `${` (confmap, expand.go). */
function innermostReference(text: string): { start: number; end: number } | null {
  let from = 0
  for (;;) {
    const end = text.indexOf('}', from)
    if (end === -1) return null
    const start = text.lastIndexOf('${', end)
    if (start >= from) {
      let dollars = 0
      while (start - dollars - 1 >= from && text[start - dollars - 1] === '$') dollars++
      // An odd number of dollars before it makes `$${…}`, which is a literal.
      if (dollars % 2 === 0) return { start, end }
    }
    from = end + 1
  }
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
  providers.add(provider!)
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
