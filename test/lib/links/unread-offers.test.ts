import { expect, it } from 'vitest'
import { FrontAgents } from '../../../lib/links/front-agents.ts'
import { FrontOffers, type FrontOffersParts } from '../../../lib/links/front-offers.ts'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { OfferTexts } from '../../../lib/links/offer-texts.ts'
import { silentLog } from '../../../lib/log.ts'
import { decodeFrame, messageOf } from '../../../lib/opamp/codec.ts'
import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import type { Db } from '../../../lib/store/db.ts'
import { nextTurn } from '../../../lib/turns.ts'
import { fakeClock } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { agentFrame, uidBytes } from '../../support/opamp-messages.ts'

// An owner offers again each second what a front could not send. A front that cannot read the text all that time has lost
// the database alone; one whose database was away for all, and comes back here a moment later, has not.

function open() {
  const clock = fakeClock()
  let takesMs = 0
  const find = async () => {
    clock.advance(takesMs)
    return null
  }
  const texts = { isFailing: true, find, at: () => null }
  const offers = new FrontOffers({ clock, texts } as unknown as FrontOffersParts)
  const offer = async (afterMs: number) => {
    clock.advance(afterMs)
    await offers.find({ hash: 'a' } as never)
    const { sinceMs, untilMs } = offers.unread!
    return untilMs - sinceMs
  }
  const hang = (ms: number) => {
    takesMs = ms
  }
  return { offers, offer, hang }
}

it('what cannot be read over and over counts from the first offer on', async () => {
  const { offers, offer } = open()
  expect(offers.unread).toBeNull()
  expect(await offer(1_000)).toBe(0)
  for (let n = 1; n < 30; n++) expect(await offer(1_000)).toBe(n * 1_000)
})

it('what a silent database keeps waiting counts as well: the owner hears of each only after a while', async () => {
  const { offer, hang } = open()
  hang(5_000)
  for (let n = 0; n < 6; n++) await offer(1_000)
  expect(await offer(1_000)).toBe(36_000)
})

it('what could not be read once before and once after an outage of all says nothing about the time between', async () => {
  const { offer } = open()
  await offer(1_000)
  expect(await offer(60_000)).toBe(0)
})

it('what a few pollers are offered counts from the second on: an outage of all has no more than two ends', async () => {
  const { offer } = open()
  await offer(1_000)
  expect(await offer(30_000)).toBe(0)
  expect(await offer(30_000)).toBe(30_000)
  expect(await offer(30_000)).toBe(60_000)
})

it('a front asks again by itself what it could not read, and none is unread any more once the database has answered', async () => {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  let isAway = true
  const query = async () => {
    if (isAway) throw new Error('no session is left')
    return []
  }
  const agents = new FrontAgents({
    clock,
    timers,
    texts: new OfferTexts({ query } as unknown as Db, silentLog),
    reported: { reportedConfig: () => true, hasRoomForConfigs: true } as never,
    normalise: async () => null,
  })
  agents.linked({ version: LINK_VERSIONS.newest, epoch: 1, send: () => undefined } as never)
  const frame = agentFrame({ instanceUid: uidBytes(1), sequenceNum: 1, capabilities: 0x1807 })
  const intake = decodeFrame(frame)
  if (!intake.ok) throw new Error(intake.code)
  const connection: AgentConnection = { id: 1, transport: 'ws', send: () => 'sent', drop: () => undefined }
  agents.receive(connection, intake.report, { message: messageOf(frame) })
  const message = { offer: { hash: 'a', workloadId: 'w1', generation: 1 } }
  const offer = async (n: number) => {
    const entry = ['tell', 1, Buffer.from(uidBytes(1)).toString('hex'), message, n] as never
    agents.take({ cell: 0, epoch: 1, atMs: clock.monotonicMs(), entries: [entry] })
    await nextTurn()
  }
  const pass = async (ms: number) => {
    timers.advance(ms)
    await nextTurn()
  }
  await offer(1)
  await pass(1_000)
  await offer(2)
  expect(agents.unread!.untilMs - agents.unread!.sinceMs).toBe(1_000)
  await pass(60_000)
  expect(agents.unread).not.toBeNull()
  isAway = false
  await pass(5_000)
  expect(agents.unread).toBeNull()
  // What fails after that begins anew.
  isAway = true
  await offer(3)
  expect(agents.unread!.untilMs - agents.unread!.sinceMs).toBe(0)
})
