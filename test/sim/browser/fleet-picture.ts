import { sightOf } from '../../../lib/fleet/views/fleet-views.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { applyFrame } from '../../../runtime/ui/logic/fleet-frames.ts'
import { differences } from '../invariants/differences.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

const SIGHT = sightOf(new Set())
const WITHOUT_ARCHIVED = { withArchived: false }

/** The workloads that are not archived, by id, as the server would answer a browser now. */
export function listOf({ fleet, ctx: { views } }: SimService): Map<string, WorkloadRecord> {
  const list = new Map<string, WorkloadRecord>()
  for (const workload of fleet.state.workloadsByName()) {
    if (workload.archivedAt !== null) continue
    const record = JSON.parse(views.workloadBytes(workload, SIGHT).toString('utf8')) as WorkloadRecord
    list.set(record.id, record)
  }
  return list
}

/** What one browser shows of the fleet: it fetches the list and follows the frames, as `runtime/ui` does. */
export class FleetPicture {
  readonly #time: VirtualTime
  readonly #dice: Dice
  readonly #workloads = new Map<string, WorkloadRecord>()
  #run = 0
  #meanwhile: HubFrame[] | null = null
  #isLoaded = false

  constructor(time: VirtualTime, dice: Dice) {
    this.#time = time
    this.#dice = dice
  }

  /** A frame has arrived. On one that says so the list is fetched anew from `answering`. */
  take(frame: HubFrame, answering: () => SimService | null): void {
    if (frame.type === 'resync') {
      this.load(answering)
      return
    }
    if (!this.#isLoaded && this.#meanwhile === null) return
    if (applyFrame(this.#workloads, frame, WITHOUT_ARCHIVED)) this.#meanwhile?.push(frame)
  }

  /** Fetch the list. `answering` says whom the question reaches; null where nobody answers. */
  load(answering: () => SimService | null): void {
    const run = ++this.#run
    this.#meanwhile = []
    const askedMs = this.#dice.between(1, 200)
    const answeredMs = askedMs + this.#dice.between(1, 400)
    let list: Map<string, WorkloadRecord> | null = null
    this.#time.after(askedMs, () => {
      const service = answering()
      if (service !== null) list = listOf(service)
    })
    this.#time.after(answeredMs, () => {
      if (run !== this.#run) return
      if (list === null) {
        this.#meanwhile = null
        return
      }
      for (const [id, record] of list) this.#workloads.set(id, record)
      for (const id of this.#workloads.keys()) if (!list.has(id)) this.#workloads.delete(id)
      for (const frame of this.#meanwhile ?? []) applyFrame(this.#workloads, frame, WITHOUT_ARCHIVED)
      this.#meanwhile = null
      this.#isLoaded = true
    })
  }

  /**
   * Where the workloads that it shows differ from the server's. When a workload was last heard of is left out, because
   * browsers are told that seldom.
   */
  differences(service: SimService): string[] {
    return differences(withoutSeen(this.#workloads), withoutSeen(listOf(service)))
  }
}

const withoutSeen = (list: ReadonlyMap<string, WorkloadRecord>): Record<string, unknown> =>
  Object.fromEntries([...list].map(([id, { last_seen_at: _, ...record }]) => [id, record]))
