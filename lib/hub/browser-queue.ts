import type { HubFrame } from '../wire/hub.ts'

/** One browser, as far as the hub cares. Every method is safe after the socket closed. */
export interface HubClient {
  /** Send frames, each the UTF-8 of its JSON, together, until the browser is behind; how many were taken. */
  send(frames: readonly Uint8Array[]): number
  /** Say goodbye with a Close frame. */
  close(code: number, reason: string): void
  /** Cut the connection. */
  drop(): void
}

/** What waits for one browser at most, in bytes; the frames themselves are shared by all. */
export const QUEUE_BYTES_MAX = 8_388_608
/** A browser that was behind and has read nothing for so long does not read. */
export const STALLED_MAX_MS = 10_000

const RESYNC = Buffer.from(JSON.stringify({ type: 'resync' } satisfies HubFrame))

/** What waits for one browser. Who is far behind is told to fetch again instead of everything that it missed. */
export class BrowserQueue {
  readonly #client: HubClient
  #frames: Uint8Array[] = []
  #bytes = 0
  /** Since when it is behind and has read nothing; null while it is not behind. */
  #stalledSinceMs: number | null = null

  constructor(client: HubClient) {
    this.#client = client
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.#bytes
  }

  /** Send frames after those that wait. False when the browser does not read. */
  push(frames: readonly Uint8Array[], nowMs: number): boolean {
    if (this.#stalledSinceMs !== null && nowMs - this.#stalledSinceMs > STALLED_MAX_MS) return false
    for (const frame of frames) {
      this.#frames.push(frame)
      this.#bytes += frame.length
    }
    if (this.#stalledSinceMs === null) this.#write(nowMs)
    if (this.#bytes > QUEUE_BYTES_MAX) {
      this.#frames = [RESYNC]
      this.#bytes = RESYNC.length
    }
    return true
  }

  /** The browser has read what was sent. */
  drained(nowMs: number): void {
    this.#stalledSinceMs = null
    this.#write(nowMs)
  }

  #write(nowMs: number): void {
    if (this.#frames.length === 0) return
    for (const frame of this.#frames.splice(0, this.#client.send(this.#frames))) this.#bytes -= frame.length
    if (this.#frames.length > 0) this.#stalledSinceMs = nowMs
  }
}
