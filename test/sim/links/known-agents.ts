import type { SimAgent } from '../agents/sim-agent.ts'
import type { SimService } from '../service/sim-service.ts'
import { isHindered } from './goodbyes.ts'
import type { LinkedWorld } from './linked-world.ts'
import type { SimFront } from './sim-front.ts'

const LOOK_MS = 1_000
/** After so many looks in a row at which nothing hindered the front and the owner, the owner knows. */
const LOOKS = 15

/** Where an agent is, and how often nothing hindered its front and the owner since it was there. */
interface There {
  front: SimFront
  service: SimService | null
  linkedAtMs: number
  looks: number
}

/**
 * Whoever has an open socket at a front is known by the owner to be connected, some seconds after the front has found it:
 * also one that says nothing by itself.
 */
export class KnownAgents {
  readonly #world: LinkedWorld
  readonly #there = new Map<SimAgent, There>()

  constructor(world: LinkedWorld) {
    this.#world = world
    this.#look()
  }

  #look(): void {
    const { agents = [], everyFront = [], time } = this.#world
    for (const agent of agents) {
      const front = everyFront.find((one) => one === agent.socketService)
      if (front === undefined || front.isDead || !agent.isSettled) {
        this.#there.delete(agent)
        continue
      }
      const { linkedAtMs } = agent
      const service = this.#world.service()
      const before = this.#there.get(agent)
      const isSame = before?.front === front && before.service === service && before.linkedAtMs === linkedAtMs
      const looks = isSame && !isHindered(this.#world, front) ? before.looks + 1 : 0
      this.#there.set(agent, { front, service, linkedAtMs, looks })
      if (looks === LOOKS) this.#check(agent, front)
    }
    time.after(LOOK_MS, () => this.#look())
  }

  #check({ uid }: SimAgent, front: SimFront): void {
    const { agents, promises } = this.#world
    // Of two agents with one uid one is there.
    if (agents.filter((other) => other.uid === uid).length > 1) return
    const instance = this.#world.service()!.fleet.state.instances.get(uid)
    if (instance?.connection == null)
      promises.report(`${uid} is connected to ${front.name}, and its owner does not know it`)
  }
}
