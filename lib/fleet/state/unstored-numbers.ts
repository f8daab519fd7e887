/** The most numbers of one listener that wait; the oldest are given up first, and are never told. */
export const UNSTORED_NUMBERS_MAX = 100_000
/** So many are given up at once, so that the rest is not moved for each. */
const GIVEN_UP_AT_ONCE = 1_000

/** Is told the numbers of what is stored by now. */
export type TellStored = (numbers: readonly number[]) => void

/** Numbers of one listener, oldest first. */
interface Numbers {
  waiting: number[]
  /** So many of them, the oldest, are of what is being stored. */
  beingStored: number
}

/** The numbers under which others are to be told that what waits to be written is stored. */
export class UnstoredNumbers {
  readonly #of = new Map<TellStored, Numbers>()

  add(tell: TellStored, n: number): void {
    const numbers = this.#of.get(tell) ?? { waiting: [], beingStored: 0 }
    this.#of.set(tell, numbers)
    numbers.waiting.push(n)
    if (numbers.waiting.length <= UNSTORED_NUMBERS_MAX) return
    numbers.waiting.splice(0, GIVEN_UP_AT_ONCE)
    numbers.beingStored = Math.max(0, numbers.beingStored - GIVEN_UP_AT_ONCE)
  }

  /** It is not to be told any more. */
  forget(tell: TellStored): void {
    this.#of.delete(tell)
  }

  /** All that waits now is being stored. */
  begin(): void {
    for (const numbers of this.#of.values()) numbers.beingStored = numbers.waiting.length
  }

  /** What was being stored is stored: tell of it. */
  stored(): void {
    for (const [tell, numbers] of this.#of) {
      const stored = numbers.waiting.splice(0, numbers.beingStored)
      numbers.beingStored = 0
      if (numbers.waiting.length === 0) this.#of.delete(tell)
      if (stored.length > 0) tell(stored)
    }
  }
}
