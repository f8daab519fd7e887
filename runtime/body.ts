import { validate } from 'superstruct'
import type { BodySpec } from './define.ts'
import { problem, type Reply } from './reply.ts'

/** A checked body, or the reply that refuses it. */
export type BodyResult = { ok: true; body: unknown } | { ok: false; reply: Reply }

const refuse = (error: string, detail: string): BodyResult => ({
  ok: false,
  reply: problem('invalid-body', { error, detail }),
})

/** Where a schema first disagrees, in words; never quotes the value (it may be a password). */
function describeFailure(path: readonly unknown[], expected: string): string {
  const where = path.length === 0 ? 'body' : path.join('.')
  return `${where}: expected ${expected}`
}

/** Parse the first JSON value of a text; whatever follows it is ignored. */
function parseFirstValue(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    // The message of V8's error names the offset of the first byte after a complete value.
    const offset = /after JSON at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
    if (offset === undefined) return { ok: false }
    try {
      return { ok: true, value: JSON.parse(text.slice(0, Number(offset))) }
    } catch {
      return { ok: false }
    }
  }
}

function parseJson(text: string, isStrict: boolean): { ok: true; value: unknown } | { ok: false } {
  if (!isStrict) return parseFirstValue(text)
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false }
  }
}

/** How deep nulls are dropped: deeper than any schema goes. A body may be nested as deep as it is long. */
const DEPTH_MAX = 8

/** Leave out fields that are null, also inside other fields; a null element of a list stays. */
function dropNulls(value: unknown, depth = 0): unknown {
  if (value === null || typeof value !== 'object' || depth > DEPTH_MAX) return value
  if (Array.isArray(value)) return value.map((element) => dropNulls(element, depth + 1))
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(fields.map(([name, field]) => [name, dropNulls(field, depth + 1)]))
}

function checkJson(spec: BodySpec<unknown> & { kind: 'json' }, bytes: Uint8Array): BodyResult {
  if (bytes.length === 0) {
    return spec.whenAbsent === null
      ? refuse(spec.invalidText, 'the body is empty')
      : { ok: true, body: spec.whenAbsent }
  }
  const parsed = parseJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), spec.isStrict)
  if (!parsed.ok) return refuse(spec.invalidText, 'the body is not one JSON value')
  const [failure, body] = validate(dropNulls(parsed.value ?? {}), spec.struct, { coerce: true })
  if (failure !== undefined) {
    const detail = describeFailure(failure.path, failure.type)
    // A body that was read and only lacks a field is no invalid JSON: it says which.
    const isMissing = failure.path.length > 0 && failure.value === undefined
    return refuse(isMissing ? `the field "${failure.path.join('.')}" is missing` : spec.invalidText, detail)
  }
  return { ok: true, body }
}

/** Check the collected bytes of a request against what its function declares. */
export function checkBody(spec: BodySpec<unknown>, bytes: Uint8Array | 'too-large'): BodyResult {
  if (spec.kind === 'none') return { ok: true, body: undefined }
  const own = spec.kind === 'text' ? spec.problems : undefined
  if (bytes === 'too-large') {
    const said = spec.kind === 'json' && spec.tooLargeText !== null ? { error: spec.tooLargeText } : {}
    return { ok: false, reply: problem(own?.tooLarge ?? 'body-too-large', said) }
  }
  if (spec.kind === 'json') return checkJson(spec, bytes)
  try {
    return { ok: true, body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    const detail = 'the body is not valid UTF-8'
    return { ok: false, reply: own ? problem(own.invalid, { detail }) : problem('body-not-utf8') }
  }
}
