import type { SeenMember } from '../store/members.ts'
import { OWNER_SILENT_MS } from './timing.ts'

/** How long a process that is gone is told of, and how many are at most. */
export const TOLD_MS = 3_600_000
export const TOLD_MAX = 20

/** A process that was a member and is none any more. */
export interface Departure {
  id: string
  address: string
  host: string
  pid: number
  version: string
  /** When it was heard of last. */
  until: Date
  /** Whether it said that it stops; one that did not fell silent, and was forgotten after a minute. */
  hasLeft: boolean
}

/** Which members went away lately, as one process saw it since it started. */
export class Departures {
  #members = new Map<string, { member: SeenMember; seenMs: number }>()
  /** The newest last. */
  #gone: (Departure & { goneMs: number })[] = []

  /** How many are kept. */
  get count(): number {
    return this.#gone.length
  }

  /** These are the members now, by the monotonic and the wall clock. */
  note(members: readonly SeenMember[], nowMs: number, now: Date): void {
    const present = new Map(members.map((member) => [member.id, { member, seenMs: nowMs }]))
    for (const [id, { member, seenMs }] of this.#members) {
      if (present.has(id)) continue
      const { address, host, pid, version, silentMs } = member
      const until = new Date(now.getTime() - (nowMs - seenMs) - silentMs)
      // A row that goes while its member is heard of was deleted by the member itself.
      const hasLeft = silentMs < OWNER_SILENT_MS
      this.#gone.push({ id, address, host, pid, version, until, hasLeft, goneMs: nowMs })
    }
    this.#members = present
    // One that stood still for long comes back under the same id.
    this.#gone = this.#gone
      .filter(({ id, goneMs }) => nowMs - goneMs < TOLD_MS && !present.has(id))
      .slice(-TOLD_MAX)
  }

  /** Those that went away in the last hour, the last one first. */
  list(nowMs: number): Departure[] {
    return this.#gone
      .filter(({ goneMs }) => nowMs - goneMs < TOLD_MS)
      .map(({ goneMs: _, ...departure }) => departure)
      .reverse()
  }
}
