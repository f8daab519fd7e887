import { type AnyStruct, boundOf } from '../lib/wire/structs.ts'

/** Why a body is refused before its schema looks at it. */
export interface BodyFault {
  code: 'body-list-too-long' | 'body-number-unsafe' | 'body-too-deep' | 'body-values-too-many'
  details: { field?: string; max?: number }
}

/** How much of a field's name is told back; a key may be as long as the body. */
const NAME_LENGTH_MAX = 200

/** How deep a body may be nested: deeper than any schema goes, and than any config. */
const DEPTH_MAX = 64

/**
 * Whether a body holds more values than its endpoint takes, or is nested too deep, before anything else looks at them:
 * a body of few bytes can hold many values, and what each of them costs later is a multiple of what it costs here.
 */
export function measureBody(body: unknown, valuesMax: number): BodyFault | null {
  let count = 1
  let level: unknown[] = [body]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX) return { code: 'body-too-deep', details: { max: DEPTH_MAX } }
    const inner: unknown[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      for (const part of Array.isArray(value) ? value : Object.values(value)) inner.push(part)
      if (count + inner.length > valuesMax)
        return { code: 'body-values-too-many', details: { max: valuesMax } }
    }
    count += inner.length
    level = inner
  }
  return null
}

/**
 * A body as its schema is to see it: a field that is null is left out where the schema takes no null there, and so is
 * a field that the schema does not know. An `object` refuses both, so it is shown them. What may be any JSON stays as
 * it was sent; of its numbers those are refused that nobody would read again as they were written.
 */
export function fitBody(body: unknown, struct: AnyStruct): { value: unknown; fault: BodyFault | null } {
  const fitter = new Fitter()
  const value = fitter.fit(body, struct, [])
  return { value, fault: fitter.fault }
}

type Path = readonly (string | number)[]
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

class Fitter {
  fault: BodyFault | null = null

  /** What does not fit at all is left to the schema to refuse. */
  fit(value: unknown, struct: AnyStruct, path: Path): unknown {
    if (this.fault !== null) return value
    if (struct.type === 'unknown') this.#refuseNumbers(value, path)
    else if (struct.type === 'array' && Array.isArray(value)) return this.#list(value, struct, path)
    else if (struct.type === 'union') return this.#oneOf(value, struct.schema as readonly AnyStruct[], path)
    else if (!isObject(value)) return value
    else if (struct.type === 'record') return this.#dictionary(value, struct, path)
    else if (struct.type === 'type' || struct.type === 'object') return this.#fields(value, struct, path)
    return value
  }

  #list(list: readonly unknown[], struct: AnyStruct, path: Path): unknown {
    this.#refuseLength(list.length, struct, path)
    const element = struct.schema as AnyStruct
    if (element.type === 'string') return list
    return list.map((value, index) => this.fit(value, element, [...path, index]))
  }

  #dictionary(value: Record<string, unknown>, struct: AnyStruct, path: Path): unknown {
    const entries = Object.entries(value)
    this.#refuseLength(entries.length, struct, path)
    const inner = struct.schema as AnyStruct
    const takesNull = inner.is(null)
    const kept = entries.filter(([, field]) => takesNull || field !== null)
    return Object.fromEntries(kept.map(([name, field]) => [name, this.fit(field, inner, [...path, name])]))
  }

  #fields(value: Record<string, unknown>, { type, schema }: AnyStruct, path: Path): unknown {
    const kept: Record<string, unknown> = type === 'object' ? { ...value } : {}
    for (const [name, struct] of Object.entries(schema as Record<string, AnyStruct>)) {
      if (!Object.hasOwn(value, name)) continue
      const field = value[name]
      if (field !== null || type === 'object' || struct.is(null))
        kept[name] = this.fit(field, struct, [...path, name])
    }
    return kept
  }

  /** Of several structs the one whose fixed words the value has. */
  #oneOf(value: unknown, structs: readonly AnyStruct[], path: Path): unknown {
    if (!isObject(value)) return value
    const fitting = structs.find(({ type, schema }) => {
      if (type !== 'type' && type !== 'object') return false
      const fixed = Object.entries(schema as Record<string, AnyStruct>).filter(
        ([, field]) => field.type === 'literal',
      )
      return fixed.every(([name, field]) => field.is(value[name]))
    })
    return fitting === undefined ? value : this.fit(value, fitting, path)
  }

  #refuseLength(length: number, struct: AnyStruct, path: Path): void {
    const max = boundOf(struct)
    if (max !== null && length > max) this.#refuse('body-list-too-long', path, { max })
  }

  /** A number that cannot be held would be stored as another one, or as null. */
  #refuseNumbers(value: unknown, path: Path): void {
    if (typeof value === 'number') {
      const isKept = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)
      if (!isKept) this.#refuse('body-number-unsafe', path, {})
    } else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) this.#refuseNumbers(inner, [...path, name])
  }

  #refuse(code: BodyFault['code'], path: Path, details: { max?: number }): void {
    this.fault ??= {
      code,
      details: { field: path.join('.').slice(0, NAME_LENGTH_MAX) || 'body', ...details },
    }
  }
}
