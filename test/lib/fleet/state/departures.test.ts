import { expect, it } from 'vitest'
import { DEPARTURES_MAX, Departures } from '../../../../lib/fleet/state/departures.ts'

it('is remembered of so many agents, and of none for ever', () => {
  const departures = new Departures()
  for (let n = 0; n <= DEPARTURES_MAX; n++) departures.note(`agent ${n}`, 1_000, 1_000)
  expect(departures.hasLeftSince('agent 0', 500)).toBe(false)
  expect(departures.hasLeftSince('agent 1', 500)).toBe(true)
  expect(departures.hasLeftSince('agent 1', 1_500)).toBe(false)
  departures.note('another', 601_000, 601_000)
  expect(departures.hasLeftSince('agent 1', 500)).toBe(false)
  expect(departures.hasLeftSince('another', 600_000)).toBe(true)
  departures.forget('another')
  expect(departures.hasLeftSince('another', 600_000)).toBe(false)
})
