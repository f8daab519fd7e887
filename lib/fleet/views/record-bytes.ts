import type { SettledRecord } from './workload.ts'

/** What follows the time in a record's JSON: the quote and the brace. */
const TAIL = '"}'

/** A record as JSON bytes, made once; only `last_seen_at`, the last key, is written anew. */
export class RecordBytes {
  #bytes: Buffer
  /** Where the time stands, and how long it is. */
  readonly #timeAt: number
  readonly #timeBytes: number
  #seenAtMs: number

  constructor(record: SettledRecord, lastSeenAt: Date) {
    const time = lastSeenAt.toISOString()
    // Its own memory: a slice of a shared block would keep that whole block alive.
    const text = JSON.stringify({ ...record, last_seen_at: time })
    this.#bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    this.#bytes.write(text)
    this.#timeBytes = time.length
    this.#timeAt = this.#bytes.length - TAIL.length - time.length
    this.#seenAtMs = lastSeenAt.getTime()
  }

  /** The bytes as of now. They change with the next call: copy them. */
  at(lastSeenAt: Date): Buffer {
    const seenAtMs = lastSeenAt.getTime()
    if (seenAtMs !== this.#seenAtMs) {
      this.#bytes.write(lastSeenAt.toISOString(), this.#timeAt, this.#timeBytes, 'latin1')
      this.#seenAtMs = seenAtMs
    }
    return this.#bytes
  }
}
