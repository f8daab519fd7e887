import type { Permission } from '../lib/model/permissions.ts'
import { PROBLEMS, type ProblemCode, sentenceOf, wireCodeOf } from './problems.ts'

/** What a function answers. The runtime turns it into bytes; functions never see the socket. */
export interface Reply {
  status: number
  headers: Readonly<Record<string, string>>
  /** Several `Set-Cookie` lines, apart because they must not be joined. */
  cookies?: readonly string[]
  body: string | Uint8Array | AsyncIterable<string | Uint8Array> | null
}

const JSON_HEADERS = { 'Content-Type': 'application/json' } as const

/** A JSON body, ended by one newline. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: `${JSON.stringify(body)}\n` }
}

/** A JSON body that is already serialised. */
export function jsonText(body: string | AsyncIterable<string>, headers: Record<string, string> = {}): Reply {
  return { status: 200, headers: { ...JSON_HEADERS, ...headers }, body }
}

/** A 201 reply with a JSON body. */
export const created = (body: unknown): Reply => json(body, 201)
/** A 202 reply with a JSON body. */
export const accepted = (body: unknown): Reply => json(body, 202)

/** A 204 reply, which has no body. */
export const noContent = (): Reply => ({ status: 204, headers: {}, body: null })

/** A plain text body. */
export function text(body: string, status = 200, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, body }
}

/** Any other kind of body. */
export function bytes(
  body: string | Uint8Array | AsyncIterable<string | Uint8Array>,
  contentType: string,
  headers: Record<string, string> = {},
): Reply {
  return { status: 200, headers: { 'Content-Type': contentType, ...headers }, body }
}

/**
 * The reply to a refusal or an expected failure: `{"error", "code", …details}`. The code decides the status and the
 * code on the wire. Details fill the table's sentence; a detail `error` replaces it, where one code has several
 * sentences.
 */
export function problem(
  code: ProblemCode,
  details: Record<string, unknown> & { error?: string } = {},
  headers: Record<string, string> = {},
): Reply {
  const { error = sentenceOf(code, details), ...rest } = details
  const wireCode = wireCodeOf(code)
  const body = { error, ...(wireCode === null ? {} : { code: wireCode }), ...rest }
  return json(body, PROBLEMS[code].status, headers)
}

/** The same of a refusal that comes with its details, if it has any. */
export const problemOf = ({
  code,
  details = {},
}: {
  code: ProblemCode
  details?: Record<string, unknown> | undefined
}): Reply => problem(code, details)

/**
 * The reply to a caller who lacks a permission, everywhere or where it is needed. Which one it is stands in a header,
 * because clients know every byte of the body of `forbidden`.
 */
export const lacks = (
  permission: Permission,
  code: 'forbidden' | 'out-of-scope' | 'out-of-scope-of-all',
): Reply => problem(code, {}, { 'Muster-Permission': permission })
