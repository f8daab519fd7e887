/** How long the sockets of one listener are worked for before the event loop goes round. */
const TURN_MS = 12
/** What may wait; one message that is larger waits alone. That is room for a short message of each of 50,000 agents. */
export const WAITING_BYTES_MAX = 16 * 1_048_576
/** About what a waiting word takes besides the bytes of its message. */
const WORD_BYTES = 256
/** Messages up to this length are copied into shared memory. Who keeps a part of one keeps a slab, or copies. */
const SHORT_BYTES = 128
const SLAB_BYTES = 8_192
const NO_BYTES = new Uint8Array(0)

/** What hears one socket. */
export interface Ear {
  message(data: Uint8Array, isBinary: boolean): void
  tooLarge(): void
  closed(): void
}

/** What a socket said: something in text, in bytes, or too large to be read; or that it closed. */
type Word = 'text' | 'binary' | 'too-large' | 'closed'

/** A word that waits, with a copy of its message. */
interface Waiting {
  readonly ear: Ear
  readonly word: Word
  readonly data: Uint8Array
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
  #front: (Waiting | undefined)[] = []
  #next = 0
  #behind: Waiting[] = []
  #bytes = 0
  /** Until when what comes is heard at once, while a turn is under way. */
  #untilMs = 0
  #isTurn = false
  #slab = new Uint8Array(SLAB_BYTES)
  #used = 0
  #isHearing = false

  /** What waits, in bytes. */
  get waitingBytes(): number {
    return this.#bytes
  }

  /** Take that a socket closed, which comes once of each. */
  takeEnd(ear: Ear): void {
    if (this.#mayHear(performance.now())) this.#hear(ear, 'closed', NO_BYTES)
    else this.#put(ear, 'closed', NO_BYTES)
  }

  /**
   * Take a message, whose bytes are the library's. It cannot be told to read a WebSocket no further, so where there is
   * no room, the oldest is heard at once: while that goes on nothing is read, and the peers wait. The bytes are copied
   * before that: what is heard may drop this very socket, and the library then frees them.
   */
  takeMessage(ear: Ear, word: Exclude<Word, 'closed'>, message: Uint8Array, nowMs: number): void {
    const data = this.#copy(message)
    const needed = WORD_BYTES + data.length
    if (this.#bytes + needed > WAITING_BYTES_MAX)
      this.#hearWhile(() => this.#bytes + needed > WAITING_BYTES_MAX)
    if (this.#mayHear(nowMs)) this.#hear(ear, word, data)
    else this.#put(ear, word, data)
  }

  /** Let all that waits be heard at once. */
  finish(): void {
    this.#hearWhile(() => true)
  }

  /** Whether nothing waits, nothing is being heard, and the turn has time left. */
  #mayHear(nowMs: number): boolean {
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

  /**
   * The bytes for whoever hears them to keep: the buffer that the library hands over is emptied on return, and decoded
   * fields alias it. Short messages, which are most, are copied side by side into memory that is not used twice: to
   * allocate for each would cost more than ten times as much.
   */
  #copy(message: Uint8Array): Uint8Array {
    if (message.length > SHORT_BYTES) return message.slice()
    if (this.#used + message.length > SLAB_BYTES) {
      this.#slab = new Uint8Array(SLAB_BYTES)
      this.#used = 0
    }
    const from = this.#used
    this.#used += message.length
    this.#slab.set(message, from)
    return this.#slab.subarray(from, this.#used)
  }

  #put(ear: Ear, word: Word, data: Uint8Array): void {
    this.#behind.push({ ear, word, data })
    this.#bytes += WORD_BYTES + data.length
  }

  /** Let what waits be heard while `mayGoOn`; not while something is being heard, which may be what closes a socket. */
  #hearWhile(mayGoOn: () => boolean): void {
    while (!this.#isHearing && this.#bytes > 0 && mayGoOn()) {
      const { ear, word, data } = this.#takeOldest()
      this.#hear(ear, word, data)
    }
  }

  #hear(ear: Ear, word: Word, data: Uint8Array): void {
    this.#isHearing = true
    try {
      if (word === 'closed') ear.closed()
      else if (word === 'too-large') ear.tooLarge()
      else ear.message(data, word === 'binary')
    } finally {
      this.#isHearing = false
    }
  }

  #takeOldest(): Waiting {
    if (this.#next === this.#front.length) {
      this.#front = this.#behind
      this.#behind = []
      this.#next = 0
    }
    const oldest = this.#front[this.#next]!
    this.#front[this.#next++] = undefined
    this.#bytes -= WORD_BYTES + oldest.data.length
    return oldest
  }
}
