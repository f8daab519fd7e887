import { parse } from 'yaml'

/** Reads what a reference names: the scheme and what follows its colon. Throws for a scheme it does not have. */
export type Retrieve = (scheme: string, opaque: string) => string

/** A value that a whole reference became: its own, and the text that it was read from. */
class Expanded {
  readonly value: unknown
  readonly original: string
  constructor(value: unknown, original: string) {
    this.value = value
    this.original = original
  }
}

/**
 * Fill in the references of a value as the collector does, again and again (confmap, expand.go and provider.go of
 * v1.55.0, function by function, with its defects). `retrieve` gives the text of everything but `env` and `yaml`;
 * the environment is empty, as that of a trial run.
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
  // Every copy is replaced, escaped ones as well.
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

/** What a text is as a value; one that is no YAML, or only a text, is itself. */
function readYaml(text: string): unknown {
  let value: unknown
  try {
    value = toTexts(parse(text, { customTags: ['binary', 'merge'], logLevel: 'silent' }))
  } catch {
    return text
  }
  return typeof value === 'string' ? text : value
}

/** Bytes become the text that they are, as they do in the collector's reader. */
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
