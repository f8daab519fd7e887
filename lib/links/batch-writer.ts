import type { Clock } from '../clock.ts'
import type { Timers } from '../fleet/state/timers.ts'
import { CELL, writeBatch } from './frames.ts'

/** Entries of one turn of the event loop are sent as one batch; a batch with more characters is sent at once. */
const BATCH_LENGTH_MAX = 262_144
/** A batch is sent at least this often, so that silence means that the link is broken. */
const BEAT_MS = 1_000
/** A link on which nothing was received for this long is cut. */
export const SILENT_MS = 5_000
/**
 * What was sent over a link before it was cut for this long may not have arrived: silence shows after twice SILENT_MS.
 */
export const UNSURE_MS = 2 * SILENT_MS

/** What one side of a link writes with. */
interface BatchWriterParts {
  clock: Clock
  timers: Timers
  epoch: number
  /** What is said with each batch of how quick the other side's batches are; not said in versions without it. */
  quickestMs?: (() => number | null) | undefined
  /** Whether anything may be said now. What may not waits until it may. */
  maySay: () => boolean
  send(text: string): void
}

/**
 * Writes one side of a link: entries in batches, and a batch each second even where it is empty. A batch is dated when its
 * first entry was said: the process may stand still before it is written.
 */
export class BatchWriter<Entry extends readonly unknown[]> {
  readonly #parts: BatchWriterParts
  #entries: Entry[] = []
  #length = 0
  /** When the first entry was said; null where there is none. */
  #saidMs: number | null = null
  #isScheduled = false
  #isClosed = false

  constructor(parts: BatchWriterParts) {
    this.#parts = parts
    this.#beat()
  }

  push(entry: Entry): void {
    if (this.#isClosed) return
    this.#saidMs ??= this.#parts.clock.monotonicMs()
    this.#entries.push(entry)
    for (const value of entry) this.#length += typeof value === 'string' ? value.length : 64
    if (this.#length >= BATCH_LENGTH_MAX) this.#flush()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      this.#parts.timers.after(0, () => {
        this.#isScheduled = false
        if (this.#entries.length > 0) this.#flush()
      })
    }
  }

  close(): void {
    this.#isClosed = true
    this.#entries = []
  }

  #beat(): void {
    if (this.#isClosed) return
    if (this.#parts.maySay()) this.#flush()
    else this.#write([], this.#parts.clock.monotonicMs())
    this.#parts.timers.after(BEAT_MS, () => this.#beat())
  }

  #flush(): void {
    if (this.#isClosed || !this.#parts.maySay()) return
    const entries = this.#entries
    this.#entries = []
    this.#length = 0
    const atMs = this.#saidMs ?? this.#parts.clock.monotonicMs()
    this.#saidMs = null
    this.#write(entries, atMs)
  }

  #write(entries: Entry[], atMs: number): void {
    const { epoch, quickestMs, send } = this.#parts
    const measured = quickestMs === undefined ? {} : { quickestMs: quickestMs() }
    send(writeBatch({ cell: CELL, epoch, atMs, ...measured, entries }))
  }
}
