import { expect, it } from 'vitest'
import { MemberAddresses } from '../../../runtime/fronts/member-addresses.ts'
import { eventually } from '../../support/eventually.ts'
import { fakeClock } from '../../support/fakes.ts'

const clock = fakeClock()

it('knows members by the address that they say, in the form in which a listener names a peer', () => {
  const known = new MemberAddresses(clock)
  known.note(['10.0.0.1:9', '[2001:DB8:0:0::1]:9', ':9', 'nonsense', 'a:b:c'])
  expect(['10.0.0.1', '2001:db8::1', '10.0.0.2', ''].map((address) => known.has(address))).toEqual([
    true,
    true,
    false,
    false,
  ])
  known.note(['10.0.0.2:9'])
  expect(['10.0.0.1', '10.0.0.2'].map((address) => known.has(address))).toEqual([false, true])
})

it('knows them by all that their name leads to, looks from time to time, and goes by the last answer meanwhile', async () => {
  const asked: string[] = []
  let answer = (): { address: string }[] => [{ address: '10.0.0.1' }, { address: '2001:db8::1' }]
  const known = new MemberAddresses(clock, async (host) => {
    asked.push(host)
    return answer()
  })
  const note = () => known.note(['one.example:9'])
  note()
  await eventually('it is known', () => known.has('10.0.0.1'))
  expect(known.has('2001:db8::1')).toBe(true)
  answer = () => {
    throw new Error('no such name')
  }
  clock.advance(29_999)
  note()
  expect(asked).toEqual(['one.example'])
  clock.advance(1)
  note()
  expect(asked).toEqual(['one.example', 'one.example'])
  expect(known.has('10.0.0.1')).toBe(true)
  answer = () => [{ address: '10.0.0.7' }]
  clock.advance(30_000)
  note()
  await eventually('the new one is known', () => known.has('10.0.0.7'))
  expect(known.has('10.0.0.1')).toBe(false)
})
