import type { KnownOwner } from '../../lib/cluster/proofs.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'

const LOOK_MS = 1_000
/** How many looks pass between two questions to oneself, once one was answered. */
const LOOKS_BETWEEN = 10

/** A member as this process can call it. */
interface Callable {
  id: string
  address: string
}

/** What the standing is made of. */
export interface StandingParts {
  self: Callable
  others(): readonly Callable[]
  /** Whether it matters now what the others say: the database does not tell, or this process cannot reach itself. */
  asksOthers(): boolean
  ask(member: Callable): Promise<KnownOwner | null>
  /** Called after each look. */
  onLooked(): void
  timers: Timers
}

/**
 * What a process learns from members at their addresses, itself among them, and the database cannot say: whether it can
 * be reached where its row says, and whether others follow another owner than the one it takes for it.
 */
export class Standing {
  readonly #parts: StandingParts
  #isStopped = false
  #looksLeft = 0
  /** It was reached at its own address when that was last tried. */
  isReached = false
  /** It was reached there at least once. */
  wasReached = false
  /** The other members that answered when they were last asked. */
  reachedIds: readonly string[] = []
  /** The newest epoch to whose owner another member has said it has a link. */
  newestEpoch = 0
  /** The same when the others were last asked; 0 where that is not asked now. */
  linkedEpoch = 0

  constructor(parts: StandingParts) {
    this.#parts = parts
  }

  start(): void {
    void this.#look()
  }

  stop(): void {
    this.#isStopped = true
  }

  async #look(): Promise<void> {
    const { timers, asksOthers, onLooked } = this.#parts
    if (!this.isReached || this.#looksLeft-- <= 0) await this.#lookAtSelf()
    if (asksOthers()) await this.#askOthers()
    else this.#noteAnswers([])
    if (this.#isStopped) return
    onLooked()
    timers.after(LOOK_MS, () => void this.#look())
  }

  async #lookAtSelf(): Promise<void> {
    const { ask, self } = this.#parts
    this.isReached = (await ask(self))?.id === self.id
    this.wasReached ||= this.isReached
    this.#looksLeft = LOOKS_BETWEEN
  }

  async #askOthers(): Promise<void> {
    const { ask, others } = this.#parts
    const answers = await Promise.all(others().map(async (other) => ({ other, known: await ask(other) })))
    const known = answers.flatMap((answer) => (answer.known?.id === answer.other.id ? [answer.known] : []))
    this.#noteAnswers(known)
  }

  #noteAnswers(known: readonly KnownOwner[]): void {
    this.reachedIds = known.map(({ id }) => id)
    this.linkedEpoch = Math.max(0, ...known.map(({ linkedEpoch }) => linkedEpoch))
    this.newestEpoch = Math.max(this.newestEpoch, this.linkedEpoch)
  }
}
