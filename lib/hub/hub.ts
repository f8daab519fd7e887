import type { Clock } from '../clock.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { HubFrame } from '../wire/hub.ts'
import { BrowserQueue, type HubClient } from './browser-queue.ts'

/** How often a coalesced state is told at most. */
export const COALESCE_MS = 1_000
/** Frames within a second after which the rest is told as one `resync`. */
export const BURST_MAX = 400
/** Occurrences within a second after which only the last of each key is told. */
export const OCCURRENCES_MAX = 100
/** How long a burst is let pass before browsers are told to fetch again. */
export const BURST_QUIET_MS = 3_000
/** States are told a few at a time, so that building and sending them holds nobody up. */
const STEP_MS = 20
const STEP_TOLD_MIN = 8
/** Steps in which what waits is told, however much it is. */
const STEPS = 25
/** Frames of this long go out together: a write for each browser costs more than what it carries. */
const GATHER_MS = 20
/** Browsers served before agents and requests get their turn: what waits for one may take 16 writes. */
const SERVED_AT_ONCE = 5
/** Said of every session that is over, however it ended: clients know exactly these words, and sign in again. */
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

/** Frames on their way to the browsers that were there when they set out. */
interface Delivery {
  frames: readonly Uint8Array[]
  members: readonly Member[]
  next: number
}

/**
 * Tells every connected browser what happens. Pure fan-out: it keeps no history, a frame is serialised once,
 * states of one thing are told once a second with the last one winning, a few at a time, and who does not read is
 * cut.
 */
export class Hub {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #members = new Map<HubClient, Member>()
  /** States that wait for their second to pass, in the order in which they began to wait. */
  readonly #waiting = new Map<string, () => HubFrame | null>()
  /** What is to be done later. */
  readonly #later = new Set<string>()
  /** When each coalesced key was told last; emptied as the second passes. */
  readonly #toldAtMs = new Map<string, number>()
  #isStepping = false
  #stepStartMs = Number.NEGATIVE_INFINITY
  #stepTold = 0
  #windowStartMs = Number.NEGATIVE_INFINITY
  #windowFrames = 0
  #windowOccurrences = 0
  /** While set, frames are let pass and one `resync` follows. */
  #burstUntilMs: number | null = null
  /** Frames that wait for their delivery. */
  #outbox: Uint8Array[] = []
  #delivery: Delivery | null = null
  readonly stats: HubStats = { clients: 0, frames: 0, resyncs: 0, slowClients: 0 }

  constructor(parts: { clock: Clock; timers: Timers }) {
    this.#clock = parts.clock
    this.#timers = parts.timers
  }

  /** States that wait for their second to pass. */
  get waitingCount(): number {
    return this.#waiting.size
  }

  /** Keys of states that wait, or that were told within the last second. */
  get keyCount(): number {
    return this.#waiting.size + this.#toldAtMs.size
  }

  /** Connect a browser until its token ends. */
  add(client: HubClient, session: { sessionId: string; expiresAt: Date }): void {
    const leftMs = Math.max(0, session.expiresAt.getTime() - this.#clock.now().getTime())
    const cancelExpiry = this.#timers.after(leftMs, () => this.#end(client, ENDED))
    const queue = new BrowserQueue(client)
    this.#members.set(client, { client, queue, sessionId: session.sessionId, cancelExpiry })
    this.stats.clients = this.#members.size
  }

  /** The browser has read what was sent: what waits for it follows. */
  drained(client: HubClient): void {
    this.#members.get(client)?.queue.drained(this.#clock.monotonicMs())
  }

  /** Bytes of frames that wait for browsers to read. */
  get queuedBytes(): number {
    let bytes = 0
    for (const { queue } of this.#members.values()) bytes += queue.bytes
    return bytes
  }

  /** The browser is gone. */
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

  /** These sessions ended before their time: their sockets close. */
  endSessions(sessionIds: readonly string[]): void {
    const ended = new Set(sessionIds)
    for (const { client, sessionId } of [...this.#members.values()])
      if (ended.has(sessionId)) this.#end(client, ENDED)
  }

  #end(client: HubClient, reason: string): void {
    this.remove(client)
    client.close(POLICY_VIOLATION, reason)
  }

  /** Tell everyone at once. */
  broadcast(frame: HubFrame): void {
    if (this.#members.size > 0 && this.#mayTell()) this.#send(frame)
  }

  /** Tell everyone at once, whatever else goes on: for what must not drown in a burst. */
  announce(frame: HubFrame): void {
    if (this.#members.size > 0) this.#send(frame)
  }

  /** Tell one browser what it asked for. */
  answer(client: HubClient, frame: HubFrame): void {
    const member = this.#members.get(client)
    if (member === undefined) return
    this.#give(member, [Buffer.from(JSON.stringify(frame))])
  }

  /** Tell a state that may change often: once a second at most, built when it is sent, unless it is gone by then. */
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

  /** Do something after a while, for browsers that are there then; once a key, however often it is asked for. */
  later(key: string, delayMs: number, work: () => void): void {
    if (this.#members.size === 0 || this.#later.has(key)) return
    this.#later.add(key)
    this.#timers.after(delayMs, () => {
      this.#later.delete(key)
      if (this.#members.size > 0) work()
    })
  }

  /**
   * Tell that something happened, of a kind that can happen to thousands at once: each time while that is seldom,
   * else as `update` does. Browsers fetch what happened; they need to hear that something did, after the last of it.
   */
  occur(key: string, build: () => HubFrame | null): void {
    if (this.#members.size === 0 || this.#burstUntilMs !== null) return
    this.#enterWindow()
    if (++this.#windowOccurrences > OCCURRENCES_MAX) this.update(key, build)
    else {
      // What waits is older than this one.
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
    // In the order of their telling: the first that is young enough ends the walk.
    for (const [told, toldAtMs] of this.#toldAtMs) {
      if (nowMs - toldAtMs < COALESCE_MS) break
      this.#toldAtMs.delete(told)
    }
    this.#toldAtMs.set(key, nowMs)
    this.#send(frame)
  }

  /** Counts towards the burst; false when this frame is one of those that a `resync` stands for. */
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
    // The burst that this was to end may be over, and another have begun; and timers are early by a little.
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

  /** Count from nothing where the last second is over. */
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

  /** Deliver what waits now, as before a stop. */
  flush(): void {
    do this.#serve(Number.POSITIVE_INFINITY)
    while (this.#outbox.length > 0)
  }

  #deliverSome(): void {
    if (this.#serve(SERVED_AT_ONCE)) this.#timers.after(0, () => this.#deliverSome())
    else if (this.#outbox.length > 0) this.#timers.after(GATHER_MS, () => this.#deliverSome())
  }

  /** Serve the next few browsers; true when others of the same delivery wait. */
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

  /** Who does not read is cut. */
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

  /** Tell the next few of those whose second has passed. */
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
