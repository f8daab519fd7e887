// Turns the types of `lib/wire` into JSON Schema (2020-12) for the OpenAPI document, so that the shapes are said
// once. Reads the small part of TypeScript that those files are written in, and refuses anything else.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Frames of the browser socket are no part of the REST document. */
const LEFT_OUT = ['hub.ts']

const TOKEN =
  /\s+|\/\/[^\n]*|(?<doc>\/\*\*[\s\S]*?\*\/)|(?<text>'(?:[^'\\]|\\.)*')|(?<number>\d+)|(?<name>[A-Za-z_$][\w$]*)|(?<sign>[{}[\]()<>:;,?|&=])/gy

function tokenize(source) {
  const tokens = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(source)
    if (!match) throw new Error(`cannot read "${source.slice(at, at + 30)}"`)
    const { doc, text, number, name, sign } = match.groups
    if (doc !== undefined) tokens.push({ kind: 'doc', value: doc })
    else if (text !== undefined) tokens.push({ kind: 'text', value: text.slice(1, -1) })
    else if (number !== undefined) tokens.push({ kind: 'number', value: Number(number) })
    else if (name !== undefined) tokens.push({ kind: 'name', value: name })
    else if (sign !== undefined) tokens.push({ kind: 'sign', value: sign })
  }
  return tokens
}

const toDescription = (doc) =>
  doc
    .slice(3, -2)
    .split('\n')
    .map((line) => line.replace(/^\s*\*\s?/, '').trim())
    .filter((line) => line !== '')
    .join(' ')

/** Reads declarations into `types` (name → node) and `lists` (name → texts). */
class Parser {
  constructor(source, types, lists) {
    this.tokens = tokenize(source)
    this.at = 0
    this.types = types
    this.lists = lists
    this.doc = ''
  }

  peek() {
    while (this.tokens[this.at]?.kind === 'doc') this.doc = toDescription(this.tokens[this.at++].value)
    return this.tokens[this.at]
  }

  next() {
    const token = this.peek()
    this.at++
    return token
  }

  is(value) {
    return this.peek()?.value === value && this.peek()?.kind !== 'text'
  }

  take(value) {
    if (!this.is(value)) return false
    this.at++
    return true
  }

  expect(value) {
    if (!this.take(value)) throw new Error(`expected "${value}", found "${this.peek()?.value}"`)
  }

  takeDoc() {
    this.peek()
    const { doc } = this
    this.doc = ''
    return doc
  }

  file() {
    while (this.peek() !== undefined) {
      const description = this.takeDoc()
      if (this.take('import')) {
        while (this.next().kind !== 'text');
        continue
      }
      this.expect('export')
      if (this.take('const')) this.list()
      else if (this.take('interface')) this.interface(description)
      else {
        this.expect('type')
        const name = this.next().value
        this.expect('=')
        this.types.set(name, { description, node: this.type() })
      }
    }
  }

  list() {
    const name = this.next().value
    this.expect('=')
    this.expect('[')
    const texts = []
    while (!this.take(']')) {
      texts.push(this.next().value)
      this.take(',')
    }
    this.expect('as')
    this.expect('const')
    this.lists.set(name, texts)
  }

  interface(description) {
    const name = this.next().value
    const bases = []
    if (this.take('extends'))
      do bases.push({ kind: 'name', name: this.next().value, args: [] })
      while (this.take(','))
    const own = this.members()
    const node = bases.length === 0 ? own : { kind: 'and', parts: [...bases, own] }
    this.types.set(name, { description, node })
  }

  members() {
    this.expect('{')
    const members = []
    let rest = null
    while (!this.take('}')) {
      const description = this.takeDoc()
      if (this.take('[')) {
        this.next()
        this.expect(':')
        this.type()
        this.expect(']')
        this.expect(':')
        rest = this.type()
      } else {
        this.take('readonly')
        const name = this.next().value
        const isOptional = this.take('?')
        this.expect(':')
        members.push({ name, isOptional, description, node: this.type() })
      }
      this.take(';') || this.take(',')
    }
    return { kind: 'object', members, rest }
  }

  type() {
    this.take('|')
    const parts = [this.intersection()]
    while (this.take('|')) parts.push(this.intersection())
    return parts.length === 1 ? parts[0] : { kind: 'or', parts }
  }

  intersection() {
    const parts = [this.postfix()]
    while (this.take('&')) parts.push(this.postfix())
    return parts.length === 1 ? parts[0] : { kind: 'and', parts }
  }

  postfix() {
    this.take('readonly')
    let node = this.primary()
    while (this.is('[')) {
      this.expect('[')
      if (this.take('number')) node = { kind: 'element', of: node }
      else node = { kind: 'array', of: node }
      this.expect(']')
    }
    return node
  }

  primary() {
    if (this.is('{')) return this.members()
    if (this.take('(')) {
      const node = this.take('typeof') ? { kind: 'list', name: this.next().value } : this.type()
      this.expect(')')
      return node
    }
    const token = this.next()
    if (token.kind === 'text' || token.kind === 'number') return { kind: 'literal', value: token.value }
    const args = []
    if (this.take('<')) {
      do args.push(this.type())
      while (this.take(','))
      this.expect('>')
    }
    return { kind: 'name', name: token.value, args }
  }
}

const PLAIN = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  true: { const: true },
  false: { const: false },
  unknown: {},
  object: { type: 'object' },
}

class Schemas {
  constructor(types, lists) {
    this.types = types
    this.lists = lists
  }

  /** The texts that a type allows; null when it is not a choice of texts. */
  texts(node) {
    if (node.kind === 'literal' && typeof node.value === 'string') return [node.value]
    if (node.kind === 'element' && node.of.kind === 'list') return this.lists.get(node.of.name) ?? null
    if (node.kind === 'name' && this.types.has(node.name)) return this.texts(this.types.get(node.name).node)
    if (node.kind !== 'or') return null
    const parts = node.parts.map((part) => this.texts(part))
    return parts.includes(null) ? null : parts.flat()
  }

  /** A type as one object, its bases and modifiers worked in. */
  object(node) {
    if (node.kind === 'object') return node
    if (node.kind === 'and') {
      const parts = node.parts.map((part) => this.object(part))
      const members = new Map(parts.flatMap((part) => part.members).map((member) => [member.name, member]))
      return { kind: 'object', members: [...members.values()], rest: null }
    }
    if (node.kind === 'name' && ['Partial', 'Omit', 'Pick'].includes(node.name)) {
      const of = this.object(node.args[0])
      if (node.name === 'Partial') {
        return { ...of, members: of.members.map((member) => ({ ...member, isOptional: true })) }
      }
      const keys = this.texts(node.args[1])
      const isKept = (member) => keys.includes(member.name) === (node.name === 'Pick')
      return { ...of, members: of.members.filter(isKept) }
    }
    if (node.kind === 'name' && node.name === 'Record') {
      const keys = this.texts(node.args[0])
      if (keys === null) return { kind: 'object', members: [], rest: node.args[1] }
      const members = keys.map((name) => ({ name, isOptional: false, description: '', node: node.args[1] }))
      return { kind: 'object', members, rest: null }
    }
    if (node.kind === 'name' && this.types.has(node.name)) return this.object(this.types.get(node.name).node)
    throw new Error(`not an object: ${JSON.stringify(node).slice(0, 200)}`)
  }

  objectSchema(node) {
    const { members, rest } = this.object(node)
    const required = members.filter((member) => !member.isOptional).map((member) => member.name)
    const isNever = rest?.kind === 'name' && rest.name === 'never'
    return {
      type: 'object',
      ...(members.length > 0
        ? {
            properties: Object.fromEntries(
              members.map(({ name, description, node }) => {
                const schema = this.schema(node)
                return [name, description === '' ? schema : { ...schema, description }]
              }),
            ),
          }
        : {}),
      ...(required.length > 0 ? { required } : {}),
      ...(rest === null ? {} : { additionalProperties: isNever ? false : this.schema(rest) }),
    }
  }

  schema(node) {
    const texts = node.kind === 'name' && this.types.has(node.name) ? null : this.texts(node)
    if (texts !== null) return texts.length === 1 ? { const: texts[0] } : { type: 'string', enum: texts }
    if (node.kind === 'literal') return { const: node.value }
    if (node.kind === 'array') return { type: 'array', items: this.schema(node.of) }
    if (node.kind === 'or') return { anyOf: node.parts.map((part) => this.schema(part)) }
    if (node.kind === 'object' || node.kind === 'and') return this.objectSchema(node)
    if (node.kind === 'name' && this.types.has(node.name))
      return { $ref: `#/components/schemas/${node.name}` }
    if (node.kind === 'name' && Object.hasOwn(PLAIN, node.name)) return PLAIN[node.name]
    if (node.kind === 'name' && node.args.length > 0) return this.objectSchema(node)
    throw new Error(`unknown type ${JSON.stringify(node).slice(0, 200)}`)
  }
}

/** The JSON Schemas of all wire types, by name, sorted. */
export function readWireSchemas(folder) {
  const types = new Map()
  const lists = new Map()
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.ts') || LEFT_OUT.includes(file)) continue
    try {
      new Parser(readFileSync(join(folder, file), 'utf8'), types, lists).file()
    } catch (error) {
      throw new Error(`lib/wire/${file}: ${error.message}`)
    }
  }
  const schemas = new Schemas(types, lists)
  return Object.fromEntries(
    [...types.keys()].sort().map((name) => {
      const { description, node } = types.get(name)
      const schema = schemas.schema(node.kind === 'name' && node.name === name ? node : node)
      return [name, description === '' ? schema : { description, ...schema }]
    }),
  )
}

/** The generated module. */
export function writeWireSchemas(folder) {
  const schemas = readWireSchemas(folder)
  const lines = Object.entries(schemas).map(([name, schema]) => `  ${name}: ${JSON.stringify(schema)},\n`)
  return `// biome-ignore-all format: generated
// Generated from lib/wire by \`npm run manifest\`. Do not edit.

/** The JSON Schemas of the bodies, by the names of their types in lib/wire. */
export const WIRE_SCHEMAS: Readonly<Record<string, object>> = {
${lines.join('')}}
`
}
