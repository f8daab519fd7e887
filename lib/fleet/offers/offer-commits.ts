import { insertOffers, type PushTarget, type TargetOfPush } from '../../store/push-targets.ts'
import { addTarget } from '../state/followed-push.ts'
import type { FollowedPush, Instance, Workload } from '../state/model.ts'
import { commitOffer, withdrawOffer } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import { followedPushes } from '../state/state.ts'
import type { PollAnswers } from './poll-answers.ts'

const COMMIT_MS = 10
const RETRY_MS = 1_000

interface Waiting {
  workload: Workload
  followed: FollowedPush
  target: PushTarget
  instance: Instance
}

/** Stores offers before they are sent, those of a few milliseconds in one transaction. */
export class OfferCommits {
  readonly #parts: FleetParts
  readonly #polls: PollAnswers
  #waiting = new Map<Instance, Waiting>()
  #isCommitting = false
  #isScheduled = false

  constructor(parts: FleetParts, polls: PollAnswers) {
    this.#parts = parts
    this.#polls = polls
  }

  /** Offers that wait to be stored. */
  get count(): number {
    return this.#waiting.size
  }

  has(instance: Instance): boolean {
    return this.#waiting.has(instance)
  }

  /** Store the offer that was begun on this instance; `target` counts once its row is written. */
  store(instance: Instance, workload: Workload, followed: FollowedPush, target: PushTarget): void {
    this.#waiting.set(instance, { workload, followed, target, instance })
    this.#schedule(COMMIT_MS)
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.deps.timers.after(delayMs, () => {
      this.#isScheduled = false
      void this.#commit()
    })
  }

  /** Store the waiting offers together; those that are stored, and still assigned, go out. */
  async #commit(): Promise<void> {
    if (this.#isCommitting || this.#waiting.size === 0) return
    this.#isCommitting = true
    const { deps } = this.#parts
    const batch = [...this.#waiting.values()]
    this.#waiting = new Map()
    try {
      const stored = await deps.db.transaction('offers.store', (tx) =>
        insertOffers(
          tx,
          batch.map(({ followed, target }): TargetOfPush => ({ pushId: followed.push.pushId, target })),
        ),
      )
      for (const entry of batch) this.#afterCommit(entry, stored)
    } catch (error) {
      deps.log.warn({ err: error, offers: batch.length }, 'offers could not be stored yet')
      for (const { instance, followed } of batch) {
        // A push that was committed meanwhile has begun another offer to this instance, which stays.
        if (instance.offer?.pushId !== followed.push.pushId || instance.offer.isCommitted) continue
        withdrawOffer(instance)
        this.#polls.giveUp(instance)
      }
      deps.timers.after(RETRY_MS, () => {
        for (const entry of batch) this.#afterDoubt(entry)
      })
    } finally {
      this.#isCommitting = false
      if (this.#waiting.size > 0) this.#schedule(COMMIT_MS)
    }
  }

  #afterCommit({ followed, target, instance }: Waiting, stored: ReadonlySet<string>): void {
    const { tell } = this.#parts
    const isStored = stored.has(`${followed.push.pushId}/${instance.uid}`)
    const isOfThis = instance.offer?.pushId === followed.push.pushId
    if (isOfThis && isStored) commitOffer(instance)
    else {
      if (isOfThis) withdrawOffer(instance)
      this.#polls.giveUp(instance)
    }
    // The row is stored, so the target counts, also where the instance moved away meanwhile: then it ends as moved.
    if (isStored && !followed.targets.has(instance.uid)) {
      addTarget(followed, target, this.#parts.deps.clock)
      if (followed.lossCount > 0) followed.hasReturned = true
      tell({ kind: 'target-moved', followed })
    }
    tell({ kind: 'offer-due', instance })
  }

  /** It is not known whether the row was stored: offer again where that is still due, else count the row as stored. */
  #afterDoubt({ workload, followed, target, instance }: Waiting): void {
    const { writer, tell } = this.#parts
    tell({ kind: 'offer-due', instance })
    // Where the offer is being stored once more, the outcome of that decides.
    const isTriedAgain = instance.offer?.pushId === followed.push.pushId
    if (isTriedAgain || workload.isDeleted || followed.targets.has(instance.uid)) return
    // Nobody is assigned the push any more: the row was closed with the others, and counts among them.
    if (target.state === 'offered' && !followedPushes(workload).includes(followed))
      target.state = 'superseded'
    addTarget(followed, target, this.#parts.deps.clock)
    writer.target({ pushId: followed.push.pushId, target })
    tell({ kind: 'target-moved', followed })
  }
}
