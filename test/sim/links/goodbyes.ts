import type { AgentReport } from '../../../lib/opamp/report.ts'
import type { LinkedWorld } from './linked-world.ts'
import type { SimFront } from './sim-front.ts'

const LOOK_MS = 1_000
/** After so many looks in a row at which nothing hindered the front and the owner, the owner knows. */
const LOOKS = 15
/** It is looked so much longer whether the agent stays away: a front may have a dead socket of it that long. */
const LOOKS_MAX = 70

/** A goodbye: to which front, and how often nothing hindered that and the owner since. */
interface Said {
  front: SimFront
  looks: number
  isPoll: boolean
  /** The owner that is told first; one that follows it knows of no goodbyes from before. */
  toldTo: string | null
}

/** Whether anything keeps what this front says from the owner, or what that says from the front. */
export function isHindered(world: LinkedWorld, front: SimFront): boolean {
  const { time, wires } = world
  const service = world.service()
  const wire = wires.find(({ ends }) => ends.front === front.client && ends.owner === service?.client)
  if (service === null || wire === undefined || !front.link.isUp) return true
  const isStill = [front.client, service.client].some(({ pausedUntilMs }) => pausedUntilMs > time.nowMs)
  return isStill || wire.stalledUntilMs > time.nowMs
}

/**
 * Whoever said goodbye to a front is known by the owner to have left, soon after there is a link again; it is not away
 * until its grace ends.
 */
export class Goodbyes {
  readonly #world: LinkedWorld
  /** By uid. */
  readonly #said = new Map<string, Said>()

  constructor(world: LinkedWorld) {
    this.#world = world
    this.#look()
  }

  heard(front: SimFront, { uid, isDisconnect }: AgentReport, isPoll: boolean): void {
    if (!isDisconnect) this.#said.delete(uid)
    else {
      const toldTo = front.link.isUp ? (front.membership.owner?.id ?? null) : null
      this.#said.set(uid, { front, looks: 0, isPoll, toldTo })
    }
  }

  linked(front: SimFront, owner: string): void {
    for (const said of this.#said.values()) if (said.front === front) said.toldTo ??= owner
  }

  #look(): void {
    for (const [uid, said] of this.#said) {
      if (said.front.isDead) {
        this.#said.delete(uid)
        continue
      }
      said.looks = isHindered(this.#world, said.front) ? 0 : said.looks + 1
      if (said.looks >= LOOKS) this.#check(uid, said)
    }
    this.#world.time.after(LOOK_MS, () => this.#look())
  }

  #check(uid: string, { front, isPoll, toldTo, looks }: Said): void {
    if (looks >= LOOKS_MAX) this.#said.delete(uid)
    const service = this.#world.service()!
    const { instances, knownAtStart } = service.fleet.state
    const instance = instances.get(uid)
    const broken = (how: string) => {
      this.#said.delete(uid)
      this.#world.promises.report(`${uid} said goodbye to ${front.name}, and ${how}`)
    }
    if (instance === undefined && toldTo === service.name && knownAtStart.has(uid)) broken('is waited for')
    if (instance === undefined || instance.hasDeparted) return
    // An owner that follows the one that was told takes it for away where a front had a dead socket of it then.
    if (instance.connection === null && toldTo === service.name) broken('counts as away')
    else if (instance.connection === null) this.#said.delete(uid)
    else if (isPoll && instance.connection.transport === 'http') broken('counts as connected')
    // Where two agents go by one uid, the other one is there.
    else if (toldTo === service.name && this.#world.agents.filter((agent) => agent.uid === uid).length === 1)
      broken('counts as connected')
  }
}
