import { expect, it } from 'vitest'
import type { KnownOwner } from '../../../lib/cluster/proofs.ts'
import { isLeft } from '../../../runtime/fronts/cut-off.ts'
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
  expect(standing).toMatchObject({ areOthersReached: false, newestEpoch: 0 })
  world.asksOthers = true
  await look()
  expect(standing).toMatchObject({ areOthersReached: true, newestEpoch: 7 })
})

it('believes no answer of a member that was not asked', async () => {
  const { standing, world, look } = startStanding({ 'other:1': { id: 'a third', linkedEpoch: 7 } })
  world.asksOthers = true
  await look()
  expect(standing).toMatchObject({ areOthersReached: false, newestEpoch: 0 })
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
