import { expect, it } from 'vitest'
import { FrontOffers, type FrontOffersParts } from '../../../lib/links/front-offers.ts'
import { fakeClock } from '../../support/fakes.ts'

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
