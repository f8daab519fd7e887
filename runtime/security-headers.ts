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

/** The headers that every answer of the API listener carries. */
export const securityHeaders = (isSecure: boolean): Readonly<Record<string, string>> =>
  isSecure ? OVER_TLS : ALWAYS
