import { afterAll, beforeEach, expect, it } from 'vitest'
import { insertEvents, listEvents, type WorkloadEvent } from '../../../lib/store/workload-events.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let workloadId: string

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database)
  workloadId = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod' }).workloadId
  await ctx.advance(300)
  await database.pool.execute('delete from workload_events')
})
afterAll(() => ctx.close())

const event = (about: Partial<WorkloadEvent> = {}): WorkloadEvent => ({
  workloadId,
  instanceUid: 'a'.repeat(32),
  podName: 'pod',
  eventType: 'connected',
  version: '0.150.0',
  prevVersion: '',
  occurredAt: new Date('2026-07-01T08:00:00.123Z'),
  ...about,
})
const read = () => listEvents(database.pool, workloadId, { since: null, before: null, limit: 5_000 })

it('stores events as they are, and answers them with ids in their order', async () => {
  const events = Array.from({ length: 1_000 }, (_, n) =>
    event({ podName: `pod-${n}`, occurredAt: new Date(1_783_000_000_000 + n) }),
  )
  const stored = await insertEvents(database.pool, events)
  expect(stored.map(({ id, ...rest }) => rest)).toEqual(events)
  expect(await read()).toEqual(stored.toReversed())
})

it('passes over those of a workload that is gone', async () => {
  const events = ['a', 'b', 'c'].map((podName) =>
    event({ podName, workloadId: podName === 'b' ? 'f'.repeat(24) : workloadId }),
  )
  const stored = await insertEvents(database.pool, events)
  expect(stored.map(({ podName }) => podName)).toEqual(['a', 'c'])
  expect(await read()).toEqual(stored.toReversed())
})

it('answers nothing when all workloads are gone', async () => {
  expect(await insertEvents(database.pool, [event({ workloadId: 'f'.repeat(24) })])).toEqual([])
})

it('takes what agents say, half characters included', async () => {
  const odd = { podName: `quote " back \\ tab \t 😀`, version: 'cut \ud83d', prevVersion: '\udc00 end' }
  await insertEvents(database.pool, [event({ ...odd, eventType: 'version_changed' })])
  expect(await read()).toMatchObject([{ ...odd, version: 'cut \ufffd', prevVersion: '\ufffd end' }])
})
