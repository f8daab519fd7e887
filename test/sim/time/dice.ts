/** A generator of pseudo-random choices that are the same for the same seed. */
export class Dice {
  readonly #seed: number
  #state: number

  constructor(seed: number) {
    this.#seed = seed
    this.#state = mix(seed >>> 0) || 1
  }

  /** A generator for one kind of choice, which does not depend on how many choices of other kinds were made. */
  fork(name: string): Dice {
    let hash = 2_166_136_261 ^ this.#seed
    for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619)
    return new Dice(hash >>> 0)
  }

  /** 0 ≤ x < 1. */
  next(): number {
    // xorshift32
    let x = this.#state
    x ^= x << 13
    x >>>= 0
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x >>> 0
    return this.#state / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)]!
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.int(256))
  }
}

/** Spreads seeds that lie close together (splitmix32). */
function mix(seed: number): number {
  let x = (seed + 0x9e3779b9) >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
  return (x ^ (x >>> 15)) >>> 0
}
