import type { Random } from '../ids.ts'
import { FITS_NO_PASSWORD } from '../model/no-password.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import type { WorkerOutcome, WorkerPool } from '../workers/pool.ts'
import type { PasswordJob, PasswordResult } from './password-job.ts'

/** The shortest new password, in code points. */
export const PASSWORD_MIN = 12
/** The longest password, in code points. */
export const PASSWORD_MAX = 256

/**
 * How long a password is, in Unicode code points, so that a character outside the basic plane counts once and not
 * twice.
 */
export const passwordLength = (password: string): number => [...password].length

/** A new password was refused for its length. */
export type PasswordRefusal = Refusal<'password-too-short' | 'password-too-long'>

/** Refuse a new password for its length; null when it fits. `field` is its name on the wire. */
export function refusePassword(field: string, password: string): PasswordRefusal | null {
  const length = passwordLength(password)
  if (length < PASSWORD_MIN) return refuse('password-too-short', { field, min: PASSWORD_MIN })
  return length > PASSWORD_MAX ? refuse('password-too-long', { field, max: PASSWORD_MAX }) : null
}

/** Hashes and checks passwords by Argon2id in worker threads; `server-busy` when too many jobs wait. */
export interface Passwords {
  hash(password: string): Promise<{ ok: true; hash: string } | Busy>
  /** Compare with a stored hash. With null (no such user) it takes as long and never fits. */
  verify(password: string, hash: string | null): Promise<{ ok: true; fits: boolean } | Busy>
}

/** Too many passwords wait to be hashed. */
export interface Busy {
  ok: false
  code: 'server-busy'
}

const SALT_BYTES = 16

/** Passwords over a worker pool whose entry is `password-worker.ts`. */
export function openPasswords(workers: WorkerPool<PasswordJob, PasswordResult>, random: Random): Passwords {
  return {
    async hash(password) {
      const outcome = await workers.run({ kind: 'hash', password, salt: random.bytes(SALT_BYTES) })
      return outcome.ok ? { ok: true, hash: String(outcome.value) } : toBusy(outcome)
    },
    async verify(password, hash) {
      // Nobody can have a longer password. A short text is checked instead: hashing a long one would cost more.
      const isPossible = passwordLength(password) <= PASSWORD_MAX
      const job = {
        kind: 'verify',
        password: isPossible ? password : '-',
        hash: hash ?? FITS_NO_PASSWORD,
      } as const
      const outcome = await workers.run(job)
      if (!outcome.ok) return toBusy(outcome)
      return { ok: true, fits: outcome.value === true && isPossible && hash !== null }
    },
  }
}

function toBusy(outcome: WorkerOutcome<PasswordResult> & { ok: false }): Busy {
  // A thread that died or threw is a bug; the cause holds no password.
  if (outcome.code === 'worker-failed') throw new Error(`password worker failed: ${outcome.cause}`)
  return { ok: false, code: 'server-busy' }
}
