import type { Clock } from '../../clock.ts'
import { eachInTurns, sortInTurns } from '../../turns.ts'
import type { FleetState } from '../state/state.ts'
import type { Timers } from '../state/timers.ts'

/**
 * For so long after it has begun, an owner hears from all fronts of agents that are back. What one that it has not heard
 * had said last, or that it had left, waits until then: it would end what waits for the agent, or be older than what that
 * has said elsewhere.
 */
const RETURNS_MS = 10_000
/** So many are taken before others have their turn: a front may have kept thousands. */
const TAKEN_AT_ONCE = 500

/** What an agent said last, or that it had left, told late. */
export interface LateSaying {
  uid: string
  /** The name of the connection on which it said so; null for a poll. */
  place: string | null
  /** At the earliest, by the machine's clock. */
  saidMs: number
  /** `isBack`: the agent was heard since on the connection on which it said so, and what it says there counts. */
  take(isBack: boolean): void
}

/** What is told late of what agents said last, in the order in which it was said, whichever front told of it first. */
export class LateSayings {
  readonly #clock: Clock
  readonly #state: Pick<FleetState, 'instances'>
  readonly #isStopped: () => boolean
  /** Of agents that were not heard yet, by uid, until it is known who of them is back; null from then on. */
  #held: Map<string, Set<LateSaying>> | null = new Map()

  constructor(parts: {
    clock: Clock
    timers: Timers
    state: Pick<FleetState, 'instances'>
    isStopped: () => boolean
  }) {
    this.#clock = parts.clock
    this.#state = parts.state
    this.#isStopped = parts.isStopped
    parts.timers.after(RETURNS_MS, () => void this.#takeAllHeld())
  }

  /** Take it at once, or in some seconds where the agent was not heard yet. */
  take(saying: LateSaying): void {
    const { uid } = saying
    if (this.#held === null || this.#state.instances.has(uid)) saying.take(false)
    else this.#held.set(uid, (this.#held.get(uid) ?? new Set()).add(saying))
  }

  /** The agent says goodbye: what is held of it was said before that, and is taken first. */
  leaves(uid: string): void {
    const held = [...(this.#held?.get(uid) ?? [])]
    for (const saying of held.sort(inOrderSaid)) this.#takeHeld(saying)
  }

  async #takeAllHeld(): Promise<void> {
    const turns = { size: TAKEN_AT_ONCE, clock: this.#clock }
    // What comes meanwhile was told after that, and waits with it.
    while (this.#held!.size > 0) {
      const held = [...this.#held!.values()].flatMap((ofAgent) => [...ofAgent])
      const inOrder = await sortInTurns(held, TAKEN_AT_ONCE, inOrderSaid)
      await eachInTurns(inOrder, turns, (saying) => this.#takeHeld(saying))
    }
    this.#held = null
  }

  /** Unless it was taken already, as its agent said goodbye meanwhile. */
  #takeHeld(saying: LateSaying): void {
    const ofAgent = this.#held!.get(saying.uid)
    if (ofAgent?.delete(saying) !== true) return
    if (ofAgent.size === 0) this.#held!.delete(saying.uid)
    if (!this.#isStopped()) saying.take(this.#isBack(saying))
  }

  #isBack({ uid, place }: LateSaying): boolean {
    const at = this.#state.instances.get(uid)?.connection?.place
    return at !== undefined && at === place
  }
}

const inOrderSaid = (one: LateSaying, other: LateSaying): number => one.saidMs - other.saidMs
