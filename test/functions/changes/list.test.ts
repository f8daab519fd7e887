import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import { createCommunityEdition, createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'
import { connectIn, makeScopedGroup, member } from '../../support/scopes.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let viewer: SignedIn

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from campaigns')
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  editor = await signIn(ctx, { groups: ['editor'] })
  viewer = await signIn(ctx, { groups: ['viewer'] })
})
afterAll(() => ctx.close())

const changes = async (query = '', as = editor, from: FleetTestContext = ctx) => {
  const answer = await invoke(from, `GET /api/changes${query}`, { as: as.token })
  expect(answer.status).toBe(200)
  return answer.json as ChangeRecord[]
}
const told = (list: readonly ChangeRecord[]) => list.map(({ kind, outcome }) => `${kind} ${outcome}`)
const post = (path: string, body: object, as = editor) => invoke(ctx, `POST ${path}`, { as: as.token, body })

/** A request through its approval to its push, each by somebody else. */
async function pushByRequest(workload: string, port: number, comment: string): Promise<string> {
  const approvals = `/api/workloads/${workload}/config/approvals`
  const { id } = (await post(approvals, { draft_yaml: configYaml(port), comment })).json as { id: string }
  const approver = await signIn(ctx)
  expect((await post(`${approvals}/${id}/approve`, { comment: 'fine' }, approver)).status).toBe(200)
  expect((await post(`${approvals}/${id}/push`, {}, editor)).status).toBe(202)
  return id
}

describe('GET /api/changes', () => {
  it('tells of requests, pushes, rollouts, rollbacks and campaigns, each once, the newest first', async () => {
    const agent = fakeAgent(ctx.fleet, { service: 'gateway' })
    await ctx.advance(300)
    const approvalId = await pushByRequest(agent.workloadId, 1, 'new endpoint')
    agent.apply()
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(2))
    agent.fail('no such exporter')
    await ctx.advance(1_000)
    agent.apply()
    await ctx.advance(1_000)
    const stages = [{ count: 1, dwellMs: 60_000, gates: [] }]
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(3), () => {}, stages)
    await ctx.advance(1_000)
    const approvals = `/api/workloads/${agent.workloadId}/config/approvals`
    const draft = { draft_yaml: configYaml(9), comment: 'a secret reason', target_group: 'other' }
    const request = (await post(approvals, draft)).json as { id: string }
    await ctx.advance(1_000)
    const campaign = {
      name: 'Everywhere',
      change: { kind: 'text', yaml: configYaml(5) },
      scope: { workload_ids: [agent.workloadId] },
    }
    expect((await post('/api/campaigns', campaign)).status).toBe(201)

    const all = await changes()
    expect(told(all)).toEqual([
      'campaign open',
      'request open',
      'rollout open',
      'auto_rollback succeeded',
      'push failed',
      'push succeeded',
    ])
    const [, pending, rollout, automatic, failed, first] = all
    expect(pending).toMatchObject({
      id: request.id,
      who: editor.email,
      comment: 'a secret reason',
      request_status: 'pending',
      workload_name: 'gateway',
    })
    expect(rollout).toMatchObject({ rollout_status: 'running', who: 'pusher@example.com' })
    expect(automatic).toMatchObject({
      failed_config_hash: failed?.config_hash,
      config_hash: first?.config_hash,
    })
    expect(failed).toMatchObject({ failed_count: 1, target_count: 1, error_title: expect.any(String) })
    expect(first).toMatchObject({
      approval_id: approvalId,
      requester: editor.email,
      comment: 'new endpoint',
      is_break_glass: false,
    })
    expect(JSON.stringify(all)).not.toContain('receivers')

    // A request that ends without a push says so; nothing else of it is new.
    await post(`${approvals}/${request.id}/withdraw`, { comment: 'not needed' })
    expect((await changes('?kind=request'))[0]).toMatchObject({ outcome: 'ended', comment: 'not needed' })
  })

  it('shows a viewer no comment, and no campaign that has not started', async () => {
    const agent = fakeAgent(ctx.fleet, { service: 'gateway' })
    await ctx.advance(300)
    await pushByRequest(agent.workloadId, 1, 'because of the incident')
    const draft = { name: 'Plan', change: { kind: 'text', yaml: configYaml(5) }, scope: {} }
    await post('/api/campaigns', { ...draft, scope: { workload_ids: [agent.workloadId] } })
    const seen = await changes('', viewer)
    expect(told(seen)).toEqual(['push open'])
    expect(JSON.stringify(seen)).not.toMatch(/because of the incident|Plan/)
    // What an edition lacks is not told of either.
    const community = { ...ctx, edition: createCommunityEdition() }
    expect(told(await changes('', editor, community))).toEqual(['push open'])
  })

  it('has one entry for a campaign with its count, which opens to its pushes, and tells hosts of one name apart', async () => {
    const hosts = ['vm-1', 'vm-2', 'vm-3']
    const agents = hosts.map((host) => fakeAgent(ctx.fleet, { service: 'edge', host }))
    await ctx.advance(300)
    for (const { workloadId } of agents) await pushConfig(ctx.fleet, workloadId, configYaml(1))
    for (const agent of agents) agent.apply()
    await ctx.advance(60_000)
    const workload_ids = agents.map(({ workloadId }) => workloadId)
    const draft = {
      name: 'All',
      change: { kind: 'text', yaml: configYaml(2) },
      scope: { workload_ids },
      waves: [{}],
    }
    const { id } = (await post('/api/campaigns', draft)).json as { id: string }
    await post(`/api/campaigns/${id}/plan`, {})
    while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
    const { json } = await invoke(ctx, `GET /api/campaigns/${id}`, { as: editor.token })
    const yes = {
      comment: 'yes',
      plan_hash: (json as { plan_hash: string }).plan_hash,
      prod_confirmation: true,
    }
    expect((await post(`/api/campaigns/${id}/request`, yes)).status).toBe(200)
    expect((await post(`/api/campaigns/${id}/approve`, yes, await signIn(ctx))).status).toBe(200)
    expect((await post(`/api/campaigns/${id}/start`, yes)).status).toBe(200)
    await ctx.campaigns.work(new AbortController().signal)
    await ctx.advance(300)
    agents[0]!.fail('no such exporter')
    for (const agent of agents.slice(1)) agent.apply()
    await ctx.advance(1_000)
    await ctx.campaigns.work(new AbortController().signal)

    const all = await changes()
    const ofCampaign = all.filter(({ campaign_id }) => campaign_id === id)
    expect(told(ofCampaign)).toEqual(['campaign halted'])
    expect(ofCampaign[0]).toMatchObject({ push_count: 4, target_count: 3, applied_count: 2, failed_count: 1 })
    // Why it stands still, without the names of those that it is about.
    expect(ofCampaign[0]!.halt).toEqual({
      gate: 'failed',
      value: 1,
      limit: 0,
      wave: 0,
      cause: 'unknown',
      title: expect.any(String),
    })
    expect(
      all
        .filter(({ kind }) => kind === 'push')
        .map(({ workload_place }) => workload_place)
        .sort(),
    ).toEqual(hosts)

    const opened = await changes(`?campaign=${id}`)
    // The one that failed went back by itself.
    expect(opened.map(({ kind }) => kind).sort()).toEqual(['auto_rollback', 'push', 'push', 'push'])
    expect(new Set(opened.map(({ workload_place }) => workload_place))).toEqual(new Set(hosts))
    expect(await changes(`?campaign=${id}&limit=2`)).toHaveLength(2)
    expect(await changes('?campaign=nobody')).toEqual([])
    // What somebody looks for is not folded: a host's own history, and what failed.
    const ofHost = await changes('?workload=VM-2')
    expect(told(ofHost).sort()).toEqual(['campaign halted', 'push succeeded', 'push succeeded'])
    expect(told(await changes('?outcome=failed'))).toContain('push failed')
    // An edition without campaigns tells of each push.
    const community = { ...ctx, edition: createCommunityEdition() }
    expect((await changes('', editor, community)).filter(({ kind }) => kind === 'push')).toHaveLength(6)
  })

  it('is narrowed by workload, person, kind, outcome and time', async () => {
    const one = fakeAgent(ctx.fleet, { service: 'gateway' })
    const other = fakeAgent(ctx.fleet, { service: 'mailer' })
    await ctx.advance(300)
    await pushConfig(ctx.fleet, one.workloadId, configYaml(1))
    one.apply()
    await ctx.advance(60_000)
    const between = ctx.clock.now().toISOString()
    await ctx.advance(60_000)
    await pushByRequest(other.workloadId, 2, 'why')
    const names = async (query: string) => (await changes(query)).map(({ workload_name }) => workload_name)
    expect(await names('')).toEqual(['mailer', 'gateway'])
    expect(await names('?workload=GATE')).toEqual(['gateway'])
    expect(await names(`?workload=${other.workloadId}`)).toEqual(['mailer'])
    expect(await names('?person=pusher%40')).toEqual(['gateway'])
    expect(await names(`?person=${encodeURIComponent(editor.email)}`)).toEqual(['mailer'])
    // What was said of it finds it, for those alone who may read that.
    expect(await names('?text=WHY')).toEqual(['mailer'])
    expect(await changes('?text=why', viewer)).toEqual([])
    const [pushed] = await changes('?person=pusher%40')
    expect(await names(`?text=${pushed?.config_hash?.slice(0, 7)}`)).toEqual(['gateway'])
    expect(await names('?text=%25')).toEqual([])
    expect(await names('?outcome=succeeded')).toEqual(['gateway'])
    expect(await names('?outcome=open')).toEqual(['mailer'])
    expect(await names('?kind=rollout')).toEqual([])
    expect(await names(`?to=${between}`)).toEqual(['gateway'])
    expect(await names(`?from=${between}`)).toEqual(['mailer'])
    for (const query of ['?outcome=fine', '?kind=all', '?from=yesterday', '?to=1', '?cursor=x', '?limit=0'])
      expect((await invoke(ctx, `GET /api/changes${query}`, { as: editor.token })).status, query).toBe(400)
  })

  it('goes page by page through changes of one moment without losing or repeating one', async () => {
    const agents = Array.from({ length: 7 }, (_, at) => fakeAgent(ctx.fleet, { service: `s${at}` }))
    await ctx.advance(300)
    for (const [at, { workloadId }] of agents.entries()) {
      if (at % 3 === 2)
        await post(`/api/workloads/${workloadId}/config/approvals`, { draft_yaml: configYaml(at) })
      else await pushConfig(ctx.fleet, workloadId, configYaml(at))
    }
    const all = (await changes()).map(({ id }) => id)
    expect(all).toHaveLength(7)
    const found: string[] = []
    let address: string | null = '?limit=2'
    for (let page = 0; address !== null && page < 10; page++) {
      const answer = await invoke(ctx, `GET /api/changes${address}`, { as: editor.token })
      found.push(...(answer.json as ChangeRecord[]).map(({ id }) => id))
      address = /<\/api\/changes(\?[^>]+)>; rel="next"/.exec(answer.headers['Link'] ?? '')?.[1] ?? null
    }
    expect(found).toEqual(all)
  })

  it('counts a rollout in stages against all instances, and not those of its stages so far alone', async () => {
    const [first] = ['a', 'b', 'c'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod }))
    await ctx.advance(300)
    const stages = [
      { count: 1, dwellMs: 60_000, gates: [] },
      { count: 3, dwellMs: 0, gates: [] },
    ]
    await pushConfig(ctx.fleet, first!.workloadId, configYaml(1), () => {}, stages)
    await ctx.advance(1_000)
    expect((await changes())[0]).toMatchObject({ kind: 'rollout', target_count: 1, instance_count: 3 })
  })

  it('looks through a stretch for what hardly anything fits, and says where to go on', {
    timeout: 60_000,
  }, async () => {
    const agent = fakeAgent(ctx.fleet, { service: 'gateway' })
    await ctx.advance(300)
    await pushByRequest(agent.workloadId, 1, 'the oldest of all')
    agent.apply()
    await ctx.advance(1_000)
    await database.pool.execute(
      `insert into pushes select made.* from pushes p, generate_series(1, 11000) n,
         jsonb_populate_record(p, jsonb_build_object('push_id', gen_random_uuid(), 'seq', p.seq + n, 'approval_id', null,
           'pushed_by', 'robot', 'submitted_at', p.submitted_at + n * interval '1 second')) made
       where p.workload_id = $1`,
      [agent.workloadId],
    )
    let address: string | null = `?person=${encodeURIComponent(editor.email)}&limit=50`
    const pages: number[] = []
    for (let page = 0; address !== null && page < 10; page++) {
      const answer = await invoke(ctx, `GET /api/changes${address}`, { as: editor.token })
      pages.push((answer.json as ChangeRecord[]).length)
      address = /<\/api\/changes(\?[^>]+)>; rel="next"/.exec(answer.headers['Link'] ?? '')?.[1] ?? null
    }
    expect(pages).toEqual([0, 0, 1])
    // The whole list goes on by itself, and nothing is looked for in steps where every row fits.
    expect(await changes(`?person=${encodeURIComponent(editor.email)}`)).toHaveLength(1)
    expect(await changes('?limit=50')).toHaveLength(50)
    expect(await changes(`?workload=${agent.workloadId}&limit=50`)).toHaveLength(50)
  })

  it('shows comments where they may be read, and what was done to everybody', async () => {
    const admin = await signIn(ctx)
    await database.pool.execute('delete from groups where not is_system')
    await makeScopedGroup(ctx, admin)
    const sue = await member(ctx, 'staging-editors')
    const own = await connectIn(ctx, admin, 'staging', { service: 'shop' })
    const other = await connectIn(ctx, admin, 'live', { service: 'bank' })
    await pushByRequest(own.workloadId, 1, 'why the shop')
    await pushByRequest(other.workloadId, 2, 'why the bank')
    const seen = await changes('', sue)
    expect(seen.map(({ workload_name }) => workload_name).sort()).toEqual(['bank', 'shop'])
    expect(JSON.stringify(seen)).toContain('why the shop')
    expect(JSON.stringify(seen)).not.toContain('why the bank')
  })
})
