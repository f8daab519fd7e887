import { toNetwork } from '../lib/identity/login-limit.ts'

/** What the body of a request may be, by its method and path alone. */
export interface BodyLimit {
  bytesMax: number
  /** Nobody has to be signed in to send it. */
  isBeforeSignIn: boolean
  /** In how many milliseconds from its first byte on it has to be here; not said for no such limit. */
  wholeWithinMs?: number
}

/** Of a request that may have none. */
export const NO_BODY: BodyLimit = { bytesMax: 0, isBeforeSignIn: false }

/** What is held of one body that is on its way in, or whose request has no answer yet. */
export interface BodyShare {
  /** Hold `count` bytes more; false, and no more held, when there is no room for them. */
  take(count: number): boolean
  /** All of it is here. */
  whole(): void
  /** What is held, and what comes, is this user's from now on; false when there is no room for it there. */
  holdFor(userId: string): boolean
  /** Return everything. */
  giveBack(): void
}

/** The room that all bodies of a listener have together. */
export interface BodyRoom {
  /** Begin a body within its limit. `cut` is called where it has to make room for another one. */
  begin(peerAddress: string, header: (name: string) => string, limit: BodyLimit, cut?: () => void): BodyShare
  /** How many bytes are left. */
  free(): number
}

/** Bodies up to this length are small: those of signing in, of approving, of a freeze; those of polls. */
export const SMALL_BYTES_MAX = 65_536

/**
 * A room in which nobody takes everybody's place. An eighth is for bodies before a sign-in, and those have no more; of
 * the rest an eighth of the whole is left to small bodies, so that signing in and deciding go on whoever fills the rest.
 * One caller, the user or else the network of the address, holds a quarter of the whole, or of that for a sign-in.
 * `addressOf` says null where the peer speaks for many callers, whose bodies are then counted once it is known whose
 * they are.
 */
export function sharedRoom(
  bytesMax: number,
  addressOf: (peerAddress: string, header: (name: string) => string) => string | null,
): BodyRoom {
  const part = bytesMax / 8
  const heldBy = new Map<string, number>()
  const held = { beforeSignIn: 0, long: 0, small: 0 }
  const count = (caller: string | null, bytes: number): void => {
    if (caller === null) return
    const now = (heldBy.get(caller) ?? 0) + bytes
    if (now === 0) heldBy.delete(caller)
    else heldBy.set(caller, now)
  }
  return {
    free: () => bytesMax - held.beforeSignIn - held.long - held.small,
    begin(peerAddress, header, limit) {
      const address = addressOf(peerAddress, header)
      const said = header('content-length')
      const isSmall = limit.bytesMax <= SMALL_BYTES_MAX || (said !== '' && Number(said) <= SMALL_BYTES_MAX)
      const kind = limit.isBeforeSignIn ? 'beforeSignIn' : isSmall ? 'small' : 'long'
      const callerBytesMax = (kind === 'beforeSignIn' ? part : bytesMax) / 4
      const isFull = (bytes: number): boolean => {
        if (kind === 'beforeSignIn') return held.beforeSignIn + bytes > part
        return (
          held.long + held.small + bytes > bytesMax - part ||
          (kind === 'long' && held.long + bytes > bytesMax - 2 * part)
        )
      }
      const fits = (caller: string | null, bytes: number) =>
        caller === null || (heldBy.get(caller) ?? 0) + bytes <= callerBytesMax
      let caller =
        address === null ? null : `${limit.isBeforeSignIn ? 'sign-in' : 'address'} ${toNetwork(address)}`
      let own = 0
      const hold = (bytes: number): void => {
        own += bytes
        held[kind] += bytes
        count(caller, bytes)
      }
      return {
        take(bytes) {
          if (isFull(bytes) || !fits(caller, bytes)) return false
          hold(bytes)
          return true
        },
        whole: () => undefined,
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
