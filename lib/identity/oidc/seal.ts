import { hkdfSync } from 'node:crypto'
import { EncryptJWT, jwtDecrypt } from 'jose'
import type { Clock } from '../../clock.ts'

/** Encrypts what a browser keeps for a while, so that only muster can read or make it. */
export interface Seal {
  close(content: Readonly<Record<string, unknown>>, purpose: string, lifetimeS: number): Promise<string>
  /** What was sealed for this purpose; null for any other text, and once its lifetime is over. */
  open(sealed: string, purpose: string): Promise<Record<string, unknown> | null>
}

/** A browser keeps 4,096 characters of a cookie. */
const SEALED_MAX = 4_096

/** A seal with a key of its own, derived from JWT_SECRET. */
export function openSeal(secret: string, clock: Clock): Seal {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'muster sealed cookie', 32))
  return {
    close(content, purpose, lifetimeS) {
      const nowS = Math.floor(clock.now().getTime() / 1_000)
      return new EncryptJWT({ content })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setAudience(purpose)
        .setExpirationTime(nowS + lifetimeS)
        .encrypt(key)
    },
    async open(sealed, purpose) {
      if (sealed.length > SEALED_MAX) return null
      try {
        const { payload } = await jwtDecrypt(sealed, key, {
          audience: purpose,
          requiredClaims: ['exp'],
          currentDate: clock.now(),
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
        })
        return payload['content'] as Record<string, unknown>
      } catch {
        // Whatever the reason, the text counts as not sealed by us.
        return null
      }
    },
  }
}
