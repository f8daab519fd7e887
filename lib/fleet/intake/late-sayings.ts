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
  /** Of agents that were not heard yet, until it is known who of them is back; null from then on. */
  #held: LateSaying[] | null = []

  constructor(parts: {
    clock: Clock
    timers: Timers
    state: Pick<FleetState, 'instances'>
    isStopped: () => boolean
  }) {
    this.#clock = parts.clock
    this.#state = parts.state
    this.#isStopped = parts.isStopped
    parts.timers.after(RETURNS_MS, () => void this.#takeHeld())
  }

  /** Take it at once, or in some seconds where the agent was not heard yet. */
  take(saying: LateSaying): void {
    if (this.#held === null || this.#state.instances.has(saying.uid)) saying.take(false)
    else this.#held.push(saying)
  }

  async #takeHeld(): Promise<void> {
    const turns = { size: TAKEN_AT_ONCE, clock: this.#clock }
    // What comes meanwhile was told after that, and waits with it.
    for (let held = this.#held!; held.length > 0; held = this.#held!) {
      this.#held = []
      const inOrder = await sortInTurns(held, TAKEN_AT_ONCE, (one, other) => one.saidMs - other.saidMs)
      await eachInTurns(inOrder, turns, (saying) => {
        if (!this.#isStopped()) saying.take(this.#isBack(saying))
      })
    }
    this.#held = null
  }

  #isBack({ uid, place }: LateSaying): boolean {
    const at = this.#state.instances.get(uid)?.connection?.place
    return at !== undefined && at === place
  }
}
