import { argon2id, argon2Verify } from 'hash-wasm'

/** Hash a new password, or compare one with a stored hash. */
export type PasswordJob =
  | { kind: 'hash'; password: string; salt: Uint8Array }
  | { kind: 'verify'; password: string; hash: string }

/** The encoded hash, or whether the password fits. */
export type PasswordResult = string | boolean

// OWASP's first choice for Argon2id with little memory: 19 MiB, two passes, one lane.
const COST = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 } as const

/** The most heap that one job adds to its thread, in bytes. */
export const PASSWORD_HEAP_BYTES = 2 * COST.memorySize * 1_024

/** Do the job. It takes tens of milliseconds of a core: in a worker thread only. */
export const runPasswordJob = (job: PasswordJob): Promise<PasswordResult> =>
  job.kind === 'hash'
    ? argon2id({ password: job.password, salt: job.salt, ...COST, outputType: 'encoded' })
    : argon2Verify({ password: job.password, hash: job.hash })
