import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../lib/clock.ts'
import type { Owner } from '../../lib/cluster/membership.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'
import { BatchWriter, SILENT_MS } from '../../lib/links/batch-writer.ts'
import { CELL, type FrontEntry, LINK_BEHIND_BYTES_MAX, readOwnerBatch } from '../../lib/links/frames.ts'
import type { FrontAgents } from '../../lib/links/front-agents.ts'
import {
  LINK_VERSIONS,
  type LinkVersions,
  MEASURED_SINCE,
  spokenWith,
} from '../../lib/links/link-versions.ts'
import type { Log } from '../../lib/log.ts'
import type { OwnerDoor } from './owner-door.ts'

/** Where members open their links. */
export const LINK_PATH = '/link'
/** Upgrade Required: the owner does not speak the version of the link that was asked for. */
export const FOREIGN_VERSION = 426
const TRY_AGAIN_MS = 100
/** A link that ended sooner may end like that each time: the wait for the next one is doubled. */
const SHORT_MS = 5_000
const TRY_AGAIN_MS_MAX = 10_000
const FOREIGN = 'the owner speaks no link version of this build: agents are sent to other processes'

/** What a link needs of its process. */
export interface FrontLinkParts {
  door: OwnerDoor
  agents(): FrontAgents
  owner(): Owner | null
  /** What this build speaks. */
  versions?: LinkVersions
  /** Read again at once who the owner is. */
  lookAgain(): void
  /** The epoch of the owner to which a link is up; null for none. */
  onChange(epoch: number | null): void
  /** The link was cut because nothing came over it: whatever else leads to that owner is most likely cut off too. */
  onSilent(): void
  clock: Clock
  timers: Timers
  log: Log
}

/** Keeps a link from this process to the owner, and sends on it what the process's agents say. */
export class FrontLink {
  readonly #parts: FrontLinkParts
  #socket: WebSocket | null = null
  /** The owner has answered on the present link, or nothing waited for an answer when it spoke first. */
  #isAnswered = false
  #epoch = 0
  #isStopped = false
  #isDialling = false
  /** The present link was cut; what still comes over it is out of date. */
  #isCut = false
  /** How long to wait after a link that ended soon. */
  #waitMs = TRY_AGAIN_MS
  /** Since when it waits before it tries again, because links have ended soon; null while it does not. */
  #waitingSinceMs: number | null = null
  /** For how long it has waited so since the last link was up. */
  #waitedMs = 0
  /** Dial now instead of after a while. */
  #endWait = () => {}
  /** The epoch of the last owner with which this build has no version of a link in common. */
  #foreignEpoch = 0
  /** When the link was up last, by the monotonic clock; for one that fell silent, when something last came over it. */
  #upMs: number
  /** How long there was no link before the present one, in all. */
  #formerDownMs = 0
  #saidCount = 0

  constructor(parts: FrontLinkParts) {
    this.#parts = parts
    this.#upMs = parts.clock.monotonicMs()
  }

  start(): void {
    void this.#dial()
  }

  /** Whether there is a link on which the owner answers: to be let in alone says little, it may be cut each time. */
  get isUp(): boolean {
    return this.#socket !== null && this.#isAnswered
  }

  /**
   * For how long there has been no link, in milliseconds; 0 while there is one. That this process itself waits between
   * links on which the owner answers says nothing of the owner, and does not count.
   */
  get downMs(): number {
    return this.isUp
      ? 0
      : (this.#waitingSinceMs ?? this.#parts.clock.monotonicMs()) - this.#upMs - this.#waitedMs
  }

  /** For how long there was no link since this process started, for whatever reason, in all, in milliseconds. */
  get downSumMs(): number {
    return this.#formerDownMs + (this.isUp ? 0 : this.#parts.clock.monotonicMs() - this.#upMs)
  }

  /** How many entries were written on links to owners. */
  get saidCount(): number {
    return this.#saidCount
  }

  /** Whether the owner speaks no version of a link that this build speaks: only another owner brings a link. */
  get isForeign(): boolean {
    return this.#foreignEpoch !== 0 && this.#parts.owner()?.epoch === this.#foreignEpoch
  }

  /** Cut a link to a former owner, and ask the new one: that links to the former one ended soon says nothing of it. */
  ownerChanged(epoch: number): void {
    this.#waitMs = TRY_AGAIN_MS
    if (this.#epoch < epoch) this.cut()
    this.#endWait()
  }

  /** Cut the link, because what is on its way is out of date. On the next one all agents are told of anew. */
  cut(): void {
    this.#isCut = true
    this.#socket?.terminate()
  }

  stop(): void {
    this.#isStopped = true
    this.cut()
  }

  /** Open the next link after one that was up for this long. */
  #dialAgain(lastedMs: number): void {
    const isShort = lastedMs < SHORT_MS && this.#waitMs > TRY_AGAIN_MS
    if (lastedMs < SHORT_MS) this.#waitMs = Math.min(TRY_AGAIN_MS_MAX, this.#waitMs * 2)
    else this.#waitMs = TRY_AGAIN_MS
    if (isShort) this.#wait(lastedMs > 0)
    else void this.#dial()
  }

  /** Dial after a while; `wasUp`: the owner has answered on the link that has ended. */
  #wait(wasUp: boolean): void {
    const { clock, timers } = this.#parts
    const sinceMs = clock.monotonicMs()
    if (wasUp) this.#waitingSinceMs = sinceMs
    const end = () => {
      cancel()
      this.#endWait = () => {}
      if (wasUp) this.#waitedMs += clock.monotonicMs() - sinceMs
      this.#waitingSinceMs = null
      void this.#dial()
    }
    const cancel = timers.after(this.#waitMs, end)
    this.#endWait = end
  }

  async #dial(): Promise<void> {
    if (this.#isDialling || this.#isStopped || this.#socket !== null) return
    this.#isDialling = true
    const { owner: ownerOf, timers, lookAgain } = this.#parts
    try {
      const owner = ownerOf()
      const socket = owner === null || this.isForeign ? null : await this.#open(owner)
      if (socket === null) return
      // Another process may have become the owner while this one answered.
      const isReplaced = (ownerOf()?.epoch ?? 0) > owner!.epoch
      if (this.#isStopped || isReplaced) socket.terminate()
      else this.#use(socket, owner!)
    } finally {
      this.#isDialling = false
      if (this.#socket === null && !this.#isStopped) {
        lookAgain()
        timers.after(TRY_AGAIN_MS, () => void this.#dial())
      }
    }
  }

  /** Open a link to this owner in a version that both builds speak; null where there is none, or it is not to be had. */
  async #open(owner: Owner): Promise<WebSocket | null> {
    const { door, versions = LINK_VERSIONS, log } = this.#parts
    const version = spokenWith(versions, owner.linkVersion)
    const opened = version === null ? FOREIGN_VERSION : await door.open(owner, LINK_PATH, version)
    if (opened === FOREIGN_VERSION) {
      this.#foreignEpoch = owner.epoch
      log.error({ member: owner.id, its_newest: owner.linkVersion, ...versions }, FOREIGN)
    }
    return typeof opened === 'number' ? null : opened
  }

  #say(writer: BatchWriter<FrontEntry>, entry: FrontEntry): void {
    this.#saidCount++
    writer.push(entry)
  }

  #writerTo(socket: WebSocket, epoch: number, quickestMs: (() => number | null) | undefined) {
    const { clock, timers } = this.#parts
    return new BatchWriter<FrontEntry>({
      clock,
      timers,
      epoch,
      quickestMs,
      // The owner dates what it hears, and refuses what is too old.
      maySay: () => true,
      send(text) {
        if (socket.bufferedAmount > LINK_BEHIND_BYTES_MAX) socket.terminate()
        else socket.send(text)
      },
    })
  }

  #use(socket: WebSocket, owner: Owner): void {
    const { versions = LINK_VERSIONS, clock, timers, onSilent, log } = this.#parts
    const agents = this.#parts.agents()
    const { epoch } = owner
    this.#socket = socket
    this.#isAnswered = false
    this.#epoch = epoch
    this.#isCut = false
    const startedMs = clock.monotonicMs()
    let heardMs = startedMs
    let isSilent = false
    const version = spokenWith(versions, owner.linkVersion)!
    const quickestMs = version < MEASURED_SINCE ? undefined : () => agents.quickestMs
    const writer = this.#writerTo(socket, epoch, quickestMs)
    const out = { version, epoch, send: (entry: FrontEntry) => this.#say(writer, entry) }
    socket.on('message', (data: RawData) => {
      // What had arrived before the cut is still given out.
      if (this.#isCut) return
      heardMs = clock.monotonicMs()
      try {
        const batch = readOwnerBatch(String(data))
        if (batch.epoch !== epoch || batch.cell !== CELL) throw new Error('of another epoch or cell')
        agents.take(batch)
        if (agents.hasToldAll || batch.entries.some(([kind]) => kind === 'answer')) this.#answered(epoch)
      } catch (error) {
        log.error({ err: error }, 'the owner said what nobody understands')
        socket.terminate()
      }
    })
    socket.on('close', () => {
      writer.close()
      const nowMs = clock.monotonicMs()
      const lastedMs = this.isUp ? nowMs - startedMs : 0
      if (this.isUp) this.#wasUpUntil(isSilent ? heardMs : nowMs)
      this.#socket = null
      agents.unlinked(out)
      this.#parts.onChange(null)
      if (isSilent) onSilent()
      this.#dialAgain(lastedMs)
    })
    const watch = () => {
      if (this.#socket !== socket) return
      isSilent = clock.monotonicMs() - heardMs >= SILENT_MS
      if (isSilent) return socket.terminate()
      timers.after(SILENT_MS / 5, watch)
    }
    watch()
    socket.resume()
    log.info({ member: owner.id, epoch }, 'linked to the owner')
    agents.linked(out)
  }

  #wasUpUntil(nowMs: number): void {
    this.#upMs = nowMs
    this.#waitedMs = 0
  }

  #answered(epoch: number): void {
    if (this.#isAnswered) return
    this.#formerDownMs = this.downSumMs
    this.#isAnswered = true
    this.#parts.onChange(epoch)
  }
}
