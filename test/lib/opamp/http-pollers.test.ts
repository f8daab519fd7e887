import { expect, test } from 'vitest'
import { createHttpPollers } from '../../../lib/opamp/http-pollers.ts'

test('many invented uids do not grow without end: the one unused for longest goes', () => {
  const evicted: number[] = []
  const pollers = createHttpPollers({ perSource: 3, inAll: 3 }, ({ id }) => void evicted.push(id))
  const first = pollers.of('a', 'here')
  pollers.of('b', 'here')
  pollers.of('c', 'here')
  expect(pollers.of('a', 'here')).toBe(first)
  pollers.of('d', 'here')
  expect(evicted).toEqual([-2])
  expect(pollers.size()).toBe(3)
  expect(pollers.of('a', 'here')).toBe(first)
})

test('a dropped connection is forgotten, and dropping it again spares its successor', () => {
  const pollers = createHttpPollers({ perSource: 3, inAll: 3 }, () => {})
  const first = pollers.of('a', 'here')
  first.connection.drop()
  expect(pollers.size()).toBe(0)
  const second = pollers.of('a', 'here')
  first.connection.drop()
  expect(pollers.of('a', 'here')).toBe(second)
})

test('an address that invents uids pushes out its own and nobody else', () => {
  const evicted: number[] = []
  const pollers = createHttpPollers({ perSource: 2, inAll: 10 }, ({ id }) => void evicted.push(id))
  const honest = pollers.of('honest', '192.0.2.1')
  for (let n = 0; n < 5; n++) pollers.of(`invented ${n}`, '192.0.2.2')
  expect(evicted).toEqual([-2, -3, -4])
  expect(pollers.size()).toBe(3)
  expect(pollers.of('honest', '192.0.2.1')).toBe(honest)
  // An agent that polls from another address counts for that address.
  pollers.of('honest', '192.0.2.2')
  expect(evicted).toEqual([-2, -3, -4, -5])
  pollers.forget('honest')
  expect(pollers.size()).toBe(1)
})
