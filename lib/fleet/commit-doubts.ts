import type { AuditedDatabase } from '../audit/database.ts'
import type { Log } from '../log.ts'
import type { Database } from '../store/db.ts'
import type { Fleet } from './fleet.ts'
import type { FleetCounters } from './state/counters.ts'
import type { Timers } from './state/timers.ts'

/** How long after a doubtful commit the database is asked; those of one outage are settled together. */
const ASK_AFTER_MS = 500

/** What the settling of doubtful commits works with. */
export interface CommitDoubtsParts {
  db: Pick<AuditedDatabase, 'settleDoubts'> & Database
  timers: Timers
  log: Log
  counters: Pick<FleetCounters, 'load'>
  fleet: Pick<Fleet, 'adoptSettings'>
  labelRules: { reload(): Promise<void> }
  fleetConfigs: { load(): Promise<void> }
  recommendedVersion: { load(db: Database): Promise<void>; readonly version: string }
  /** Campaigns and auto-apply may have missed a decision: they are to look at everything anew. */
  wakeRunners(): void
  /** Browsers may have missed a frame: they are to fetch again what they show. */
  tellBrowsers(): void
}

/**
 * Settles commits that got no answer. When the database connection is lost after COMMIT was sent, the change may stand
 * although its caller was told of a failure, and neither memory nor browsers know of it. This asks the database until
 * it answers, takes over what it holds, and tells the outside audit sink of what stands. Pushes and rollouts settle
 * their own commits in `CommitTurns`, as offers depend on them.
 */
export class CommitDoubts {
  readonly #parts: CommitDoubtsParts
  #isWaiting = false
  #isAsking = false
  #isStopped = false

  constructor(parts: CommitDoubtsParts) {
    this.#parts = parts
  }

  /** Note that it is not known whether a transaction was committed, or that what was committed could not be read. */
  note(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#parts.timers.after(ASK_AFTER_MS, () => void this.#settle())
  }

  /** Ask no more: the process that starts next reads everything from the database. */
  stop(): void {
    this.#isStopped = true
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
    const { db, log, counters, fleet, labelRules, fleetConfigs, recommendedVersion } = this.#parts
    const { wakeRunners, tellBrowsers } = this.#parts
    try {
      const looks = [await counters.load(db), await fleet.adoptSettings()]
      await labelRules.reload()
      await fleetConfigs.load()
      const recommended = recommendedVersion.version
      await recommendedVersion.load(db)
      const adopted = [...new Set(looks.flatMap((look) => look.adopted))]
      if (adopted.length > 0 || recommendedVersion.version !== recommended) {
        log.warn({ count: adopted.length }, TAKEN_OVER)
        tellBrowsers()
      }
      wakeRunners()
      await db.settleDoubts()
      if (looks.some((look) => look.passedOver.length > 0)) this.note()
    } catch (error) {
      log.warn({ err: error }, 'the fate of a commit is not known yet')
      this.note()
    } finally {
      this.#isAsking = false
    }
  }
}

const TAKEN_OVER = 'took over what was committed although its answer was lost'
