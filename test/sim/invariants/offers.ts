import { LOSSES_MIN } from '../../../lib/fleet/decide/losses.ts'
import {
  APPLYING_MS,
  NO_STATUS_MS,
  type Offer,
  type OfferCause,
  REPEATS_MAX,
  SENDS_MAX,
} from '../../../lib/fleet/decide/offer.ts'
import type { Instance, Workload } from '../../../lib/fleet/state/model.ts'
import { assignmentOfUid } from '../../../lib/fleet/state/state.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import { type Report, short } from './finding.ts'

interface Sent {
  /** The instance of that offer: a poller that was forgotten meanwhile gets another object. */
  instance: Instance
  pushId: string
  generation: number
  atMs: number
  /** When the offer before it was sent; its own time for the first. */
  formerAtMs: number
  /** Since when the process counted it as connected. */
  connectedAt: Date
  connectionId: number
  count: number
  /** How often an answer was given again to a repeated poll, since the last offer that was no such repeat. */
  repeats: number
}

/** An owner that can hear again takes what passed since its last look for heard. */
const TICK_MS = 1_000

/**
 * How often at most a push is offered to an agent that nothing but its config disturbs: to each of the processes that die
 * of it, and to one more.
 */
const UNDISTURBED_MAX = (LOSSES_MIN + 1) * SENDS_MAX

/** What one process offers one instance of a workload. */
const keyOf = (process: string, uid: string, workloadId: string | undefined): string =>
  `${process}/${uid}/${workloadId}`

/**
 * Offers are stored before they are sent, are sent once for each generation unless a stated cause allows a repeat, and
 * never hold a quarantined config.
 */
export class OfferPromises {
  readonly #report: Report
  readonly #watcher: Connection
  /** Frames with a config that were sent since the last `check`. */
  readonly #frames: { uid: string; hash: string; workloadId: string }[] = []
  readonly #sent = new Map<string, Sent>()
  /** How often each push was offered to each agent since nothing disturbs them any more; null while something does. */
  #undisturbed: Map<string, { count: number; returnsBefore: number }> | null = null

  constructor(watcher: Connection, report: Report) {
    this.#watcher = watcher
    this.#report = report
  }

  /** From now on agents lose their connections only where they die, say goodbye, or are told apart. */
  rests(): void {
    this.#undisturbed = new Map()
  }

  /** Whatever becomes of it, a push is offered to an agent a bounded number of times. */
  #countAll(uid: string, pushId: string, returns: number): void {
    const offered = this.#undisturbed
    if (offered === null) return
    const key = `${uid}/${pushId}`
    const { count, returnsBefore } = offered.get(key) ?? { count: 0, returnsBefore: returns }
    offered.set(key, { count: count + 1, returnsBefore })
    const most = UNDISTURBED_MAX + (returns - returnsBefore) * SENDS_MAX
    if (count === most) this.#report(`${uid} is offered push ${short(pushId)} over and over`)
  }

  /** The offer engine of one process tells that it sent an offer. */
  sent(
    process: string,
    instance: Instance,
    offer: Offer,
    cause: OfferCause,
    about: {
      nowMs: number
      /** When an agent under the uid last went to another connection (`linkedAtMs`) or workload (`placedAtMs`). */
      linkedAtMs: number
      placedAtMs: number
      isShared: boolean
      /** How often the agent has said goodbye and come back, where it does so over and over. */
      returns: number
    },
  ): void {
    const { nowMs, linkedAtMs, placedAtMs, isShared, returns } = about
    if (cause !== 'poll-repeated' && !isShared) this.#countAll(instance.uid, offer.pushId, returns)
    const key = keyOf(process, instance.uid, instance.workload?.id)
    const last = this.#sent.get(key)
    // Only the same assignment of the same instance counts as a repeat. When a rollout ends, its members go back to the
    // generation before, which is another assignment; so is that of a uid that was in another workload meanwhile.
    const isRepeat =
      last?.generation === offer.generation &&
      last.pushId === offer.pushId &&
      last.instance === instance &&
      last.atMs >= placedAtMs
    const before = isRepeat ? last : undefined
    const connectionId = instance.connection!.id
    // An agent that starts anew, comes back after it was counted as gone, or is told apart from another agent with the
    // same uid counts as reconnected, also where its connection stays open: a poller keeps its own for good, and other
    // agents keep a shared socket. A socket may be offered the config again at once only for a cause that says so.
    const isPoller = instance.connection!.transport === 'http'
    const isNewOne =
      before !== undefined && (linkedAtMs > before.atMs || instance.connectedAt !== before.connectedAt)
    const isBack = isNewOne || (isPoller && isShared)
    const isSame = before?.connectionId === connectionId && !(isPoller && isBack)
    const isRepeated = cause === 'poll-repeated'
    if (before !== undefined && isSame) {
      const silentMs = nowMs - before.atMs
      const isStated =
        (cause === 'no-status' && silentMs >= NO_STATUS_MS - TICK_MS) ||
        (cause === 'applying-too-long' && silentMs >= APPLYING_MS - TICK_MS) ||
        cause === 'send-dropped' ||
        // The agent was on another socket meanwhile, and came back to this one, which other agents had kept open; or
        // another agent under its uid spoke on a socket of its own, and what it said ended the offer.
        (cause === 'new-connection' && (linkedAtMs > before.atMs || isShared)) ||
        isRepeated
      if (!isStated)
        this.#report(`${instance.uid} was offered generation ${offer.generation} again: ${cause}`)
      if (!isRepeated && !isBack && before.count >= SENDS_MAX)
        this.#report(`${instance.uid} was offered more than ${SENDS_MAX} times`)
      if (isRepeated && before.repeats >= REPEATS_MAX)
        this.#report(`${instance.uid} was answered the same more than ${REPEATS_MAX} times again`)
    }
    const count = isSame && !isBack ? before!.count + Number(!isRepeated) : 1
    const repeats = isSame && !isBack && isRepeated ? before!.repeats + 1 : 0
    const { pushId, generation } = offer
    const { connectedAt } = instance
    this.#sent.set(key, {
      instance,
      pushId,
      generation,
      atMs: nowMs,
      formerAtMs: before?.atMs ?? nowMs,
      connectedAt,
      connectionId,
      count,
      repeats,
    })
  }

  /**
   * A push of this workload changed. Whoever is assigned another one by now is offered the former one as for the first
   * time where it comes back to it, also where nothing went out of the other one meanwhile: a poller is offered only what
   * it is assigned when it polls.
   */
  pushChanged(process: string, workload: Workload): void {
    for (const { uid } of workload.instances) {
      const key = keyOf(process, uid, workload.id)
      const last = this.#sent.get(key)
      if (last !== undefined && assignmentOfUid(workload, uid)?.push.pushId !== last.pushId)
        this.#sent.delete(key)
    }
  }

  /** The last offer of a process to this instance did not leave after all: it does not count as sent. */
  notSent(process: string, instance: Instance): void {
    const key = keyOf(process, instance.uid, instance.workload?.id)
    const last = this.#sent.get(key)
    if (last === undefined) return
    last.count--
    last.atMs = last.formerAtMs
    if (last.count === 0) this.#sent.delete(key)
  }

  /**
   * A config frame was sent to an agent of this workload. The workload is passed because its row for the agent is
   * stored later.
   */
  frame(uid: string, hash: string, workloadId: string): void {
    this.#frames.push({ uid, hash, workloadId })
  }

  /**
   * For each config frame since the last call there is a stored offer, and the config is not quarantined for that
   * agent.
   */
  async check(): Promise<void> {
    for (const { uid, hash, workloadId } of this.#frames.splice(0)) {
      const [found] = await this.#watcher.query<{ has_offer: boolean; is_quarantined: boolean }>(
        `select exists (select from push_targets t join pushes p using (push_id)
                        where t.instance_uid = $1 and p.config_hash = $2) as has_offer,
                exists (select from quarantines q join workloads w on w.id = q.workload_id
                        join pushes p on p.push_id in (w.active_push_id, w.rollout_push_id)
                        join push_targets t on t.push_id = p.push_id and t.instance_uid = $1
                        where w.id = $3 and q.config_hash = $2 and q.instance_uid in ('', $1)) as is_quarantined`,
        [uid, hash, workloadId],
      )
      if (!found!.has_offer) this.#report(`${uid} was offered ${hash} before the offer was stored`)
      if (found!.is_quarantined) this.#report(`${uid} was offered ${hash}, which is quarantined`)
    }
  }
}
