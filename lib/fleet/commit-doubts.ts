import type { CommitFollowers, Reread } from '../audit/commit-followers.ts'
import type { AuditedDatabase } from '../audit/database.ts'
import type { Log } from '../log.ts'
import { LATE_COMMIT_MS } from '../store/connection.ts'
import type { Database } from '../store/db.ts'
import type { Timers } from './state/timers.ts'

/** How long after a doubtful commit the database is asked; those of one outage are settled together. */
const ASK_AFTER_MS = 500

/** What the settling of doubtful commits works with. */
export interface CommitDoubtsParts {
  db: Pick<AuditedDatabase, 'doubtedEnded' | 'settleDoubts'> & Database
  timers: Timers
  log: Log
  /** Campaigns and auto-apply may have missed what was stored: they are to read it anew. */
  readRunsAgain(): void
  /** Browsers may have missed a frame: they are to fetch again what they show. */
  tellBrowsers(): void
}

/**
 * Settles commits of which nobody was told. When the database connection is lost after COMMIT was sent, the change may
 * stand although its caller was told of a failure, and neither memory nor browsers know of it; the same is so where the
 * outside audit sink fails after the commit. This has the followers read the database again until it answers, and once
 * more when the server cannot make the commit any later, and tells the sink of what stands. Pushes and rollouts settle
 * their own commits in `CommitTurns`, as offers depend on them.
 */
export class CommitDoubts implements CommitFollowers {
  readonly #parts: CommitDoubtsParts
  /** In the order in which they registered. */
  readonly #followers: ((db: Database) => Promise<Reread>)[] = []
  /** Browsers have not been told since the last doubt. */
  #isUntold = false
  #isWaiting = false
  /** The database is asked once more when no commit in doubt can come any later. */
  #isLateLookDue = false
  /** A doubt was noted while that was due already: then it has to be asked once more after that. */
  #isNotedMeanwhile = false
  #isAsking = false
  #isStopped = false

  constructor(parts: CommitDoubtsParts) {
    this.#parts = parts
  }

  follow(readAgain: (db: Database) => Promise<Reread>): void {
    this.#followers.push(readAgain)
  }

  note(): void {
    this.#isUntold = true
    this.#askSoon()
    if (this.#isLateLookDue) this.#isNotedMeanwhile = true
    else this.#askLate()
  }

  /** Ask no more: the process that starts next reads everything from the database. */
  stop(): void {
    this.#isStopped = true
  }

  #askSoon(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#parts.timers.after(ASK_AFTER_MS, () => void this.#settle())
  }

  /** The server may make the commit only after it was asked: a change without an audit record has no lock to wait for. */
  #askLate(): void {
    this.#isLateLookDue = true
    this.#isNotedMeanwhile = false
    this.#parts.timers.after(LATE_COMMIT_MS, () => {
      this.#isLateLookDue = false
      this.#isUntold = true
      this.#askSoon()
      if (this.#isNotedMeanwhile) this.#askLate()
    })
  }

  async #settle(): Promise<void> {
    if (this.#isStopped) return
    // One look at a time; what is noted during this one is settled by the next.
    if (this.#isAsking) {
      this.#parts.timers.after(ASK_AFTER_MS, () => void this.#settle())
      return
    }
    this.#isWaiting = false
    this.#isAsking = true
    const { db, log, readRunsAgain } = this.#parts
    const isUntold = this.#isUntold
    this.#isUntold = false
    try {
      await db.doubtedEnded()
      const rereads: Reread[] = []
      for (const readAgain of this.#followers) rereads.push(await readAgain(db))
      this.#tell(isUntold, new Set(rereads.flatMap(({ adopted }) => adopted)))
      readRunsAgain()
      await db.settleDoubts()
      if (rereads.some(({ passedOver }) => passedOver.length > 0)) this.#askSoon()
    } catch (error) {
      log.warn({ err: error }, 'the fate of a commit is not known yet')
      this.#isUntold ||= isUntold
      this.#askSoon()
    } finally {
      this.#isAsking = false
    }
  }

  /** What only frames tell of is in nobody's memory, so browsers read again also where nothing was taken over. */
  #tell(isUntold: boolean, adopted: ReadonlySet<string>): void {
    if (adopted.size > 0) this.#parts.log.warn({ count: adopted.size }, TAKEN_OVER)
    if (isUntold || adopted.size > 0) this.#parts.tellBrowsers()
  }
}

const TAKEN_OVER = 'took over what was committed although its answer was lost'
