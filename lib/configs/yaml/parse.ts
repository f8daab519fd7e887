import {
  type Alias,
  isAlias,
  isScalar,
  isSeq,
  type LineCounter,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { readFirstDocument, type YamlDocument } from './document.ts'
import { type Place, placeOfPath } from './locate.ts'
import { readPlainConfig } from './plain.ts'
import { resolvePlainScalar, resolveTaggedScalar } from './scalar.ts'
import { NESTING_MAX } from './tokens.ts'
import { type ConfigObject, type ConfigValue, emptyObject, isObject } from './value.ts'

/** A config that could be read: its first document, aliases and merge keys resolved. */
export interface ParsedConfig {
  root: ConfigObject
}

/** A config that was read, and that knows where in its text a path stands. */
export interface LocatedConfig extends ParsedConfig {
  /** The line of a path, from 1; see `placeOfPath`. */
  lineOf(path: string): number | null
  placeOf(path: string): Place | null
}

/** Why a text is no config. The message never quotes the text, so it may be logged. */
export interface ParseProblem {
  code: 'yaml_parse' | 'empty_config'
  message: string
  /** From 1; absent where the whole text is meant. */
  line?: number
  column?: number
}

/** A config, or why a text is none. */
export type ParseResult = { ok: true; document: LocatedConfig } | { ok: false; problem: ParseProblem }

/** Longest config that is looked at, in UTF-16 units (the largest request body that carries one is 2 MiB). */
export const CONFIG_LENGTH_MAX = 2_097_152

const MERGE_TAG = 'tag:yaml.org,2002:merge'

/** Values that aliases may add; whatever walks a config walks each of them again. */
const ALIAS_NODES_MAX = 100_000

/** Read a config as the collector's own parser would: same texts accepted, same values, first document only. */
export function parseConfig(text: string): ParseResult {
  if (text.length > CONFIG_LENGTH_MAX)
    return refuse(`configuration is longer than ${CONFIG_LENGTH_MAX} characters`)
  const plain = readPlainConfig(text)
  return plain === null ? parseAnyConfig(text) : { ok: true, document: locateLater(plain, text) }
}

/** Read a config by way of YAML nodes, in any form of YAML. Slower than `parseConfig`; looks at no length. */
export function parseAnyConfig(text: string): ParseResult {
  const read = readFirstDocument(text)
  if (!read.ok) return refuse(read.problem.message, read.lines, read.problem.offset)
  const converted = new Converter().run(read.contents)
  if (!converted.ok) return refuse(converted.message, read.lines, converted.offset)
  const { value } = converted
  if (value === null)
    return { ok: false, problem: { code: 'empty_config', message: 'configuration is empty' } }
  if (!isObject(value)) return refuse('the configuration is not a mapping')
  return { ok: true, document: locate(value, () => read) }
}

type ReadDocument = Extract<YamlDocument, { ok: true }>

function locate(root: ConfigObject, read: () => ReadDocument): LocatedConfig {
  const placeOf = (path: string) => {
    const { contents, lines } = read()
    return placeOfPath(contents, lines, path)
  }
  return { root, placeOf, lineOf: (path) => placeOf(path)?.line ?? null }
}

/** A config whose nodes are made when somebody asks where something is: few ask. */
function locateLater(root: ConfigObject, text: string): LocatedConfig {
  let read: ReadDocument | null = null
  return locate(root, () => {
    if (read !== null) return read
    const made = readFirstDocument(text)
    if (!made.ok) throw new Error(`A plain config is no YAML: ${made.problem.message}`)
    read = made
    return made
  })
}

function refuse(reason: string, lines?: LineCounter, offset?: number): ParseResult {
  if (!lines || offset === undefined) {
    return { ok: false, problem: { code: 'yaml_parse', message: `invalid YAML: ${reason}` } }
  }
  const { line, col } = lines.linePos(offset)
  const message = `invalid YAML: ${reason} (line ${line}, column ${col})`
  return { ok: false, problem: { code: 'yaml_parse', message, line, column: col } }
}

/**
 * The values of some nodes, where they can be read; `readScalar` says what a scalar stands for, where it knows better.
 */
export function readValues(contents: ParsedNode | null, readScalar: ReadScalar | null = null): Converted {
  return new Converter(readScalar).run(contents)
}

/** What a scalar stands for; undefined where it means what it says. */
export type ReadScalar = (node: Scalar.Parsed) => ConfigValue | undefined

type Converted = { ok: true; value: ConfigValue } | { ok: false; message: string; offset: number }

/** Ends a conversion from any depth; never leaves `Converter.run`. */
class ConversionStop {
  readonly message: string
  readonly offset: number
  constructor(message: string, node: ParsedNode | null) {
    this.message = message
    this.offset = node?.range?.[0] ?? 0
  }
}

interface Sized {
  value: ConfigValue
  /** Levels below the value, aliases written out. */
  height: number
  /** Nodes of the value once every alias is written out. */
  size: number
}

const OPEN = Symbol('an anchor whose value is still being read')

/** Turns nodes into values. Aliases share one value, so a bomb costs nothing before it is refused. */
class Converter {
  readonly #anchors = new Map<string, Sized | typeof OPEN>()
  readonly #readScalar: ReadScalar | null
  #aliasNodes = 0

  constructor(readScalar: ReadScalar | null = null) {
    this.#readScalar = readScalar
  }

  run(contents: ParsedNode | null): Converted {
    try {
      const { value, size } = this.#convert(contents, 0)
      return isAliasBomb(this.#aliasNodes, size)
        ? { ok: false, message: 'excessive aliasing', offset: 0 }
        : { ok: true, value }
    } catch (stop) {
      if (stop instanceof ConversionStop) return { ok: false, message: stop.message, offset: stop.offset }
      throw stop
    }
  }

  #convert(node: ParsedNode | null, depth: number): Sized {
    if (node === null) return { value: null, size: 1, height: 0 }
    if (depth > NESTING_MAX) throw new ConversionStop('values are nested too deeply', node)
    if (isAlias(node)) return this.#alias(node, depth)
    const anchor = node.anchor
    if (anchor) this.#anchors.set(anchor, OPEN)
    const sized = this.#value(node, depth)
    if (anchor) this.#anchors.set(anchor, sized)
    return sized
  }

  #value(node: Exclude<ParsedNode, Alias.Parsed>, depth: number): Sized {
    if (isScalar(node)) {
      const source = String(node.value ?? '')
      const known = this.#readScalar?.(node as Scalar.Parsed)
      if (known !== undefined) return { value: known, size: 1, height: 0 }
      if (node.tag !== undefined && node.tag !== '!') {
        const tagged = resolveTaggedScalar(node.tag, source)
        if (tagged === null) throw new ConversionStop('a tag does not fit its value', node)
        return { value: tagged.value, size: 1, height: 0 }
      }
      return { value: node.type === 'PLAIN' ? resolvePlainScalar(source) : source, size: 1, height: 0 }
    }
    if (isSeq(node)) {
      const values: ConfigValue[] = []
      let size = 1
      let height = 0
      for (const item of node.items) {
        const converted = this.#convert(item as ParsedNode | null, depth + 1)
        values.push(converted.value)
        size += converted.size
        height = Math.max(height, converted.height + 1)
      }
      return { value: values, size, height }
    }
    return this.#mapping(node as YAMLMap.Parsed, depth)
  }

  #mapping(node: YAMLMap.Parsed, depth: number): Sized {
    const object = emptyObject()
    const merges: Array<{ node: ParsedNode | null; key: ParsedNode }> = []
    const seen = new Set<string>()
    let size = 1
    let height = 0
    for (const { key, value } of node.items) {
      const name = this.#key(key as ParsedNode | null, node)
      // The collector compares keys as written: `1` and "1" are the same key.
      if (seen.has(name.identity)) throw new ConversionStop('a key is defined twice in one mapping', key)
      seen.add(name.identity)
      if (name.isMerge) {
        merges.push({ node: value as ParsedNode | null, key })
        continue
      }
      const converted = this.#convert(value as ParsedNode | null, depth + 1)
      object[name.text] = converted.value
      size += converted.size + 1
      height = Math.max(height, converted.height + 1)
    }
    for (const merge of merges) {
      const merged = this.#merge(object, merge.node, merge.key, depth)
      size += merged.size
      height = Math.max(height, merged.height)
    }
    return { value: object, size, height }
  }

  #key(key: ParsedNode | null, mapping: ParsedNode): { text: string; identity: string; isMerge: boolean } {
    if (key === null) return { text: '', identity: 's:', isMerge: false }
    if (isAlias(key)) {
      const { value } = this.#alias(key, 0)
      if (typeof value === 'object' && value !== null) throw new ConversionStop('a key is not a text', key)
      return { text: String(value ?? ''), identity: `a:${key.source}`, isMerge: false }
    }
    // `{{ name }}` of a template that was not filled in is a mapping used as a key.
    if (!isScalar(key))
      throw new ConversionStop('a key is not a text; quote text that contains {{ }}', key ?? mapping)
    // Resolved, a tagged merge key is no text any more.
    const text = key.tag === MERGE_TAG ? (key.source ?? '') : String(key.value ?? '')
    if (key.anchor) this.#anchors.set(key.anchor, { value: text, size: 1, height: 0 })
    return {
      text,
      identity: `s:${text}`,
      isMerge: text === '<<' && isMergeTag(key.tag, key.type === 'PLAIN'),
    }
  }

  /** Values of a merge key fill in only what the mapping and earlier merges leave open. */
  #merge(
    target: ConfigObject,
    node: ParsedNode | null,
    key: ParsedNode,
    depth: number,
  ): Omit<Sized, 'value'> {
    const sources = isSeq(node) ? (node.items as Array<ParsedNode | null>) : [node]
    let size = 1
    let height = 0
    for (const source of sources) {
      const converted = this.#convert(source, depth + 1)
      if (!isObject(converted.value)) throw new ConversionStop('a merge key needs a mapping', key)
      for (const [name, value] of Object.entries(converted.value)) {
        if (!(name in target)) target[name] = value
      }
      size += converted.size
      height = Math.max(height, converted.height)
    }
    return { size, height }
  }

  #alias(node: Alias.Parsed, depth: number): Sized {
    const found = this.#anchors.get(node.source)
    if (found === undefined)
      throw new ConversionStop('an alias names an anchor that is not defined before it', node)
    if (found === OPEN) throw new ConversionStop('an anchor contains itself', node)
    // Aliases of aliases can nest deeper than the text itself does.
    if (depth + found.height > NESTING_MAX) throw new ConversionStop('values are nested too deeply', node)
    this.#aliasNodes += found.size
    if (this.#aliasNodes > ALIAS_NODES_MAX) throw new ConversionStop('excessive aliasing', node)
    return found
  }
}

/** Which `<<` the collector's parser merges: tagged as a merge key in any spelling, or a bare one. */
const isMergeTag = (tag: string | undefined, isPlain: boolean): boolean =>
  tag === MERGE_TAG || (isPlain && (tag === undefined || tag === '!'))

/** The collector's parser gives up when too large a share of the values comes from aliases. */
function isAliasBomb(aliasNodes: number, nodes: number): boolean {
  return aliasNodes > 100 && nodes > 1_000 && aliasNodes / nodes > 0.99
}
