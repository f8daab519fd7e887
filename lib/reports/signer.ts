import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { readTime } from '../model/times.ts'
import type { EvidencePack } from '../wire/reports.ts'

/** One signature in a pack. */
export type PackSignature = NonNullable<EvidencePack['signatures']>[number]

/** Signs packs; an edition may bring a signer with a key. */
export interface ReportSigner {
  /**
   * `reportHash` is lower-case hex, `signedAt` RFC 3339. A signer that cannot be reached answers
   * `report-signing-unavailable`.
   */
  sign(
    reportHash: string,
    signedAt: string,
  ): Promise<{ ok: true; signature: PackSignature } | { ok: false; code: 'report-signing-unavailable' }>
}

/** Signs nothing, and says so in the pack: its hashes show accidental changes only. */
export const communitySigner: ReportSigner = {
  sign: async (reportHash, signedAt) => ({
    ok: true,
    signature: {
      scheme: 'none',
      signed_at: signedAt,
      payload_hash: reportHash,
      verifier: 'community-none',
    },
  }),
}

/** Each field that is signed is a line of its own. */
const LINE_END = /[\n\r]/

/** What of a signature is signed with the hash, so that it cannot be exchanged. */
type Signed = { reportHash: string; keyId: string; signedAt: string }

/** The bytes that scheme `ed25519` signed at first: who verified was not among them. */
const formerBytes = ({ reportHash, keyId, signedAt }: Signed): Buffer =>
  Buffer.from(`evidence_pack.v1\n${reportHash}\n${keyId}\n${signedAt}\n`)

/**
 * Whether these may have been signed in the former form, whose last line is a time. That of the present form is a JSON
 * text: what is signed with who verified never passes as signed without, with the last lines taken for one field.
 */
const mayBeFormer = ({ keyId, signedAt }: Signed): boolean =>
  !LINE_END.test(keyId) && readTime(signedAt) !== null

/** The bytes that scheme `ed25519` signs. */
const signedBytes = (signed: Signed, verifier: string): Buffer =>
  Buffer.concat([formerBytes(signed), Buffer.from(`${JSON.stringify(verifier)}\n`)])

/**
 * A signer with an Ed25519 private key in PEM (PKCS #8). Throws when it is another kind of key, or its id is more than
 * one line.
 */
export function createEd25519Signer(options: {
  keyId: string
  privateKeyPem: string
  verifier: string
}): ReportSigner {
  const key = createPrivateKey(options.privateKeyPem)
  requireEd25519(key)
  if (LINE_END.test(options.keyId)) throw new Error('Cannot use a key id with a line end in it')
  return {
    sign: async (reportHash, signedAt) => ({
      ok: true,
      signature: {
        scheme: 'ed25519',
        key_id: options.keyId,
        signed_at: signedAt,
        payload_hash: reportHash,
        signature_b64: sign(
          null,
          signedBytes({ reportHash, keyId: options.keyId, signedAt }, options.verifier),
          key,
        ).toString('base64'),
        verifier: options.verifier,
      },
    }),
  }
}

/**
 * Whether a signature of scheme `ed25519` was made with the private key of this public key (PEM), and whether that covers
 * who verified: older packs were signed without it, and stay evidence. Null where it was not. Throws on another kind of
 * key.
 */
export function checkEd25519(
  signature: PackSignature,
  publicKeyPem: string,
): { coversVerifier: boolean } | null {
  const key = createPublicKey(publicKeyPem)
  requireEd25519(key)
  const { payload_hash: reportHash, key_id: keyId = '', signed_at: signedAt, verifier = '' } = signature
  const signed = { reportHash, keyId, signedAt }
  const isOf = (bytes: Buffer) =>
    verify(null, bytes, key, Buffer.from(signature.signature_b64 ?? '', 'base64'))
  if (isOf(signedBytes(signed, verifier))) return { coversVerifier: true }
  return mayBeFormer(signed) && isOf(formerBytes(signed)) ? { coversVerifier: false } : null
}

function requireEd25519(key: KeyObject): void {
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`Cannot use key of type "${key.asymmetricKeyType}", expected "ed25519"`)
}
