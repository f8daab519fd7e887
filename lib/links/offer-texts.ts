import type { Log } from '../log.ts'
import { configHash } from '../model/config-hash.ts'
import { findContent } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'

/** The most bytes of configs that are kept; the one unused for longest is dropped first. */
const KEPT_BYTES_MAX = 33_554_432

/** The texts of configs that are offered: read by their hash, checked against it, and kept. */
export class OfferTexts {
  readonly #db: Db
  /** By hash, the one unused for longest first. */
  readonly #kept = new Map<string, Uint8Array>()
  readonly #reading = new Map<string, Promise<Uint8Array | null>>()
  #bytes = 0
  readonly #log: Log
  /** How often the database has answered. */
  answers = 0
  /** A database that is away is said once. */
  #isFailing = false

  constructor(db: Db, log: Log) {
    this.#db = db
    this.#log = log
  }

  /** Whether the last read failed: the database has given no answer. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** The text if it is in memory; else null. */
  at(hash: string): Uint8Array | null {
    const body = this.#kept.get(hash)
    if (body === undefined) return null
    this.#kept.delete(hash)
    this.#kept.set(hash, body)
    return body
  }

  /** The text, read from the database where needed; null when the database does not have it or does not answer. */
  async find(hash: string): Promise<Uint8Array | null> {
    const kept = this.at(hash)
    if (kept !== null) return kept
    const under = this.#reading.get(hash) ?? this.#read(hash)
    this.#reading.set(hash, under)
    return under
  }

  async #read(hash: string): Promise<Uint8Array | null> {
    try {
      const content = await findContent(this.#db, hash)
      this.#isFailing = false
      this.answers++
      if (content === null) return null
      const body = Buffer.from(content.body)
      if (configHash(body) !== hash) return null
      this.#keep(hash, body)
      return body
    } catch (error) {
      if (!this.#isFailing)
        this.#log.warn({ err: error }, 'texts of configs that are offered could not be read')
      this.#isFailing = true
      return null
    } finally {
      this.#reading.delete(hash)
    }
  }

  #keep(hash: string, body: Uint8Array): void {
    this.#kept.set(hash, body)
    this.#bytes += body.length
    for (const [oldest, text] of this.#kept) {
      if (this.#bytes <= KEPT_BYTES_MAX) return
      this.#kept.delete(oldest)
      this.#bytes -= text.length
    }
  }
}
