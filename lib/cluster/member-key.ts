import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** How far the time in a proof may be from this clock. */
const PROOF_MS = 60_000

/** The key that all processes with one JWT_SECRET share. The secret cannot be computed from it. */
export function deriveMemberKey(jwtSecret: string): Uint8Array {
  return new Uint8Array(
    hkdfSync('sha256', jwtSecret, '', 'muster: members prove that they are one fleet', 32),
  )
}

/** A proof that this member holds the key, valid for a minute. */
export function proveMember(key: Uint8Array, memberId: string, now: Date): string {
  const said = `${memberId}.${now.getTime()}`
  return `${said}.${sign(key, said)}`
}

/** The id of the member that made a proof; null when the proof is invalid or too old. */
export function checkMember(key: Uint8Array, proof: string, now: Date): string | null {
  const [, said = '', memberId = '', atMs = '', signature = ''] =
    /^(([\w-]{1,64})\.(\d{1,15}))\.([0-9a-f]{64})$/.exec(proof) ?? []
  if (signature === '') return null
  if (!timingSafeEqual(Buffer.from(sign(key, said)), Buffer.from(signature))) return null
  return Math.abs(now.getTime() - Number(atMs)) <= PROOF_MS ? memberId : null
}

const sign = (key: Uint8Array, said: string) => createHmac('sha256', key).update(said).digest('hex')
