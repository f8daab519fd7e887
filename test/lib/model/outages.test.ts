import { expect, it } from 'vitest'
import { findOutages, type Lost } from '../../../lib/model/outages.ts'

const lostAt = (since: string): Lost => ({ since: `2026-11-30T${since}Z`, environment: '', cluster: '' })

it('an outage is dated by when most were lost, not by one that had gone a moment before', () => {
  const items = [
    lostAt('02:31:10.000'),
    ...Array.from({ length: 60 }, () => lostAt('02:32:41.000')),
    ...Array.from({ length: 300 }, (_, at) => lostAt(`02:33:${42 + (at % 10)}.000`)),
  ]
  const [found, ...more] = findOutages(items, (lost) => lost)
  expect(more).toEqual([])
  expect(found!.outage).toMatchObject({ count: 361, since: '2026-11-30T02:33:42.000Z' })
})

it('what goes on for hours is not one, and a few are none', () => {
  const hours = Array.from({ length: 40 }, (_, at) => lostAt(`0${2 + (at % 4)}:00:00.000`))
  expect(findOutages(hours, (lost) => lost).map(({ outage }) => outage.count)).toEqual([10, 10, 10, 10])
  expect(findOutages(hours.slice(0, 9), (lost) => lost)).toEqual([])
})
