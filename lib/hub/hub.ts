import type { Clock } from '../clock.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { HubFrame } from '../wire/hub.ts'
import { BrowserQueue, type HubClient } from './browser-queue.ts'

/** A state that changes often is told at most once in this time. */
export const COALESCE_MS = 1_000
/** After this many frames within a second a burst begins: further frames are dropped, and one `resync` follows. */
export const BURST_MAX = 400
/** After this many occurrences within a second only the last one of each key is told. */
export const OCCURRENCES_MAX = 100
/** How long frames are dropped in a burst before browsers are told to fetch again. */
export const BURST_QUIET_MS = 3_000
/** Waiting states are told a few in each step, so that building and sending them does not block the event loop. */
const STEP_MS = 20
const STEP_TOLD_MIN = 8
/** In about this many steps all waiting states are told, however many they are. */
const STEPS = 25
/** Frames of this time span are sent together, because a write for each browser costs more than the frame in it. */
const GATHER_MS = 20
/**
 * How many browsers are served before agents and requests get their turn: what waits for one browser may take 16
 * writes.
 */
const SERVED_AT_ONCE = 5
/**
 * The close reason for every session that is over, however it ended: clients know exactly this text, and sign in again.
 */
const ENDED = 'token expired'
const POLICY_VIOLATION = 1008

/** How busy the hub is, for the metrics. */
export interface HubStats {
  clients: number
  frames: number
  resyncs: number
  slowClients: number
}

interface Member {
  client: HubClient
  queue: BrowserQueue
  sessionId: string
  cancelExpiry: () => void
}

/** Frames that are being sent to the browsers that were connected when the sending began. */
interface Delivery {
  frames: readonly Uint8Array[]
  members: readonly Member[]
  next: number
}

/**
 * Tells every connected browser what happens. It keeps no history; a frame is serialised once for all browsers; of a
 * state that changes often the last value is told once a second, a few states at a time; and a browser that does not
 * read is cut off.
 */
export class Hub {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #members = new Map<HubClient, Member>()
  /** States that wait until a second has passed since they were told, in the order in which they began to wait. */
  readonly #waiting = new Map<string, () => HubFrame | null>()
  /** The keys of what `later` is going to do. */
  readonly #later = new Set<string>()
  /** When each key was told last. Keys told more than a second ago are removed when another one is told. */
  readonly #toldAtMs = new Map<string, number>()
  #isStepping = false
  #stepStartMs = Number.NEGATIVE_INFINITY
  #stepTold = 0
  #windowStartMs = Number.NEGATIVE_INFINITY
  #windowFrames = 0
  #windowOccurrences = 0
  /** While set, frames are dropped; at this time one `resync` follows. */
  #burstUntilMs: number | null = null
  /** Frames that wait for the next delivery. */
  #outbox: Uint8Array[] = []
  #delivery: Delivery | null = null
  readonly stats: HubStats = { clients: 0, frames: 0, resyncs: 0, slowClients: 0 }

  constructor(parts: { clock: Clock; timers: Timers }) {
    this.#clock = parts.clock
    this.#timers = parts.timers
  }

  /** How many states wait to be told. */
  get waitingCount(): number {
    return this.#waiting.size
  }

  /** How many keys are remembered: of states that wait, and of those told within the last second. */
  get keyCount(): number {
    return this.#waiting.size + this.#toldAtMs.size
  }

  /** Connect a browser until its session expires. */
  add(client: HubClient, session: { sessionId: string; expiresAt: Date }): void {
    const leftMs = Math.max(0, session.expiresAt.getTime() - this.#clock.now().getTime())
    const cancelExpiry = this.#timers.after(leftMs, () => this.#end(client, ENDED))
    const queue = new BrowserQueue(client)
    this.#members.set(client, { client, queue, sessionId: session.sessionId, cancelExpiry })
    this.stats.clients = this.#members.size
  }

  /** The browser has read what was sent: send what waits for it. */
  drained(client: HubClient): void {
    this.#members.get(client)?.queue.drained(this.#clock.monotonicMs())
  }

  /** Bytes of the frames that wait for browsers to read. */
  get queuedBytes(): number {
    let bytes = 0
    for (const { queue } of this.#members.values()) bytes += queue.bytes
    return bytes
  }

  /** The browser has disconnected, or is being cut off. */
  remove(client: HubClient): void {
    this.#members.get(client)?.cancelExpiry()
    this.#members.delete(client)
    this.stats.clients = this.#members.size
    if (this.#members.size > 0) return
    this.#waiting.clear()
    this.#toldAtMs.clear()
    this.#outbox = []
    this.#burstUntilMs = null
  }

  /** The sessions of the browsers that are connected. */
  sessionIds(): string[] {
    return [...new Set([...this.#members.values()].map(({ sessionId }) => sessionId))]
  }

  /** These sessions ended before they expired: close their sockets. */
  endSessions(sessionIds: readonly string[]): void {
    const ended = new Set(sessionIds)
    for (const { client, sessionId } of [...this.#members.values()])
      if (ended.has(sessionId)) this.#end(client, ENDED)
  }

  #end(client: HubClient, reason: string): void {
    this.remove(client)
    client.close(POLICY_VIOLATION, reason)
  }

  /** Tell every browser without waiting for a second to pass; dropped in a burst. */
  broadcast(frame: HubFrame): void {
    if (this.#members.size > 0 && this.#mayTell()) this.#send(frame)
  }

  /** Tell every browser also in a burst: for what must not be lost in one. */
  announce(frame: HubFrame): void {
    if (this.#members.size > 0) this.#send(frame)
  }

  /** Answer one browser. */
  answer(client: HubClient, frame: HubFrame): void {
    const member = this.#members.get(client)
    if (member === undefined) return
    this.#give(member, [Buffer.from(JSON.stringify(frame))])
  }

  /**
   * Tell a state that may change often, at most once a second. The frame is built when it is sent; `build` answers null
   * where there is nothing to tell any more.
   */
  update(key: string, build: () => HubFrame | null): void {
    if (this.#members.size === 0 || this.#burstUntilMs !== null) return
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#stepStartMs >= STEP_MS) this.#enterStep(nowMs)
    if (this.#isDue(key, nowMs) && this.#stepTold < STEP_TOLD_MIN) {
      this.#tell(key, build, nowMs)
      return
    }
    this.#waiting.set(key, build)
    if (this.#waiting.size > BURST_MAX) this.#beginBurst()
    else this.#keepStepping()
  }

  /** Call `work` after a delay, if a browser is connected then; once for each key, however often it is asked for. */
  later(key: string, delayMs: number, work: () => void): void {
    if (this.#members.size === 0 || this.#later.has(key)) return
    this.#later.add(key)
    this.#timers.after(delayMs, () => {
      this.#later.delete(key)
      if (this.#members.size > 0) work()
    })
  }

  /**
   * Tell that something happened that can happen to thousands at once: each time while it is rare, else as `update`
   * does. Browsers fetch what happened; they need a frame after the last time, and not one for each.
   */
  occur(key: string, build: () => HubFrame | null): void {
    if (this.#members.size === 0 || this.#burstUntilMs !== null) return
    this.#enterWindow()
    if (++this.#windowOccurrences > OCCURRENCES_MAX) this.update(key, build)
    else {
      // A frame that waits under this key is older than this one.
      this.#waiting.delete(key)
      const frame = build()
      if (frame !== null) this.broadcast(frame)
    }
  }

  #isDue(key: string, nowMs: number): boolean {
    const toldAtMs = this.#toldAtMs.get(key)
    return toldAtMs === undefined || nowMs - toldAtMs >= COALESCE_MS
  }

  #tell(key: string, build: () => HubFrame | null, nowMs: number): void {
    this.#waiting.delete(key)
    const frame = this.#burstUntilMs === null ? build() : null
    if (frame === null || !this.#mayTell()) return
    this.#stepTold++
    // The map has the oldest first: stop at the first that is younger than a second.
    for (const [told, toldAtMs] of this.#toldAtMs) {
      if (nowMs - toldAtMs < COALESCE_MS) break
      this.#toldAtMs.delete(told)
    }
    this.#toldAtMs.set(key, nowMs)
    this.#send(frame)
  }

  /** Count a frame towards the burst; false when it is to be dropped, because a `resync` follows. */
  #mayTell(): boolean {
    if (this.#burstUntilMs !== null) return false
    this.#enterWindow()
    this.#windowFrames++
    if (this.#windowFrames > BURST_MAX) this.#beginBurst()
    return this.#burstUntilMs === null
  }

  #beginBurst(): void {
    this.#burstUntilMs = this.#clock.monotonicMs() + BURST_QUIET_MS
    this.#waiting.clear()
    this.#toldAtMs.clear()
    this.#timers.after(BURST_QUIET_MS, () => this.#endBurst())
  }

  #endBurst(): void {
    // This timer may be that of an earlier burst, and timers may be early by a little.
    if (this.#burstUntilMs === null) return
    const leftMs = this.#burstUntilMs - this.#clock.monotonicMs()
    if (leftMs > 0) {
      this.#timers.after(leftMs, () => this.#endBurst())
      return
    }
    this.#burstUntilMs = null
    this.#windowStartMs = Number.NEGATIVE_INFINITY
    if (this.#members.size === 0) return
    this.stats.resyncs++
    this.#send({ type: 'resync' })
  }

  /** Start counting anew where the last second is over. */
  #enterWindow(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#windowStartMs < COALESCE_MS) return
    this.#windowStartMs = nowMs
    this.#windowFrames = 0
    this.#windowOccurrences = 0
  }

  #send(frame: HubFrame): void {
    this.stats.frames++
    this.#outbox.push(Buffer.from(JSON.stringify(frame)))
    if (this.#outbox.length === 1 && this.#delivery === null)
      this.#timers.after(GATHER_MS, () => this.#deliverSome())
  }

  /** Deliver all waiting frames now, for a stop. */
  flush(): void {
    do this.#serve(Number.POSITIVE_INFINITY)
    while (this.#outbox.length > 0)
  }

  #deliverSome(): void {
    if (this.#serve(SERVED_AT_ONCE)) this.#timers.after(0, () => this.#deliverSome())
    else if (this.#outbox.length > 0) this.#timers.after(GATHER_MS, () => this.#deliverSome())
  }

  /** Send the current delivery to the next `count` browsers; true when some of them are left. */
  #serve(count: number): boolean {
    this.#delivery ??= { frames: this.#outbox.splice(0), members: [...this.#members.values()], next: 0 }
    const { frames, members } = this.#delivery
    const end = Math.min(members.length, this.#delivery.next + count)
    for (; this.#delivery.next < end; this.#delivery.next++) {
      const member = members[this.#delivery.next]!
      if (this.#members.has(member.client)) this.#give(member, frames)
    }
    if (end < members.length) return true
    this.#delivery = null
    return false
  }

  /** Queue frames for a browser; one that does not read is cut off. */
  #give({ client, queue }: Member, frames: readonly Uint8Array[]): void {
    if (queue.push(frames, this.#clock.monotonicMs())) return
    this.stats.slowClients++
    this.remove(client)
    client.drop()
  }

  #keepStepping(): void {
    if (this.#isStepping) return
    this.#isStepping = true
    this.#timers.after(STEP_MS, () => {
      this.#isStepping = false
      this.#step()
      if (this.#waiting.size > 0) this.#keepStepping()
    })
  }

  #enterStep(nowMs: number): void {
    this.#stepStartMs = nowMs
    this.#stepTold = 0
  }

  /** Tell the next few waiting states whose second has passed. */
  #step(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#enterStep(nowMs)
    const toldMax = Math.max(STEP_TOLD_MIN, Math.ceil(this.#waiting.size / STEPS))
    for (const [key, build] of this.#waiting) {
      if (this.#stepTold >= toldMax) return
      if (this.#isDue(key, nowMs)) this.#tell(key, build, nowMs)
    }
  }
}
