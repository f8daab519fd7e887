import { parse } from 'yaml'

/**
 * Returns the text that a reference stands for, by its scheme and what follows the colon. Throws for an unknown scheme.
 */
export type Retrieve = (scheme: string, opaque: string) => string

/** What a reference that was a whole value became: the value, and the text that it was read from. */
class Expanded {
  readonly value: unknown
  readonly original: string
  constructor(value: unknown, original: string) {
    this.value = value
    this.original = original
  }
}

/**
 * Expand the references in a value as the collector does, until none is left (confmap, expand.go and provider.go of
 * v1.55.0, function by function, with its defects). `retrieve` gives the text for every scheme but `env` and `yaml`;
 * the environment is empty, as it is in a trial run.
 */
export function expandLikeCollector(value: unknown, retrieve: Retrieve): unknown {
  let current = value
  for (let round = 0; round < 1_000; round++) {
    const { value: next, changed } = expandValue(current, retrieve)
    if (!changed) return unwrap(next)
    current = next
  }
  throw new Error('too many recursive expansions')
}

interface Step {
  value: unknown
  changed: boolean
}

function expandValue(value: unknown, retrieve: Retrieve): Step {
  if (value instanceof Expanded) {
    const expanded = expandValue(value.value, retrieve)
    if (typeof expanded.value === 'string' || expanded.value instanceof Expanded) return expanded
    const original = expandValue(value.original, retrieve)
    const changed = expanded.changed || original.changed
    return typeof original.value === 'string'
      ? { value: new Expanded(expanded.value, original.value), changed }
      : expanded
  }
  if (typeof value === 'string')
    return value.includes('${') && value.includes('}')
      ? expandText(value, retrieve)
      : { value, changed: false }
  if (Array.isArray(value)) {
    const steps = value.map((entry) => expandValue(entry, retrieve))
    return { value: steps.map((step) => step.value), changed: steps.some((step) => step.changed) }
  }
  if (typeof value === 'object' && value !== null) {
    const steps = Object.entries(value).map(([key, entry]) => [key, expandValue(entry, retrieve)] as const)
    return {
      value: Object.fromEntries(steps.map(([key, step]) => [key, step.value])),
      changed: steps.some(([, step]) => step.changed),
    }
  }
  return { value, changed: false }
}

function expandText(input: string, retrieve: Retrieve): Step {
  const uri = findUri(input)
  if (uri === '') return { value: input, changed: false }
  const text = expandUri(uri, retrieve)
  // Like the collector, this replaces every copy of the reference, escaped ones as well.
  if (uri !== input) return { value: input.replaceAll(uri, () => text), changed: true }
  return { value: new Expanded(readYaml(text), text), changed: true }
}

function findUri(input: string): string {
  const close = input.indexOf('}')
  const open = input.lastIndexOf('${', close)
  if (close === -1) return ''
  if (open === -1) return input.includes('}', close + 1) ? findUri(input.slice(close + 1)) : ''
  let dollars = 0
  while (input[open - 1 - dollars] === '$') dollars++
  return dollars % 2 === 1 ? '' : input.slice(open, close + 1)
}

function expandUri(reference: string, retrieve: Retrieve): string {
  const inner = reference.slice(2, -1)
  const match = /^([A-Za-z][A-Za-z0-9+.-]+):([\s\S]*)$/.exec(inner.includes(':') ? inner : `env:${inner}`)
  if (match === null) throw new Error(`invalid uri: "${inner}"`)
  const [, scheme = '', opaque = ''] = match
  if (opaque.includes('$')) throw new Error(`the uri "${inner}" contains unsupported characters ('$')`)
  if (scheme === 'yaml') return opaque
  if (scheme !== 'env') return retrieve(scheme, opaque)
  const at = opaque.indexOf(':-')
  const name = at === -1 ? opaque : opaque.slice(0, at)
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name))
    throw new Error(`environment variable "${name}" has invalid name`)
  return at === -1 ? '' : opaque.slice(at + 2)
}

/** Read a text as YAML. A text that is no YAML, or is a plain string, is returned as it is. */
function readYaml(text: string): unknown {
  let value: unknown
  try {
    value = toTexts(parse(text, { customTags: ['binary', 'merge'], logLevel: 'silent' }))
  } catch {
    return text
  }
  return typeof value === 'string' ? text : value
}

/** Binary values become text, as in the collector's reader. */
function toTexts(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (Array.isArray(value)) return value.map(toTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toTexts(entry)]))
}

function unwrap(value: unknown): unknown {
  if (value instanceof Expanded) return unwrap(value.value)
  if (Array.isArray(value)) return value.map(unwrap)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, unwrap(entry)]))
}
