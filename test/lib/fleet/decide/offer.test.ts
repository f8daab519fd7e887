import { describe, expect, it } from 'vitest'
import { decideOffer, type Offer, type OfferFacts } from '../../../../lib/fleet/decide/offer.ts'

const HASH = 'a'.repeat(64)
const OTHER = 'b'.repeat(64)
const NOW = 1_000_000

const FACTS: OfferFacts = {
  assignment: { pushId: 'p', hash: HASH, generation: 3 },
  hasStoppedOffers: false,
  isCapable: true,
  isCompatible: true,
  areComponentsAwaited: false,
  canReport: true,
  isQuarantined: false,
  reported: { isKnown: true, hash: '', status: 'none', sinceMs: 0 },
  isOldFailure: false,
  offer: null,
  unansweredOtherHash: null,
  lateHash: null,
  connectionId: 7,
  nowMs: NOW,
}

const SENT: Offer = {
  pushId: 'p',
  hash: HASH,
  generation: 3,
  isCommitted: true,
  lastSentAtMs: NOW - 1_000,
  lastSentOn: 7,
  leftOn: 7,
  hasLeft: true,
  sendsOnConnection: 1,
  startedAtMs: 0,
  repeats: 0,
  wasDropped: false,
  hasStatus: false,
  ended: null,
  formerSentAtMs: null,
  endedOn: null,
}

const decide = (facts: Partial<OfferFacts>) => decideOffer({ ...FACTS, ...facts })
const reports = (hash: string, status: 'applied' | 'applying' | 'failed', sinceMs = NOW) =>
  ({ isKnown: true, hash, status, sinceMs }) as const

describe('an instance that was not offered its config yet', () => {
  it('is offered it when it has none, or another', () => {
    expect(decide({})).toEqual({ kind: 'offer', cause: 'assigned' })
    expect(decide({ reported: reports(OTHER, 'applied') })).toEqual({ kind: 'offer', cause: 'assigned' })
  })

  it('is left alone while it has not said what it runs', () => {
    expect(decide({ reported: { isKnown: false } })).toEqual({ kind: 'nothing', why: 'unknown' })
  })

  it('is left alone when it already runs it', () => {
    expect(decide({ reported: reports(HASH, 'applied') })).toEqual({ kind: 'satisfied' })
  })

  it('is offered it although it reports it as applied, when an offer of another may still overtake that', () => {
    const facts = { reported: reports(HASH, 'applied'), unansweredOtherHash: OTHER }
    expect(decide(facts)).toEqual({ kind: 'offer', cause: 'assigned' })
  })

  it('is offered it although it reports it, while an offer of another is out that it has not answered', () => {
    const another: Offer = { ...SENT, hash: OTHER, generation: 2 }
    const reported = reports(HASH, 'applied')
    expect(decide({ reported, offer: another })).toEqual({ kind: 'offer', cause: 'assigned' })
    // An offer that was sent on a former connection is settled by what the instance reports on this one.
    expect(decide({ reported, offer: { ...another, lastSentOn: 6 } })).toEqual({ kind: 'satisfied' })
    expect(decide({ reported, offer: { ...another, ended: 'failed' } })).toEqual({ kind: 'satisfied' })
    expect(decide({ reported, offer: { ...another, lastSentAtMs: null } })).toEqual({ kind: 'satisfied' })
  })

  it('is offered a config again that it failed before the push, and not one that it failed for all we know', () => {
    const failed = { reported: reports(HASH, 'failed') }
    expect(decide({ ...failed, isOldFailure: true })).toEqual({ kind: 'offer', cause: 'assigned' })
    expect(decide(failed)).toEqual({ kind: 'nothing', why: 'failed-here' })
  })

  it.each([
    ['nothing is assigned', { assignment: null }, 'unassigned'],
    ['the assignment is changing', { hasStoppedOffers: true }, 'stopped'],
    ['it does not accept configs', { isCapable: false }, 'not-capable'],
    ['it lacks a component', { isCompatible: false }, 'not-compatible'],
    ['its components are being asked for', { areComponentsAwaited: true }, 'components-awaited'],
    ['the config is quarantined', { isQuarantined: true }, 'quarantined'],
  ])('is left alone when %s', (_, facts, why) => {
    expect(decide(facts)).toEqual({ kind: 'nothing', why })
  })
})

describe('an instance that was offered its config', () => {
  it('is not offered it again on the same connection before 120 s without a status', () => {
    expect(decide({ offer: SENT })).toEqual({ kind: 'nothing', why: 'waiting' })
    const late = { ...SENT, lastSentAtMs: NOW - 120_000 }
    expect(decide({ offer: late })).toEqual({ kind: 'offer', cause: 'no-status' })
  })

  it('is offered it again when it began to apply it and then names another one', () => {
    const offer = { ...SENT, lastSentAtMs: NOW - 120_000, hasStatus: true }
    const reported = reports('0'.repeat(64), 'applied')
    expect(decide({ offer, reported })).toEqual({ kind: 'offer', cause: 'no-status' })
    const often = { ...offer, sendsOnConnection: 3 }
    expect(decide({ offer: often, reported })).toEqual({ kind: 'straggler' })
  })

  it('is a straggler after three frames on one connection', () => {
    const offer = { ...SENT, lastSentAtMs: NOW - 120_000, sendsOnConnection: 3 }
    expect(decide({ offer })).toEqual({ kind: 'straggler' })
  })

  it('is offered it again on a new connection, but not while it reports that it applies it', () => {
    expect(decide({ offer: SENT, connectionId: 8 })).toEqual({ kind: 'offer', cause: 'new-connection' })
    const applying = { offer: SENT, connectionId: 8, reported: reports(HASH, 'applying') }
    expect(decide(applying)).toEqual({ kind: 'nothing', why: 'waiting' })
  })

  it('is offered it again after five minutes of applying, and when the socket dropped the frame', () => {
    const offer = { ...SENT, lastSentAtMs: NOW - 300_000 }
    expect(decide({ offer, reported: reports(HASH, 'applying') })).toEqual({
      kind: 'offer',
      cause: 'applying-too-long',
    })
    expect(decide({ offer: { ...SENT, wasDropped: true } })).toEqual({ kind: 'offer', cause: 'send-dropped' })
  })

  it('gets no frame before its offer is stored', () => {
    const offer = { ...SENT, isCommitted: false, lastSentAtMs: null, lastSentOn: null }
    expect(decide({ offer })).toEqual({ kind: 'nothing', why: 'committing' })
  })

  it('is never offered again what it failed, also when it went back to another by itself', () => {
    const offer: Offer = { ...SENT, ended: 'failed', endedOn: 7 }
    expect(decide({ offer, reported: reports(OTHER, 'applied') })).toEqual({
      kind: 'nothing',
      why: 'failed-here',
    })
    expect(decide({ offer, connectionId: 8, reported: reports(OTHER, 'applied') })).toEqual({
      kind: 'nothing',
      why: 'failed-here',
    })
  })

  it('is brought back on a new connection when it forgot what it had applied', () => {
    const offer: Offer = { ...SENT, ended: 'applied', endedOn: 7 }
    expect(decide({ offer, reported: reports(OTHER, 'applied') })).toEqual({
      kind: 'nothing',
      why: 'went-elsewhere',
    })
    expect(decide({ offer, connectionId: 8 })).toEqual({ kind: 'offer', cause: 'new-connection' })
  })
})

describe('an instance that cannot report', () => {
  it('is offered a generation once a connection, whatever it says', () => {
    const facts = { canReport: false, reported: { isKnown: false } as const }
    expect(decide(facts)).toEqual({ kind: 'offer', cause: 'assigned' })
    expect(decide({ ...facts, offer: { ...SENT, lastSentAtMs: 0 } })).toEqual({
      kind: 'nothing',
      why: 'waiting',
    })
    expect(decide({ ...facts, offer: SENT, connectionId: 8 })).toEqual({
      kind: 'offer',
      cause: 'new-connection',
    })
  })
})
