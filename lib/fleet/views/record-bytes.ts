import type { SteadyRecord } from './workload.ts'

/** What follows the time in a record's JSON: the quote and the brace. */
const TAIL = '"}'

/** A record as JSON bytes, made once; only `last_seen_at`, the last key, is written anew. */
export class RecordBytes {
  #bytes: Buffer
  /** Offset and length of the time within the bytes. */
  readonly #timeAt: number
  readonly #timeBytes: number
  #seenAtMs: number

  constructor(record: SteadyRecord, lastSeenAt: Date) {
    const time = lastSeenAt.toISOString()
    // Memory of its own: a slice of Node's shared pool would keep the whole pool block alive.
    const text = JSON.stringify({ ...record, last_seen_at: time })
    this.#bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    this.#bytes.write(text)
    this.#timeBytes = time.length
    this.#timeAt = this.#bytes.length - TAIL.length - time.length
    this.#seenAtMs = lastSeenAt.getTime()
  }

  /** The bytes with this `last_seen_at`. The next call changes them: copy them. */
  at(lastSeenAt: Date): Buffer {
    const seenAtMs = lastSeenAt.getTime()
    if (seenAtMs !== this.#seenAtMs) {
      this.#bytes.write(lastSeenAt.toISOString(), this.#timeAt, this.#timeBytes, 'latin1')
      this.#seenAtMs = seenAtMs
    }
    return this.#bytes
  }
}
