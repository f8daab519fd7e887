import { type AnyStruct, nameOf, noteOf } from '../lib/wire/structs.ts'

/** A JSON Schema, as plain data. */
export type JsonSchema = Record<string, unknown>

/** Whether a field may be left out: it is optional, or stands for something when it is absent. */
function isRequired(struct: AnyStruct): boolean {
  return struct.validate(undefined, { coerce: true })[0] !== undefined
}

const PLAIN: Record<string, JsonSchema> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
}

function objectSchema(fields: Record<string, AnyStruct>): JsonSchema {
  const names = Object.keys(fields)
  const required = names.filter((name) => isRequired(fields[name]!))
  return {
    type: 'object',
    ...(names.length > 0
      ? { properties: Object.fromEntries(names.map((name) => [name, structSchema(fields[name]!)])) }
      : {}),
    ...(required.length > 0 ? { required } : {}),
  }
}

/** What a struct accepts, written out even when it has a name; what it cannot say (patterns, lengths) is left out. */
export function bodySchema({ type, schema }: AnyStruct): JsonSchema {
  const parts = schema as AnyStruct
  if (type === 'type' || type === 'object') return objectSchema((schema ?? {}) as Record<string, AnyStruct>)
  if (type === 'array') return { type: 'array', ...(schema ? { items: structSchema(parts) } : {}) }
  if (type === 'enums') return { type: 'string', enum: Object.values(schema as object) }
  if (type === 'literal') return schema === null ? { type: 'null' } : { const: schema }
  if (type === 'union') return { anyOf: (schema as readonly AnyStruct[]).map((part) => structSchema(part)) }
  if (type !== 'record') return PLAIN[type] ?? {}
  if (!schema) return { type: 'object' }
  return { type: 'object', additionalProperties: parts.type === 'never' ? false : structSchema(parts) }
}

/** As `bodySchema`, by reference where the struct has a name, and with what was noted of it. */
export function structSchema(struct: AnyStruct): JsonSchema {
  const name = nameOf(struct)
  const bare = name === null ? bodySchema(struct) : { $ref: `#/components/schemas/${name.name}` }
  // A union and a reference to one say for themselves whether they may be null.
  const isNullable = struct.type !== 'union' && struct.type !== 'lazy' && hasType(bare) && struct.is(null)
  const schema = isNullable ? { anyOf: [bare, { type: 'null' }] } : bare
  const note = noteOf(struct)
  return note === '' ? schema : { ...schema, description: note }
}

const hasType = (schema: JsonSchema): boolean => 'type' in schema || '$ref' in schema

/** What a struct is made of directly. */
function partsOf({ type, schema }: AnyStruct): AnyStruct[] {
  if (!schema || type === 'enums' || type === 'literal') return []
  if (type === 'array' || type === 'record') return [schema as AnyStruct]
  return Object.values(schema) as AnyStruct[]
}

/** The named structs among these and all that they are made of. */
export function namesIn(
  structs: readonly AnyStruct[],
  found = new Map<string, { description: string; struct: AnyStruct }>(),
): Map<string, { description: string; struct: AnyStruct }> {
  for (const struct of structs) {
    const name = nameOf(struct)
    if (name !== null && struct.type !== 'lazy') {
      if (found.has(name.name)) continue
      found.set(name.name, { description: name.description, struct })
    }
    namesIn(partsOf(struct), found)
  }
  return found
}
