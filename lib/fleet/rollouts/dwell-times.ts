import type { StoredRollout } from '../../store/rollouts.ts'
import { dwellOf } from '../decide/rollout.ts'
import type { Rollout } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

const keyOf = ({ id, stageIndex }: StoredRollout) => `${id}/${stageIndex}`

/** Keeps since when each running stage has been converged. */
export class DwellTimes {
  readonly #parts: FleetParts
  /** Heard time in ms, by rollout and stage; time in a halt is taken out. */
  readonly #convergedSince = new Map<string, number>()

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  /** Stages whose dwell is timed. */
  get count(): number {
    return this.#convergedSince.size
  }

  /** For how long the running stage of a rollout has been converged, halts apart; null while it has not converged. */
  convergedForMs({ stored }: Rollout): number | null {
    const { deps, state } = this.#parts
    const progress = stored.progress[stored.stageIndex]
    const dwell = progress === undefined ? null : dwellOf(progress)
    if (dwell === null) return null
    const nowMs = deps.clock.heardMs()
    let sinceMs = this.#convergedSince.get(keyOf(stored))
    if (sinceMs === undefined) {
      // Of what it found at its start only wall-clock times are stored to count from. Before this process nobody watched.
      const agoMs = Math.max(0, deps.clock.now().getTime() - dwell.since.getTime())
      sinceMs = Math.max(nowMs - agoMs, state.startedAtMs) - dwell.dwelledMs
      this.#note(keyOf(stored), sinceMs)
    }
    return nowMs - sinceMs
  }

  /** When the running stage of a rollout has dwelled for as long as it is to; null while it has not converged. */
  endsAt(rollout: Rollout): Date | null {
    const dwelledMs = this.convergedForMs(rollout)
    if (dwelledMs === null) return null
    const { stageIndex, stages } = rollout.stored
    return new Date(this.#parts.deps.clock.now().getTime() + stages[stageIndex]!.dwellMs - dwelledMs)
  }

  /**
   * The running stage of a rollout has converged now, or goes on after a halt, having dwelled for so long. To be called
   * before that is written: what is stored is by the wall clock, and says nothing of when agents could be heard.
   */
  begin(stored: StoredRollout, dwelledMs = 0): void {
    this.#note(keyOf(stored), this.#parts.deps.clock.heardMs() - dwelledMs)
  }

  /** Keep the time of a stage, and drop those of stages and rollouts that are over. */
  #note(key: string, sinceMs: number): void {
    this.#convergedSince.set(key, sinceMs)
    const open = new Set<string>([key])
    for (const { rollout } of this.#parts.state.rollingOut)
      if (rollout !== null) open.add(keyOf(rollout.stored))
    for (const kept of this.#convergedSince.keys()) if (!open.has(kept)) this.#convergedSince.delete(kept)
  }
}
