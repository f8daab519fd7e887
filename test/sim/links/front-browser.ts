import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { Socket } from '../../../runtime/define.ts'
import { readFrame } from '../../support/frames.ts'
import { FleetPicture } from '../browser/fleet-picture.ts'
import type { ShowingBrowser } from '../browser/sim-browser.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'
import type { SimFront } from './sim-front.ts'

/** What a browser at a front uses of its world. */
export interface FrontBrowserParts {
  time: VirtualTime
  dice: Dice
  /** The fronts that answer now. */
  reached(): readonly SimFront[]
  /** Whether it gets this frame. */
  hears(frame: HubFrame): boolean
}

const LOOK_MS = 1_000
/** A browser gives up a front that has not answered for so long. */
const SILENT_MS = 7_000
const HANDSHAKE = {
  path: '/ws',
  query: '',
  headers: () => [],
  header: () => '',
  remoteAddress: '127.0.0.1',
  isSecure: false,
}

/** A browser that shows the fleet's list, connected to some front, which passes on to it what the owner says. */
export class FrontBrowser implements ShowingBrowser {
  readonly #parts: FrontBrowserParts
  readonly picture: FleetPicture
  isSlow = false
  #reachAtMs = 0
  /** Counts the sockets that it has asked for: what comes over a former one is nothing to it. */
  #turn = 0

  constructor(parts: FrontBrowserParts) {
    this.#parts = parts
    this.picture = new FleetPicture(parts.time, parts.dice)
    this.#connect()
  }

  #connect(): void {
    const { dice, reached } = this.#parts
    const turn = ++this.#turn
    const fronts = reached()
    if (fronts.length === 0) {
      this.#connectLater(turn)
      return
    }
    const front = dice.pick(fronts)
    void this.#open(front, turn)
    this.#watch(front, turn)
  }

  #connectLater(turn: number): void {
    if (turn !== this.#turn) return
    const waiting = ++this.#turn
    const { time, dice } = this.#parts
    time.after(dice.between(500, 3_000), () => waiting === this.#turn && this.#connect())
  }

  async #open(front: SimFront, turn: number): Promise<void> {
    const { route } = front.browsers
    const verdict = await route.admit(HANDSHAKE as never)
    if (!verdict.accept) {
      this.#connectLater(turn)
      return
    }
    const { state } = verdict
    const socket = {
      sendTexts: (frames: readonly Uint8Array[]) => this.#send(front, turn, frames, drain),
      close: () => end(),
      drop: () => end(),
    } as unknown as Socket
    const drain = () => route.drain(socket, state)
    const end = () => {
      route.close(socket, state)
      this.#connectLater(turn)
    }
    if (turn !== this.#turn) return route.abandoned!(state)
    route.open(socket, state)
    this.#leave = () => void this.#parts.time.after(0, () => route.close(socket, state), front.client)
    this.picture.load(() => front.answering())
  }

  /** Close the present socket; its front hears of that as soon as it can. */
  #leave: () => void = () => {}

  /** Look each second whether the front still answers. */
  #watch(front: SimFront, turn: number): void {
    const { time } = this.#parts
    let heardMs = time.nowMs
    const look = () => {
      if (turn !== this.#turn) return
      if (front.client.pausedUntilMs <= time.nowMs) heardMs = time.nowMs
      if (!front.isDead && time.nowMs - heardMs < SILENT_MS) {
        time.after(LOOK_MS, look)
        return
      }
      this.#leave()
      this.#leave = () => {}
      this.#connectLater(turn)
    }
    time.after(LOOK_MS, look)
  }

  #send(front: SimFront, turn: number, frames: readonly Uint8Array[], drain: () => void): number {
    const { time, dice, hears } = this.#parts
    const taken = this.isSlow ? Math.min(1, frames.length) : frames.length
    this.#reachAtMs = Math.max(this.#reachAtMs, time.nowMs + dice.between(1, 60))
    for (const frame of frames.slice(0, taken)) {
      const parsed = readFrame(frame)
      time.after(this.#reachAtMs - time.nowMs, () => {
        if (turn === this.#turn && hears(parsed)) this.picture.take(parsed, () => front.answering())
      })
    }
    if (taken < frames.length) time.after(dice.between(50, 2_000), drain, front.client)
    return taken
  }
}
