import { describe, expect, it } from 'vitest'
import { sharedRoom } from '../../runtime/body-room.ts'

const LONG = { bytesMax: 2_000_000, isBeforeSignIn: false }
const SMALL = { bytesMax: 8_192, isBeforeSignIn: false }
const SIGN_IN = { bytesMax: 8_192, isBeforeSignIn: true }
const noHeader = () => ''
/** A room of 800 bytes: 200 for one caller, 100 for signing in, 100 that long bodies leave to small ones. */
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
    const take = (address: string, count: number, length = '', limit = LONG) =>
      room.begin(address, () => length, limit).take(count)
    for (const address of ['a', 'b', 'c']) expect(take(address, 200)).toBe(true)
    expect([take('e', 1), take('e', 1, '65537'), take('e', 1, 'x'), take('e', 1, '-')]).toEqual([
      false,
      false,
      false,
      false,
    ])
    expect([take('e', 50, '', SMALL), take('f', 50, '50'), take('g', 1, '', SMALL)]).toEqual([
      true,
      true,
      false,
    ])
    expect(room.free()).toBe(100)
  })

  it('has a share for those who sign in, which nobody else takes and which is all that they take', () => {
    const room = open()
    const take = (address: string, count: number, limit: typeof LONG) =>
      room.begin(address, noHeader, limit).take(count)
    expect(['a', 'b', 'c', 'd'].map((address) => take(address, 25, SIGN_IN))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(take('e', 1, SIGN_IN)).toBe(false)
    // An address that begins to sign in again and again has its quarter of the rest all the same.
    for (const address of ['a', 'b', 'c']) expect(take(address, 200, LONG)).toBe(true)
    expect(take('d', 100, SMALL)).toBe(true)
    const full = open()
    for (const address of ['a', 'b', 'c']) full.begin(address, noHeader, SMALL).take(200)
    full.begin('d', noHeader, SMALL).take(100)
    expect(full.begin('e', noHeader, SMALL).take(1)).toBe(false)
    const signIn = full.begin('e', noHeader, SIGN_IN)
    expect([signIn.take(25), signIn.take(1)]).toEqual([true, false])
  })

  it('takes the network that one customer has for one address', () => {
    const room = open()
    const take = (address: string, count: number) => room.begin(address, noHeader, LONG).take(count)
    expect(take('2001:db8:1:2::1', 150)).toBe(true)
    expect(take('2001:db8:1:2:ffff::9', 51)).toBe(false)
    expect(take('2001:db8:1:3::1', 51)).toBe(true)
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
