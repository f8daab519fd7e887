import type { HubFrame } from '../wire/hub.ts'

/** The socket of one browser, as the hub uses it. Every method may be called after the socket closed. */
export interface HubClient {
  /** Send frames, each the UTF-8 bytes of its JSON, together, until the socket is full. Returns how many were taken. */
  send(frames: readonly Uint8Array[]): number
  /** Close the connection with a Close frame. */
  close(code: number, reason: string): void
  /** Cut the connection. */
  drop(): void
}

/** Limits of a browser's socket, at the process that has the hub, at one that passes it on, and between the two. */
export const BROWSER_SOCKET = {
  messageBytesMax: 4_096,
  // Some sixty of the longest; a browser says something every few seconds.
  waitingBytesMax: 262_144,
  backpressureBytesMax: 1_048_576,
  idleSeconds: 60,
  closeOnBackpressure: true,
} as const
/** The most bytes that wait for one browser; frames are shared by the queues of all browsers. */
export const QUEUE_BYTES_MAX = 8_388_608
/** A browser whose socket was full and that has read nothing for this long is cut off by the hub. */
export const STALLED_MAX_MS = 10_000

const RESYNC = Buffer.from(JSON.stringify({ type: 'resync' } satisfies HubFrame))

/**
 * The frames that wait for one browser. Where they are too many, one `resync` replaces them, on which the browser
 * fetches everything again.
 */
export class BrowserQueue {
  readonly #client: HubClient
  #frames: Uint8Array[] = []
  #bytes = 0
  /** Since when the socket is full and the browser has read nothing; null while the socket takes frames. */
  #stalledSinceMs: number | null = null

  constructor(client: HubClient) {
    this.#client = client
  }

  /** Bytes of the frames that wait. */
  get bytes(): number {
    return this.#bytes
  }

  /** Send frames after those that wait. False when the browser has read nothing for too long. */
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

  /** The browser has read what was sent: send what waits. */
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
