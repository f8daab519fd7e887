/** True when an entry of CORS_ORIGINS names this origin: whole string, any case, one `*` as a wildcard. */
export function matchesOriginEntry(origin: string, entry: string): boolean {
  const wanted = entry.toLowerCase().replace(/\/$/, '')
  const given = origin.toLowerCase()
  const star = wanted.indexOf('*')
  if (star === -1) return wanted === given
  const prefix = wanted.slice(0, star)
  const suffix = wanted.slice(star + 1)
  return given.length >= prefix.length + suffix.length && given.startsWith(prefix) && given.endsWith(suffix)
}

/** The host (with port) of a bare `scheme://host[:port]` origin; null for anything else, `null` included. */
export function originHost(origin: string): string | null {
  const match = /^https?:\/\/([^/?#@\s]+)$/i.exec(origin)
  return match === null ? null : match[1]!.toLowerCase()
}

/**
 * May a browser page of this origin act with the session cookie (unsafe methods, `/ws`)? Absent: not a
 * browser's cross-site call. Same host counts whatever the scheme; an entry `*` alone never does.
 */
export function isOriginTrusted(origin: string, host: string, cookieOrigins: readonly string[]): boolean {
  if (origin === '') return true
  const from = originHost(origin)
  if (from === null) return false
  if (host !== '' && from === host.toLowerCase()) return true
  return cookieOrigins.some((entry) => entry !== '*' && matchesOriginEntry(origin, entry))
}

/** May a page of this origin read answers at all? */
export const isOriginReadable = (origin: string, corsOrigins: readonly string[]): boolean =>
  corsOrigins.some((entry) => matchesOriginEntry(origin, entry))
