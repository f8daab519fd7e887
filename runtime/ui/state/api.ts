import type { ErrorBody } from '../../../lib/wire/errors.ts'

/** A refusal or a failure; `status` 0 means that no answer came. */
export interface Failure {
  ok: false
  status: number
  code?: string
  body: ErrorBody
  retryAfterSeconds?: number
}

export type Result<T> = { ok: true; value: T; headers: Headers } | Failure

interface RequestOptions {
  signal?: AbortSignal | undefined
  /** Sent as it is, as text/yaml. */
  text?: string
  json?: unknown
  query?: Record<string, string | number | boolean | undefined>
  /** A 401 here says nothing about the session. */
  keepsSession?: boolean
  /** Sent to the end though the page is closed meanwhile. */
  outlivesPage?: boolean
}

const sessionEnded = new Set<() => void>()

/** Call `listener` when the server no longer knows the session. */
export function onSessionEnded(listener: () => void): void {
  sessionEnded.add(listener)
}

/** The path with its query; undefined values are left out. */
export function withQuery(path: string, query: RequestOptions['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value))
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
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
  return {
    ok: false,
    status: response.status,
    body,
    ...(body.code === undefined ? {} : { code: body.code }),
    ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}),
  }
}

async function send(method: string, path: string, options: RequestOptions): Promise<Response | Failure> {
  const headers: Record<string, string> = {}
  let body: string | undefined
  if (options.json !== undefined) {
    headers['Content-Type'] = 'application/json'
    body = JSON.stringify(options.json)
  } else if (options.text !== undefined) {
    headers['Content-Type'] = 'text/yaml'
    body = options.text
  }
  try {
    const response = await fetch(withQuery(path, options.query), {
      method,
      headers,
      credentials: 'same-origin',
      keepalive: options.outlivesPage === true,
      ...(body === undefined ? {} : { body }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    if (response.ok) return response
    if (response.status === 401 && options.keepsSession !== true)
      for (const listener of sessionEnded) listener()
    return readFailure(response)
  } catch (error) {
    return { ok: false, status: 0, body: { error: String(error) } }
  }
}

const isFailure = (answer: Response | Failure): answer is Failure => !(answer instanceof Response)

/** One JSON call. Failures are values; nothing is thrown. */
export async function call<T>(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Result<T>> {
  const response = await send(method, path, options)
  if (isFailure(response)) return response
  try {
    const value = response.status === 204 ? undefined : await response.json()
    return { ok: true, value: value as T, headers: response.headers }
  } catch (error) {
    return { ok: false, status: 0, body: { error: String(error) } }
  }
}

/** A call whose answer is a file, with the name the server gives it. */
export async function download(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Result<{ blob: Blob; name: string }>> {
  const response = await send(method, path, options)
  if (isFailure(response)) return response
  const disposition = response.headers.get('content-disposition') ?? ''
  const name = /filename="?([^";]+)"?/.exec(disposition)?.[1] ?? 'download'
  return { ok: true, value: { blob: await response.blob(), name }, headers: response.headers }
}

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
  return /<([^>]+)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? null
}
