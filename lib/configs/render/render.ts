import type { ParsedNode, Scalar } from 'yaml'
import { configHash } from '../../model/config-hash.ts'
import { type Fault, faultOf, faultWithin } from '../../model/faults.ts'
import { sortedJson } from '../../model/sorted-json.ts'
import { isSameValue } from '../yaml/equal.ts'
import { parseConfig, type ReadScalar, readValues } from '../yaml/parse.ts'
import type { ReadConfig } from '../yaml/parse-memory.ts'
import { resolveTaggedScalar } from '../yaml/scalar.ts'
import type { ConfigValue } from '../yaml/value.ts'
import { isPlainSafe, quoteDouble, quoteSingle } from '../yaml/write-scalar.ts'
import { BadPlaceholder, type Piece, type Placeholder, readPieces } from './placeholders.ts'
import { type ReadTemplate, readTemplate } from './template.ts'
import {
  type DeclaredVariable,
  isSecretPlace,
  openVariable,
  secretPlaceFault,
  type ValueCheck,
} from './variables.ts'

/** The kinds of reason why a version's text cannot be rendered. */
export type RenderProblemCode =
  /** The version itself is wrong, whatever the values. */
  | 'template_invalid'
  /** A variable that the text needs has no value. */
  | 'variable_missing'
  /** A value is not of its variable's kind, or is a secret. */
  | 'variable_invalid'
  /** The rendered text does not read as the version with its values put in. */
  | 'render_mismatch'

/** Why a version's text cannot be rendered, and where. */
export interface RenderProblem {
  code: RenderProblemCode
  /** What is wrong; never quotes a value. */
  fault: Fault
  /** The variable it is about; absent where it is about the whole text. */
  variable?: string
  /** From 1; absent where the whole text is meant. */
  line?: number
}

/** The outcome of rendering a version's text for one workload. */
export type Rendering =
  | {
      ok: true
      text: string
      /** The variables that the text holds, sorted. */
      variables: string[]
      /**
       * A hash of what the text says, before and after it was filled in: comments, order of keys and layout aside. Absent
       * unless it was asked for.
       */
      meaning?: string
    }
  | { ok: false; problem: RenderProblem }

/** The values of variables that are known, as texts. */
export type VariableValues = Readonly<Record<string, string>>

/** Ends a rendering from any depth; never leaves this file. */
class RenderStop {
  readonly code: RenderProblemCode
  readonly fault: Fault
  readonly variable: string | undefined
  constructor(code: RenderProblemCode, fault: Fault, variable?: string) {
    this.code = code
    this.fault = fault
    this.variable = variable
  }
}

/** A scalar that holds placeholders, and what becomes of it. */
interface Filled {
  node: Scalar.Parsed
  /** What it stands for afterwards. */
  value: ConfigValue
  /** What is written in its place. */
  written: string
}

/** How a version is rendered. */
export interface RenderOptions {
  /** Whether the answer says what the version means, too. */
  withMeaning?: boolean
  /** These may remember what they read: one version is rendered for thousands of workloads. */
  readTemplate?: ReadTemplate
  readConfig?: ReadConfig
}

/**
 * Put values in the place of a version's placeholders. The text is read as YAML first: a placeholder that is a whole
 * plain value takes its variable's type, one in quotes is a text, one inside a text or a block becomes its characters;
 * in a comment it means nothing, as a key it is refused. The collector's own `$` in a value is doubled, so that no
 * value refers to anything. The result is read again and must say what was put in.
 */
export function renderVersion(
  text: string,
  declared: readonly DeclaredVariable[],
  values: VariableValues,
  {
    withMeaning = false,
    readTemplate: readText = readTemplate,
    readConfig = parseConfig,
  }: RenderOptions = {},
): Rendering {
  const { document: read, holes } = readText(text)
  if (!read.ok) {
    const { line } = read.lines.linePos(read.problem.offset)
    const fault = faultOf('yaml_invalid', { message: read.problem.message })
    return { ok: false, problem: { code: 'template_invalid', fault, line } }
  }
  let at: ParsedNode | null = null
  const filler = new Filler(declared, values)
  try {
    const filled: Filled[] = []
    for (const { node, keys, isKey } of holes) {
      at = node
      if (isKey) throw new RenderStop('template_invalid', faultOf('variable_in_key'))
      filled.push(fill(node, read.source, keys, filler))
    }
    at = null
    const rendered = putIn(read.source, filled)
    const said = prove(read.contents, filled, rendered, readConfig)
    const variables = [...filler.used].sort()
    if (!withMeaning) return { ok: true, text: rendered, variables }
    // Filled in, a placeholder has its type; before that, it tells which variable it is.
    const meaning = configHash(sortedJson([valuesOf(read.contents), said]))
    return { ok: true, text: rendered, variables, meaning }
  } catch (stop) {
    const problem = asProblem(stop)
    const offset = (at as ParsedNode | null)?.range?.[0]
    const line = offset === undefined ? undefined : read.lines.linePos(offset).line
    return { ok: false, problem: { ...problem, ...(line === undefined ? {} : { line }) } }
  }
}

function asProblem(stop: unknown): RenderProblem {
  if (stop instanceof BadPlaceholder) return { code: 'template_invalid', fault: stop.fault }
  if (!(stop instanceof RenderStop)) throw stop
  const { code, fault, variable } = stop
  return { code, fault, ...(variable === undefined ? {} : { variable }) }
}

/** Finds what stands in the place of a placeholder. */
class Filler {
  readonly used = new Set<string>()
  readonly #declared: ReadonlyMap<string, DeclaredVariable>
  readonly #values: VariableValues
  readonly #checks = new Map<string, ValueCheck>()

  constructor(declared: readonly DeclaredVariable[], values: VariableValues) {
    this.#declared = new Map(declared.map((variable) => [variable.name, variable]))
    this.#values = values
  }

  variableOf({ name, fallback }: Placeholder): DeclaredVariable {
    const variable = this.#declared.get(name)
    if (variable === undefined)
      throw new RenderStop('template_invalid', faultOf('variable_undeclared', { name }), name)
    if (variable.isRequired && fallback !== null)
      throw new RenderStop('template_invalid', faultOf('variable_default_idle', { name }), name)
    return variable
  }

  /** The characters for some pieces, innermost first; `written` says how those of a value are written there. */
  fill(pieces: readonly Piece[], written: (value: string) => string): string {
    return pieces.map((piece) => (typeof piece === 'string' ? piece : this.#fillOne(piece, written))).join('')
  }

  #fillOne(placeholder: Placeholder, written: (value: string) => string): string {
    const { name, fallback } = placeholder
    const variable = this.variableOf(placeholder)
    this.used.add(name)
    const given = this.givenTo(variable)
    // A default in the text is a part of the text: the collector may find references of its own in it.
    if (given === null && fallback !== null) return this.fill(fallback, written)
    const value = given ?? variable.fallback
    if (value === null) throw new RenderStop('variable_missing', faultOf('variable_missing', { name }), name)
    const fault = this.checkOf(variable)(value)
    if (fault !== null) throw new RenderStop('variable_invalid', fault, name)
    return written(value.replaceAll('$', '$$$$'))
  }

  /** The check of a variable's values, which keeps what it has answered. */
  checkOf(variable: DeclaredVariable): ValueCheck {
    const check = this.#checks.get(variable.name) ?? openVariable(variable)
    this.#checks.set(variable.name, check)
    return check
  }

  givenTo({ name }: DeclaredVariable): string | null {
    return Object.hasOwn(this.#values, name) ? this.#values[name]! : null
  }

  /** Throws when the value at a place for a secret would come, even in part, from a variable. */
  refuseSecrets(pieces: readonly Piece[], keys: readonly string[]): void {
    for (const piece of pieces) {
      if (typeof piece === 'string') continue
      const { name, fallback, isInReference } = piece
      if (!isInReference)
        throw new RenderStop('template_invalid', secretPlaceFault(name, keys.join('.')), name)
      if (fallback !== null) this.refuseSecrets(fallback, keys)
    }
  }
}

const asIs = (value: string) => value

function fill(node: Scalar.Parsed, source: string, keys: readonly string[], filler: Filler): Filled {
  const content = String(node.value ?? '')
  const pieces = readPieces(content)
  if (isSecretPlace(keys)) filler.refuseSecrets(pieces, keys)
  const characters = filler.fill(pieces, asIs)
  const tag = node.tag === undefined || node.tag === '!' ? null : node.tag
  const whole = tag === null && node.type === 'PLAIN' ? wholeOf(pieces) : null
  if (whole !== null) {
    const value = typedValue(whole, filler, characters)
    return { node, value, written: typeof value === 'string' ? writePlain(value) : characters }
  }
  const tagged = tag === null ? { value: characters } : resolveTaggedScalar(tag, characters)
  if (tagged === null) throw new RenderStop('variable_invalid', faultOf('tag_unfit'))
  return { node, value: tagged.value, written: write(node, source, characters, filler) }
}

/** The one placeholder that a text consists of; null when there is more to it. */
function wholeOf(pieces: readonly Piece[]): Placeholder | null {
  const [placeholder, ...more] = pieces.filter((piece) => piece !== '')
  return placeholder === undefined || typeof placeholder === 'string' || more.length > 0 ? null : placeholder
}

/** The characters of a whole value as its variable's type; with a `$`, as a default in the text may have, a text. */
function typedValue(placeholder: Placeholder, filler: Filler, characters: string): ConfigValue {
  const variable = filler.variableOf(placeholder)
  const { type, name } = variable
  const isFallback = filler.givenTo(variable) === null && placeholder.fallback !== null
  if (isFallback && !characters.includes('$')) {
    const fault = filler.checkOf(variable)(characters)
    if (fault !== null) throw new RenderStop('template_invalid', faultWithin('default', fault), name)
  }
  if (characters.includes('$') || type === 'string' || type === 'duration') return characters
  return type === 'boolean' ? characters === 'true' : Number(characters)
}

const writePlain = (text: string): string => (isPlainSafe(text) ? text : quoteDouble(text))

/** A scalar's new characters in the style that it has; lines stay where they are. */
function write(node: Scalar.Parsed, source: string, characters: string, filler: Filler): string {
  const before = source.slice(node.range[0], node.range[1])
  const isOneLine = !before.includes('\n')
  switch (node.type) {
    case 'QUOTE_SINGLE':
      if (isOneLine) return quoteSingle(characters) ?? quoteDouble(characters)
      return filler.fill(readPieces(before), (value) => value.replaceAll("'", "''"))
    case 'QUOTE_DOUBLE':
      if (isOneLine) return quoteDouble(characters)
      return filler.fill(readPieces(before), (value) => quoteDouble(value).slice(1, -1))
    case 'BLOCK_LITERAL':
    case 'BLOCK_FOLDED': {
      // The first line holds the block's mark and perhaps a comment, and stays as it is.
      const body = before.indexOf('\n') + 1
      return before.slice(0, body) + filler.fill(readPieces(before.slice(body)), asIs)
    }
    default:
      return writePlain(characters)
  }
}

function putIn(source: string, filled: readonly Filled[]): string {
  let text = ''
  let at = 0
  for (const { node, written } of [...filled].sort((a, b) => a.node.range[0] - b.node.range[0])) {
    text += source.slice(at, node.range[0]) + written
    at = node.range[1]
  }
  return text + source.slice(at)
}

function valuesOf(contents: ParsedNode | null, readScalar: ReadScalar | null = null): ConfigValue {
  const read = readValues(contents, readScalar)
  if (!read.ok) throw new RenderStop('template_invalid', faultOf('yaml_invalid', { message: read.message }))
  return read.value
}

/** Read the result again: it must be the tree with the values put in, and nothing else. Answers that tree. */
function prove(
  contents: ParsedNode | null,
  filled: readonly Filled[],
  rendered: string,
  readConfig: ReadConfig,
): ConfigValue {
  const values = new Map(filled.map(({ node, value }) => [node, value]))
  const wanted = valuesOf(contents, (node) => values.get(node))
  const found = readConfig(rendered)
  if (!found.ok && found.problem.code === 'empty_config')
    throw new RenderStop('template_invalid', faultOf('config_empty', { message: found.problem.message }))
  if (!found.ok || !isSameValue(wanted, found.document.root))
    throw new RenderStop('render_mismatch', faultOf('rendered_differently'))
  return wanted
}
