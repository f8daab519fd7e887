import { expect, it } from 'vitest'
import { ConnectionRoom } from '../../runtime/connection-room.ts'
import { Descriptors } from '../../runtime/descriptor-room.ts'

it('lets in more from an address that has a socket here, and not without end: strangers may share it', () => {
  const room = new ConnectionRoom(2, 4, new Descriptors(null))
  expect(['a', 'a', 'b'].map((address) => room.opened(address))).toEqual([true, true, false])
  room.closed()
  room.socketOpened('a')
  expect(['a', 'a', 'a', 'a'].map((address) => room.opened(address))).toEqual([true, true, true, false])
  expect([room.turnedAway, room.opened('b')]).toEqual([2, false])
})

it('lets in as many more from an address that is a known one, with or without a socket', () => {
  const room = new ConnectionRoom(1, 3, new Descriptors(null), (address) => address === 'member')
  expect(['a', 'a', 'member', 'member', 'member'].map((address) => room.opened(address))).toEqual([
    true,
    false,
    true,
    false,
    false,
  ])
})
