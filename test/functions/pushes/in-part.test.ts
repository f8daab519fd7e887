import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sweep } from '../../../lib/fleet/janitor.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let viewer: SignedIn
let agents: FakeAgent[]
let workloadId: string

const connect = (pod: string, more: { uid?: string } = {}) =>
  fakeAgent(ctx.fleet, { service: 'silent', host: 'vm', pod, ...more })

beforeEach(async () => {
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database)
  viewer = await signIn(ctx, { groups: ['viewer'] })
  agents = ['a', 'b', 'c', 'd', 'e'].map((pod) => connect(pod))
  workloadId = agents[0]!.workloadId
  await ctx.advance(300)
  await pushConfig(ctx.fleet, workloadId, configYaml(1))
  for (const agent of agents.slice(0, 3)) agent.apply()
  await ctx.advance(300)
})
afterEach(() => ctx.close())

const get = async <T>(path: string) => (await invoke(ctx, `GET ${path}`, { as: viewer.token })).json as T
const wait = async (seconds: number) => {
  for (let waited = 0; waited < seconds; waited += 30) await ctx.advance(30_000)
}
const told = async () => {
  const [entry] = await get<ChangeRecord[]>('/api/changes')
  const [push] = await get<RevisionRecord[]>(`/api/workloads/${workloadId}/configs`)
  return { feed: entry?.outcome, page: push?.outcome }
}
const DAY_MS = 86_400_000
/** What the janitor does each hour. */
const forgetAgents = async () => {
  const { db, clock, log, fleet } = ctx
  const days = { retentionDays: 30, archiveDays: 90, eventRetentionDays: 60, alertRetentionDays: 60 }
  await sweep({ db, clock, log, fleet, ...days, workloadsMax: 1_000 }, new AbortController().signal)
  await ctx.advance(1_000)
}
const failedCount = async () =>
  (await get<RevisionRecord[]>(`/api/workloads/${workloadId}/configs`))[0]?.failed_count
const IN_PART = { feed: 'in_part', page: 'in_part' }

describe('a push that two of five instances never took', () => {
  it('is applied in part once they have not answered', async () => {
    await wait(900)
    expect(await told()).toEqual(IN_PART)
  })

  it('does not say so of who has just come, while all others have said something', async () => {
    const applying = { hash: configHash(configYaml(1)), status: 'applying', errorMessage: '' } as const
    for (const agent of agents.slice(3)) agent.say({ remoteConfigStatus: applying })
    await wait(60)
    connect('f')
    await ctx.advance(300)
    const [entry] = await get<ChangeRecord[]>('/api/changes')
    expect(entry).toMatchObject({ outcome: 'open' })
    expect(entry).not.toHaveProperty('error_cause')
  })

  it('says so in the feed as the reason why not all have it, while it goes on and after', async () => {
    const why = async () => {
      const [entry] = await get<ChangeRecord[]>('/api/changes')
      return [entry?.outcome, entry?.error_cause, entry?.error_title]
    }
    expect(await why()).toEqual(['open', undefined, undefined])
    await wait(60)
    const silent = ['no_answer', 'Did not answer any of the offers']
    expect(await why()).toEqual(['open', ...silent])
    await wait(900)
    expect(await why()).toEqual(['in_part', ...silent])
    // Also once it is not the newest any more.
    await pushConfig(ctx.fleet, workloadId, configYaml(2))
    for (const agent of agents) agent.apply()
    await ctx.advance(300)
    const [after, before] = await get<ChangeRecord[]>('/api/changes')
    expect([after!.outcome, after!.error_cause]).toEqual(['succeeded', undefined])
    expect([before!.outcome, before!.error_cause]).toEqual(['in_part', 'no_answer'])
  })

  it('says nothing of answers where its instances are gone while it goes on', async () => {
    agents[3]!.goodbye()
    await ctx.advance(1_000)
    const [entry] = await get<ChangeRecord[]>('/api/changes')
    expect([entry!.outcome, entry!.error_cause]).toEqual(['open', undefined])
  })

  it('says why each failed it that answered, and not that it did not', async () => {
    for (const agent of agents.slice(3)) agent.apply()
    await ctx.advance(1_000)
    agents[3]!.fail('listen tcp 0.0.0.0:4317: bind: address already in use')
    await ctx.advance(1_000)
    const failed = { outcome: 'in_part', failed_count: 1, error_cause: 'port_in_use' }
    expect((await get<ChangeRecord[]>('/api/changes'))[0]).toMatchObject(failed)
    await pushConfig(ctx.fleet, workloadId, configYaml(2))
    await ctx.advance(300)
    expect((await get<ChangeRecord[]>('/api/changes'))[1]).toMatchObject(failed)
  })

  it('says that instances which began to apply it took too long', async () => {
    for (const agent of agents.slice(3)) agent.applying()
    await wait(1_800)
    const [entry] = await get<ChangeRecord[]>('/api/changes')
    expect([entry!.outcome, entry!.error_cause]).toEqual(['in_part', 'apply_timeout'])
  })

  it('stays so where their connections break and come back, until they say that they have applied it', async () => {
    await wait(900)
    for (const agent of agents.slice(3)) agent.lose()
    await wait(30)
    const back = agents.slice(3).map(({ uid }, n) => connect(['d', 'e'][n]!, { uid }))
    await ctx.advance(1_000)
    expect(back.map((agent) => agent.offered().length)).toEqual([1, 1])
    expect(await told()).toEqual(IN_PART)
    await wait(900)
    expect(await told()).toEqual(IN_PART)
    for (const agent of back) agent.apply()
    await ctx.advance(1_000)
    expect(await told()).toEqual({ feed: 'succeeded', page: 'applied' })
  })

  it('stays so where they are away for longer than their grace, and another push takes its place', async () => {
    await wait(900)
    for (const agent of agents.slice(3)) agent.lose()
    await wait(600)
    expect(await told()).toEqual(IN_PART)
    for (const [n, { uid }] of agents.slice(3).entries()) connect(['d', 'e'][n]!, { uid })
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, workloadId, configYaml(2))
    await ctx.advance(1_000)
    const [, first] = await get<ChangeRecord[]>('/api/changes')
    expect(first).toMatchObject({ outcome: 'in_part', target_count: 5, applied_count: 3 })
  })

  it('stays so where another push takes its place after they came back', async () => {
    await wait(900)
    for (const agent of agents.slice(3)) agent.lose()
    agents.slice(3).map(({ uid }, n) => connect(['d', 'e'][n]!, { uid }))
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, workloadId, configYaml(2))
    await ctx.advance(1_000)
    const [, first] = await get<ChangeRecord[]>('/api/changes')
    expect(first).toMatchObject({ outcome: 'in_part', target_count: 5, applied_count: 3 })
  })

  it('is applied in part also where they were away when it ended, and are silent since they came back', async () => {
    for (const agent of agents.slice(3)) agent.lose()
    await wait(600)
    for (const [n, { uid }] of agents.slice(3).entries()) connect(['d', 'e'][n]!, { uid })
    await wait(900)
    expect(await told()).toEqual(IN_PART)
  })

  it('is applied where they have left for good: pods that were replaced run nothing any more', async () => {
    for (const agent of agents.slice(3)) agent.goodbye()
    await wait(600)
    expect(await told()).toEqual({ feed: 'succeeded', page: 'applied' })
  })

  it('stays so where they say after it that they are applying it, and another push takes its place', async () => {
    await wait(900)
    for (const agent of agents.slice(3)) agent.lose()
    const back = agents.slice(3).map(({ uid }, n) => connect(['d', 'e'][n]!, { uid }))
    await ctx.advance(1_000)
    for (const agent of back) agent.applying()
    await ctx.advance(1_000)
    expect(await told()).toEqual(IN_PART)
    await pushConfig(ctx.fleet, workloadId, configYaml(2))
    await ctx.advance(1_000)
    const [, first] = await get<ChangeRecord[]>('/api/changes')
    expect(first).toMatchObject({ outcome: 'in_part', target_count: 5, applied_count: 3 })
  })

  it('is failed by one that says in full that it failed it, after it had said that it applies it', async () => {
    const [d] = agents.slice(3)
    const push = async (n: number) => {
      await pushConfig(ctx.fleet, workloadId, configYaml(n))
      await ctx.advance(1_000)
      for (const agent of agents.slice(0, 3)) agent.apply()
      await wait(900)
    }
    await wait(900)
    d!.fail('no room')
    await push(2)
    await push(1)
    expect(await told()).toEqual(IN_PART)
    d!.applying()
    expect(await failedCount()).toBe(0)
    const hash = configHash(configYaml(1))
    d!.say({
      attributes: new Map([
        ['service.name', 'silent'],
        ['host.name', 'vm'],
        ['k8s.pod.name', 'd'],
      ]),
      remoteConfigStatus: { hash, status: 'failed', errorMessage: 'no room' },
    })
    await ctx.advance(1_000)
    expect(await failedCount()).toBe(1)
  })

  it('is applied once the agents of those that are away are forgotten', async () => {
    await wait(900)
    for (const agent of agents.slice(3)) agent.lose()
    await wait(600)
    expect(await told()).toEqual(IN_PART)
    ctx.clock.advance(31 * DAY_MS)
    await forgetAgents()
    viewer = await signIn(ctx, { groups: ['viewer'] })
    expect(await told()).toEqual({ feed: 'succeeded', page: 'applied' })
  })

  it('is applied once a process starts that does not know those agents any more', async () => {
    await wait(900)
    for (const agent of agents.slice(3)) agent.lose()
    await wait(600)
    // As where the process that had forgotten them ended before it had noted that with the push.
    const uids = agents.slice(3).map(({ uid }) => uid)
    await database.pool.execute('delete from agent_workloads where instance_uid = any($1::text[])', [uids])
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    viewer = await signIn(ctx, { groups: ['viewer'] })
    for (const [n, { uid }] of agents.slice(0, 3).entries())
      connect('abc'[n]!, { uid }).apply(configHash(configYaml(1)))
    await wait(30)
    expect(await told()).toEqual(IN_PART)
    await wait(900)
    expect(await told()).toEqual({ feed: 'succeeded', page: 'applied' })
  })
})

describe('an instance that joined after a push had ended, and never answers it', () => {
  const listed = async () =>
    (await database.pool.query<{ uid: string }>('select instance_uid as uid from push_targets')).length
  beforeEach(async () => {
    for (const agent of agents.slice(3)) agent.apply()
    await ctx.advance(1_000)
  })

  it('is not kept with the push where it went while no process ran', async () => {
    connect('f')
    await wait(900)
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    for (const [n, { uid }] of agents.entries())
      connect('abcde'[n]!, { uid }).apply(configHash(configYaml(1)))
    await wait(900)
    expect(await listed()).toBe(5)
  })
})
