import { describe, expect, it } from 'vitest'
import { sharedRoom } from '../../runtime/body-room.ts'

const LONG = 2_000_000
const noHeader = () => ''
/** A room of 800 bytes: 200 for one caller, 100 that long bodies leave to small ones. */
const open = () => sharedRoom(800, (address) => (address === 'member' ? null : address))

describe('the room for bodies', () => {
  it('gives one address, or one user from wherever, a quarter', () => {
    const room = open()
    const body = room.begin('a', noHeader, LONG)
    expect([body.take(200), body.take(1)]).toEqual([true, false])
    expect(body.holdFor('ann')).toBe(true)
    expect(room.begin('a', noHeader, LONG).take(200)).toBe(true)
    const more = room.begin('b', noHeader, LONG)
    expect([more.take(1), more.holdFor('ann')]).toEqual([true, false])
    expect(more.holdFor('bob')).toBe(true)
    body.giveBack()
    expect(room.begin('c', noHeader, LONG).holdFor('ann')).toBe(true)
    expect(room.free()).toBe(800 - 200 - 1)
  })

  it('counts what comes after a user is known for that user', () => {
    const room = open()
    const body = room.begin('a', noHeader, LONG)
    expect(body.holdFor('ann')).toBe(true)
    expect([body.take(150), body.take(51)]).toEqual([true, false])
    const other = room.begin('b', noHeader, LONG)
    expect([other.holdFor('ann'), other.take(51), other.take(50)]).toEqual([true, false, true])
  })

  it('keeps an eighth for bodies that are small by their endpoint or by what they say', () => {
    const room = open()
    const take = (address: string, count: number, length = '', bytesMax = LONG) =>
      room.begin(address, () => length, bytesMax).take(count)
    for (const address of ['a', 'b', 'c']) expect(take(address, 200)).toBe(true)
    expect([take('d', 100), take('e', 1)]).toEqual([true, false])
    expect([take('e', 1, '65537'), take('e', 1, 'x'), take('e', 1, '-')]).toEqual([false, false, false])
    expect([take('e', 50, '', 8_192), take('f', 50, '50'), take('g', 1, '', 8_192)]).toEqual([
      true,
      true,
      false,
    ])
    expect(room.free()).toBe(0)
  })

  it('does not count a member, which speaks for many, before it is known for whom', () => {
    const room = open()
    const bodies = Array.from({ length: 3 }, () => room.begin('member', noHeader, LONG))
    expect(bodies.map((body) => body.take(150))).toEqual([true, true, true])
    expect(bodies.map((body) => body.holdFor('ann'))).toEqual([true, false, false])
  })

  it('gives everything back, once', () => {
    const room = open()
    const body = room.begin('a', noHeader, LONG)
    body.take(100)
    body.holdFor('ann')
    body.take(50)
    body.giveBack()
    body.giveBack()
    expect(room.free()).toBe(800)
    const again = room.begin('a', noHeader, LONG)
    expect([again.holdFor('ann'), again.take(200)]).toEqual([true, true])
  })
})
