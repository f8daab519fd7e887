import type { Clock } from '../clock.ts'
import { encodePack } from './canonical.ts'
import type { FinishedPack } from './produce.ts'

/** How long a pack that was previewed can be had in the other formats. */
export const KEPT_MS = 600_000
/** A larger pack is not kept: it might not fit the rows of every format either. */
const PACK_BYTES_MAX = 3 * 1_048_576
/** All that are kept together; the one made first goes. */
const BYTES_MAX = 24 * 1_048_576

interface Kept {
  pack: FinishedPack
  bytes: number
  untilMs: number
}

/** The packs that were previewed a moment ago, so that what is downloaded is what was read. */
export class KeptPacks {
  readonly #clock: Clock
  readonly #byKey = new Map<string, Kept>()
  #bytes = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Keep a pack for whoever asked for it. */
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

  /** A copy of a pack that the same user previewed, to be rendered; null when it is not kept any more. */
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

  /** How much is kept now. */
  get bytes(): number {
    return this.#bytes
  }

  /** Older ones come first: none is put back into its place. */
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
