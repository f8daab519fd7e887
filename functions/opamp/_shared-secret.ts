import { createHash, timingSafeEqual } from 'node:crypto'

/** The header of a refusal for a missing or wrong secret. */
export const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="opamp"' } as const

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Whether an Authorization header carries the shared secret; always when none is configured. The scheme is
 * case-insensitive (RFC 9110). Both sides are hashed, so that the time tells neither content nor length.
 */
export function holdsSharedSecret(authorization: string, secret: string): boolean {
  if (secret === '') return true
  const token = /^bearer +(.*)$/is.exec(authorization)?.[1] ?? ''
  return timingSafeEqual(digest(token.trim()), digest(secret))
}
