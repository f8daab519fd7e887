import type { Offer } from '../decide/offer.ts'
import { isOfferedAnother } from '../decide/standing.ts'
import { connectionIdOf, type Instance, type Workload } from './model.ts'

/*
 * The one place that writes what an instance was offered (`offer`, `unansweredOtherHash`) and whether anything may be
 * offered in a workload (`isFrozen`). To everybody else these are read only.
 */

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }
type OfferHolder = Writable<Pick<Instance, 'offer' | 'unansweredOtherHash'>>

/** The offer as this module changes it; null where there is none. */
const own = ({ offer }: Pick<Instance, 'offer'>): Writable<Offer> | null => offer

/** Its assignment is being changed, or may have failed: nothing is offered in this workload until that is settled. */
export function freezeOffers(workload: Workload): void {
  const writable: Writable<Pick<Workload, 'isFrozen'>> = workload
  writable.isFrozen = true
}

/** What is assigned in this workload is settled: what is due may be offered. */
export function unfreezeOffers(workload: Workload): void {
  const writable: Writable<Pick<Workload, 'isFrozen'>> = workload
  writable.isFrozen = false
}

/** Begin a new offer to an instance; an earlier one of another config that was never answered stays in mind. */
export function startOffer(
  instance: Instance,
  { pushId, hash, generation }: Pick<Offer, 'pushId' | 'hash' | 'generation'>,
  { isCommitted, nowMs }: { isCommitted: boolean; nowMs: number },
): void {
  const before = instance.offer
  const holder: OfferHolder = instance
  if (before !== null && isOfferedAnother({ offer: before, connectionId: connectionIdOf(instance) }, hash))
    holder.unansweredOtherHash = before.hash
  const carries = before !== null && before.hash === hash && before.ended === null && before.isCommitted
  holder.offer = {
    pushId,
    hash,
    generation,
    isCommitted,
    startedAtMs: nowMs,
    // An outstanding offer of the same hash carries over as this push's.
    lastSentAtMs: carries ? before.lastSentAtMs : null,
    lastSentOn: carries ? before.lastSentOn : null,
    sendsOnConnection: carries ? before.sendsOnConnection : 0,
    repeats: carries ? before.repeats : 0,
    wasDropped: false,
    hasStatus: false,
    ended: null,
    endedOn: null,
  }
}

/** Nothing is offered to this instance any more. */
export function withdrawOffer(instance: Instance): void {
  const holder: OfferHolder = instance
  holder.offer = null
}

/** The row of its offer is stored: a frame may go out. */
export function commitOffer(instance: Instance): void {
  const offer = own(instance)
  if (offer !== null) offer.isCommitted = true
}

/** A frame with the offer goes out once more after the offer had ended. */
export function reopenOffer(instance: Instance): void {
  const offer = own(instance)
  if (offer === null || offer.ended === null) return
  offer.ended = null
  offer.endedOn = null
}

/** A frame with the offer went out on this connection. One that a repeated poll asked for makes up for the last. */
export function noteOfferSent(
  instance: Instance,
  connectionId: number,
  { nowMs, isRepeat }: { nowMs: number; isRepeat: boolean },
): void {
  const offer = own(instance)
  if (offer === null) return
  if (!isRepeat) offer.sendsOnConnection = offer.lastSentOn === connectionId ? offer.sendsOnConnection + 1 : 1
  offer.repeats = isRepeat ? offer.repeats + 1 : 0
  offer.lastSentOn = connectionId
  offer.lastSentAtMs = nowMs
  offer.wasDropped = false
  offer.hasStatus = false
}

/** The socket had no room for the frame. */
export function noteOfferDropped(instance: Instance): void {
  const offer = own(instance)
  if (offer !== null) offer.wasDropped = true
}

/** The instance said something of the config that it was offered. */
export function noteOfferAnswered(instance: Instance): void {
  const offer = own(instance)
  if (offer !== null) offer.hasStatus = true
}

/** What was offered has had its end, on the connection that the instance is on. */
export function endOffer(instance: Instance, ended: NonNullable<Offer['ended']>): void {
  const offer = own(instance)
  if (offer === null) return
  offer.ended = ended
  offer.endedOn = instance.connection?.id ?? null
}

/** What was sent or ended on the instance's connection before does not count for the one that it has now. */
export function forgetOfferConnection(instance: Instance): void {
  const offer = own(instance)
  if (offer === null) return
  offer.lastSentOn = null
  offer.endedOn = null
}

/** No earlier offer of another config can overtake what the instance says any more. */
export function settleEarlierOffers(instance: Instance): void {
  const holder: OfferHolder = instance
  holder.unansweredOtherHash = null
}
