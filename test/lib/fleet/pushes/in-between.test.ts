import { afterEach, describe, expect, it } from 'vitest'
import type { StagePlan } from '../../../../lib/store/rollouts.ts'
import { type FaultyDatabase, faultyDatabase } from '../../../support/faulty-database.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

// Agents report something while rows about them are being written.

const database = await useTestDatabase()
const STAGES: StagePlan[] = [
  { count: 1, dwellMs: 0, gates: [] },
  { percentage: 100, dwellMs: 0, gates: [] },
]
let ctx: FleetTestContext
let db: FaultyDatabase

async function begin(pods: string) {
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db })
  const workload = new PushedWorkload(ctx, pods)
  await ctx.advance(500)
  return workload
}
afterEach(async () => {
  expect(db.pending()).toEqual([])
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/** Let an agent describe itself as one of another workload. */
const move = (agent: FakeAgent, host: string, pod: string) =>
  agent.say({
    attributes: new Map([
      ['service.name', 'edge'],
      ['host.name', host],
      ['k8s.pod.name', `pod-${pod}`],
    ]),
  })

describe('an instance that moves to another workload', () => {
  it('while its stage is written gets what it is assigned there, and is one of the instances of that', async () => {
    const workload = await begin('ab')
    await workload.settle(1)
    const elsewhere = new PushedWorkload(ctx, 'z', { host: 'elsewhere' })
    await elsewhere.settle(5)
    const there = await elsewhere.settle(6)
    const staged = await workload.stage(2, STAGES)
    // Both workloads have the same generation, so only the push tells the offers apart.
    expect(workload.live.generation).toBe(elsewhere.live.generation)
    const [a, b] = workload.agents
    a!.apply()
    db.beforeEnd('rollout.advance', () => move(b!, 'elsewhere', 'b'))
    await ctx.advance(20_000)
    expect(b!.offered()).toEqual([config(1).hash, config(6).hash])
    b!.apply()
    await ctx.advance(1_000)
    expect(await elsewhere.ends(there)).toEqual({ b: 'applied', z: 'applied' })
    if (!staged.ok) throw new Error(staged.code)
    expect(await workload.ends(staged.push.pushId)).toEqual({ a: 'applied', b: 'gone: moved_away' })
  })

  it('while its offer is written ends as one that did', async () => {
    const workload = await begin('a')
    const push = await workload.settle(1)
    const joiner = workload.join('b')
    db.beforeEnd('offers.store', () => move(joiner, 'elsewhere', 'b'))
    await ctx.advance(20_000)
    expect(await workload.ends(push)).toEqual({ a: 'applied', b: 'gone: moved_away' })
    expect((await workload.stored(push)).counts).toMatchObject({ target: 1, joined: 1 })
  })
})

it('who joins while a rollout is aborted, of which a member fails, is offered what is active', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  await workload.stage(2, STAGES)
  db.beforeEnd('rollout.abort', () => {
    workload.agents[0]!.fail('exit code 1')
    workload.join('c')
  })
  const actor = { userId: 'u', email: 'operator@example.com', askAgain: null }
  await ctx.fleet.rollouts.abort(workload.id, workload.live.rollout!.stored.id, actor)
  await ctx.advance(1_000)
  expect(workload.offered).toEqual([2, 1, 1])
})

it('who fails a config that it ran while the same is pushed again is not counted as one that applied it', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  const fail = () => workload.agents[1]!.fail('exit code 1')
  db.beforeEnd('push', fail)
  const again = await workload.push(1)
  await ctx.advance(1_000)
  expect(await workload.ends(again)).toEqual({ a: 'applied', b: 'offered' })
  expect(workload.agents[1]!.offered()).toHaveLength(2)
  fail()
  expect(await workload.ends(again)).toEqual({ a: 'applied', b: 'failed: agent_exited' })
})

it('what an instance fails while the same config is pushed again is lifted by that push, also where it is stored', async () => {
  const workload = await begin('abc')
  await workload.settle(1)
  workload.agents[0]!.fail('exit code 1')
  await ctx.advance(1_000)
  const fail = () => workload.agents[1]!.fail('exit code 1')
  db.beforeEnd('push', fail)
  await workload.push(1)
  const stored = () => database.pool.query('select instance_uid from quarantines')
  await ctx.advance(1_000)
  expect([await stored(), workload.live.quarantinedInstances.size]).toEqual([[], 0])
  for (const agent of workload.agents) agent.apply()
  fail()
  await ctx.advance(1_000)
  expect(await stored()).toEqual([{ instance_uid: workload.agents[1]!.uid }])
})

it('what a joiner fails of a push after that was made again in stages is kept from it, as it is stored', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  await workload.stage(1, [{ count: 1, dwellMs: 600_000, gates: [] }, STAGES[1]!])
  const joiner = workload.join('c')
  await ctx.advance(1_000)
  joiner.fail('exit code 1')
  await ctx.advance(1_000)
  const stored = await database.pool.query('select instance_uid from quarantines')
  expect(stored).toEqual([{ instance_uid: joiner.uid }])
  expect(workload.live.quarantinedInstances).toEqual(new Map([[config(1).hash, new Set([joiner.uid])]]))
})

it('what a joiner fails after it was pushed again is kept from it, also where a third push came after', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  await workload.stage(1, [{ count: 1, dwellMs: 600_000, gates: [] }, STAGES[1]!])
  await workload.stage(2, [{ count: 1, dwellMs: 600_000, gates: [] }, STAGES[1]!])
  const joiner = workload.join('c')
  await ctx.advance(1_000)
  expect(joiner.offered()).toEqual([config(1).hash])
  joiner.fail('exit code 1')
  await ctx.advance(1_000)
  const stored = await database.pool.query('select instance_uid from quarantines')
  expect(stored).toEqual([{ instance_uid: joiner.uid }])
  expect(workload.live.quarantinedInstances).toEqual(new Map([[config(1).hash, new Set([joiner.uid])]]))
})

it('what an instance fails of an offer from before it was pushed again is quarantined nowhere, as it is stored', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  const joiner = workload.join('c')
  await ctx.advance(1_000)
  expect(joiner.offered()).toEqual([config(1).hash])
  await workload.stage(1, [{ count: 1, dwellMs: 600_000, gates: [] }, STAGES[1]!])
  joiner.fail('exit code 1')
  await ctx.advance(1_000)
  const stored = await database.pool.query('select instance_uid from quarantines')
  expect([stored, [...workload.live.quarantinedInstances.keys()]]).toEqual([[], []])
})

it('of an instance that is forgotten while its push is written no offer is kept', async () => {
  const workload = await begin('ab')
  const [a, b] = workload.agents
  db.beforeEnd('push', () => {
    b!.lose()
    ctx.timers.advance(130_000)
  })
  const pushId = await workload.push(1)
  expect(ctx.fleet.state.instances.has(b!.uid)).toBe(false)
  a!.apply()
  await ctx.advance(5_000)
  expect(ctx.fleet.state.outstanding.size).toBe(0)
  expect(await workload.stored(pushId)).toMatchObject({ status: 'applied' })
})

it('nobody is taken back to a config that has failed as well and is about to be rolled back', async () => {
  const workload = await begin('abc')
  await workload.settle(1)
  await workload.push(2)
  await workload.stage(3, STAGES)
  const [a, b] = workload.agents
  // A member of the stage and another instance fail before anything about either is written.
  a!.fail('exit code 1', config(3).hash)
  b!.fail('exit code 1', config(2).hash)
  await ctx.advance(3_000)
  expect(a!.offered()).toEqual([1, 2, 3, 1].map((number) => config(number).hash))
  expect(workload.offered).toEqual([1, 1, 1])
  expect(workload.live).toMatchObject({ hasStoppedOffers: false, activeHash: config(1).hash })
})

it('members that run what they were taken back to while another push is written have applied it', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  await workload.stage(2, STAGES)
  const [a] = workload.agents
  a!.fail('exit code 1')
  await ctx.advance(1_000)
  const { pushId } = workload.live.takenBack!.push
  a!.applying()
  // Reports that wait are written just before a push. This one comes after they were collected and before the push.
  db.beforeEnd('outcomes.store', () => a!.apply())
  await workload.push(3)
  expect(await workload.stored(pushId)).toMatchObject({ status: 'applied', phase: 'applied' })
})
