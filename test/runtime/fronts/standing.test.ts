import { expect, it } from 'vitest'
import type { KnownOwner } from '../../../lib/cluster/proofs.ts'
import { isCutOff, isLeft } from '../../../runtime/fronts/cut-off.ts'
import { Standing } from '../../../runtime/fronts/standing.ts'
import { fakeClock } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'

function startStanding(answers: Record<string, KnownOwner>) {
  const timers = manualTimers(fakeClock())
  const world = { asksOthers: false, answers }
  const standing = new Standing({
    self: { id: 'self', address: 'self:1' },
    others: () => [{ id: 'other', address: 'other:1' }],
    asksOthers: () => world.asksOthers,
    ask: async ({ address }) => world.answers[address] ?? null,
    onLooked() {},
    timers,
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const look = async (times = 1) => {
    for (let count = 0; count < times; count++) {
      timers.advance(1_000)
      await settle()
    }
  }
  standing.start()
  return { standing, world, settle, look }
}

it('is reached where it answers itself at its address, and not where another member does', async () => {
  const { standing, world, settle, look } = startStanding({ 'self:1': { id: 'another', linkedEpoch: 1 } })
  await settle()
  expect(standing).toMatchObject({ isReached: false, wasReached: false })
  world.answers['self:1'] = { id: 'self', linkedEpoch: 1 }
  await look()
  expect(standing).toMatchObject({ isReached: true, wasReached: true })
  delete world.answers['self:1']
  await look(20)
  expect(standing).toMatchObject({ isReached: false, wasReached: true })
})

it('knows the newest owner that others follow once it asks them', async () => {
  const { standing, world, settle, look } = startStanding({ 'other:1': { id: 'other', linkedEpoch: 7 } })
  await settle()
  expect(standing).toMatchObject({ reachedIds: [], newestEpoch: 0 })
  world.asksOthers = true
  await look()
  expect(standing).toMatchObject({ reachedIds: ['other'], newestEpoch: 7, linkedEpoch: 7 })
  // It has lost its link since, as others say once they have: what was newest stays so.
  world.answers['other:1'] = { id: 'other', linkedEpoch: 0 }
  await look()
  expect(standing).toMatchObject({ reachedIds: ['other'], newestEpoch: 7, linkedEpoch: 0 })
  world.answers['other:1'] = { id: 'other', linkedEpoch: 8 }
  await look()
  world.asksOthers = false
  await look()
  expect(standing).toMatchObject({ reachedIds: [], newestEpoch: 8, linkedEpoch: 0 })
})

it('believes no answer of a member that was not asked', async () => {
  const { standing, world, look } = startStanding({ 'other:1': { id: 'a third', linkedEpoch: 7 } })
  world.asksOthers = true
  await look()
  expect(standing).toMatchObject({ reachedIds: [], newestEpoch: 0 })
})

it.each([
  ['has renewed itself lately', { unrenewedMs: 9_000 }, false],
  ['has another front linked: the database is away for all', { links: { hasOtherThan: () => true } }, false],
  ['is the only member that it knew', { members: [{ id: 'self' }] }, false],
  ['could not renew itself and has no front linked any more', {}, true],
])('an owner that %s', (_, differs, expected) => {
  const known = {
    unrenewedMs: 10_000,
    members: [{ id: 'self' }, { id: 'other' }],
    selfId: 'self',
    links: { hasOtherThan: () => false },
    ...differs,
  }
  expect(isLeft(known, 10_000)).toBe(expected)
})

it.each([
  ['has had no link for half a minute, while another one has one', {}, true],
  ['has had none for less long', { link: { isForeign: false, downMs: 29_999 } }, false],
  ['knows of no owner', { owner: null }, false],
  ['knows of itself alone', { heard: [{ id: 'self', linkedEpoch: 3 }] }, false],
  ['knows of another link to a former owner', { heard: [{ id: 'other', linkedEpoch: 2 }] }, false],
  ['has heard of nobody lately', { heard: [] }, false],
  ['was just told by another one of its link', { heard: [], linkedEpoch: 3 }, true],
  ['was told of a link to a former owner', { heard: [], linkedEpoch: 2 }, false],
  ['gets no link from this owner', { link: { isForeign: true, downMs: 0 } }, true],
])('a front that %s', (_, differs, expected) => {
  const known = {
    link: { isForeign: false, downMs: 30_000 },
    owner: { epoch: 3 },
    heard: [
      { id: 'self', linkedEpoch: null },
      { id: 'other', linkedEpoch: 3 },
    ],
    selfId: 'self',
    linkedEpoch: 0,
    ...differs,
  }
  expect(isCutOff(known)).toBe(expected)
})
