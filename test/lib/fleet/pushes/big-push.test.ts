import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

// More instances than one turn of the event loop plans, inserts or looks at.
const AGENTS = 10_500
const database = await useTestDatabase()
let ctx: FleetTestContext
let agents: FakeAgent[]

beforeAll(async () => {
  ctx = await createFleetContext(database)
  agents = Array.from({ length: AGENTS }, () => fakeAgent(ctx.fleet, { host: 'vm' }))
  await ctx.advance(1_000)
}, 120_000)
afterAll(() => ctx.close())

it('is for everybody who is there at its commit, whatever comes, goes and moves while it is planned in turns', async () => {
  const { workloadId } = agents[0]!
  const [leaver, mover] = [agents.at(-1)!, agents.at(-2)!]
  let turns = 0
  let isOver = false
  let newcomer: FakeAgent | null = null
  const look = () => {
    turns++
    if (turns === 1) {
      leaver.goodbye()
      mover.say({
        attributes: new Map([
          ['service.name', 'edge'],
          ['host.name', 'another'],
        ]),
      })
      newcomer = fakeAgent(ctx.fleet, { host: 'vm' })
    }
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  const push = await pushConfig(ctx.fleet, workloadId, configYaml(1))
  isOver = true
  expect(turns).toBeGreaterThan(2)
  await ctx.advance(3_000)
  const here = [...agents.slice(0, -2), newcomer!]
  expect(here.filter((agent) => agent.offered().length !== 1)).toEqual([])
  expect(mover.offered()).toEqual([])
  expect(leaver.offered()).toEqual([])
  for (const agent of here) agent.apply()
  await ctx.advance(2_000)
  const rows = await database.pool.query<{ state: string; many: number }>(
    'select state, count(*)::int as many from push_targets where push_id = $1 group by state order by state',
    [push.pushId],
  )
  const stored = Object.fromEntries(rows.map(({ state, many }) => [state, many]))
  expect(stored['applied']).toBe(here.length)
  expect(stored['offered'] ?? 0).toBe(0)
  // Instances that left or moved have ended as targets too, and hold nothing up.
  await ctx.advance(10_000)
  expect(push).toMatchObject({ status: 'applied', phase: 'applied' })
  expect(push.counts.applied).toBe(here.length - push.counts.joined)
}, 120_000)
