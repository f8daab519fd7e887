import { OUTSIDE_HEADER } from '../lib/wire/values.ts'
import type { Config } from './config.ts'
import type { RawRequest } from './listener.ts'
import { isOriginReadable, matchesOriginEntry } from './origin.ts'
import type { Reply } from './reply.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const REQUEST_HEADERS = ['accept', 'authorization', 'content-type', 'origin']
const EXPOSED = `Link, Content-Disposition, Retry-After, ${OUTSIDE_HEADER}`

/** Which pages may read answers, and which of them with the cookie. */
export type CorsSettings = Pick<Config, 'corsOrigins' | 'cookieOrigins'>

function allowOrigin(
  origin: string,
  { corsOrigins, cookieOrigins }: CorsSettings,
): Record<string, string> | null {
  if (cookieOrigins.some((entry) => entry !== '*' && matchesOriginEntry(origin, entry)))
    return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true' }
  // Any origin may read, but never with a cookie.
  if (corsOrigins.includes('*')) return { 'Access-Control-Allow-Origin': '*' }
  return isOriginReadable(origin, corsOrigins) ? { 'Access-Control-Allow-Origin': origin } : null
}

/** The reply to a preflight; null when the request is not one. It answers for any path, before everything else. */
export function answerPreflight(request: RawRequest, settings: CorsSettings): Reply | null {
  const method = request.header('access-control-request-method')
  if (request.method !== 'OPTIONS' || method === '') return null
  const headers: Record<string, string> = {
    Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  }
  const origin = request.header('origin')
  const wanted = request
    .header('access-control-request-headers')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
  const allowed = origin === '' ? null : allowOrigin(origin, settings)
  if (
    allowed !== null &&
    METHODS.includes(method) &&
    wanted.every((name) => REQUEST_HEADERS.includes(name))
  ) {
    Object.assign(headers, allowed, {
      'Access-Control-Allow-Methods': method,
      'Access-Control-Max-Age': '300',
    })
    if (wanted.length > 0) headers['Access-Control-Allow-Headers'] = wanted.join(', ')
  }
  return { status: 200, headers, body: '' }
}

/** The CORS headers of an actual request's reply. Other origins are not blocked, only left without headers. */
export function corsHeaders(request: RawRequest, settings: CorsSettings): Record<string, string> {
  const headers: Record<string, string> = { Vary: 'Origin' }
  const origin = request.header('origin')
  if (origin === '' || !METHODS.includes(request.method)) return headers
  const allowed = allowOrigin(origin, settings)
  return allowed === null ? headers : { ...headers, ...allowed, 'Access-Control-Expose-Headers': EXPOSED }
}
