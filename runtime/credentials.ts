import type { Actor } from './define.ts'

/** The cookie that holds the login token of a browser. */
export const SESSION_COOKIE = 'om_session'

/** The first cookie of a name, as the `Cookie` header carries it. */
export function readCookie(header: string, name: string): string {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals !== -1 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return ''
}

/**
 * The credential of a request: its bearer token, else its cookie. With a bearer token, even a bad one, the cookie does
 * not count.
 */
export function readCredential(
  header: (name: string) => string,
): { token: string; source: Actor['credential'] } | null {
  const bearer = /^bearer +(.*)$/is.exec(header('authorization').trim())?.[1]?.trim() ?? ''
  if (bearer !== '') return { token: bearer, source: 'bearer' }
  const cookie = readCookie(header('cookie'), SESSION_COOKIE)
  return cookie === '' ? null : { token: cookie, source: 'cookie' }
}

/** The `Set-Cookie` line of a login; an empty token with age 0 takes the cookie away. */
export function sessionCookie(token: string, maxAgeS: number, isSecure: boolean): string {
  return `${SESSION_COOKIE}=${token}; Path=/; Max-Age=${maxAgeS}; HttpOnly; ${isSecure ? 'Secure; ' : ''}SameSite=Lax`
}
