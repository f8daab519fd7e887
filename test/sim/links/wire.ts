import { EventEmitter } from 'node:events'
import { WebSocket } from 'ws'
import { type Batch, type FrontEntry, type OwnerEntry, writeBatch } from '../../../lib/links/frames.ts'
import type { OwnerLink } from '../../../lib/links/owner-links.ts'
import type { Dice } from '../time/dice.ts'
import type { Mortal, VirtualTime } from '../time/virtual-time.ts'

/** The processes at the two ends of a wire. */
export interface WireEnds {
  front: Mortal
  owner: Mortal
}

/** Changes what is sent on a link, for faults that are put into a process on purpose. */
export interface Meddling {
  toOwner?(entries: readonly FrontEntry[]): FrontEntry[]
  toFront?(entries: readonly OwnerEntry[]): OwnerEntry[]
}

/** A batch with other entries. */
function rewritten<Entry>(
  text: string,
  rewrite: ((entries: readonly Entry[]) => Entry[]) | undefined,
): string {
  if (rewrite === undefined) return text
  const batch = JSON.parse(text) as Batch<Entry>
  return writeBatch({ ...batch, entries: rewrite(batch.entries) })
}

/**
 * The connection under one link: it keeps the order of batches, takes a while for each, may pass nothing on for a time
 * without anybody being told, and may end. The front's end is what the `ws` package gives, as far as a link uses it.
 */
export class Wire extends EventEmitter {
  readonly ends: WireEnds
  readonly bufferedAmount = 0
  readonly #time: VirtualTime
  readonly #dice: Dice
  readonly #meddling: Meddling
  readonly #arriveAtMs = { owner: 0, front: 0 }
  /** Set by whoever accepts the connection at the owner. */
  ownerLink: Pick<OwnerLink, 'take' | 'closed'> | null = null
  /** The longest delay of a batch. */
  delayMsMax = 20
  /** Nothing arrives before this time. */
  stalledUntilMs = 0
  /** Nothing arrives at the front before this time. */
  muteUntilMs = 0
  readonly #isOpenAt = { owner: true, front: true }

  constructor(time: VirtualTime, dice: Dice, ends: WireEnds, meddling: Meddling) {
    super()
    this.#time = time
    this.#dice = dice
    this.ends = ends
    this.#meddling = meddling
  }

  /** The state of the front's end, as the `ws` package numbers it. */
  get readyState(): number {
    return this.#isOpenAt.front ? WebSocket.OPEN : WebSocket.CLOSED
  }

  get isOpen(): boolean {
    return this.#isOpenAt.front && this.#isOpenAt.owner
  }

  /** The front sends a batch. */
  send(text: string): void {
    this.#carry('owner', rewritten(text, this.#meddling.toOwner))
  }

  /** The owner sends a batch. */
  sendToFront(text: string): boolean {
    this.#carry('front', rewritten(text, this.#meddling.toFront))
    return true
  }

  #carry(to: 'owner' | 'front', text: string): void {
    this.#arrive(to, () => {
      if (to === 'owner') this.ownerLink?.take(text)
      else this.emit('message', text)
    })
  }

  #arrive(at: 'owner' | 'front', act: () => void): void {
    const time = this.#time
    const heldUntilMs = Math.max(this.stalledUntilMs, at === 'front' ? this.muteUntilMs : 0)
    const soonest = Math.max(time.nowMs + this.#dice.between(0.2, this.delayMsMax), heldUntilMs)
    this.#arriveAtMs[at] = Math.max(this.#arriveAtMs[at], soonest)
    time.after(this.#arriveAtMs[at] - time.nowMs, () => this.#isOpenAt[at] && act(), this.ends[at])
  }

  /** One side ends the connection: it knows at once, and the other hears of it, unless nothing is passed on. */
  #end(by: 'owner' | 'front'): void {
    if (!this.#isOpenAt[by]) return
    this.#close(by)
    const other = by === 'owner' ? 'front' : 'owner'
    this.#arrive(other, () => this.#close(other))
  }

  #close(at: 'owner' | 'front'): void {
    if (!this.#isOpenAt[at]) return
    this.#isOpenAt[at] = false
    // As with real sockets, the one that cuts it is told in a turn of its own.
    const tell = () => (at === 'owner' ? this.ownerLink?.closed() : this.emit('close'))
    this.#time.after(0, tell, this.ends[at])
  }

  /** The front cuts it. */
  terminate(): void {
    this.#end('front')
  }

  /** The owner cuts it. */
  drop(): void {
    this.#end('owner')
  }

  /** The connection breaks, and both sides hear of it. */
  break(): void {
    this.#end('owner')
    this.#end('front')
  }

  resume(): void {}
}
