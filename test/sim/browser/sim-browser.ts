import type { HubClient } from '../../../lib/hub/browser-queue.ts'
import { readFrame } from '../../support/frames.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'
import { FleetPicture } from './fleet-picture.ts'

/** What a simulated browser uses of the world. */
export interface BrowserWorld {
  time: VirtualTime
  dice: Dice
  service(): SimService | null
}

/** A browser that shows the fleet's list, wherever it is connected. */
export interface ShowingBrowser {
  /** It reads slowly: its socket takes one frame at a time, and what sends to it has to keep the others back. */
  isSlow: boolean
  readonly picture: FleetPicture
}

export const FAR = new Date('2100-01-01T00:00:00Z')

/** A browser that is connected to the process that decides. */
export class SimBrowser implements ShowingBrowser {
  readonly #world: BrowserWorld
  readonly picture: FleetPicture
  isSlow = false
  #reachAtMs = 0
  #service: SimService | null = null

  constructor(world: BrowserWorld) {
    this.#world = world
    this.picture = new FleetPicture(world.time, world.dice)
    this.#connect()
  }

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
    this.picture.load(this.#answering())
    this.#watch(service)
  }

  /** Whom a question of now reaches. */
  #answering(): () => SimService | null {
    const service = this.#service
    return () => (service === null || service.isDead ? null : service)
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
        if (this.#service === service) this.picture.take(parsed, this.#answering())
      })
    }
    if (taken < frames.length)
      time.after(dice.between(50, 2_000), () => service.ctx.hub.drained(client), service.client)
    return taken
  }
}
