import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CHUNK } from '../../../../lib/fleet/state/in-chunks.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'
import { type TimerTurns, watchTurns } from '../../../support/timer-turns.ts'

// A push begins the offers to its instances some in each turn of the event loop. Agents speak, leave and come between
// two of these turns.

const database = await useTestDatabase()
const AGENTS = 2 * CHUNK + 50
let ctx: FleetTestContext
let workload: PushedWorkload
let turns: TimerTurns

beforeEach(async () => {
  ctx = await createFleetContext(database)
  turns = watchTurns(ctx)
  workload = new PushedWorkload(ctx, '')
  for (let n = 0; n < AGENTS; n++) workload.agents.push(fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${n}` }))
  await ctx.advance(500)
})
afterEach(async () => {
  turns.count(() => 0)
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const id = () => workload.agents[0]!.workloadId
/** Push a config; answers as soon as it is committed, before any but the first turn. */
const push = (number: number) => pushConfig(ctx.fleet, id(), configYaml(number))
const instanceOf = ({ uid }: { uid: string }) => ctx.fleet.state.instances.get(uid)!
const begun = (pushId: string) =>
  workload.agents.filter((agent) => instanceOf(agent).offer?.pushId === pushId).length
const last = () => workload.agents.at(-1)!
const followed = () => ctx.fleet.workload(id())!.active!

it('begins offers to so many instances in a turn, and to all in the end, each sent once', async () => {
  const { pushId } = await push(1)
  expect(begun(pushId)).toBe(CHUNK)
  turns.count(() => begun(pushId))
  await ctx.advance(500)
  expect(turns.most()).toBe(CHUNK)
  expect(begun(pushId)).toBe(AGENTS)
  expect(workload.agents.filter((agent) => agent.offered().length !== 1)).toEqual([])
  expect(followed().beginning).toBe(0)
})

it('supersedes so many targets of the former push in a turn, and all in the end', async () => {
  const { pushId } = await push(1)
  await ctx.advance(500)
  const former = followed()
  await push(2)
  expect(former.awaiting.size).toBe(AGENTS - CHUNK)
  turns.count(() => former.awaiting.size)
  await ctx.advance(500)
  expect(turns.most()).toBe(CHUNK)
  const states = [...former.targets.values()].map(({ state }) => state)
  expect(new Set(states)).toEqual(new Set(['superseded']))
  expect((await workload.stored(pushId)).phase).toBe('superseded')
})

describe('an instance whose turn has not come', () => {
  it('is offered the config by the answer to its message, and only once', async () => {
    const { pushId } = await push(1)
    last().say({})
    expect(last().offered()).toEqual([config(1).hash])
    expect(ctx.fleet.offers.waitingCount).toBe(0)
    await ctx.advance(3_000)
    expect(last().offered()).toEqual([config(1).hash])
    last().apply()
    await ctx.advance(500)
    expect((await workload.stored(pushId)).counts.applied).toBe(1)
  })

  it('that fails the same config, offered by the push before, has failed this one', async () => {
    await push(1)
    await ctx.advance(500)
    await push(1)
    last().fail('no such port')
    await ctx.advance(500)
    expect(followed().push.counts.failed).toBe(1)
  })

  it('that is lost with the same config, offered by the push before, is a loss of this one', async () => {
    await push(1)
    await ctx.advance(500)
    await push(1)
    last().lose()
    await ctx.advance(500)
    expect(followed().lostCount).toBe(1)
  })

  it('and that applies the same config, offered by the push before, is not offered it again', async () => {
    await push(1)
    await ctx.advance(500)
    await push(1)
    last().apply()
    await ctx.advance(3_000)
    expect(last().offered()).toEqual([config(1).hash])
    expect(followed().targets.get(last().uid)?.state).toBe('applied')
  })

  it('and comes back on another connection is offered it there once', async () => {
    await push(1)
    const lost = last()
    lost.lose()
    const back = fakeAgent(ctx.fleet, { uid: lost.uid, host: 'vm' })
    await ctx.advance(3_000)
    expect(lost.offered()).toEqual([])
    expect(back.offered()).toEqual([config(1).hash])
    expect(followed().lostCount).toBe(0)
  })

  it('and leaves ends as a target that left, and is offered nothing', async () => {
    const { pushId } = await push(1)
    last().goodbye()
    await ctx.advance(10_000)
    expect(last().offered()).toEqual([])
    expect((await workload.ends(pushId))[`${AGENTS - 1}`]).toBe('gone: left')
  })

  it('and moves to another workload is offered nothing of this one', async () => {
    const { pushId } = await push(1)
    const attributes = new Map([
      ['service.name', 'edge'],
      ['host.name', 'another'],
    ])
    last().say({ attributes })
    await ctx.advance(10_000)
    expect(last().offered()).toEqual([])
    expect((await workload.ends(pushId))[`${AGENTS - 1}`]).toBe('gone: moved_away')
  })

  it('is offered the newer config alone where another push is committed first', async () => {
    const { pushId } = await push(1)
    await push(2)
    await ctx.advance(1_000)
    const [first] = workload.agents
    expect(first!.offered()).toEqual([config(1).hash, config(2).hash])
    expect(last().offered()).toEqual([config(2).hash])
    for (const agent of workload.agents) agent.apply()
    await ctx.advance(10_000)
    expect(followed().push).toMatchObject({ status: 'applied', counts: { applied: AGENTS } })
    const ends = Object.values(await workload.ends(pushId))
    expect(new Set(ends)).toEqual(new Set(['superseded']))
  })

  it('holds nothing up where its workload is deleted', async () => {
    await push(1)
    await ctx.fleet.remove(id(), { userId: 'u1', email: 'a@example.com', askAgain: null }, async () => {})
    await ctx.advance(3_000)
    expect(last().offered()).toEqual([])
    expect(ctx.fleet.state.outstanding.size).toBe(0)
  })
})

it('offers the config once to one who joins between two turns', async () => {
  await push(1)
  const joiner = fakeAgent(ctx.fleet, { host: 'vm' })
  await ctx.advance(3_000)
  expect(joiner.offered()).toEqual([config(1).hash])
})
