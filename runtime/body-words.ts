import { type Struct, validate } from 'superstruct'
import type { AnyStruct } from '../lib/wire/structs.ts'

type Path = readonly (string | number)[]

/** How much of a field's name is told back; a key may be as long as the body. */
const NAME_LENGTH_MAX = 200

/** The name of a field by its path. */
export const nameField = (path: readonly unknown[]): string => path.join('.').slice(0, NAME_LENGTH_MAX)

/** What of a body is not as its schema asks. */
export interface Failing {
  path: readonly unknown[]
  type: string
}

/** Where a schema first disagrees with a body, in words; never quotes the value (it may be a password). */
export function describeFailure(failing: Failing, struct: AnyStruct, body: unknown): string {
  const { path, expected } = findInner(failing, struct, body)
  return `${path.length === 0 ? 'body' : nameField(path)}: expected ${expected}`
}

/** The same inside of what may be one of several things: which of them was meant says the field with fixed words. */
function findInner(
  { path, type }: Failing,
  struct: AnyStruct,
  body: unknown,
): { path: Path; expected: string } {
  const steps = path.map((step) => (typeof step === 'number' ? step : String(step)))
  const at = follow(steps, struct, body)
  const words = at === null ? null : wordsOf(at.struct)
  if (words !== null) return { path: steps, expected: `one of ${words.join(', ')}` }
  if (type !== 'union' || at === null) return { path: steps, expected: type }
  const choice = choose(at.struct.schema as readonly AnyStruct[], at.value)
  if (choice === null) return { path: steps, expected: type }
  if ('words' in choice)
    return { path: [...steps, choice.field], expected: `one of ${choice.words.join(', ')}` }
  const [inner] = validate(at.value, choice.meant as unknown as Struct<unknown>, { coerce: true })
  if (inner === undefined) return { path: steps, expected: type }
  if (inner.type === 'never') return { path: [...steps, ...inner.path], expected: 'no such field' }
  const deeper = findInner(inner, choice.meant, at.value)
  return { path: [...steps, ...deeper.path], expected: deeper.expected }
}

/** The struct and the value at a path; null where the schema does not lead there. */
function follow(path: Path, struct: AnyStruct, body: unknown): { struct: AnyStruct; value: unknown } | null {
  let at = { struct, value: body }
  for (const step of path) {
    const { type, schema } = at.struct
    const inner: unknown =
      type === 'type' || type === 'object'
        ? (schema as Record<string, AnyStruct>)[step]
        : type === 'array' || type === 'record'
          ? schema
          : undefined
    if (inner === undefined || typeof at.value !== 'object' || at.value === null) return null
    at = { struct: inner as AnyStruct, value: (at.value as Record<string, unknown>)[step] }
  }
  return at
}

/** The words that a value is one of; null for any other struct. */
const wordsOf = ({ type, schema }: AnyStruct): string[] | null =>
  type === 'enums' ? Object.values(schema as Record<string, unknown>).map(String) : null

type Choice = { meant: AnyStruct } | { field: string; words: string[] }

/** Which of several structs a value means by its field with fixed words, or what that field may say; null where none has one. */
function choose(structs: readonly AnyStruct[], value: unknown): Choice | null {
  if (typeof value !== 'object' || value === null) return null
  const tags = structs.flatMap((struct) => {
    if (struct.type !== 'type' && struct.type !== 'object') return []
    const fields = Object.entries(struct.schema as Record<string, AnyStruct>)
    return fields.flatMap(([field, { type, schema }]) =>
      type === 'literal' ? [{ struct, field, word: String(schema) }] : [],
    )
  })
  const [first] = tags
  if (first === undefined || tags.length !== structs.length) return null
  if (tags.some(({ field }) => field !== first.field)) return null
  const said = (value as Record<string, unknown>)[first.field]
  const meant = tags.find(({ word }) => word === said)
  return meant === undefined
    ? { field: first.field, words: tags.map(({ word }) => word) }
    : { meant: meant.struct }
}
