import { ALTERED_MAX } from '../state/agent-limits.ts'
import type { Instance } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

/** So many are looked at for one that is away. */
const LOOKED_AT = 20

function* take<Value>(from: Iterable<Value>, count: number): Iterable<Value> {
  let left = count
  for (const value of from) {
    if (left-- <= 0) return
    yield value
  }
}

/**
 * Keeps since when an instance reports to run something else than what it says that it applied, as somebody changed it on
 * its host. Both ends stand in the log of its workload, from which they are read at the start.
 */
export class AlteredTimes {
  readonly #parts: Pick<FleetParts, 'deps' | 'state' | 'writer'>

  constructor(parts: Pick<FleetParts, 'deps' | 'state' | 'writer'>) {
    this.#parts = parts
  }

  /** It is known whether what an instance reports is what it applied. */
  note(instance: Instance, isAltered: boolean): void {
    const { deps, state } = this.#parts
    const { altered } = state
    const { workload, uid } = instance
    if (workload === null || altered.has(uid) === isAltered) return
    const at = deps.clock.now()
    // One that was forgotten for another would be new at its next look, and written down again and again.
    if (isAltered && altered.size >= ALTERED_MAX && !this.#forgetOneAway()) return
    if (isAltered) altered.set(uid, at)
    else altered.delete(uid)
    this.#parts.writer.event({
      workloadId: workload.id,
      instanceUid: uid,
      podName: instance.podName,
      eventType: isAltered ? 'config_altered' : 'config_restored',
      version: '',
      prevVersion: '',
      occurredAt: at,
    })
  }

  /** Forget an instance that is not here; whether there was one among those that are looked at this time. */
  #forgetOneAway(): boolean {
    const { altered, instances } = this.#parts.state
    for (const [uid, since] of [...take(altered, LOOKED_AT)]) {
      altered.delete(uid)
      if (instances.get(uid)?.connection == null) return true
      // Others are looked at next time.
      altered.set(uid, since)
    }
    return false
  }
}
