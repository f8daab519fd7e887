import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

// The history of a workload says when an instance of it runs another version.

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const runs = (agent: FakeAgent, version: string) =>
  agent.say({
    attributes: new Map([
      ['service.name', 'edge'],
      ['host.name', 'vm'],
      ['service.version', version],
    ]),
  })

async function changesOf(agent: FakeAgent): Promise<string[]> {
  await ctx.fleet.writer.flush()
  const rows = await database.pool.query<{ change: string }>(
    `select prev_version || ' to ' || version as change from workload_events
     where workload_id = $1 and event_type = 'version_changed' order by id`,
    [agent.workloadId],
  )
  return rows.map(({ change }) => change)
}

it('an instance that is upgraded is written down each time', async () => {
  const agent = fakeAgent(ctx.fleet, { host: 'vm' })
  runs(agent, '1')
  for (const version of ['2', '3', '4']) runs(agent, version)
  await ctx.advance(1_000)
  expect((await changesOf(agent)).slice(-3)).toEqual(['1 to 2', '2 to 3', '3 to 4'])
})

it('one agent that names another version in each message does not fill the history', async () => {
  const agent = fakeAgent(ctx.fleet, { host: 'vm' })
  for (let n = 0; n < 1_000; n++) runs(agent, `1.${n}`)
  await ctx.advance(1_000)
  expect((await changesOf(agent)).length).toBeLessThanOrEqual(10)
  // One that is upgraded an hour later is written down again.
  await ctx.advance(3_600_000)
  runs(agent, '2')
  await ctx.advance(1_000)
  expect((await changesOf(agent)).at(-1)).toBe('1.999 to 2')
})
