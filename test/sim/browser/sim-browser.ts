import { sightOf } from '../../../lib/fleet/views/fleet-views.ts'
import type { HubClient } from '../../../lib/hub/browser-queue.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { applyFrame } from '../../../runtime/ui/logic/fleet-frames.ts'
import { readFrame } from '../../support/frames.ts'
import { differences } from '../invariants/differences.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

/** What a simulated browser uses of the world. */
export interface BrowserWorld {
  time: VirtualTime
  dice: Dice
  service(): SimService | null
}

const SIGHT = sightOf(new Set())
const WITHOUT_ARCHIVED = { withArchived: false }
const FAR = new Date('2100-01-01T00:00:00Z')

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

/** A browser that shows the fleet's list: it fetches it once and follows the frames, as `runtime/ui` does. */
export class SimBrowser {
  readonly #world: BrowserWorld
  readonly workloads = new Map<string, WorkloadRecord>()
  #run = 0
  #meanwhile: HubFrame[] | null = null
  #isLoaded = false
  #reachAtMs = 0
  #service: SimService | null = null

  constructor(world: BrowserWorld) {
    this.#world = world
    this.#connect()
  }

  /** It reads slowly: its socket takes one frame at a time, and the hub has to keep the others back. */
  isSlow = false

  #connect(): void {
    const { time, dice } = this.#world
    const service = this.#world.service()
    if (service === null) {
      time.after(dice.between(500, 3_000), () => this.#connect())
      return
    }
    this.#service = service
    const client: HubClient = {
      send: (frames) => this.#send(client, service, frames),
      close: () => {},
      drop: () => {
        service.ctx.hub.remove(client)
        this.#reconnect(service)
      },
    }
    service.ctx.hub.add(client, { sessionId: 's', expiresAt: FAR })
    void this.#load()
    this.#watch(service)
  }

  /** Look each second whether the service still runs; if not, the socket has ended and the browser reconnects. */
  #watch(service: SimService): void {
    this.#world.time.after(1_000, () => {
      if (this.#service !== service) return
      if (service.isDead || !service.isReady) this.#reconnect(service)
      else this.#watch(service)
    })
  }

  #reconnect(service: SimService): void {
    if (this.#service !== service) return
    this.#service = null
    this.#world.time.after(this.#world.dice.between(500, 3_000), () => this.#connect())
  }

  #send(client: HubClient, service: SimService, frames: readonly Uint8Array[]): number {
    const { time, dice } = this.#world
    const taken = this.isSlow ? Math.min(1, frames.length) : frames.length
    this.#reachAtMs = Math.max(this.#reachAtMs, time.nowMs + dice.between(1, 60))
    for (const frame of frames.slice(0, taken)) {
      const parsed = readFrame(frame)
      time.after(this.#reachAtMs - time.nowMs, () => {
        if (this.#service === service) this.#take(parsed)
      })
    }
    if (taken < frames.length)
      time.after(dice.between(50, 2_000), () => service.ctx.hub.drained(client), service.client)
    return taken
  }

  #take(frame: HubFrame): void {
    if (frame.type === 'resync') {
      this.#load()
      return
    }
    if (!this.#isLoaded && this.#meanwhile === null) return
    if (applyFrame(this.workloads, frame, WITHOUT_ARCHIVED)) this.#meanwhile?.push(frame)
  }

  #load(): void {
    const { time, dice } = this.#world
    const run = ++this.#run
    const service = this.#service
    this.#meanwhile = []
    const askedMs = dice.between(1, 200)
    const answeredMs = askedMs + dice.between(1, 400)
    let list: Map<string, WorkloadRecord> | null = null
    time.after(askedMs, () => {
      if (service !== null && !service.isDead) list = listOf(service)
    })
    time.after(answeredMs, () => {
      if (run !== this.#run) return
      if (list === null) {
        this.#meanwhile = null
        return
      }
      for (const [id, record] of list) this.workloads.set(id, record)
      for (const id of this.workloads.keys()) if (!list.has(id)) this.workloads.delete(id)
      for (const frame of this.#meanwhile ?? []) applyFrame(this.workloads, frame, WITHOUT_ARCHIVED)
      this.#meanwhile = null
      this.#isLoaded = true
    })
  }

  /**
   * Where the workloads that it shows differ from the server's. When a workload was last heard of is left out, because
   * browsers are told that seldom.
   */
  differences(service: SimService): string[] {
    return differences(withoutSeen(this.workloads), withoutSeen(listOf(service)))
  }
}

const withoutSeen = (list: ReadonlyMap<string, WorkloadRecord>): Record<string, unknown> =>
  Object.fromEntries([...list].map(([id, { last_seen_at: _, ...record }]) => [id, record]))
