import { hasOutstandingOffer } from '../decide/abilities.ts'
import type { Offer } from '../decide/offer.ts'
import { isOfferedAnother, standsTo } from '../decide/standing.ts'
import { connectionIdOf, type Instance, type Workload } from './model.ts'

/*
 * The one place that writes what an instance was offered (`offer`, `unansweredOtherHash`, `lateHash`) and whether anything may be
 * offered in a workload (`hasStoppedOffers`). To all other modules these are read only.
 */

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }
type OfferHolder = Writable<Pick<Instance, 'offer' | 'unansweredOtherHash' | 'lateHash'>>

/** The offer as this module changes it; null where there is none. */
const own = ({ offer }: Pick<Instance, 'offer'>): Writable<Offer> | null => offer

/** Offer nothing more in this workload: its assignment is being changed, or its push may have failed. */
export function stopOffers(workload: Workload): void {
  const writable: Writable<Pick<Workload, 'hasStoppedOffers'>> = workload
  writable.hasStoppedOffers = true
}

/** Let offers in this workload go on: what is assigned is certain again. */
export function resumeOffers(workload: Workload): void {
  const writable: Writable<Pick<Workload, 'hasStoppedOffers'>> = workload
  writable.hasStoppedOffers = false
}

/** Begin a new offer to an instance; the hash of an earlier, unanswered one is kept in `unansweredOtherHash`. */
export function startOffer(
  instance: Instance,
  { pushId, hash, generation }: Pick<Offer, 'pushId' | 'hash' | 'generation'>,
  { isCommitted, nowMs }: { isCommitted: boolean; nowMs: number },
): void {
  const before = instance.offer
  const holder: OfferHolder = instance
  if (before !== null && isOfferedAnother({ offer: before, connectionId: connectionIdOf(instance) }, hash))
    holder.unansweredOtherHash = before.hash
  // What was sent on a connection that has ended is not answered on this one: it may be on its way to run it.
  else if (before !== null && hasOutstandingOffer({ offer: before }) && before.hash !== hash)
    holder.lateHash = before.hash
  if (holder.lateHash === hash) holder.lateHash = null
  const carries = before !== null && before.hash === hash && before.ended === null && before.isCommitted
  holder.offer = {
    pushId,
    hash,
    generation,
    isCommitted,
    startedAtMs: nowMs,
    // What was sent of an open offer of the same hash counts for this push as well.
    lastSentAtMs: carries ? before.lastSentAtMs : null,
    formerSentAtMs: carries ? before.formerSentAtMs : null,
    lastSentOn: carries ? before.lastSentOn : null,
    leftOn: carries ? before.leftOn : null,
    hasLeft: carries && before.hasLeft,
    sendsOnConnection: carries ? before.sendsOnConnection : 0,
    repeats: carries ? before.repeats : 0,
    wasDropped: false,
    hasStatus: false,
    ended: null,
    endedOn: null,
  }
}

/** Drop the offer to this instance; whether it gets another is decided anew. */
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

/** A frame with the offer went out on this connection. `isRepeat`: to a repeated poll, which is no further send. */
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
  offer.formerSentAtMs = offer.lastSentAtMs
  offer.lastSentAtMs = nowMs
  offer.wasDropped = false
  offer.hasStatus = false
}

/** The frame that was noted as sent last has left; not `isSure` of one that is only taken to have, until it says otherwise. */
export function noteOfferLeft(instance: Instance, { isSure }: { isSure: boolean }): void {
  const offer = own(instance)
  if (offer === null) return
  offer.leftOn = offer.lastSentOn
  if (isSure) offer.hasLeft = true
}

/** The socket had no room for the frame. */
export function noteOfferDropped(instance: Instance): void {
  const offer = own(instance)
  if (offer !== null) offer.wasDropped = true
}

/** The frame that was noted as sent last did not leave after all: it counts as never sent. */
export function noteOfferNotSent(instance: Instance): void {
  const offer = own(instance)
  if (offer === null) return
  offer.wasDropped = true
  offer.lastSentAtMs = offer.formerSentAtMs
  if (offer.lastSentAtMs === null) offer.hasLeft = false
  if (offer.repeats > 0) {
    offer.repeats--
    return
  }
  offer.sendsOnConnection--
  if (offer.sendsOnConnection > 0) return
  // On this connection none went out; on an earlier one it may have.
  offer.lastSentOn = null
  offer.leftOn = null
}

/** The instance said something of the config that it was offered. */
export function noteOfferAnswered(instance: Instance): void {
  const offer = own(instance)
  if (offer !== null) offer.hasStatus = true
}

/** The instance has applied or failed the offer, on its present connection. */
export function endOffer(instance: Instance, ended: NonNullable<Offer['ended']>): void {
  const offer = own(instance)
  if (offer === null) return
  offer.ended = ended
  offer.endedOn = instance.connection?.id ?? null
}

/** Treat the instance's present connection as a new one: nothing was sent or ended on it yet. */
export function forgetOfferConnection(instance: Instance): void {
  const offer = own(instance)
  if (offer === null) return
  offer.lastSentOn = null
  offer.leftOn = null
  offer.endedOn = null
}

/** The instance has answered since: an earlier offer of another config is not open any more. */
export function closeEarlierOffers(instance: Instance): void {
  const holder: OfferHolder = instance
  holder.unansweredOtherHash = null
  // Only an answer to what was sent on this connection comes after all that was sent on those before.
  if (instance.offer?.lastSentOn === connectionIdOf(instance)) holder.lateHash = null
  // Nor is what has come awaited any more.
  if (holder.lateHash !== null && standsTo(instance, holder.lateHash) === 'agrees') holder.lateHash = null
}

/** A former process may have sent this config to the instance, which has not said what became of it. */
export function noteMayComeTo(instance: Instance, hash: string): void {
  const holder: OfferHolder = instance
  holder.lateHash = hash
}

/**
 * The instance talks on another connection: what it says there is newer than any offer that was sent on the old one.
 * What it did not answer it may come to run all the same.
 */
export function leaveEarlierOffers(instance: Instance): void {
  const holder: OfferHolder = instance
  holder.lateHash = instance.unansweredOtherHash ?? instance.lateHash
  holder.unansweredOtherHash = null
}
