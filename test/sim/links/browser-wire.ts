import type { HubClient } from '../../../lib/hub/browser-queue.ts'
import { FAR } from '../browser/sim-browser.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Dice } from '../time/dice.ts'
import type { Mortal, VirtualTime } from '../time/virtual-time.ts'
import { Wire } from './wire.ts'

/** So many frames lie on the way while the front does not read; then the owner's socket is full. */
const ROOM = 5

/** The way of one browser from its front to the owner's hub. It keeps frames back while the front does not read. */
export class BrowserWire extends Wire {
  readonly #held: string[] = []
  #isPaused = true
  #isFull = false
  readonly #drained: () => void

  constructor({
    time,
    dice,
    front,
    service,
  }: {
    time: VirtualTime
    dice: Dice
    front: Mortal
    service: SimService
  }) {
    super(time, dice, { front, owner: service.client }, {})
    const { hub } = service.ctx
    const client: HubClient = {
      send: (frames) => this.#send(frames),
      close: () => this.drop(),
      drop: () => this.drop(),
    }
    this.#drained = () => void time.after(0, () => hub.drained(client), service.client)
    this.ownerLink = { take() {}, closed: () => hub.remove(client) }
    hub.add(client, { sessionId: 's', expiresAt: FAR })
  }

  #send(frames: readonly Uint8Array[]): number {
    const room = this.#isPaused ? Math.max(0, ROOM - this.#held.length) : frames.length
    const taken = frames.slice(0, room)
    for (const frame of taken) this.sendToFront(Buffer.from(frame).toString())
    this.#isFull = taken.length < frames.length
    return taken.length
  }

  override emit(event: string, ...said: unknown[]): boolean {
    if (event !== 'message' || !this.#isPaused) return super.emit(event, ...said)
    this.#held.push(said[0] as string)
    return true
  }

  pause(): void {
    this.#isPaused = true
  }

  /** The front ends it in order. */
  close(): void {
    this.terminate()
  }

  override resume(): void {
    this.#isPaused = false
    while (this.#held.length > 0 && !this.#isPaused) super.emit('message', this.#held.shift())
    if (this.#isFull && !this.#isPaused) {
      this.#isFull = false
      this.#drained()
    }
  }
}
