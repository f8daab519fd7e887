import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import type { CampaignRecord, CampaignTarget } from '../../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'
import { SUPERVISOR } from '../../support/test-agent.ts'

// What was approved is not what would be done any more, when a target's turn comes.

const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let approver: SignedIn
let agents: FakeAgent[]

const HOSTS = ['vm-1', 'vm-2', 'vm-3']
const hashes = [0, 1, 2, 3].map((n) => configHash(configYaml(n)))

beforeEach(async () => {
  await database.pool.execute('delete from fleet_configs')
  await database.pool.execute('delete from campaigns')
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  editor = await signIn(ctx, { groups: ['editor'] })
  approver = await signIn(ctx, { groups: ['editor'] })
  agents = HOSTS.map((host) => fakeAgent(ctx.fleet, { host }))
  await ctx.advance(300)
  for (const agent of agents) await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
  for (const agent of agents) agent.apply()
  await ctx.advance(300)
})
afterEach(() => ctx.close())

const call = async (method: string, path: string, body?: unknown) => {
  const { status, json } = await invoke(ctx, `${method} /api${path}`, { as: editor.token, body })
  expect(status, JSON.stringify(json)).toBeLessThan(300)
  return json
}
const record = async (id: string) => (await call('GET', `/campaigns/${id}`)) as CampaignRecord
const targets = async (id: string) => (await call('GET', `/campaigns/${id}/targets`)) as CampaignTarget[]
const offers = () => agents.map((agent) => agent.offered())
const runs = () => offers().map((all) => all.at(-1))
/** Each agent applies what it was offered last. */
const applyAll = () => {
  for (const agent of agents) agent.apply()
}

/** Advance the clock by `ms`, let the campaigns do what is due, and the fleet what follows. */
async function work(ms = 0): Promise<void> {
  if (ms > 0) await ctx.advance(ms)
  await ctx.campaigns.work(new AbortController().signal)
  await ctx.advance(300)
}

/** Let agents apply what they are offered, and the campaigns go on, until nothing is left to do. */
async function settle(): Promise<void> {
  for (let n = 0; n < 6; n++) {
    await work(300)
    applyAll()
  }
}

const vms = {
  selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
}

/** Push a config to every workload by hand, and let all apply it. */
async function pushByHand(n: number): Promise<void> {
  for (const agent of agents) await pushConfig(ctx.fleet, agent.workloadId, configYaml(n))
  await settle()
}

/** Roll every workload back by hand to the second config, and let all apply it. */
async function goBackByHand(): Promise<void> {
  for (const { workloadId } of agents)
    await call('POST', `/workloads/${workloadId}/configs/${hashes[2]}/rollback`, {})
  await settle()
}

/** A campaign of one wave that is approved. */
async function approved(more: object): Promise<string> {
  const { id } = (await call('POST', '/campaigns', {
    name: 'One of two',
    scope: vms,
    waves: [{}],
    ...more,
  })) as CampaignRecord
  await call('POST', `/campaigns/${id}/plan`)
  while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
  const { plan_hash } = await record(id)
  await call('POST', `/campaigns/${id}/request`, { plan_hash })
  const body = { comment: 'yes', plan_hash }
  const path = `POST /api/campaigns/${id}/approve`
  expect((await invoke(ctx, path, { as: approver.token, body })).status).toBe(200)
  return id
}

const start = (id: string) => call('POST', `/campaigns/${id}/start`)
const bringing = (n: number) => approved({ change: { kind: 'text', yaml: configYaml(n) } })
/** A campaign that has brought a config to every workload. */
async function brought(n: number): Promise<string> {
  const id = await bringing(n)
  await start(id)
  await settle()
  return id
}
async function takeBack(id: string): Promise<CampaignRecord> {
  await call('POST', `/campaigns/${id}/roll-back`, { comment: 'no' })
  await settle()
  return record(id)
}
const statesOf = async (id: string) => (await targets(id)).map(({ state, reason }) => [state, reason])
const all = <T>(one: T): T[] => HOSTS.map(() => one)

describe('two campaigns over the same workloads', () => {
  it('push to each once: the first is carried out, and the other names them as changed since', async () => {
    const [first, second] = [await bringing(2), await bringing(3)]
    await start(first)
    await work()
    await start(second)
    await work()
    expect(runs()).toEqual(all(hashes[2]))
    expect(await statesOf(second)).toEqual(all(['waiting', undefined]))
    applyAll()
    // The second looks again at who was busy after a moment.
    for (let n = 0; n < 4; n++) await work(3_000)
    expect((await record(first)).counts).toEqual({ applied: 3 })
    expect(await statesOf(second)).toEqual(all(['skipped', 'base_moved']))
    expect(await record(second)).toMatchObject({ status: 'halted', halt: { gate: 'silent', value: 3 } })
    expect(offers()).toEqual(all([hashes[1], hashes[2]]))
  })

  it('are taken back one after the other, the newer one first', async () => {
    const first = await bringing(2)
    await start(first)
    await settle()
    const second = await bringing(3)
    await start(second)
    await settle()
    expect(runs()).toEqual(all(hashes[3]))
    await call('POST', `/campaigns/${second}/roll-back`, { comment: 'no' })
    await settle()
    expect(runs()).toEqual(all(hashes[2]))
    await call('POST', `/campaigns/${first}/roll-back`, { comment: 'nor this' })
    await settle()
    expect(runs()).toEqual(all(hashes[1]))
    for (const id of [first, second])
      expect(await record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
  })

  it('of which the older one is taken back push nothing to who runs what the newer one brought', async () => {
    const first = await bringing(2)
    await start(first)
    await settle()
    const second = await bringing(3)
    await start(second)
    await settle()
    await call('POST', `/campaigns/${first}/roll-back`, { comment: 'no' })
    await settle()
    expect(await record(first)).toMatchObject({ status: 'rolled_back', counts: { moved_on: 3 } })
    expect(offers()).toEqual(all([hashes[1], hashes[2], hashes[3]]))
    expect((await record(second)).counts).toEqual({ applied: 3 })
  })

  it('of which the older ones were taken back to their end leave what ran before all of them', async () => {
    const older: string[] = []
    for (const n of [2, 3]) {
      older.push(await bringing(n))
      await start(older.at(-1)!)
      await settle()
    }
    const newest = await bringing(0)
    await start(newest)
    await settle()
    for (const id of [...older, newest]) {
      await call('POST', `/campaigns/${id}/roll-back`, { comment: 'no' })
      await settle()
      expect(await record(id)).toMatchObject({ status: 'rolled_back' })
    }
    expect(runs()).toEqual(all(hashes[1]))
    expect((await record(newest)).counts).toEqual({ rolled_back: 3 })
  })

  it('of which two had brought the same leave what ran before the later one of these', async () => {
    const brought: string[] = []
    const bring = async (n: number) => {
      brought.push(await bringing(n))
      await start(brought.at(-1)!)
      await settle()
    }
    await bring(2)
    await bring(3)
    for (const agent of agents) await pushConfig(ctx.fleet, agent.workloadId, configYaml(4))
    await settle()
    await bring(3)
    await bring(0)
    for (const id of brought) {
      await call('POST', `/campaigns/${id}/roll-back`, { comment: 'no' })
      await settle()
      expect(await record(id)).toMatchObject({ status: 'rolled_back' })
    }
    expect(runs()).toEqual(all(configHash(configYaml(4))))
  })

  it('of which the older one is still being taken back as the newer one is leave what ran before both', async () => {
    const first = await bringing(2)
    await start(first)
    await settle()
    const scope = {
      selector: {
        match_expressions: [{ key: 'identity/host.name', operator: 'In', values: HOSTS.slice(0, 2) }],
      },
    }
    const second = await approved({ change: { kind: 'text', yaml: configYaml(3) }, scope })
    await start(second)
    await settle()
    // The older one waits for a host that the newer one has not reached.
    agents[2]!.lose()
    await ctx.advance(300)
    await call('POST', `/campaigns/${first}/roll-back`, { comment: 'no' })
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(first)).toMatchObject({ status: 'rolling_back', counts: { applied: 1, moved_on: 2 } })
    await call('POST', `/campaigns/${second}/roll-back`, { comment: 'nor this' })
    for (let n = 0; n < 4; n++) {
      await work(300)
      for (const agent of agents.slice(0, 2)) agent.apply()
    }
    expect(await record(second)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 2 } })
    expect(runs().slice(0, 2)).toEqual([hashes[1], hashes[1]])
  })

  it('of which the older one is still being taken back do the same for who never said that it applied that', async () => {
    const change = { kind: 'text', yaml: configYaml(2) }
    const first = await approved({ change, limits: { silent: 3 } })
    await start(first)
    for (let n = 0; n < 50; n++) {
      await work(15_000)
      agents[2]!.apply()
    }
    expect((await record(first)).counts).toEqual({ applied: 1, no_answer: 2 })
    const scope = { workload_ids: agents.slice(0, 2).map(({ workloadId }) => workloadId) }
    const second = await approved({ change: { kind: 'text', yaml: configYaml(3) }, scope })
    await start(second)
    await settle()
    agents[2]!.lose()
    await ctx.advance(300)
    await call('POST', `/campaigns/${first}/roll-back`, { comment: 'no' })
    for (let n = 0; n < 4; n++) await work(300)
    expect((await record(first)).status).toBe('rolling_back')
    await call('POST', `/campaigns/${second}/roll-back`, { comment: 'nor this' })
    for (let n = 0; n < 4; n++) {
      await work(300)
      for (const agent of agents.slice(0, 2)) agent.apply()
    }
    expect(runs().slice(0, 2)).toEqual([hashes[1], hashes[1]])
  })

  it('of which the roll-back of the older one was not about the workload leave what that had brought', async () => {
    const first = await brought(2)
    const second = await brought(3)
    await database.pool.execute(
      `update campaigns set scope = scope || '{"cut_to":[{"key":"muster/env","values":["staging"]}]}' where id = $1`,
      [first],
    )
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { left_scope: 3 } })
    expect(await takeBack(second)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[2]))
  })

  it.each([
    ['another campaign', async () => brought(2)],
    ['hand', async () => pushByHand(2)],
  ])('leave alone what was brought again by %s, however old', async (_who, again) => {
    const first = await brought(2)
    await pushByHand(3)
    const second = await again()
    expect((await record(first)).way_back).toMatchObject({ moved_on: 3 })
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { moved_on: 3 } })
    expect(runs()).toEqual(all(hashes[2]))
    if (second === undefined) return
    expect(await takeBack(second)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[3]))
  })

  it('leave what ran before both where the newer one came to a host before the roll-back of the older one did', async () => {
    const first = await brought(2)
    const away = agents[2]!
    away.lose()
    await ctx.advance(300)
    const goOn = async () => {
      await work(300)
      for (const agent of agents.slice(0, 2)) agent.apply()
    }
    await call('POST', `/campaigns/${first}/roll-back`, { comment: 'no' })
    for (let n = 0; n < 4; n++) await goOn()
    const second = await bringing(3)
    await start(second)
    for (let n = 0; n < 4; n++) await goOn()
    expect((await record(first)).status).toBe('rolling_back')
    // A roll-back looks each two seconds at who is away, and has just done so.
    await work(2_000)
    agents[2] = fakeAgent(ctx.fleet, { host: HOSTS[2]!, uid: away.uid })
    await work(1_000)
    for (let n = 0; n < 3; n++) await settle()
    expect(runs()[2]).toBe(hashes[3])
    expect(await record(first)).toMatchObject({
      status: 'rolled_back',
      counts: { rolled_back: 2, moved_on: 1 },
    })
    expect(await takeBack(second)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[1]))
  })

  it('leave alone what a campaign of other scopes brought again and does not take back there any more', async () => {
    const first = await brought(2)
    await pushByHand(3)
    const again = await brought(2)
    await database.pool.execute(
      `update campaigns set scope = scope || '{"cut_to":[{"key":"muster/env","values":["staging"]}]}' where id = $1`,
      [again],
    )
    expect(await takeBack(again)).toMatchObject({ status: 'rolled_back', counts: { left_scope: 3 } })
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { moved_on: 3 } })
    expect(runs()).toEqual(all(hashes[2]))
  })

  it('leave what ran before both where the older one was about a workload as it left that to the newer one', async () => {
    const first = await brought(2)
    const second = await brought(3)
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { moved_on: 3 } })
    // As if the workloads were in other scopes by now.
    await database.pool.execute(
      `update campaigns set scope = scope || '{"cut_to":[{"key":"muster/env","values":["staging"]}]}' where id = $1`,
      [first],
    )
    expect(await takeBack(second)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[1]))
  })

  it('take back what a push in stages that was given up did not bring again', async () => {
    const first = await brought(2)
    await pushByHand(3)
    await pushByHand(2)
    await database.pool.execute(
      `update pushes p set phase = 'aborted' where p.seq = (select max(seq) from pushes n where n.workload_id = p.workload_id)`,
    )
    await pushByHand(3)
    await goBackByHand()
    expect((await record(first)).way_back).toMatchObject({ goes_back: 3 })
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[1]))
  })

  it('take back what a push that was overtaken before anybody had it did not bring again', async () => {
    const first = await brought(2)
    await pushByHand(3)
    for (const { workloadId } of agents) {
      await pushConfig(ctx.fleet, workloadId, configYaml(2))
      await pushConfig(ctx.fleet, workloadId, configYaml(0))
    }
    await settle()
    await goBackByHand()
    expect((await record(first)).way_back).toMatchObject({ goes_back: 3 })
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[1]))
  })

  it('leave alone what was brought again to agents that tell nothing of the configs that they are sent', async () => {
    const first = await brought(2)
    for (const agent of agents)
      agent.say({ capabilities: SUPERVISOR & ~AGENT_CAPABILITIES.reportsRemoteConfig })
    for (const n of [3, 2, 3])
      for (const { workloadId } of agents) await pushConfig(ctx.fleet, workloadId, configYaml(n))
    await ctx.advance(300)
    for (const { workloadId } of agents)
      await call('POST', `/workloads/${workloadId}/configs/${hashes[2]}/rollback`, {})
    await ctx.advance(300)
    expect(runs()).toEqual(all(hashes[2]))
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { moved_on: 3 } })
    expect(runs()).toEqual(all(hashes[2]))
  })

  it('take back what a push in stages that was overtaken after its first stage did not bring again', async () => {
    const stages = [
      { count: 1, dwellMs: 60_000, gates: [] },
      { percentage: 100, dwellMs: 0, gates: [] },
    ]
    const first = await brought(2)
    await pushByHand(3)
    for (const agent of agents) await pushConfig(ctx.fleet, agent.workloadId, configYaml(2), () => {}, stages)
    await settle()
    expect(runs()).toEqual(all(hashes[2]))
    await pushByHand(3)
    await goBackByHand()
    expect((await record(first)).way_back).toMatchObject({ goes_back: 3 })
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[1]))
  })

  it('take nothing back where the newer one leaves the workload alone, as somebody brought its config there again', async () => {
    const only = { scope: { workload_ids: [agents[0]!.workloadId] } }
    const first = await approved({ ...only, change: { kind: 'text', yaml: configYaml(2) } })
    await start(first)
    await settle()
    const second = await approved({ limits: { silent: 3 }, change: { kind: 'text', yaml: configYaml(3) } })
    await start(second)
    await work(300)
    agents[1]!.apply()
    agents[2]!.apply()
    for (let n = 0; n < 50; n++) await work(15_000)
    expect((await statesOf(second)).map(([state]) => state).sort()).toEqual([
      'applied',
      'applied',
      'no_answer',
    ])
    for (const n of [0, 3]) {
      await pushConfig(ctx.fleet, agents[0]!.workloadId, configYaml(n))
      await settle()
    }
    agents[2]!.lose()
    agents.pop()
    await takeBack(second)
    expect(await record(second)).toMatchObject({ status: 'rolling_back' })
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { moved_on: 1 } })
    expect(runs()[0]).toBe(hashes[3])
  })

  it('take back what somebody went back to after a push by hand', async () => {
    const first = await brought(2)
    await pushByHand(3)
    await goBackByHand()
    expect(runs()).toEqual(all(hashes[2]))
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[1]))
  })

  it('take back what another one had brought again and gave back', async () => {
    const first = await brought(2)
    const between = await brought(3)
    const again = await brought(2)
    for (const id of [between, again]) await takeBack(id)
    expect(runs()).toEqual(all(hashes[2]))
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[1]))
  })

  it.each([
    ['another campaign', async () => brought(2)],
    ['hand', async () => pushByHand(2)],
  ])('give that back which was brought again by %s, and which nobody took back', async (_who, again) => {
    const first = await brought(2)
    await pushByHand(3)
    await again()
    const newest = await brought(0)
    await takeBack(first)
    expect(await takeBack(newest)).toMatchObject({ counts: { rolled_back: 3 } })
    expect(runs()).toEqual(all(hashes[2]))
  })

  it('of which the older one was taken back before somebody brought that again leave what he brought', async () => {
    const older = await bringing(2)
    await start(older)
    await settle()
    await call('POST', `/campaigns/${older}/roll-back`, { comment: 'no' })
    await settle()
    await start(await bringing(2))
    await settle()
    const later = await bringing(3)
    await start(later)
    await settle()
    expect(runs()).toEqual(all(hashes[3]))
    await call('POST', `/campaigns/${later}/roll-back`, { comment: 'no' })
    await settle()
    expect(runs()).toEqual(all(hashes[2]))
  })
})

describe('a push that fails after an older campaign was taken back', () => {
  /** A campaign brings one config, and what comes `next` another; then the campaign is rolled back. */
  async function takeBackUnder(next: () => Promise<void>, cutTo?: readonly object[]): Promise<string> {
    const first = await bringing(2)
    await start(first)
    await settle()
    await next()
    if (cutTo !== undefined)
      await database.pool.execute(
        `update campaigns set scope = scope || jsonb_build_object('cut_to', $2::jsonb) where id = $1`,
        [first, JSON.stringify(cutTo)],
      )
    await call('POST', `/campaigns/${first}/roll-back`, { comment: 'no' })
    return first
  }

  /** All hosts fail of what they were offered last, and apply what follows. */
  async function fail(): Promise<void> {
    for (const agent of agents) agent.fail('exporter cannot start: no such host', hashes[3])
    await settle()
  }

  const byCampaign = async () => start(await bringing(3)).then(() => settle())
  const byHand = async () => {
    for (const agent of agents) await pushConfig(ctx.fleet, agent.workloadId, configYaml(3))
    await settle()
  }

  it('goes back to what ran before both where it was still open at that time', async () => {
    const first = await takeBackUnder(async () => {
      await start(await bringing(3))
      await work()
    })
    for (let n = 0; n < 4; n++) await work(300)
    expect(runs()).toEqual(all(hashes[3]))
    await fail()
    for (let n = 0; n < 4; n++) await work(3_000)
    await settle()
    expect(runs()).toEqual(all(hashes[1]))
    expect(await record(first)).toMatchObject({ status: 'rolled_back' })
  })

  it.each([
    ['a campaign', byCampaign],
    ['hand', byHand],
  ])('goes back to what ran before both where it was brought by %s and applied', async (_, next) => {
    const first = await takeBackUnder(next)
    await settle()
    expect(await record(first)).toMatchObject({ status: 'rolled_back', counts: { moved_on: 3 } })
    await fail()
    expect(runs()).toEqual(all(hashes[1]))
  })

  it('keeps nobody from taking its own campaign back while it goes back by itself', async () => {
    const id = await approved({ change: { kind: 'text', yaml: configYaml(2) }, limits: { failed: 3 } })
    await start(id)
    await work()
    for (const agent of agents) agent.fail('exporter cannot start: no such host', hashes[2])
    for (let n = 0; n < 3; n++) await work(300)
    expect(runs()).toEqual(all(hashes[1]))
    await call('POST', `/campaigns/${id}/roll-back`, { comment: 'no' })
    for (let n = 0; n < 2; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'rolled_back', counts: { failed: 3 } })
  })

  it.each([
    ['a campaign', byCampaign],
    ['hand', byHand],
  ])(
    'goes back to what is pinned as known-good, also where the older one had brought it, from what came by %s',
    async (_, next) => {
      await takeBackUnder(next)
      await settle()
      for (const { workloadId } of agents)
        await call('POST', `/workloads/${workloadId}/configs/${hashes[2]}/known-good`, {})
      await fail()
      expect(runs()).toEqual(all(hashes[2]))
    },
  )

  it('goes back to what was brought again after the older one, and which nobody took back', async () => {
    await takeBackUnder(async () => {
      await pushByHand(4)
      await brought(2)
      await byCampaign()
    })
    await settle()
    await fail()
    expect(runs()).toEqual(all(hashes[2]))
  })

  it('does not go back to what was taken back from the workload, whatever scope that has come into since', async () => {
    await pushByHand(0)
    const first = await brought(2)
    expect(await takeBack(first)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 3 } })
    await database.pool.execute(
      `update campaigns set scope = scope || '{"cut_to":[{"key":"muster/env","values":["staging"]}]}' where id = $1`,
      [first],
    )
    // As if what ran before the campaign had failed there since.
    await database.pool.execute(
      `insert into quarantines (workload_id, config_hash, instance_uid, push_id, created_at)
       select workload_id, config_hash, '', push_id, submitted_at from pushes where kind = 'approval' and config_hash = $1`,
      [hashes[0]],
    )
    for (const agent of agents) await pushConfig(ctx.fleet, agent.workloadId, configYaml(3))
    await fail()
    expect(runs()).toEqual(all(hashes[1]))
  })

  it('goes back to what the older one brought where its roll-back was not about the workload', async () => {
    await takeBackUnder(byCampaign, [{ key: 'muster/env', values: ['staging'] }])
    await settle()
    await fail()
    expect(runs()).toEqual(all(hashes[2]))
  })
})

describe('a target whose result is another than approved', () => {
  it('is left out by name at its turn, and gets neither the one nor the other', async () => {
    const config = (await call('POST', '/fleet-configs', {
      name: 'Edge',
      selector: { match_labels: { 'identity/host.name': 'vm-*' } },
    })) as { id: string }
    await call('POST', `/fleet-configs/${config.id}/versions`, {
      content: configYaml(1).replace('127.0.0.1:1', `\${muster:site}:1`),
      comment: 'By site',
      variables: [{ name: 'site', label: 'identity/host.name', pattern: '[a-z]+-[0-9]+' }],
    })
    const change = { kind: 'version', fleet_config_id: config.id, number: 1 }
    const id = await approved({ change, scope: {}, limits: { silent: 1 } })
    await call('PUT', `/workloads/${agents[1]!.workloadId}/variables`, { values: { site: 'else-1' } })
    await start(id)
    await settle()
    const left = (await targets(id)).find(({ workload_id }) => workload_id === agents[1]!.workloadId)
    expect(left).toMatchObject({ state: 'skipped', reason: 'result_changed' })
    expect(agents[1]!.offered()).toEqual([hashes[1]])
    expect(await record(id)).toMatchObject({ status: 'done', counts: { applied: 2, skipped: 1 } })
  })
})
