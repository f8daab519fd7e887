import { createSecretKey } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../../clock.ts'

/** A login token lives this long. */
export const TOKEN_LIFETIME_S = 86_400

/** What a token that we signed says. Its groups are for clients only: authority is looked up. */
export interface TokenClaims {
  userId: string
  sessionId: string
}

/** Signs and checks login tokens (JWT, HS256 only). */
export interface Tokens {
  sign(login: {
    userId: string
    email: string
    groups: readonly string[]
    sessionId: string
    issuedAt: Date
    /** A day unless the sign-in says less. */
    lifetimeS?: number
  }): Promise<{
    token: string
    expiresAt: Date
  }>
  /** The claims of a token of ours that has not expired; null for anything else. */
  verify(token: string): Promise<TokenClaims | null>
}

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/
/** The decoder of base64url passes over what is not of its alphabet; a token of ours holds nothing else. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** Ours have about 500 characters; more is not worth hashing. */
const TOKEN_MAX = 8_192

/** Tokens under one key: the bytes of JWT_SECRET as they are. */
export function openTokens(secret: string, clock: Clock): Tokens {
  const key = createSecretKey(Buffer.from(secret, 'utf8'))
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
    async verify(token) {
      if (token.length > TOKEN_MAX || !COMPACT.test(token)) return null
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          requiredClaims: ['exp', 'jti', 'user_id'],
          currentDate: clock.now(),
        })
        const { jti = '', user_id: userId } = payload
        return typeof userId === 'string' && UUID.test(jti) ? { userId, sessionId: jti } : null
      } catch {
        // Whatever is wrong with a token, it is no token of ours.
        return null
      }
    },
  }
}
