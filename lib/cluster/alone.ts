import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Db } from '../store/db.ts'
import { countMembers } from '../store/members.ts'
import { Patience } from './patience.ts'
import { LATE_MS, OWNER_SILENT_MS } from './timing.ts'

/** What a process that is to be alone is made of. */
export interface AloneParts {
  clock: Clock
  log: Log
}

/**
 * Says whether a process without an internal address may become the active one. Members of a fleet of processes could not
 * reach it as their owner, so it waits until none of them is left. For a while after it began, and after an outage, it
 * cannot know which of them are: while the database is away no member can say that it lives.
 */
export class Alone {
  readonly #parts: AloneParts
  readonly #patience = new Patience()
  /** When the last question was answered, by the monotonic clock; null before the first. */
  #answeredMs: number | null = null
  /** How many members were logged last. */
  #told = 0

  constructor(parts: AloneParts) {
    this.#parts = parts
  }

  /** Whether it may ask for the lock now. */
  async mayClaim(db: Db): Promise<boolean> {
    const { clock, log } = this.#parts
    const nowMs = clock.monotonicMs()
    // It asks several times a second: where the last answer is older, there was none for a while.
    if (this.#answeredMs === null || nowMs - this.#answeredMs > LATE_MS) this.#patience.begin(nowMs)
    const members = await countMembers(db, this.#patience.lasts(nowMs) ? null : OWNER_SILENT_MS)
    const answeredMs = clock.monotonicMs()
    if (answeredMs - nowMs > LATE_MS) this.#patience.begin(answeredMs)
    this.#answeredMs = answeredMs
    if (members > 0 && members !== this.#told) log.info({ count: members }, STANDS_BY)
    this.#told = members
    return members === 0
  }
}

const STANDS_BY = 'standing by while these serve, or may: MUSTER_INTERNAL_ADDR is not set here'
