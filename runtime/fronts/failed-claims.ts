import { DatabaseUnavailable } from '../../lib/store/db.ts'

/** How long a process leaves it to others to be the owner after it could not become it; twice as long each time. */
const CLAIM_AGAIN_MS = 1_000
/** The same at most: others that are to leave the lock to it (`claimWaitMs`) have to find it free for long enough. */
const CLAIM_AGAIN_MAX_MS = 30_000

/** A name of a class, or a code of PostgreSQL: nothing that data could have got into. */
const CODE = /^\w{1,60}$/
const UNKNOWN = 'an error without a name'

/**
 * What became of a process's attempts to be the owner, in words that anybody may read: what an error says can hold data
 * of the fleet, and is for the log alone.
 */
export class FailedClaims {
  #count = 0
  #why = ''
  #pauseMs = CLAIM_AGAIN_MS

  /** An attempt failed. A database that is away is no fault of the process, and the next attempt may find it there. */
  note(error: unknown): void {
    if (error instanceof DatabaseUnavailable) return
    this.#count++
    this.#why = codeOf(error)
  }

  /** It is the owner now. */
  clear(): void {
    this.#count = 0
    this.#pauseMs = CLAIM_AGAIN_MS
  }

  /**
   * For how long this process leaves the lock to others after an attempt failed. One that never had the lock, as the
   * database was away, has kept it from nobody.
   */
  pauseMs(error: unknown, hadLock: boolean): number {
    if (error instanceof DatabaseUnavailable && !hadLock) this.#pauseMs = CLAIM_AGAIN_MS
    const pauseMs = this.#pauseMs
    this.#pauseMs = Math.min(2 * pauseMs, CLAIM_AGAIN_MAX_MS)
    return pauseMs
  }

  /** What is to be said of them; null where none failed since this process last was the owner. */
  get said(): string | null {
    if (this.#count === 0) return null
    const times = this.#count === 1 ? 'once' : `${this.#count} times`
    return `could not become the owner when it tried (${times}, the last time with ${this.#why}): its log says why`
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return UNKNOWN
  const { code } = error as { code?: unknown }
  const named = [code, error.name].find((one): one is string => typeof one === 'string' && CODE.test(one))
  return named ?? UNKNOWN
}
