import type { OnGone } from './oidc/oidc.ts'

/** Who waits for a place is told once whether he has it. */
type Tell = (isPlace: boolean) => void

/**
 * Places that networks share: who finds none waits, and one that becomes free goes round the networks, to those first
 * that hold none. Where no more may wait, the one gives way that has waited longest of the network with the most that
 * wait. So whoever has many addresses has more places than others, and keeps nobody out.
 */
export class FairPlaces {
  readonly #most: number
  readonly #waitingMost: number
  readonly #held = new Map<string, number>()
  /** Those that wait, by network; the network whose turn is next comes first, and of one who came first. */
  readonly #waiting = new Map<string, Set<Tell>>()
  #all = 0
  #waitingCount = 0

  /** So many places, and so many that wait for one at most. */
  constructor(most: number, waitingMost: number) {
    this.#most = most
    this.#waitingMost = waitingMost
  }

  /** Run this in a place of a network; null where there was none, or its sender left while it waited. */
  async within<T>(network: string, onGone: OnGone, run: () => Promise<T>): Promise<T | null> {
    if (this.#all < this.#most) this.#take(network)
    else if (!(await this.#wait(network, onGone))) return null
    try {
      return await run()
    } finally {
      this.#giveOn(network)
    }
  }

  #take(network: string): void {
    this.#all++
    this.#held.set(network, (this.#held.get(network) ?? 0) + 1)
  }

  #wait(network: string, onGone: OnGone): Promise<boolean> {
    if (this.#waitingCount >= this.#waitingMost) this.#pushOut()
    return new Promise((resolve) => {
      const mine = this.#waiting.get(network) ?? new Set<Tell>()
      this.#waiting.set(network, mine)
      const tell: Tell = (isPlace) => {
        if (!mine.delete(tell)) return
        if (mine.size === 0) this.#waiting.delete(network)
        this.#waitingCount--
        // Taken before anybody else can come in between.
        if (isPlace) this.#take(network)
        resolve(isPlace)
      }
      mine.add(tell)
      this.#waitingCount++
      onGone(() => tell(false))
    })
  }

  #pushOut(): void {
    let most = new Set<Tell>()
    for (const each of this.#waiting.values()) if (each.size > most.size) most = each
    const [longest] = most
    longest?.(false)
  }

  #giveOn(network: string): void {
    this.#all--
    const left = this.#held.get(network)! - 1
    if (left > 0) this.#held.set(network, left)
    else this.#held.delete(network)
    const networks = [...this.#waiting.keys()]
    const next = networks.find((each) => !this.#held.has(each)) ?? networks[0]
    if (next === undefined) return
    const theirs = this.#waiting.get(next)!
    // To the end of the round.
    this.#waiting.delete(next)
    this.#waiting.set(next, theirs)
    const [longest] = theirs
    longest!(true)
  }
}
