import { describe, expect, it } from 'vitest'
import { findFailureHalt } from '../../../lib/auto-apply/find-halt.ts'
import type { StoredAutoApply } from '../../../lib/store/auto-apply.ts'
import type { Db } from '../../../lib/store/db.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const AUTO_APPLY = { id: 'aa_1', countedSince: new Date('2026-03-01T00:00:00Z') } as StoredAutoApply

/** How the newest pushes ended, and how many failed within the hour. */
async function haltAfter(states: readonly string[], { inAnHour = 0, underCount = 10 } = {}) {
  const targets = states.map((state, n) => ({
    workloadId: `w${n}`,
    state,
    cause: 'crashed',
    title: 'It exits',
  }))
  const db = {
    query: async (text: string) => (text.includes('count(') ? [{ count: inAnHour }] : targets),
  } as unknown as Db
  return findFailureHalt(db, AUTO_APPLY, { underCount, now: NOW })
}

describe('a version that applies by itself is halted', () => {
  it('by three failures one after the other, whose workloads and newest cause it names', async () => {
    expect(await haltAfter(['failed', 'no_answer', 'failed', 'applied'])).toEqual({
      gate: 'failed_in_a_row',
      value: 3,
      limit: 3,
      workload_ids: ['w0', 'w1', 'w2'],
      cause: 'crashed',
      title: 'It exits',
    })
  })

  it('not by two, nor by three with a success between them', async () => {
    expect(await haltAfter(['failed', 'failed', 'applied'])).toBeNull()
    expect(await haltAfter(['failed', 'failed', 'applied', 'failed'])).toBeNull()
    expect(await haltAfter([])).toBeNull()
  })

  it('by more than ten failures within an hour, or one in twenty of the workloads where that is more', async () => {
    const spread = ['applied', 'failed']
    expect(await haltAfter(spread, { inAnHour: 10 })).toBeNull()
    const halted = { gate: 'failed_in_an_hour', value: 11, limit: 10, workload_ids: ['w1'] }
    expect(await haltAfter(spread, { inAnHour: 11 })).toMatchObject(halted)
    expect(await haltAfter(spread, { inAnHour: 50, underCount: 1_000 })).toBeNull()
    expect(await haltAfter(spread, { inAnHour: 51, underCount: 1_000 })).toMatchObject({ limit: 50 })
  })
})
