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
      let sinceMs = this.#clock.monotonicMs()
      for (const make of round) {
        let isOthersTurn = false
        const turn = nextTurn().then(() => {
          isOthersTurn = true
        })
        await Promise.race([make(), turn])
        if (this.#clock.monotonicMs() - sinceMs >= TURN_MS && !isOthersTurn) await turn
        if (isOthersTurn) sinceMs = this.#clock.monotonicMs()
      }
    }
    this.#isGiving = false
  }
}

const turns = new PieceTurns(systemClock)

/** The pieces of an answer, each made when it is its turn among those of all answers of this process. */
export const inPieceTurns = <Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void> =>
  turns.of(pieces)
