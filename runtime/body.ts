import { validate } from 'superstruct'
import type { AnyStruct } from '../lib/wire/structs.ts'
import { type BodyFault, fitBody, measureBody } from './body-fit.ts'
import { describeFailure, nameField } from './body-words.ts'
import type { BodySpec } from './define.ts'
import { problem, type Reply } from './reply.ts'

/** A checked body, or the reply that refuses it. */
export type BodyResult = { ok: true; body: unknown } | { ok: false; reply: Reply }

const refuse = (error: string, detail: string): BodyResult => ({
  ok: false,
  reply: problem('invalid-body', { error, detail }),
})

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

function checkJson(spec: BodySpec<unknown> & { kind: 'json' }, bytes: Uint8Array): BodyResult {
  if (bytes.length === 0) {
    return spec.whenAbsent === null
      ? refuse(spec.invalidText, 'the body is empty')
      : { ok: true, body: spec.whenAbsent }
  }
  const parsed = parseJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), spec.isStrict)
  if (!parsed.ok) return refuse(spec.invalidText, 'the body is not one JSON value')
  const sent = parsed.value ?? {}
  const excess = measureBody(sent, spec.valuesMax)
  if (excess !== null) return refuseFault(excess)
  const fitted = fitBody(sent, spec.struct as AnyStruct)
  if (fitted.fault !== null) return refuseFault(fitted.fault)
  return checkFitted(spec, fitted.value)
}

const refuseFault = ({ code, details }: BodyFault): BodyResult => ({
  ok: false,
  reply: problem(code, { ...details }),
})

/** As `validate`, which writes what it found into its messages and breaks on a value that is no text and becomes none. */
function validateBody(spec: BodySpec<unknown> & { kind: 'json' }, value: unknown) {
  try {
    return validate(value, spec.struct, { coerce: true })
  } catch {
    return null
  }
}

function checkFitted(spec: BodySpec<unknown> & { kind: 'json' }, fitted: unknown): BodyResult {
  const checked = validateBody(spec, fitted)
  if (checked === null) return refuse(spec.invalidText, 'body: a field is not what is expected')
  const [failure, body] = checked
  if (failure !== undefined) {
    // An `object` has a field that it does not know: to ignore it would be to do more than was meant.
    if (failure.type === 'never')
      return refuse(
        `the field "${nameField(failure.path)}" is unknown`,
        `${nameField(failure.path)}: expected no such field`,
      )
    const detail = describeFailure(failure, spec.struct as AnyStruct, fitted)
    // A body that was read and only lacks a field is no invalid JSON: it says which.
    const isMissing = failure.path.length > 0 && failure.value === undefined
    return refuse(isMissing ? `the field "${nameField(failure.path)}" is missing` : spec.invalidText, detail)
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
