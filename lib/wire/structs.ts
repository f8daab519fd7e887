import { array, define, lazy, record, Struct, string, type, union } from 'superstruct'

// What the schemas of bodies need beside superstruct: names and notes for the OpenAPI document, and records and unions
// that keep their parts, so that a JSON schema can be derived from them.

interface Name {
  name: string
  description: string
}

/** Any struct, with what deriving its JSON schema needs. */
export interface AnyStruct {
  readonly type: string
  readonly schema: unknown
  /** Its own for each list and dictionary, also once that is optional or has a default. */
  readonly entries: object
  is(value: unknown): boolean
  validate(value: unknown, options?: { coerce?: boolean }): readonly [unknown, unknown]
}

const NAMES = new WeakMap<object, Name>()
const NOTES = new WeakMap<object, string>()

/**
 * The object that a name is stored under. A struct and its optional form share the object of their fields (or of their
 * words), so the name is stored under that one.
 */
function identityOf(struct: AnyStruct): object {
  const isShared = ['type', 'object', 'enums'].includes(struct.type)
  return isShared ? (struct.schema as object) : struct
}

/** Give a body, or a part of one, the name that it has in the OpenAPI document. */
export function named<T, S>(name: string, description: string, struct: Struct<T, S>): Struct<T, S> {
  NAMES.set(identityOf(struct), { name, description })
  return struct
}

/** The name of a struct; null for one without a name, which the document writes out in place. */
export const nameOf = (struct: AnyStruct): Name | null => NAMES.get(identityOf(struct)) ?? null

/** Describe a field where its type does not say enough. */
export function note<T, S>(description: string, struct: Struct<T, S>): Struct<T, S> {
  // A copy, because the same struct may be used for other fields.
  const copy = new Struct<T, S>(struct as never)
  NOTES.set(copy, description)
  return copy
}

/** The description that `note` gave to a field; empty where there is none. */
export const noteOf = (struct: object): string => NOTES.get(struct) ?? ''

/** A reference to a named body, for a body that contains itself. */
export function itself<T>(name: string, struct: () => Struct<T, unknown>): Struct<T, null> {
  const inner = lazy(struct) as Struct<T, null>
  NAMES.set(inner, { name, description: '' })
  return inner
}

/** A record with the same struct under each of these keys, all of them required. */
export function recordOf<Word extends string, T, S>(
  words: readonly Word[],
  struct: Struct<T, S>,
): Struct<Record<Word, T>, Record<Word, Struct<T, S>>> {
  const fields = Object.fromEntries(words.map((word) => [word, struct]))
  return type(fields as Record<Word, Struct<T, S>>) as never
}

const BOUNDS = new WeakMap<object, number>()

/** How many entries a list or a dictionary of a request may have; null for one that only answers have. */
export const boundOf = (struct: AnyStruct): number | null => BOUNDS.get(struct.entries) ?? null

function bounded<Of extends AnyStruct>(max: number, struct: Of): Of {
  BOUNDS.set(struct.entries, max)
  return struct
}

/** A list of a request. One that is longer is refused before its elements are looked at. */
export const listOf = <T, S>(max: number, element: Struct<T, S>): Struct<T[], Struct<T, S>> =>
  bounded(max, array(element as never) as never)

const isText = (value: unknown): boolean => typeof value === 'string'

/** A list of texts in a request; checked in one go, because such lists are the long ones. */
export function texts(max: number): Struct<string[], Struct<string, null>> {
  const struct = new Struct<string[], Struct<string, null>>({
    type: 'array',
    schema: string(),
    entries: () => [],
    validator(value, { path }) {
      if (!Array.isArray(value)) return 'expected a list'
      const wrong = value.findIndex((element) => !isText(element))
      return wrong === -1 || { path: [...path, wrong], type: 'string', message: 'expected a text' }
    },
  })
  return bounded(max, struct)
}

/** Texts by any key in a request, likewise. */
export function textsByKey(max: number): Struct<Record<string, string>, Struct<string, null>> {
  const struct = new Struct<Record<string, string>, Struct<string, null>>({
    type: 'record',
    schema: string(),
    entries: () => [],
    validator(value, { path }) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'expected an object'
      const wrong = Object.entries(value).find(([, text]) => !isText(text))
      return wrong === undefined || { path: [...path, wrong[0]], type: 'string', message: 'expected a text' }
    },
  })
  return bounded(max, struct)
}

/** A record with the same struct under any key; in a request with at most so many of them. */
export function dictionary<T, S>(
  values: Struct<T, S>,
  max?: number,
): Struct<Record<string, T>, Struct<T, S>> {
  const struct = new Struct({
    ...(record(string(), values) as object),
    type: 'record',
    schema: values,
  } as never)
  return (max === undefined ? struct : bounded(max, struct as never)) as never
}

/** One of several structs. */
export function anyOf<One extends { TYPE: unknown }>(
  structs: readonly One[],
): Struct<One['TYPE'], readonly One[]> {
  const one = union(structs as never) as object
  return new Struct({ ...one, type: 'union', schema: structs } as never)
}

/** The type of `cleared`: optional fields are required, and null where they are absent. */
export type Cleared<T> = {
  [Key in keyof T]-?: undefined extends T[Key] ? Exclude<T[Key], undefined> | null : T[Key]
}

/**
 * A body for a frame that replaces a whole state: a field that is optional elsewhere is null there, so that a receiver
 * that merges frames forgets the old value.
 */
export function cleared<T, S extends object>(struct: Struct<T, S>): Struct<Cleared<T>, S> {
  const fields = Object.entries(struct.schema as Record<string, Struct<unknown, unknown>>)
  return type(
    Object.fromEntries(
      fields.map(([name, field]) => [name, field.is(undefined) ? nullInstead(field) : field]),
    ),
  ) as never
}

/** A field that is required, and null where it has no value. */
const nullInstead = (field: Struct<unknown, unknown>): Struct<unknown, unknown> =>
  new Struct({
    ...(field as object),
    validator: (value, context) => {
      if (value === undefined) return ['expected a value or null']
      return value === null ? [] : field.validator(value, context)
    },
  } as ConstructorParameters<typeof Struct<unknown, unknown>>[0])

/** Any JSON value, or nothing; the type `unknown` cannot express that. */
export const anything = (): Struct<NonNullable<unknown> | null, null> => define('unknown', () => true)

type Part<T> = T extends readonly (infer Element)[]
  ? Part<Element>[]
  : T extends object
    ? { [Key in keyof T]?: Part<T[Key]> }
    : T

/**
 * The type of a body as a client sends it: every field may be left out, because the type does not tell which ones the
 * struct fills in.
 */
export type Sent<Body extends { TYPE: unknown }> = Part<Body['TYPE']>
