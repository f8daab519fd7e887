import { createHash } from 'node:crypto'

/**
 * The config hash: SHA-256 of the exact bytes, 64 lower-case hex digits. Node's own hash is used because it
 * is synchronous; hash-wasm compiles its module asynchronously, and every caller here is a pure function.
 */
export function configHash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
