import { describe, expect, it } from 'vitest'
import { decideOffer, SENDS_MAX } from '../../../../lib/fleet/decide/offer.ts'
import { createInstance } from '../../../../lib/fleet/intake/new-instance.ts'
import {
  commitOffer,
  noteOfferNotSent,
  noteOfferSent,
  startOffer,
} from '../../../../lib/fleet/state/offer-state.ts'
import { fakeClock, hearing } from '../../../support/fakes.ts'
import { uidBytes } from '../../../support/opamp-messages.ts'

const ASSIGNMENT = { pushId: 'p1', hash: 'a'.repeat(64), generation: 1 }
const CONNECTION = 7

/** An instance that was offered its assignment so often, and what is decided for it right afterwards. */
function offered(times: number) {
  const instance = createInstance('01'.repeat(16), uidBytes(1), hearing(fakeClock()))
  startOffer(instance, ASSIGNMENT, { isCommitted: false, nowMs: 0 })
  commitOffer(instance)
  const send = () => noteOfferSent(instance, CONNECTION, { nowMs: 0, isRepeat: false })
  for (let n = 0; n < times; n++) send()
  const decide = (canReport: boolean, nowMs = 0) =>
    decideOffer({
      assignment: ASSIGNMENT,
      hasStoppedOffers: false,
      isCapable: true,
      isCompatible: true,
      canReport,
      nowMs,
      areComponentsAwaited: false,
      isQuarantined: false,
      isOldFailure: false,
      unansweredOtherHash: null,
      lateHash: null,
      reported: { isKnown: true, hash: '', status: 'none', sinceMs: 0 } as const,
      offer: instance.offer,
      connectionId: CONNECTION,
    })
  return { instance, send, decide }
}

describe('an offer that did not leave the front', () => {
  it.each([true, false])('is made again (an agent that reports what became of it: %s)', (canReport) => {
    const { instance, decide } = offered(1)
    expect(decide(canReport).kind).toBe('nothing')
    noteOfferNotSent(instance)
    expect(decide(canReport).kind).toBe('offer')
  })

  it('does not count among the sends after which an agent is given up', () => {
    const { instance, send, decide } = offered(1)
    for (let n = 0; n < SENDS_MAX; n++) {
      send()
      noteOfferNotSent(instance)
    }
    expect(decide(true)).toEqual({ kind: 'offer', cause: 'send-dropped' })
    send()
    expect(decide(true, 86_400_000)).toEqual({ kind: 'offer', cause: 'no-status' })
    send()
    expect(decide(true, 86_400_000)).toEqual({ kind: 'straggler' })
  })
})
