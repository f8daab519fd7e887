import { expect, it } from 'vitest'
import { openSeal } from '../../../../lib/identity/oidc/seal.ts'
import { fakeClock } from '../../../support/fakes.ts'

const SECRET = 'x'.repeat(40)

it('opens what it closed for the same purpose, until the time is over', async () => {
  const clock = fakeClock()
  const seal = openSeal(SECRET, clock)
  const sealed = await seal.close({ next: '/fleet' }, 'flow', 60)
  expect(sealed).not.toContain('fleet')
  expect(await seal.open(sealed, 'flow')).toEqual({ next: '/fleet' })
  expect(await seal.open(sealed, 'refusal')).toBeNull()
  clock.advance(61_000)
  expect(await seal.open(sealed, 'flow')).toBeNull()
})

it('opens nothing that another secret closed, that was changed, or that is no sealed text', async () => {
  const clock = fakeClock()
  const seal = openSeal(SECRET, clock)
  const foreign = await openSeal('y'.repeat(40), clock).close({}, 'flow', 60)
  const own = await seal.close({}, 'flow', 60)
  const changed = own.slice(0, -2) + (own.at(-2) === 'A' ? 'B' : 'A') + own.at(-1)
  for (const text of [foreign, changed, '', 'a.b.c', `${own}${'A'.repeat(4_096)}`])
    expect(await seal.open(text, 'flow')).toBeNull()
})
