import type { StoredRollout } from '../../store/rollouts.ts'
import { dwellEndsAt } from '../decide/rollout.ts'
import type { Rollout } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

const keyOf = ({ id, stageIndex }: StoredRollout) => `${id}/${stageIndex}`

/** Since when the stages that run have held. */
export class DwellTimes {
  readonly #parts: FleetParts
  /** Monotonic, by rollout and stage. */
  readonly #convergedSince = new Map<string, number>()

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  /** Stages whose dwell is timed. */
  get count(): number {
    return this.#convergedSince.size
  }

  /** For how long the stage of a rollout has held; null while it has not converged. */
  convergedForMs({ stored }: Rollout): number | null {
    const { clock } = this.#parts.deps
    const { stageIndex, stages, progress } = stored
    const ends =
      progress[stageIndex] === undefined ? null : dwellEndsAt(stages[stageIndex]!, progress[stageIndex])
    if (ends === null) return null
    const nowMs = clock.monotonicMs()
    let sinceMs = this.#convergedSince.get(keyOf(stored))
    if (sinceMs === undefined) {
      // After a restart the wall clock is all there is.
      const leftMs = ends.getTime() - clock.now().getTime()
      sinceMs = nowMs - Math.max(0, stages[stageIndex]!.dwellMs - leftMs)
      this.#note(keyOf(stored), sinceMs)
    }
    return nowMs - sinceMs
  }

  /** The stage that a rollout is in has converged now. */
  begin(stored: StoredRollout): void {
    this.#note(keyOf(stored), this.#parts.deps.clock.monotonicMs())
  }

  /** How long the stage has held is worked out anew from what is stored. */
  forget(stored: StoredRollout): void {
    this.#convergedSince.delete(keyOf(stored))
  }

  /** One moment for each rollout that is open: those of stages and rollouts that are over go. */
  #note(key: string, sinceMs: number): void {
    this.#convergedSince.set(key, sinceMs)
    const open = new Set<string>([key])
    for (const { rollout } of this.#parts.state.rollingOut)
      if (rollout !== null) open.add(keyOf(rollout.stored))
    for (const kept of this.#convergedSince.keys()) if (!open.has(kept)) this.#convergedSince.delete(kept)
  }
}
