/** A limit on bytes that are held at one time, shared by everything that holds some. */
export interface ByteBudget {
  bytesMax: number
  /** Reserve `count` bytes; false, and nothing reserved, when that many are not left. */
  take(count: number): boolean
  /** Return `count` bytes that `take` reserved. */
  give(count: number): void
  /** How many bytes are left. */
  free(): number
}

/** A budget of `bytesMax` bytes. */
export function createByteBudget(bytesMax: number): ByteBudget {
  let used = 0
  return {
    bytesMax,
    take(count) {
      if (used + count > bytesMax) return false
      used += count
      return true
    },
    give(count) {
      used -= count
    },
    free: () => bytesMax - used,
  }
}
