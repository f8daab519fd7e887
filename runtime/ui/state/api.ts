import type { ErrorBody } from '../../../lib/wire/errors.ts'
import { OUTSIDE_HEADER } from '../../../lib/wire/values.ts'
import type { WireCode } from '../../problems.ts'

/** A refusal or a failure; `status` 0 means that no answer came. */
export interface Failure {
  ok: false
  status: number
  /** What was refused; absent where the answer is none of ours, as that of a proxy. */
  code?: WireCode
  body: ErrorBody
  retryAfterSeconds?: number
  /** After how many milliseconds the wait was given up; absent where the connection itself failed. */
  lateMs?: number
  /** The call was to change something, and whether it did is not known. */
  isChange?: boolean
}

/** The value of a call with the headers of its answer, or why there is none. */
export type Result<T> = { ok: true; value: T; headers: Headers } | Failure

interface RequestOptions {
  signal?: AbortSignal | undefined
  /** Sent as it is, as text/yaml. */
  text?: string
  json?: unknown
  query?: Record<string, string | number | boolean | undefined>
  /** A 401 of this call does not end the session. */
  keepsSession?: boolean
  /** The browser sends it to the end even if the page is closed meanwhile. */
  outlivesPage?: boolean
  /** How many milliseconds the whole answer may take, where the usual limit is not right. */
  limitMs?: number
}

/**
 * How many milliseconds a whole answer may take. Calls that only read are safe to repeat, so they are given up sooner.
 */
const READ_LIMIT_MS = 15_000
const CHANGE_LIMIT_MS = 30_000
/** For what takes the server long: whole reports, whole trails. */
export const LONG_LIMIT_MS = 180_000

const sessionEnded = new Set<() => void>()

/** Call `listener` when the server no longer knows the session. */
export function onSessionEnded(listener: () => void): void {
  sessionEnded.add(listener)
}

const answered = new Set<() => void>()

/** Call `listener` whenever the server has answered a call with what was asked for: it can be reached. */
export function onAnswered(listener: () => void): void {
  answered.add(listener)
}

let changes = 0

/** How many calls of this page may have changed something so far. */
export const changesMade = (): number => changes

/** The path with its query; undefined values are left out. */
export function withQuery(path: string, query: RequestOptions['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value))
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The codes of refusals whose bodies have none, by status. */
const CODE_OF_STATUS: Readonly<Record<number, WireCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'body_too_large',
}

async function readFailure(response: Response): Promise<Failure> {
  const text = await response.text().catch(() => '')
  let body: ErrorBody = { error: text.trim().slice(0, 300) }
  try {
    body = JSON.parse(text) as ErrorBody
  } catch {
    // Plain text answers (401, 502 of a proxy) are shown as they are.
  }
  const retryAfter = Number(response.headers.get('retry-after'))
  const code = body.side_effect_status ? 'audit_unavailable' : (body.code ?? CODE_OF_STATUS[response.status])
  return {
    ok: false,
    status: response.status,
    body,
    ...(code === undefined ? {} : { code: code as WireCode }),
    ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}),
  }
}

function toRequest(method: string, options: RequestOptions, signal: AbortSignal): RequestInit {
  const headers: Record<string, string> = {}
  let body: string | undefined
  if (options.json !== undefined) {
    headers['Content-Type'] = 'application/json'
    body = JSON.stringify(options.json)
  } else if (options.text !== undefined) {
    headers['Content-Type'] = 'text/yaml'
    body = options.text
  }
  return {
    method,
    headers,
    signal,
    credentials: 'same-origin',
    keepalive: options.outlivesPage === true,
    ...(body === undefined ? {} : { body }),
  }
}

/** Cuts off each call that is on its way and may be sent again. */
const repeatable = new Set<() => void>()

/** The server is silent: send what only reads once more, over another connection, which may lead to another process. */
export function askAgain(): void {
  for (const cutOff of [...repeatable]) cutOff()
}

/** Send and read the whole answer. Throws where none comes. */
async function sendOnce<T>(
  method: string,
  path: string,
  options: RequestOptions,
  read: (response: Response) => Promise<T>,
  signal: AbortSignal,
): Promise<Result<T>> {
  const response = await fetch(withQuery(path, options.query), toRequest(method, options, signal))
  if (response.ok) {
    const value = await read(response)
    for (const listener of answered) listener()
    return { ok: true, value, headers: response.headers }
  }
  if (response.status === 401 && options.keepsSession !== true)
    for (const listener of sessionEnded) listener()
  return readFailure(response)
}

/** How long to wait before a call is sent again: who has just stopped listening is to be noticed by a load balancer. */
const AGAIN_MS = 300

/**
 * Send what only reads, and once more where the connection breaks or the server falls silent: a load balancer leads the
 * second try to a process that answers. Throws where that brings no answer either.
 */
async function sendTwice<T>(
  send: (signal: AbortSignal) => Promise<Result<T>>,
  signal: AbortSignal,
): Promise<Result<T>> {
  const first = new AbortController()
  const cutOff = () => first.abort()
  repeatable.add(cutOff)
  signal.addEventListener('abort', cutOff)
  if (signal.aborted) cutOff()
  try {
    return await send(first.signal)
  } catch (error) {
    if (signal.aborted) throw error
  } finally {
    repeatable.delete(cutOff)
    signal.removeEventListener('abort', cutOff)
  }
  await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  return send(signal)
}

/** Send and read the whole answer within its time. Failures are values; nothing is thrown. */
async function exchange<T>(
  method: string,
  path: string,
  options: RequestOptions,
  read: (response: Response) => Promise<T>,
): Promise<Result<T>> {
  const isRead = method === 'GET'
  const limitMs = options.limitMs ?? (isRead ? READ_LIMIT_MS : CHANGE_LIMIT_MS)
  const controller = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    controller.abort()
  }, limitMs)
  const leave = () => controller.abort()
  options.signal?.addEventListener('abort', leave)
  if (options.signal?.aborted === true) leave()
  const send = (signal: AbortSignal) => sendOnce(method, path, options, read, signal)
  try {
    return await (isRead ? sendTwice(send, controller.signal) : send(controller.signal))
  } catch (error) {
    const late = isLate ? { lateMs: limitMs, isChange: !isRead } : {}
    return { ok: false, status: 0, body: { error: String(error) }, ...late }
  } finally {
    if (!isRead) changes++
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', leave)
  }
}

/** One JSON call. */
export const call = <T>(method: string, path: string, options: RequestOptions = {}): Promise<Result<T>> =>
  exchange(method, path, options, async (response) =>
    response.status === 204 ? (undefined as T) : ((await response.json()) as T),
  )

/** A call whose answer is a file, with the name the server gives it. */
export const download = (
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Result<{ blob: Blob; name: string }>> =>
  exchange(method, path, options, async (response) => {
    const disposition = response.headers.get('content-disposition') ?? ''
    const name = /filename="?([^";]+)"?/.exec(disposition)?.[1] ?? 'download'
    return { blob: await response.blob(), name }
  })

/** Hand a file to the browser to keep. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** The address of the next page, from the `Link` header. */
export function nextPage(headers: Headers): string | null {
  return /<([^<>]+)>;\s{0,8}rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? null
}

/** How many rows up to the end of a page lie outside of the reader's scope; 0 where the list is not cut to one. */
export const outsideScope = (headers: Headers): number => Number(headers.get(OUTSIDE_HEADER) ?? 0)
