/** How long the sockets of one listener are worked for before the event loop goes round. */
const TURN_MS = 12
/** What may wait; one message that is larger waits alone. That is room for a short message of each of 50,000 agents. */
export const WAITING_BYTES_MAX = 16 * 1_048_576
/** About what a waiting piece of work takes besides the bytes of its message. */
const WORK_BYTES = 256

interface Work {
  bytes: number
  run(): void
}

/**
 * Lets the routes of one listener hear what its sockets say, in the order in which it came.
 *
 * The socket library hands over messages in that phase of the event loop in which sockets are read, and this phase may
 * go on for 49,152 events (libuv: 48 times 1,024) before a timer, another listener or the database gets its turn. So
 * messages are heard there for some milliseconds only. What comes then is put down, and heard in slices of as many
 * milliseconds, between which the loop goes round.
 */
export class SocketTurns {
  /** What is being worked off, from `#next` on; what is put down meanwhile waits behind it, in `#behind`. */
  #front: (Work | undefined)[] = []
  #next = 0
  #behind: Work[] = []
  #bytes = 0
  /** Until when what comes is heard at once, while a turn is under way. */
  #untilMs = 0
  #isTurn = false
  #isHearing = false

  /** What waits, in bytes. */
  get waitingBytes(): number {
    return this.#bytes
  }

  /** Take something that comes once of each socket: that it closed. */
  take(run: () => void): void {
    if (this.#mayHear()) this.#hear(run)
    else this.#put(WORK_BYTES, run)
  }

  /**
   * Take a message of so many bytes. The library cannot be told to read a WebSocket no further, so where there is no
   * room, the oldest is heard at once: while that goes on nothing is read, and the peers wait.
   */
  takeMessage(bytes: number, run: () => void): void {
    const needed = WORK_BYTES + bytes
    this.#hearWhile(() => this.#bytes + needed > WAITING_BYTES_MAX)
    if (this.#mayHear()) this.#hear(run)
    else this.#put(needed, run)
  }

  /** Let all that waits be heard at once. */
  finish(): void {
    this.#hearWhile(() => true)
  }

  /** Whether nothing waits, nothing is being heard, and the turn has time left. */
  #mayHear(): boolean {
    const nowMs = performance.now()
    if (!this.#isTurn) {
      this.#isTurn = true
      this.#untilMs = nowMs + TURN_MS
      setImmediate(() => this.#endTurn())
    }
    return !this.#isHearing && this.#bytes === 0 && nowMs < this.#untilMs
  }

  /** The loop has gone round: hear a slice of what waits. */
  #endTurn(): void {
    const untilMs = performance.now() + TURN_MS
    this.#hearWhile(() => performance.now() < untilMs)
    this.#isTurn = this.#bytes > 0
    if (this.#isTurn) setImmediate(() => this.#endTurn())
  }

  #put(bytes: number, run: () => void): void {
    this.#behind.push({ bytes, run })
    this.#bytes += bytes
  }

  /** Let what waits be heard while `mayGoOn`; not while something is being heard, which may be what closes a socket. */
  #hearWhile(mayGoOn: () => boolean): void {
    while (!this.#isHearing && this.#bytes > 0 && mayGoOn()) this.#hear(this.#takeOldest())
  }

  #hear(run: () => void): void {
    this.#isHearing = true
    try {
      run()
    } finally {
      this.#isHearing = false
    }
  }

  #takeOldest(): () => void {
    if (this.#next === this.#front.length) {
      this.#front = this.#behind
      this.#behind = []
      this.#next = 0
    }
    const { bytes, run } = this.#front[this.#next]!
    this.#front[this.#next++] = undefined
    this.#bytes -= bytes
    return run
  }
}
