import { createHash } from 'node:crypto'
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { readId } from './claims.ts'
import { KeysUnavailable } from './published-keys.ts'

/** Whose sessions are to end: one session of the provider's, or all of a subject. */
export interface LogoutToken {
  issuer: string
  subject: string | null
  providerSession: string | null
  /** The SHA-256 of what the provider signed, by which the same token is known again. */
  tokenHash: string
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** Asymmetric algorithms only: with a shared secret, everybody who knows it could sign. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
/** An older token is about a session that ended long ago, or is replayed. */
const AGE_MAX_S = 300
const TOKEN_MAX = 16_384

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Is told why a logout token is not valid: one of a few reasons, which hold nothing of the token. */
export type TellInvalid = (why: string) => void

/**
 * Check a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6); null where it is not valid. Throws
 * `KeysUnavailable` where that cannot be said.
 */
export async function checkLogoutToken(
  token: string,
  keys: JWTVerifyGetKey,
  expected: { issuer: string; audience: string; now: Date; toleranceS: number },
  tellInvalid: TellInvalid = () => {},
): Promise<LogoutToken | null> {
  const refuse = (why: string): null => {
    tellInvalid(why)
    return null
  }
  if (token.length > TOKEN_MAX) return refuse('it is too long')
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: expected.issuer,
      audience: expected.audience,
      currentDate: expected.now,
      algorithms: ALGORITHMS,
      clockTolerance: expected.toleranceS,
      maxTokenAge: AGE_MAX_S,
      requiredClaims: ['iss', 'aud', 'iat', 'events'],
    })
    const { events, sub, sid } = payload
    if ('nonce' in payload) return refuse('it has a "nonce", as ID tokens have')
    if (!isObject(events) || !isObject(events[EVENT])) return refuse('its "events" hold no logout')
    const subject = readId(sub)
    const providerSession = readId(sid)
    if (subject === null && providerSession === null) return refuse('it names neither "sub" nor "sid"')
    return { issuer: expected.issuer, subject, providerSession, tokenHash: hashSigned(token) }
  } catch (error) {
    if (error instanceof KeysUnavailable) throw error
    // Whatever the reason, an invalid token logs nobody out.
    return refuse(reasonOf(error))
  }
}

/**
 * What is wrong with a token, in words that are not its own. Those about a claim that is asked for name that one; others
 * may quote the header, which is whatever a stranger wrote.
 */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return error.message
  return error instanceof errors.JOSEError ? error.code : 'it cannot be read'
}

/** Without the signature: some can be written in several ways that are all valid. */
const hashSigned = (token: string): string =>
  createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest('hex')
