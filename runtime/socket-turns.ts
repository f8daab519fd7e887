/** How long the sockets of one listener are worked for before the event loop goes round. */
const TURN_MS = 12
/** Up to here all goes well. That is room for a short message of each of 50,000 agents. */
export const CALM_BYTES_MAX = 16 * 1_048_576
/** What one socket may have waiting beyond that: room for a short message of each agent that one may carry. */
export const SHARE_BYTES_MAX = 4 * 1_048_576
/** What may wait of all sockets: room for a long message of each of 50,000 agents that have just connected. */
export const WAITING_BYTES_MAX = 256 * 1_048_576
/** The part of it that is left to sockets of which little waits, so that nobody else's flood cuts them. */
export const RESERVED_BYTES = WAITING_BYTES_MAX / 8
/** So much is little: some dozen reports of a collector that nothing happens to. */
export const LITTLE_BYTES_MAX = 16_384
/** About what a waiting word takes besides the bytes of its message. */
const WORD_BYTES = 256
/** Messages up to this length are copied into shared memory. Who keeps a part of one keeps a slab, or copies. */
const SHORT_BYTES = 128
const SLAB_BYTES = 8_192
const NO_BYTES = new Uint8Array(0)

/** What hears one socket. */
export interface Ear {
  /**
   * What the socket may have waiting, in bytes; one message that is larger waits alone. Null for one of this cluster
   * that is never cut for what it says.
   */
  readonly waitingBytesMax: number | null
  /** What the socket has waiting, in bytes. Kept by `SocketTurns`, and 0 at first. */
  waitingBytes: number
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
 * milliseconds, between which the loop goes round. Nor is that phase over while one socket sends as fast as it is
 * read, and the library cannot be told to read a WebSocket no further: a socket that has too much waiting has to be cut.
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
   * Take a message, whose bytes are the library's; false where there is no room for it, and its socket is to be cut.
   * For one that is never cut the oldest is heard at once instead: while that goes on nothing is read, and the peers
   * wait. The bytes are copied before that: what is heard may drop this very socket, and the library then frees them.
   */
  takeMessage(ear: Ear, word: Exclude<Word, 'closed'>, message: Uint8Array, nowMs: number): boolean {
    const needed = WORD_BYTES + message.length
    if (ear.waitingBytesMax !== null && !this.#hasRoom(ear, ear.waitingBytesMax, needed)) return false
    const data = this.#copy(message)
    if (ear.waitingBytesMax === null) this.#hearWhile(() => this.#bytes + needed > CALM_BYTES_MAX)
    if (this.#mayHear(nowMs)) this.#hear(ear, word, data)
    else this.#put(ear, word, data)
    return true
  }

  #hasRoom({ waitingBytes }: Ear, ownMax: number, needed: number): boolean {
    const all = this.#bytes + needed
    const isLittle = waitingBytes + needed <= LITTLE_BYTES_MAX
    if (all > (isLittle ? WAITING_BYTES_MAX : WAITING_BYTES_MAX - RESERVED_BYTES)) return false
    const allowed = all > CALM_BYTES_MAX ? Math.min(ownMax, SHARE_BYTES_MAX) : ownMax
    return waitingBytes === 0 || waitingBytes + needed <= allowed
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
    const bytes = WORD_BYTES + data.length
    this.#behind.push({ ear, word, data })
    this.#bytes += bytes
    ear.waitingBytes += bytes
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
    const bytes = WORD_BYTES + oldest.data.length
    this.#bytes -= bytes
    oldest.ear.waitingBytes -= bytes
    return oldest
  }
}
