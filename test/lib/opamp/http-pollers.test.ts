import { expect, test } from 'vitest'
import { createHttpPollers } from '../../../lib/opamp/http-pollers.ts'

test('many invented uids do not grow without end: the one unused for longest goes', () => {
  const evicted: number[] = []
  const pollers = createHttpPollers(3, ({ id }) => void evicted.push(id))
  const first = pollers.of('a')
  pollers.of('b')
  pollers.of('c')
  expect(pollers.of('a')).toBe(first)
  pollers.of('d')
  expect(evicted).toEqual([-2])
  expect(pollers.size()).toBe(3)
  expect(pollers.of('a')).toBe(first)
})

test('a dropped connection is forgotten, and dropping it again spares its successor', () => {
  const pollers = createHttpPollers(3, () => {})
  const first = pollers.of('a')
  first.connection.drop()
  expect(pollers.size()).toBe(0)
  const second = pollers.of('a')
  first.connection.drop()
  expect(pollers.of('a')).toBe(second)
})
