import type { Clock } from '../clock.ts'
import { encodePack } from './canonical.ts'
import type { FinishedPack } from './produce.ts'

/** How long a previewed pack is kept for download in other formats. */
export const KEPT_MS = 600_000
/** A larger pack is not kept: it might have more rows than another format has room for. */
const PACK_BYTES_MAX = 3 * 1_048_576
/** The most bytes of all kept packs together; the oldest ones are dropped. */
const BYTES_MAX = 24 * 1_048_576

interface Kept {
  pack: FinishedPack
  bytes: number
  untilMs: number
}

/** Packs that were previewed lately, so that a download is the pack that was read. */
export class KeptPacks {
  readonly #clock: Clock
  readonly #byKey = new Map<string, Kept>()
  #bytes = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Keep a pack for the user who asked for it. */
  keep(userId: string, pack: FinishedPack): void {
    const chunks = encodePack(pack.frame, pack.sections)
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
    if (bytes > PACK_BYTES_MAX) return
    const key = keyOf(userId, pack.frame.report_hash)
    this.#forget(key)
    this.#byKey.set(key, { pack, bytes, untilMs: this.#clock.monotonicMs() + KEPT_MS })
    this.#bytes += bytes
    this.#trim()
  }

  /** A copy of a pack that the same user previewed, because rendering uses it up; null when it is not kept any more. */
  find(userId: string, reportHash: string): FinishedPack | null {
    this.#trim()
    const kept = this.#byKey.get(keyOf(userId, reportHash))
    if (kept === undefined) return null
    const { frame, sections } = kept.pack
    return {
      frame,
      sections: sections.map(({ id, chunks }) => ({ id, chunks: chunks.map((chunk) => chunk.slice()) })),
    }
  }

  /** Bytes of all kept packs. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Drop packs that are too old or too many. The map has the oldest first, because a pack that is kept again moves to
   * the end.
   */
  #trim(): void {
    const now = this.#clock.monotonicMs()
    for (const [key, { untilMs }] of this.#byKey) {
      if (untilMs >= now && this.#bytes <= BYTES_MAX) return
      this.#forget(key)
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#byKey.get(key)?.bytes ?? 0
    this.#byKey.delete(key)
  }
}

const keyOf = (userId: string, reportHash: string) => `${userId}:${reportHash}`
