import { HOMES_MAX } from '../state/agent-limits.ts'
import type { Instance, Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

/** Remembers the workload of each agent and how often it polls, while it is away and across restarts of muster. */
export class AgentHomes {
  readonly #parts: Pick<FleetParts, 'deps' | 'state' | 'writer'>

  constructor(parts: Pick<FleetParts, 'deps' | 'state' | 'writer'>) {
    this.#parts = parts
  }

  /** Note that the instance's description names this workload. */
  remember(instance: Instance, workload: Workload): void {
    const { homes } = this.#parts.state
    homes.delete(instance.uid)
    homes.set(instance.uid, workload.id)
    if (homes.size > HOMES_MAX) homes.delete(homes.keys().next().value!)
    this.#store(instance, workload)
  }

  /** Note that the instance said goodbye, so that whoever decides next does not wait for it, or that it is back. */
  rememberWhereabouts(instance: Instance): void {
    if (this.#parts.state.homes.has(instance.uid) && instance.workload !== null)
      this.#store(instance, instance.workload)
  }

  /**
   * Store the poll interval of an instance that polls slowly (more than half a grace apart), so that it is waited for
   * long enough after a restart. The stored interval is renewed when it has changed by half, and cleared when it is at
   * most a quarter of a grace.
   */
  rememberRhythm(instance: Instance, workload: Workload): void {
    const { storedIntervalMs: stored } = instance
    const intervalMs = Math.round(instance.rhythm.intervalMs)
    const { graceMs } = this.#parts.deps
    const isOther = intervalMs > stored * 1.5 || intervalMs < stored / 1.5
    const isSlow = intervalMs > graceMs / 2
    if (isSlow ? !isOther : stored === 0 || intervalMs > graceMs / 4) return
    instance.storedIntervalMs = isSlow ? intervalMs : 0
    this.#store(instance, workload)
  }

  #store({ uid, lastMessageAt, storedIntervalMs, hasDeparted }: Instance, workload: Workload): void {
    this.#parts.writer.home({
      instanceUid: uid,
      workloadId: workload.id,
      seenAt: lastMessageAt,
      pollIntervalMs: storedIntervalMs === 0 ? null : storedIntervalMs,
      departedAt: hasDeparted ? lastMessageAt : null,
    })
  }
}
