import { expect, test } from 'vitest'
import { noFollowers } from '../../../../lib/audit/commit-followers.ts'
import { FleetCounters } from '../../../../lib/fleet/state/counters.ts'
import type { Db } from '../../../../lib/store/db.ts'

/** A stand-in for the database that holds open alerts only; `meanwhile` runs after they were read. */
function databaseOf(alerts: [workload: string, id: string][], meanwhile = () => {}): Db {
  return {
    async query<Row extends object>(text: string) {
      if (!text.includes('from alerts')) return []
      const rows = alerts.map(([workload_id, id]) => ({ workload_id, id }))
      queueMicrotask(meanwhile)
      return rows as Row[]
    },
    execute: async () => 0,
  }
}

test('takes over what is not as it was known, and says of which workloads', async () => {
  const changed: string[] = []
  const counters = new FleetCounters(noFollowers, (id) => changed.push(id))
  await counters.load(
    databaseOf([
      ['same', '1'],
      ['more', '2'],
      ['less', '3'],
    ]),
  )
  changed.length = 0
  const stored: [string, string][] = [
    ['same', '1'],
    ['more', '2'],
    ['more', '4'],
    ['new', '5'],
  ]
  expect(await counters.load(databaseOf(stored))).toEqual({
    adopted: expect.arrayContaining(['more', 'new', 'less']),
    passedOver: [],
  })
  expect(['same', 'more', 'less', 'new'].map((id) => counters.openAlerts(id))).toEqual([1, 2, 0, 1])
  expect(changed.sort()).toEqual(['less', 'more', 'new'])
})

test('passes over what changed while it was read: what was read may be older', async () => {
  const counters = new FleetCounters(noFollowers, () => {})
  await counters.load(databaseOf([['w', '1']]))
  const reading = databaseOf([['w', '1']], () => counters.alertResolved('w', '1'))
  expect(await counters.load(reading)).toEqual({ adopted: [], passedOver: ['w'] })
  expect(counters.openAlerts('w')).toBe(0)
  expect(await counters.load(databaseOf([]))).toEqual({ adopted: [], passedOver: [] })
})

test('counts what is said twice once', () => {
  const counters = new FleetCounters(noFollowers, () => {})
  for (const id of ['1', '1', '2']) counters.alertFired('w', id)
  counters.alertResolved('w', '3')
  for (const id of ['1', '1']) counters.alertResolved('w', id)
  expect(counters.openAlerts('w')).toBe(1)
})

test('does not count a request whose end is heard of first, however many ends of others are', () => {
  const counters = new FleetCounters(noFollowers, () => {})
  counters.addWaitingApproval('w', 'newer')
  counters.removeWaitingApproval('w', 'older')
  counters.addWaitingApproval('w', 'older')
  expect(counters.waitingApprovals('w')).toBe(1)
  for (let i = 0; i < 1_000; i++) counters.removeWaitingApproval('w', `long gone ${i}`)
  counters.removeWaitingApproval('w', 'another')
  counters.addWaitingApproval('w', 'another')
  counters.removeWaitingApproval('w', 'newer')
  expect(counters.waitingApprovals('w')).toBe(0)
})
