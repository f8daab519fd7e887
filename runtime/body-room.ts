import type { ByteBudget } from '../lib/byte-budget.ts'

/** What is held of one body that is on its way in, or whose request has no answer yet. */
export interface BodyShare {
  /** Hold `count` bytes more; false, and no more held, when there is no room for them. */
  take(count: number): boolean
  /** What is held, and what comes, is this user's from now on; false when there is no room for it there. */
  holdFor(userId: string): boolean
  /** Return everything. */
  giveBack(): void
}

/** The room that all bodies of a listener have together. */
export interface BodyRoom {
  /** Begin a body that has at most `bytesMax` bytes. */
  begin(peerAddress: string, header: (name: string) => string, bytesMax: number): BodyShare
  /** How many bytes are left. */
  free(): number
}

/** A room of which anybody may take all. */
export const openRoom = (budget: ByteBudget): BodyRoom => ({
  free: budget.free,
  begin() {
    let held = 0
    return {
      take(count) {
        if (!budget.take(count)) return false
        held += count
        return true
      },
      holdFor: () => true,
      giveBack() {
        budget.give(held)
        held = 0
      },
    }
  },
})

/** Bodies up to this length are small: those of signing in, of approving, of a freeze. */
const SMALL_BYTES_MAX = 65_536

/**
 * A room in which nobody takes everybody's place: one caller, the user or else the address, holds a quarter of it, and
 * an eighth is left to small bodies, so that signing in and deciding go on whoever fills the rest. `addressOf` says
 * null where the peer speaks for many callers, whose bodies are then counted once it is known whose they are.
 */
export function sharedRoom(
  bytesMax: number,
  addressOf: (peerAddress: string, header: (name: string) => string) => string | null,
): BodyRoom {
  const callerBytesMax = bytesMax / 4
  const longBytesMax = bytesMax - bytesMax / 8
  const heldBy = new Map<string, number>()
  const held = { all: 0, long: 0 }
  const count = (caller: string | null, bytes: number): void => {
    if (caller === null) return
    const now = (heldBy.get(caller) ?? 0) + bytes
    if (now === 0) heldBy.delete(caller)
    else heldBy.set(caller, now)
  }
  const fits = (caller: string | null, bytes: number) =>
    caller === null || (heldBy.get(caller) ?? 0) + bytes <= callerBytesMax
  return {
    free: () => bytesMax - held.all,
    begin(peerAddress, header, bodyBytesMax) {
      const address = addressOf(peerAddress, header)
      const said = header('content-length')
      const isSmall = bodyBytesMax <= SMALL_BYTES_MAX || (said !== '' && Number(said) <= SMALL_BYTES_MAX)
      let caller = address === null ? null : `address ${address}`
      let own = 0
      const hold = (bytes: number): void => {
        own += bytes
        held.all += bytes
        if (!isSmall) held.long += bytes
        count(caller, bytes)
      }
      return {
        take(bytes) {
          const isFull = held.all + bytes > bytesMax || (!isSmall && held.long + bytes > longBytesMax)
          if (isFull || !fits(caller, bytes)) return false
          hold(bytes)
          return true
        },
        holdFor(userId) {
          const user = `user ${userId}`
          if (caller === user) return true
          if (!fits(user, own)) return false
          count(caller, -own)
          caller = user
          count(caller, own)
          return true
        },
        giveBack: () => hold(-own),
      }
    },
  }
}
