import type { RawRequest } from './listener.ts'

/** `sockets`: the own address for sockets, where a browser does not take it for a part of `'self'`. */
const policyOf = (sockets = '') =>
  [
    "default-src 'self'",
    "script-src 'self'",
    // The editor writes its own style elements.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    `connect-src 'self'${sockets}`,
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

const POLICY = policyOf()

/** A host with or without a port, in which nothing ends a source of the policy. */
const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i

const ALWAYS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Content-Security-Policy': POLICY,
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
} as const

const OVER_TLS = { ...ALWAYS, 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } as const

/** For what the API answers: no cache may keep it, refusals included. */
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const

/** The headers that every answer of the API listener carries. */
export function securityHeaders(
  { path, header }: Pick<RawRequest, 'path' | 'header'>,
  isSecure: boolean,
): Readonly<Record<string, string>> {
  const headers = isSecure ? OVER_TLS : ALWAYS
  if (path.startsWith('/api/')) return { ...headers, ...NO_STORE }
  const host = header('host')
  if (!HOST.test(host)) return headers
  return { ...headers, 'Content-Security-Policy': policyOf(` ws://${host} wss://${host}`) }
}
