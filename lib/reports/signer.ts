import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { EvidencePack } from '../wire/reports.ts'

export type PackSignature = NonNullable<EvidencePack['signatures']>[number]

/** Puts a signature under a pack; an edition brings one with a key. */
export interface ReportSigner {
  /** `reportHash` is lower-case hex, `signedAt` RFC 3339. A signer that cannot be reached answers the code. */
  sign(
    reportHash: string,
    signedAt: string,
  ): Promise<{ ok: true; signature: PackSignature } | { ok: false; code: 'report-signing-unavailable' }>
}

/** Signs nothing, and says so: the pack's hashes only show accidents. */
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

/** Scheme `ed25519` signs these UTF-8 bytes, so that key and time cannot be exchanged either. */
function signedBytes(reportHash: string, keyId: string, signedAt: string): Buffer {
  return Buffer.from(`evidence_pack.v1\n${reportHash}\n${keyId}\n${signedAt}\n`)
}

/** A signer with an Ed25519 private key in PEM (PKCS #8). Throws when it is another kind of key. */
export function createEd25519Signer(options: {
  keyId: string
  privateKeyPem: string
  verifier: string
}): ReportSigner {
  const key = createPrivateKey(options.privateKeyPem)
  requireEd25519(key)
  return {
    sign: async (reportHash, signedAt) => ({
      ok: true,
      signature: {
        scheme: 'ed25519',
        key_id: options.keyId,
        signed_at: signedAt,
        payload_hash: reportHash,
        signature_b64: sign(null, signedBytes(reportHash, options.keyId, signedAt), key).toString('base64'),
        verifier: options.verifier,
      },
    }),
  }
}

/** Whether a signature of scheme `ed25519` is of this public key (PEM). Throws on another kind of key. */
export function isEd25519Signature(signature: PackSignature, publicKeyPem: string): boolean {
  const key = createPublicKey(publicKeyPem)
  requireEd25519(key)
  const bytes = signedBytes(signature.payload_hash, signature.key_id ?? '', signature.signed_at)
  return verify(null, bytes, key, Buffer.from(signature.signature_b64 ?? '', 'base64'))
}

function requireEd25519(key: KeyObject): void {
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`Cannot use key of type "${key.asymmetricKeyType}", expected "ed25519"`)
}
