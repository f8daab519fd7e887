import { judgeHealth } from '../decide/status.ts'
import type { Instance } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

/**
 * Keeps since when each instance is unhealthy. It is stored once the workload shows it (`TouchedWorkloads`), so that the
 * next owner does not take an old outage for a new one, and taken back here.
 */
export class HealthTimes {
  readonly #parts: Pick<FleetParts, 'deps' | 'state' | 'writer'>

  constructor(parts: Pick<FleetParts, 'deps' | 'state' | 'writer'>) {
    this.#parts = parts
  }

  /** The instance has said how healthy it is; a start or stop counts as not healthy here. */
  note(instance: Instance): void {
    const { deps, state } = this.#parts
    instance.healthAwaitedSinceMs = null
    if (judgeHealth(instance.health) === 'healthy') {
      instance.unhealthySinceMs = null
      instance.unhealthySince = null
      this.over(instance.uid)
    } else if (instance.unhealthySinceMs === null) {
      instance.unhealthySinceMs = deps.clock.heardMs()
      instance.unhealthySince = state.unhealthyStored.get(instance.uid) ?? deps.clock.now()
    }
  }

  /** The agent is healthy, or gone: if it comes back unhealthy, that is another time. */
  over(uid: string): void {
    const { state, writer } = this.#parts
    if (state.unhealthyStored.delete(uid)) writer.unhealthySince(uid, null)
  }
}
