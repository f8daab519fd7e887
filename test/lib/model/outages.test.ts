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

const many = (count: number, since: string, where: Partial<Lost> = {}): Lost[] =>
  Array.from({ length: count }, () => ({ ...lostAt(since), ...where }))
const countsOf = (...items: Lost[][]): number[] =>
  findOutages(items.flat(), (lost) => lost).map(({ outage }) => outage.count)

it('two peaks within minutes of each other are two, with what lies before the valley in the first', () => {
  const peaks = [many(100, '02:31:10.000'), many(3, '02:32:10.000'), many(80, '02:33:10.000')]
  expect(countsOf(...peaks)).toEqual([103, 80])
  expect(countsOf(many(100, '02:31:10.000'), many(80, '02:33:10.000'))).toEqual([100, 80])
  // One that swells, ebbs and drags on is one.
  expect(countsOf(many(100, '02:31:10.000'), many(70, '02:32:10.000'), many(90, '02:33:10.000'))).toEqual([
    260,
  ])
  expect(countsOf(many(900, '02:31:10.000'), many(40, '02:33:10.000'))).toEqual([940])
  expect(countsOf(many(30, '02:31:10.000'), many(6, '02:33:10.000'))).toEqual([36])
})

it('many in one place right after many in another are two, and those of one place are one', () => {
  const [east, west] = [{ cluster: 'east' }, { cluster: 'west' }]
  expect(countsOf(many(60, '02:31:10.000', east), many(50, '02:32:10.000', west))).toEqual([60, 50])
  const [qa, stage] = [{ environment: 'qa' }, { environment: 'stage' }]
  expect(countsOf(many(60, '02:31:10.000', qa), many(50, '02:32:10.000', stage))).toEqual([60, 50])
  expect(countsOf(many(60, '02:31:10.000', east), many(50, '02:32:10.000', east))).toEqual([110])
})
