import { type Struct, validate } from 'superstruct'

/** A JSON Schema, as plain data. */
export type JsonSchema = Record<string, unknown>

type AnyStruct = Struct<unknown, unknown>

/** Whether a field may be left out: it is optional, or stands for something when it is absent. */
function isRequired(struct: AnyStruct): boolean {
  return validate(undefined, struct, { coerce: true })[0] !== undefined
}

const PLAIN: Record<string, JsonSchema> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
}

function objectSchema(fields: Record<string, AnyStruct>): JsonSchema {
  const required = Object.keys(fields).filter((name) => isRequired(fields[name]!))
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, structSchema(field)]),
    ),
    ...(required.length > 0 ? { required } : {}),
  }
}

function bareSchema({ type, schema }: AnyStruct): JsonSchema {
  if (type === 'type' || type === 'object') return objectSchema((schema ?? {}) as Record<string, AnyStruct>)
  if (type === 'array')
    return { type: 'array', ...(schema ? { items: structSchema(schema as AnyStruct) } : {}) }
  if (type === 'enums') return { enum: Object.values(schema as object) }
  if (type === 'literal') return { const: schema }
  if (type === 'record') return { type: 'object' }
  return PLAIN[type] ?? {}
}

/** What a superstruct schema accepts, as JSON Schema; what it cannot say (patterns, lengths) is left out. */
export function structSchema(struct: AnyStruct): JsonSchema {
  const bare = bareSchema(struct)
  const isNullable = 'type' in bare && struct.is(null)
  return isNullable ? { anyOf: [bare, { type: 'null' }] } : bare
}
