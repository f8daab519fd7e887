import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deleteIfUntouched } from '../../../../lib/store/workloads.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts'

const GRACE_MS = 120_000
const never = new AbortController().signal

let database: TestDatabase
let ctx: FleetTestContext
let agent: FakeAgent
beforeEach(async () => {
  database = await createTestDatabase()
  ctx = await createFleetContext(database)
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(1_000)
  agent.lose()
  await ctx.advance(GRACE_MS + 2_000)
  await ctx.alerts.run(never)
  expect(ctx.counters.openAlerts(agent.workloadId)).toBe(1)
})
afterEach(async () => {
  await ctx.close()
  await database.drop()
})

const told = () =>
  ctx.frames.filter((frame) => frame.type === 'alert_update' && frame.alert.resolved_at !== null)
const open = () => database.pool.query('select id from alerts where resolved_at is null')

describe('the alerts of a workload that leaves the inventory are over with it, whoever takes it out', () => {
  it('as it is archived', async () => {
    expect(await ctx.fleet.archive(agent.workloadId, null, async () => {})).toEqual({ ok: true })
    expect(ctx.counters.openAlerts(agent.workloadId)).toBe(0)
    expect(await open()).toEqual([])
    expect(told()).toHaveLength(1)
  })

  it('as it is deleted', async () => {
    expect(await ctx.fleet.remove(agent.workloadId, null, async () => {})).toEqual({ ok: true })
    expect(ctx.counters.openAlertsInAll()).toBe(0)
    expect(told()).toHaveLength(1)
  })

  it('as it is discarded to make room', async () => {
    const { workloadId } = agent
    expect(await ctx.fleet.discard(workloadId, (tx) => deleteIfUntouched(tx, workloadId))).toBe(true)
    expect(ctx.counters.openAlertsInAll()).toBe(0)
    expect(told()).toHaveLength(1)
  })

  it('and stay where it does not leave', async () => {
    expect(await ctx.fleet.discard(agent.workloadId, async () => false)).toBe(false)
    await expect(
      ctx.fleet.archive(agent.workloadId, null, () => Promise.reject(new Error('no record'))),
    ).rejects.toThrow('no record')
    expect(ctx.counters.openAlerts(agent.workloadId)).toBe(1)
    expect(await open()).toHaveLength(1)
    expect(told()).toEqual([])
  })
})
