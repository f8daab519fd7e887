import { DatabaseUnavailable } from '../../lib/store/db.ts'

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

  /** An attempt failed. A database that is away is no fault of the process, and the next attempt may find it there. */
  note(error: unknown): void {
    if (error instanceof DatabaseUnavailable) return
    this.#count++
    this.#why = codeOf(error)
  }

  /** It is the owner now. */
  clear(): void {
    this.#count = 0
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
