import { describe, expect, it } from 'vitest'
import { Departures, TOLD_MAX, TOLD_MS } from '../../../lib/cluster/departures.ts'
import type { SeenMember } from '../../../lib/store/members.ts'

const START = Date.parse('2026-07-01T08:00:00.000Z')
const at = (ms: number) => new Date(START + ms)
const member = (id: string, silentMs = 0): SeenMember => ({
  id,
  silentMs,
  address: `${id}:1`,
  host: 'box',
  pid: 7,
  version: '1',
  linkVersion: 1,
  startedAt: at(0),
  ownedEpoch: null,
  ownedSince: null,
  linkedEpoch: null,
  newestMigration: 1,
  newestBreaking: 0,
  proof: null,
  isProvable: true,
})

describe('processes that are gone', () => {
  it('have left where they were heard of to the end, and vanished where they fell silent before', () => {
    const departures = new Departures()
    departures.note([member('a'), member('b', 300), member('c', 59_000)], 1_000, at(1_000))
    departures.note([member('a')], 2_000, at(2_000))
    const told = departures.list(2_000)
    expect(told.map(({ id, hasLeft, until }) => [id, hasLeft, until])).toEqual([
      ['c', false, at(-58_000)],
      ['b', true, at(700)],
    ])
    expect(told[0]).toMatchObject({ address: 'c:1', host: 'box', pid: 7, version: '1' })
  })

  it('are told of for an hour, and not where they come back', () => {
    const departures = new Departures()
    departures.note([member('a'), member('b')], 0, at(0))
    departures.note([], 1_000, at(1_000))
    departures.note([member('a')], 2_000, at(2_000))
    expect(departures.list(2_000).map(({ id }) => id)).toEqual(['b'])
    expect(departures.list(1_000 + TOLD_MS - 1)).toHaveLength(1)
    expect(departures.list(1_000 + TOLD_MS)).toEqual([])
    departures.note([], 1_000 + TOLD_MS, at(1_000 + TOLD_MS))
    // The other one went in this very moment.
    expect(departures.count).toBe(1)
  })

  it('are bounded: of processes that come and go all the time the last twenty are known', () => {
    const departures = new Departures()
    for (let time = 0; time < 3 * TOLD_MAX; time++) departures.note([member(`m${time}`)], time, at(time))
    expect(departures.count).toBe(TOLD_MAX)
    expect(departures.list(3 * TOLD_MAX)[0]!.id).toBe(`m${3 * TOLD_MAX - 2}`)
  })
})
