import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

// A config that was sent to an agent is taken back while its socket breaks: it may come to run it all the same.

const database = await useTestDatabase()
let ctx: FleetTestContext
let workload: PushedWorkload
beforeEach(async () => {
  ctx = await createFleetContext(database)
  workload = new PushedWorkload(ctx, 'ab')
  await workload.settle(1)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const [FORMER, TAKEN_BACK] = [config(1).hash, config(2).hash]

/** The agent connects again, and says that it runs the former config still. */
async function comeBack({ uid }: FakeAgent): Promise<FakeAgent> {
  const remoteConfigStatus = { hash: FORMER, status: 'applied', errorMessage: '' } as const
  const back = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-b', uid, more: { remoteConfigStatus } })
  await ctx.advance(2_000)
  return back
}

it.each(['before', 'after'])(
  'an agent whose socket breaks %s it is told of the roll-back gets its former config once it comes to run the other',
  async (when) => {
    const [a, b] = workload.agents as [FakeAgent, FakeAgent]
    await workload.push(2)
    expect(b.offered().at(-1)).toBe(TAKEN_BACK)
    a.fail('exit code 1')
    if (when === 'after') await ctx.advance(1_000)
    b.lose()
    await ctx.advance(1_000)
    expect(workload.live.activeHash).toBe(FORMER)
    const back = await comeBack(b)
    back.apply(TAKEN_BACK)
    await ctx.advance(2_000)
    expect(back.offered().at(-1)).toBe(FORMER)
    back.apply(FORMER)
    await ctx.advance(2_000)
    // What it then goes to by itself is drift, which is shown and not corrected.
    const { length } = back.offered()
    back.apply(TAKEN_BACK)
    await ctx.advance(2_000)
    expect(back.offered()).toHaveLength(length)
  },
)

it('an agent that says what it runs after a process has started and taken the config back gets its former one, too', async () => {
  const [a, b] = workload.agents as [FakeAgent, FakeAgent]
  await workload.push(2)
  expect(b.offered().at(-1)).toBe(TAKEN_BACK)
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  const remoteConfigStatus = { hash: FORMER, status: 'applied', errorMessage: '' } as const
  const again = { host: 'vm', more: { remoteConfigStatus } }
  const other = fakeAgent(ctx.fleet, { ...again, pod: 'pod-a', uid: a.uid })
  const back = fakeAgent(ctx.fleet, { ...again, pod: 'pod-b', uid: b.uid, transport: 'http', more: {} })
  await ctx.advance(2_000)
  expect([other.offered(), back.offered()]).toEqual([[TAKEN_BACK], []])
  other.fail('exit code 1')
  await ctx.advance(1_000)
  expect(ctx.fleet.workload(workload.id)?.activeHash).toBe(FORMER)
  back.say({ remoteConfigStatus })
  await ctx.advance(2_000)
  expect(back.offered()).toEqual([])
  back.apply(TAKEN_BACK)
  await ctx.advance(2_000)
  expect(back.offered()).toEqual([FORMER])
})
