import { type Clock, systemClock } from '../lib/clock.ts'
import { nextTurn } from '../lib/turns.ts'

/** How many milliseconds all answers that are sent in pieces may take of one turn of the event loop. */
const TURN_MS = 5

/**
 * The turns of all answers that a process sends in pieces: whoever asks for hundreds of long lists at one time waits the
 * longer for each, and others do not wait for him. An answer whose next piece is not there yet holds nobody up.
 */
export class PieceTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #waiting: (() => Promise<void>)[] = []
  #isGiving = false
  /** Ends with the turn of the loop in which pieces were made, and when the first of them was; null where none was yet. */
  #turn: { ended: Promise<void>; sinceMs: number } | null = null

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** These pieces, each made when it is this answer's turn. */
  async *of<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void> {
    const iterator = pieces[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await this.#inTurn(() => iterator.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await iterator.return?.()
    }
  }

  #inTurn<T>(make: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => make().then(resolve, reject))
      if (!this.#isGiving) void this.#give()
    })
  }

  async #give(): Promise<void> {
    this.#isGiving = true
    while (this.#waiting.length > 0) {
      const round = this.#waiting
      this.#waiting = []
      for (const make of round) {
        const { ended } = await this.#untilDue()
        await Promise.race([make(), ended])
      }
    }
    this.#isGiving = false
  }

  /** The turn of the loop in which the next piece is to be made. */
  async #untilDue(): Promise<{ ended: Promise<void> }> {
    while (this.#turn !== null && this.#clock.monotonicMs() - this.#turn.sinceMs >= TURN_MS)
      await this.#turn.ended
    this.#turn ??= {
      sinceMs: this.#clock.monotonicMs(),
      ended: nextTurn().then(() => {
        this.#turn = null
      }),
    }
    return this.#turn
  }
}

const turns = new PieceTurns(systemClock)

/** The pieces of an answer, each made when it is its turn among those of all answers of this process. */
export const inPieceTurns = <Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void> =>
  turns.of(pieces)
