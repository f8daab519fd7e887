import { createSecretKey } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../../clock.ts'
import { UUID } from '../../ids.ts'

/** How long a session token is valid unless the sign-in says otherwise. */
export const TOKEN_LIFETIME_S = 86_400

/** What a session token says. The groups in it are for clients only: rights are looked up. */
export interface TokenClaims {
  userId: string
  sessionId: string
}

/** Signs and checks session tokens (JWT, HS256 only). */
export interface Tokens {
  sign(login: {
    userId: string
    email: string
    groups: readonly string[]
    sessionId: string
    issuedAt: Date
    /** `TOKEN_LIFETIME_S` by default. */
    lifetimeS?: number
  }): Promise<{
    token: string
    expiresAt: Date
  }>
  /** The claims of a token that was signed here and has not expired; null for any other text. */
  verify(token: string): Promise<TokenClaims | null>
  /** The user for whom a token was signed here, whether or not it has expired; null for any other text. */
  signedFor(token: string): Promise<string | null>
}

/**
 * The base64url decoder ignores characters outside its alphabet; our tokens have none, so a token with such characters
 * is refused.
 */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** Our tokens have about 500 characters; a longer text is refused before it is hashed. */
const TOKEN_MAX = 8_192

/** Tokens signed with one key: the bytes of JWT_SECRET. */
export function openTokens(secret: string, clock: Clock): Tokens {
  const key = createSecretKey(Buffer.from(secret, 'utf8'))
  const read = async (token: string, currentDate: Date): Promise<TokenClaims | null> => {
    if (token.length > TOKEN_MAX || !COMPACT.test(token)) return null
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        requiredClaims: ['exp', 'jti', 'user_id'],
        currentDate,
      })
      const { jti = '', user_id: userId } = payload
      return typeof userId === 'string' && UUID.test(jti) ? { userId, sessionId: jti } : null
    } catch {
      // Whatever the reason, the token counts as not ours.
      return null
    }
  }
  return {
    async sign({ userId, email, groups, sessionId, issuedAt, lifetimeS = TOKEN_LIFETIME_S }) {
      const issuedS = Math.floor(issuedAt.getTime() / 1_000)
      const expiresS = issuedS + lifetimeS
      const payload = { user_id: userId, email, ...(groups.length > 0 ? { groups } : {}) }
      const token = await new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setJti(sessionId)
        .setIssuedAt(issuedS)
        .setExpirationTime(expiresS)
        .sign(key)
      return { token, expiresAt: new Date(expiresS * 1_000) }
    },
    verify: (token) => read(token, clock.now()),
    // No token has expired then.
    signedFor: async (token) => (await read(token, new Date(0)))?.userId ?? null,
  }
}
