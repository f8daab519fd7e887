import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

// The history of a workload says when an instance of it connects and when it is gone.

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/** Let an agent connect so many times, `everyMs` apart; returns the types of what is written of it, the oldest first. */
async function flap(times: number, everyMs: number): Promise<string[]> {
  let workloadId = ''
  let uid: string | undefined
  for (let n = 0; n < times; n++) {
    const agent = fakeAgent(ctx.fleet, { host: 'vm', ...(uid === undefined ? {} : { uid }) })
    uid = agent.uid
    workloadId = agent.workloadId
    await ctx.advance(500)
    agent.lose()
    await ctx.advance(everyMs - 500)
  }
  await ctx.fleet.writer.flush()
  const rows = await database.pool.query<{ type: string }>(
    'select event_type as type from workload_events where workload_id = $1 order by id',
    [workloadId],
  )
  return rows.map(({ type }) => type)
}

/** So many connections, each with its end. */
const pairs = (count: number) =>
  Array.from({ length: 2 * count }, (_, n) => (n % 2 ? 'disconnected' : 'connected'))

it('one that reconnects each minute is written down each time', async () => {
  expect(await flap(90, 60_000)).toEqual(pairs(90))
})

it('one that reconnects each second does not fill it, and what is written has both ends', async () => {
  const written = await flap(400, 1_000)
  expect(written).toEqual(pairs(written.length / 2))
  expect(written.length / 2).toBeGreaterThan(60)
  expect(written.length / 2).toBeLessThan(70)
})
