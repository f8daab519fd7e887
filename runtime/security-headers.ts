const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  // The editor writes its own style elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self' ws: wss:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

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
export function securityHeaders(path: string, isSecure: boolean): Readonly<Record<string, string>> {
  const headers = isSecure ? OVER_TLS : ALWAYS
  return path.startsWith('/api/') ? { ...headers, ...NO_STORE } : headers
}
