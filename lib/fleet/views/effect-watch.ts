import type { Clock } from '../../clock.ts'
import { nextTurn } from '../../turns.ts'
import { standsTo } from '../decide/standing.ts'
import type { Instance, Workload } from '../state/model.ts'
import { assignmentOf } from '../state/state.ts'
import type { Timers } from '../state/timers.ts'
import { isCompared } from './drifted.ts'
import type { EffectiveMatches } from './effective-matches.ts'

/** How long a workload waits for its look: what an agent applied and what it runs may come in two messages. */
export const SETTLE_MS = 2_000
/** Looks at one that bring nothing new, as while a reported text is not stored; then its next change is waited for. */
const LOOKS_MAX = 5
/** Instances looked at in one turn of the event loop. */
const CHUNK = 500

interface WatchParts {
  clock: Clock
  timers: Timers
  matches: EffectiveMatches
  /** Called with a workload of which other instances differ now. */
  changed(workload: Workload): void
}

/**
 * Notes on each instance that says it applied its config whether it runs that in effect, soon after either has changed:
 * everything that tells of drift reads the note (`drifted.ts`), and nothing is offered for it.
 */
export class EffectWatch {
  readonly #parts: WatchParts
  /** Workloads to look at, and how many looks each has left. */
  readonly #due = new Map<Workload, number>()
  #isBusy = false

  constructor(parts: WatchParts) {
    this.#parts = parts
  }

  /** Something of the workload has changed: look at what its instances run. */
  look(workload: Workload): void {
    this.#due.set(workload, LOOKS_MAX)
    this.#begin()
  }

  #begin(): void {
    if (this.#isBusy || this.#due.size === 0) return
    this.#isBusy = true
    this.#parts.timers.after(SETTLE_MS, () => void this.#run())
  }

  async #run(): Promise<void> {
    const due = [...this.#due]
    this.#due.clear()
    for (const [at, [workload, looks]] of due.entries()) {
      if (at % CHUNK === CHUNK - 1) await nextTurn()
      const left = await this.#lookAt(workload, looks)
      if (left > 0 && !this.#due.has(workload)) this.#due.set(workload, left)
    }
    this.#isBusy = false
    this.#begin()
  }

  /** Compare what is not compared yet. The looks that are left for the rest; 0 for none. */
  async #lookAt(workload: Workload, looks: number): Promise<number> {
    const open: Instance[] = []
    for (const [at, instance] of [...workload.live.instances()].entries()) {
      if (at % CHUNK === CHUNK - 1) await nextTurn()
      if (isOpen(instance)) open.push(instance)
    }
    if (open.length === 0) return 0
    // Without the database the next look finds it.
    await this.#parts.matches.prepare(open, assignmentOf).catch(() => {})
    const isLast = looks <= 1
    let noted = 0
    let differing = 0
    for (const instance of open) {
      const differs = this.#note(instance, isLast)
      if (differs !== null) noted++
      if (differs === true) differing++
    }
    if (differing > 0 && !workload.isDeleted) this.#parts.changed(workload)
    if (noted === open.length) return 0
    return noted > 0 ? LOOKS_MAX : looks - 1
  }

  /** Note what is known of one instance: whether it differs; null where that is not known yet. */
  #note(instance: Instance, isLast: boolean): boolean | null {
    // It may have said something else while others were compared.
    const assigned = assignmentOf(instance)
    if (assigned === null || !isOpen(instance)) return false
    const { matches, paths } = this.#parts.matches.get(instance, assigned)
    if (matches === 'unknown' && !isLast) return null
    const differsAt = matches === false ? (paths[0] ?? '') : null
    instance.effect = {
      assignedHash: assigned.push.hash,
      reportedHash: instance.reportedConfigHash,
      differsAt,
      sinceMs: this.#parts.clock.monotonicMs(),
    }
    return differsAt !== null
  }
}

/** Does an instance say that it applied its config, and is what it runs not compared with that yet? */
function isOpen(instance: Instance): boolean {
  const assigned = assignmentOf(instance)
  if (assigned === null || instance.reportedConfigHash === '') return false
  return standsTo(instance, assigned.push.hash) === 'agrees' && !isCompared(instance, assigned.push.hash)
}
