import type { Log } from '../lib/log.ts'

const SECRET_KEYS = new Set([
  'access_token',
  'api_key',
  'apikey',
  'auth',
  'authorization',
  'bearer',
  'code',
  'credential',
  'jwt',
  'key',
  'password',
  'secret',
  'session',
  'token',
])

/** A query with the values of secret-like parameters replaced, fit for a log. */
export function redactQuery(query: string): string {
  if (query === '') return ''
  const parts: string[] = []
  for (const [name, value] of new URLSearchParams(query)) {
    const key = name.trim().toLowerCase()
    const isSecret = SECRET_KEYS.has(key) || /token|secret|password/.test(key)
    parts.push(`${encodeURIComponent(name)}=${isSecret ? 'REDACTED' : encodeURIComponent(value)}`)
  }
  return parts.join('&')
}

/** Write one line for a finished request. */
export function logAccess(
  log: Log,
  entry: {
    function: string | null
    method: string
    path: string
    query: string
    remoteAddress: string
    status: number
    durationMs: number
  },
): void {
  const { query, durationMs, remoteAddress, ...rest } = entry
  const target = query === '' ? entry.path : `${entry.path}?${redactQuery(query)}`
  const timed = { remote_address: remoteAddress, duration_ms: Math.round(durationMs * 10) / 10 }
  log.info({ ...rest, path: target, ...timed }, 'request')
}
