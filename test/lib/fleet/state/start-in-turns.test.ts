import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CHUNK } from '../../../../lib/fleet/state/in-chunks.ts'
import { LOAD_CHUNK, loadFleet } from '../../../../lib/fleet/state/load-fleet.ts'
import { FleetState } from '../../../../lib/fleet/state/state.ts'
import { silentLog } from '../../../../lib/log.ts'
import { fakeClock } from '../../../support/fakes.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { createTestContext } from '../../../support/invoke.ts'
import { manualTimers } from '../../../support/manual-timers.ts'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

const GRACE_MS = 120_000

let database: TestDatabase
let ctx: FleetTestContext
beforeEach(async () => {
  database = await createTestDatabase()
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.drop()
})

/** Look at a number in each turn of the event loop while `work` goes on; returns the most that it grew by in one. */
async function mostInOneTurn(look: () => number, work: () => Promise<unknown>): Promise<number> {
  let most = 0
  let last = look()
  let isOver = false
  const sample = () => {
    most = Math.max(most, look() - last)
    last = look()
    if (!isOver) setImmediate(sample)
  }
  setImmediate(sample)
  await work()
  isOver = true
  return Math.max(most, look() - last)
}

describe('a process that takes over a big fleet', () => {
  const WORKLOADS = 3 * LOAD_CHUNK
  beforeEach(async () => {
    for (let n = 0; n < WORKLOADS; n++) fakeAgent(ctx.fleet, { host: `host-${n}` })
    await ctx.fleet.writer.flush()
  })

  it('loads some of it in each turn of the event loop, and all of it', async () => {
    const counts: ((state: FleetState) => number)[] = [
      (state) => state.workloads.size,
      (state) => state.homes.size,
      (state) => state.knownAtStart.size,
    ]
    for (const count of counts) {
      const state = new FleetState()
      const most = await mostInOneTurn(
        () => count(state),
        () => loadFleet(database.pool, state, silentLog),
      )
      expect(count(state)).toBe(WORKLOADS)
      expect(most).toBeLessThanOrEqual(LOAD_CHUNK)
    }
  })

  it('begins the graces of some of it in each turn, of all before it has started', async () => {
    const clock = fakeClock()
    const next = createTestContext(database, { clock }, { timers: manualTimers(clock) })
    const { state } = next.fleet
    await next.counters.load(next.db)
    await next.labelRules.load(next.db)
    const most = await mostInOneTurn(
      () => state.inGrace.size,
      () => next.fleet.start(),
    )
    expect(state.inGrace.size).toBe(WORKLOADS)
    expect(most).toBeLessThanOrEqual(LOAD_CHUNK)
    await next.fleet.stop()
    await next.close()
  })
})

it('forgets those that did not come back within the grace in turns, and in the end all of them', async () => {
  const join = (pod: number) => fakeAgent(ctx.fleet, { host: 'one', pod: `pod-${pod}` })
  const first = join(0)
  await ctx.advance(500)
  const { pushId } = await pushConfig(ctx.fleet, first.workloadId, configYaml())
  first.apply()
  await ctx.advance(1_000)
  const joiners = Array.from({ length: 3 * CHUNK }, (_, n) => join(n + 1))
  await ctx.advance(1_000)
  for (const joiner of joiners) joiner.apply()
  await ctx.advance(1_000)
  const rows = () => ctx.fleet.workload(first.workloadId)!.active!.targets.size
  expect(rows()).toBe(joiners.length + 1)
  await ctx.close()
  ctx = await createFleetContext(database)
  const { state } = ctx.fleet
  const falls = { known: 0, rows: 0 }
  let last = { known: state.knownAtStart.size, rows: rows() }
  expect(last).toEqual({ known: joiners.length + 1, rows: joiners.length + 1 })
  const sample = () => {
    const now = { known: state.knownAtStart.size, rows: rows() }
    falls.known = Math.max(falls.known, last.known - now.known)
    falls.rows = Math.max(falls.rows, last.rows - now.rows)
    last = now
    if (now.rows > 1) ctx.timers.after(0, sample)
  }
  ctx.timers.after(GRACE_MS, sample)
  await ctx.advance(GRACE_MS + 500)
  expect(last).toEqual({ known: 0, rows: 1 })
  expect(falls.known).toBeLessThanOrEqual(CHUNK)
  expect(falls.rows).toBeLessThanOrEqual(CHUNK)
  const [{ count } = { count: -1 }] = await database.pool.query<{ count: number }>(
    'select count(*)::int as count from push_targets where push_id = $1',
    [pushId],
  )
  expect(count).toBe(1)
})
