import { define, lazy, record, Struct, string, type, union } from 'superstruct'

// What the bodies of the wire need beside the structs of the library: names and notes for the OpenAPI document, and
// records and unions that keep what they are made of, so that a schema can be derived from them.

interface Name {
  name: string
  description: string
}

/** Any struct, as far as its schema is derived from it. */
export interface AnyStruct {
  readonly type: string
  readonly schema: unknown
  is(value: unknown): boolean
  validate(value: unknown, options?: { coerce?: boolean }): readonly [unknown, unknown]
}

const NAMES = new WeakMap<object, Name>()
const NOTES = new WeakMap<object, string>()

/** A struct and its optional form share the object of their fields, or of their words: that one carries the name. */
function identityOf(struct: AnyStruct): object {
  const isShared = struct.type === 'type' || struct.type === 'enums'
  return isShared ? (struct.schema as object) : struct
}

/** Give a body, or a part of one, the name that it has in the OpenAPI document. */
export function named<T, S>(name: string, description: string, struct: Struct<T, S>): Struct<T, S> {
  NAMES.set(identityOf(struct), { name, description })
  return struct
}

/** The name of a struct; null for one that is written out where it stands. */
export const nameOf = (struct: AnyStruct): Name | null => NAMES.get(identityOf(struct)) ?? null

/** Say of a field what its type does not. */
export function note<T, S>(description: string, struct: Struct<T, S>): Struct<T, S> {
  // A copy: the struct itself may stand in other places, too.
  const copy = new Struct<T, S>(struct as never)
  NOTES.set(copy, description)
  return copy
}

/** What `note` said of a field; empty where it said nothing. */
export const noteOf = (struct: object): string => NOTES.get(struct) ?? ''

/** A body inside itself, by its name. */
export function itself<T>(name: string, struct: () => Struct<T, unknown>): Struct<T, null> {
  const inner = lazy(struct) as Struct<T, null>
  NAMES.set(inner, { name, description: '' })
  return inner
}

/** The same struct under each of these words, all of them required. */
export function recordOf<Word extends string, T, S>(
  words: readonly Word[],
  struct: Struct<T, S>,
): Struct<Record<Word, T>, Record<Word, Struct<T, S>>> {
  const fields = Object.fromEntries(words.map((word) => [word, struct]))
  return type(fields as Record<Word, Struct<T, S>>) as never
}

/** The same struct under any text. */
export function dictionary<T, S>(values: Struct<T, S>): Struct<Record<string, T>, Struct<T, S>> {
  return new Struct({ ...(record(string(), values) as object), type: 'record', schema: values } as never)
}

/** One of several structs. */
export function anyOf<One extends { TYPE: unknown }>(
  structs: readonly One[],
): Struct<One['TYPE'], readonly One[]> {
  const one = union(structs as never) as object
  return new Struct({ ...one, type: 'union', schema: structs } as never)
}

/** The same fields, null where one was cleared. */
export type Cleared<T> = {
  [Key in keyof T]-?: undefined extends T[Key] ? Exclude<T[Key], undefined> | null : T[Key]
}

/**
 * The same body in a frame that stands for a whole state: what may be left out elsewhere is null there, so that
 * whoever keeps the state forgets what is gone.
 */
export function cleared<T, S extends object>(struct: Struct<T, S>): Struct<Cleared<T>, S> {
  const fields = Object.entries(struct.schema as Record<string, Struct<unknown, unknown>>)
  return type(
    Object.fromEntries(
      fields.map(([name, field]) => [name, field.is(undefined) ? nullInstead(field) : field]),
    ),
  ) as never
}

/** A field that is always there, and null where it says nothing. */
const nullInstead = (field: Struct<unknown, unknown>): Struct<unknown, unknown> =>
  new Struct({
    ...(field as object),
    validator: (value, context) => {
      if (value === undefined) return ['expected a value or null']
      return value === null ? [] : field.validator(value, context)
    },
  } as ConstructorParameters<typeof Struct<unknown, unknown>>[0])

/** Any JSON value that may be left out; `unknown` cannot say that. */
export const anything = (): Struct<NonNullable<unknown> | null, null> => define('unknown', () => true)

type Part<T> = T extends readonly (infer Element)[]
  ? Part<Element>[]
  : T extends object
    ? { [Key in keyof T]?: Part<T[Key]> }
    : T

/** What may be sent as a body: a field that its struct fills in may be left out, and so may any other. */
export type Sent<Body extends { TYPE: unknown }> = Part<Body['TYPE']>
