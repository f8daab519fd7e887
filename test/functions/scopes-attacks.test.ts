import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import type { ApprovalRecord } from '../../lib/wire/approvals.ts'
import type { CampaignGroup, CampaignRecord, CampaignTarget } from '../../lib/wire/campaigns.ts'
import type { FleetConfigRecord } from '../../lib/wire/fleet-configs.ts'
import type { TemplateRecord } from '../../lib/wire/templates.ts'
import { createCompleteEdition } from '../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext } from '../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { configYaml, pushConfig } from '../support/push-config.ts'
import { connectIn, makeScopedGroup, member, OUTSIDE, placeIn, STAGING } from '../support/scopes.ts'

// Each way around a scope that somebody could try whose endpoint decides by itself what lies within.
const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
/** Two who may do everything an editor may, but in staging and dev only. */
let sue: SignedIn
let tom: SignedIn
let staging: FakeAgent[]
let production: FakeAgent

const [FIRST, SECOND] = [configYaml(1), configYaml(2)]
const IN_STAGING = { match_expressions: [{ key: 'muster/env', operator: 'In', values: ['staging'] }] }
const EVERYWHERE = { match_labels: { 'identity/service.name': 'collector' } }

beforeEach(async () => {
  await ctx?.close()
  for (const table of ['fleet_configs', 'campaigns', 'workloads', 'users', 'groups where not is_system'])
    await database.pool.execute(`delete from ${table}`)
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  await makeScopedGroup(ctx, admin)
  sue = await member(ctx, 'staging-editors')
  tom = await member(ctx, 'staging-editors', 'viewer')
  staging = [
    await connectIn(ctx, admin, 'staging', { service: 'collector', host: 's-1' }),
    await connectIn(ctx, admin, 'staging', { service: 'collector', host: 's-2' }),
  ]
  production = await connectIn(ctx, admin, 'live', { service: 'collector', host: 'p-1' })
  for (const agent of [...staging, production]) {
    await pushConfig(ctx.fleet, agent.workloadId, FIRST)
    agent.apply()
  }
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const call = (as: SignedIn, request: string, body?: object) => invoke(ctx, request, { as: as.token, body })
const approvals = (agent: FakeAgent) => `/api/workloads/${agent.workloadId}/config/approvals`

async function request(as: SignedIn, agent: FakeAgent): Promise<ApprovalRecord> {
  const body = { draft_yaml: SECOND, target_group: 'single', comment: 'please' }
  const { status, json, text } = await call(as, `POST ${approvals(agent)}`, body)
  expect(status, text).toBe(201)
  return json as ApprovalRecord
}

describe('a request', () => {
  it('goes its whole way within the scope', async () => {
    const { id } = await request(sue, staging[0]!)
    const path = `POST ${approvals(staging[0]!)}/${id}`
    expect(await call(tom, `${path}/approve`, { comment: 'fine' })).toMatchObject({ status: 200 })
    expect(await call(sue, `${path}/push`, {})).toMatchObject({ status: 202 })
    expect(staging[0]!.offered().at(-1)).toBe(configHash(SECOND))
  })

  it('is decided by nobody who lost the scope, or the session, while the body was on its way', async () => {
    const { id } = await request(sue, staging[0]!)
    const approve = (whileSending: () => Promise<unknown>) =>
      invoke(ctx, `POST ${approvals(staging[0]!)}/${id}/approve`, {
        as: tom.token,
        body: { comment: 'fine' },
        whileSending,
      })
    const values = { values: { endpoint: 'evil.example.com' } }
    const variables = `PUT /api/workloads/${staging[0]!.workloadId}/variables`
    const leave = () => placeIn(ctx, admin, staging[0]!.workloadId, 'live')
    expect(await invoke(ctx, variables, { as: sue.token, body: values, whileSending: leave })).toMatchObject(
      OUTSIDE,
    )
    await placeIn(ctx, admin, staging[0]!.workloadId, 'staging')
    expect(await approve(leave)).toMatchObject(OUTSIDE)
    await placeIn(ctx, admin, staging[0]!.workloadId, 'staging')
    const fired = () => call(admin, `DELETE /api/users/${tom.userId}`)
    expect(await approve(fired)).toMatchObject({ status: 401 })
  })

  it('does not take the approval of somebody whose scope it left before the push', async () => {
    const { id } = await request(sue, staging[0]!)
    const path = `POST ${approvals(staging[0]!)}/${id}`
    expect(await call(tom, `${path}/approve`, { comment: 'fine' })).toMatchObject({ status: 200 })
    await placeIn(ctx, admin, staging[0]!.workloadId, 'live')
    expect(await call(sue, `${path}/push`, {})).toMatchObject(OUTSIDE)
    expect(await call(admin, `${path}/push`, {})).toMatchObject({
      status: 409,
      json: { code: 'approval_needs_another', reason: '0_of_1' },
    })
    await placeIn(ctx, admin, staging[0]!.workloadId, 'dev')
    expect(await call(sue, `${path}/push`, {})).toMatchObject({ status: 202 })
  })

  it('does not take the approval of somebody whose group is bound to another scope since', async () => {
    const { id } = await request(sue, staging[0]!)
    const path = `POST ${approvals(staging[0]!)}/${id}`
    await makeScopedGroup(ctx, admin, 'live-editors', { key: 'muster/env', values: ['live'] })
    expect(await call(tom, `${path}/approve`, { comment: 'fine' })).toMatchObject({ status: 200 })
    await call(admin, `PATCH /api/users/${tom.userId}`, { groups: ['live-editors'] })
    expect(await call(sue, `${path}/push`, {})).toMatchObject({ status: 409 })
  })

  it('cannot break the glass outside, not even with what was requested inside', async () => {
    const { id } = await request(admin, production)
    const body = { break_glass: true, break_glass_reason: 'now', comment: 'now' }
    expect(await call(sue, `POST ${approvals(production)}/${id}/push`, body)).toMatchObject(OUTSIDE)
    // The path names a workload within the scope, the request is another's.
    expect(await call(sue, `POST ${approvals(staging[0]!)}/${id}/push`, body)).toMatchObject({ status: 404 })
    expect(await call(sue, `POST ${approvals(staging[0]!)}/${id}/approve`, { comment: 'x' })).toMatchObject({
      status: 404,
    })
  })

  it('outside the scope is in no list that shows drafts', async () => {
    await request(admin, production)
    const { id } = await request(sue, staging[0]!)
    for (const query of ['', '?limit=10', '?status=pending']) {
      const answer = await call(tom, `GET /api/approvals${query}`)
      expect((answer.json as ApprovalRecord[]).map((one) => one.id)).toEqual([id])
      expect(answer.headers['Muster-Outside-Scope']).toBe('1')
    }
    const rejected = await call(tom, 'GET /api/approvals?status=rejected')
    expect([rejected.json, rejected.headers['Muster-Outside-Scope']]).toEqual([[], '0'])
    const all = await call(admin, 'GET /api/approvals')
    expect(all.json).toHaveLength(2)
    expect(all.headers['Muster-Outside-Scope']).toBeUndefined()
    await placeIn(ctx, admin, staging[0]!.workloadId, 'live')
    expect((await call(tom, 'GET /api/approvals')).json).toEqual([])
  })

  it('is made with a token within the scope of its holder, and nowhere else', async () => {
    const { token } = await makeApiToken(ctx, sue, ['config:request', 'workload:push_config'])
    const body = { draft_yaml: SECOND, target_group: 'single', comment: 'please' }
    const ask = (agent: FakeAgent) => invoke(ctx, `POST ${approvals(agent)}`, { as: token, body })
    expect(await ask(staging[0]!)).toMatchObject({ status: 201 })
    expect(await ask(production)).toMatchObject(OUTSIDE)
    // A right that the token was not given stays out of reach, and is not told as a matter of scope.
    const path = `/api/workloads/${staging[0]!.workloadId}/config/reported`
    expect(await invoke(ctx, `GET ${path}`, { as: token })).toMatchObject({ text: '{"error":"forbidden"}\n' })
    await call(admin, `PATCH /api/users/${sue.userId}`, { groups: ['viewer'] })
    expect(await ask(staging[0]!)).toMatchObject({ text: '{"error":"forbidden"}\n' })
  })

  it('is made by a service account within the scope of its group, which makes nobody an approver elsewhere', async () => {
    const account = { name: 'bot', owner_id: sue.userId, groups: ['staging-editors'] }
    const { id } = (await call(admin, 'POST /api/service-accounts', account)).json as { id: string }
    const expires_at = new Date(ctx.clock.now().getTime() + 86_400_000).toISOString()
    const asked = { name: 'ci', permissions: ['config:request'], expires_at }
    const made = await call(admin, `POST /api/service-accounts/${id}/tokens`, asked)
    const { token } = made.json as { token: string }
    const body = { draft_yaml: SECOND, target_group: 'single', comment: 'please' }
    expect(await invoke(ctx, `POST ${approvals(staging[0]!)}`, { as: token, body })).toMatchObject({
      status: 201,
    })
    expect(await invoke(ctx, `POST ${approvals(production)}`, { as: token, body })).toMatchObject(OUTSIDE)
  })
})

describe('labels', () => {
  it('that bring a workload into the scope are set by nobody within it', async () => {
    const path = `/api/workloads/${production.workloadId}/trusted-labels`
    expect(await call(sue, `PUT ${path}`, { labels: { env: 'staging' } })).toMatchObject({ status: 403 })
    const rule = { name: 'mine', selector: EVERYWHERE, labels: { env: 'staging' } }
    expect(await call(sue, 'POST /api/label-rules', rule)).toMatchObject({ status: 403 })
    const patch = { selector: EVERYWHERE, set: { env: 'staging' } }
    expect(await call(sue, 'PATCH /api/workloads/labels', patch)).toMatchObject({ status: 403 })
  })
})

async function draft(as: SignedIn, more: object = {}): Promise<string> {
  const { status, json, text } = await call(as, 'POST /api/campaigns', {
    name: 'Two',
    change: { kind: 'text', yaml: SECOND },
    scope: { selector: EVERYWHERE },
    waves: [{}],
    ...more,
  })
  expect(status, text).toBe(201)
  return (json as CampaignRecord).id
}
const readCampaign = async (as: SignedIn, id: string) =>
  (await call(as, `GET /api/campaigns/${id}`)).json as CampaignRecord
async function plan(as: SignedIn, id: string): Promise<CampaignRecord> {
  expect((await call(as, `POST /api/campaigns/${id}/plan`)).status).toBe(202)
  while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
  return readCampaign(as, id)
}
async function ask(as: SignedIn, id: string): Promise<string | undefined> {
  const { plan_hash } = await plan(as, id)
  const body = { comment: 'all of them', plan_hash }
  expect(await call(as, `POST /api/campaigns/${id}/request`, body)).toMatchObject({ status: 200 })
  return plan_hash
}
const approve = (as: SignedIn, id: string, plan_hash: string | undefined) =>
  call(as, `POST /api/campaigns/${id}/approve`, { comment: 'yes', plan_hash })
async function work(ms = 0): Promise<void> {
  if (ms > 0) await ctx.advance(ms)
  await ctx.campaigns.work(new AbortController().signal)
  await ctx.advance(300)
}
const runs = (agent: FakeAgent) => agent.offered().at(-1)

describe('a campaign of somebody within a scope', () => {
  it('is cut to the scope, says by how many, and goes its whole way', async () => {
    const id = await draft(sue, { scope: { selector: EVERYWHERE, cut_to: [] } })
    const hash = await ask(sue, id)
    const record = await readCampaign(sue, id)
    expect(record.plan).toMatchObject({ target_count: 2, outside_scope_count: 1 })
    expect(record.scope.cut_to).toEqual([{ key: 'muster/env', values: ['dev', 'staging'] }])
    expect(await approve(tom, id, hash)).toMatchObject({ status: 200, json: { status: 'approved' } })
    expect(await call(tom, `POST /api/campaigns/${id}/start`)).toMatchObject({ status: 200 })
    await work()
    expect(staging.map(runs)).toEqual([configHash(SECOND), configHash(SECOND)])
    expect(runs(production)).toBe(configHash(FIRST))
  })

  it('reaches nothing outside by naming it, or by what moves in and out between plan, approval and push', async () => {
    const everyone = [...staging, production].map(({ workloadId }) => workloadId)
    const id = await draft(sue, { scope: { workload_ids: everyone } })
    const hash = await ask(sue, id)
    expect((await readCampaign(sue, id)).plan).toMatchObject({ target_count: 2, outside_scope_count: 1 })
    await approve(tom, id, hash)
    await placeIn(ctx, admin, staging[0]!.workloadId, 'live')
    await placeIn(ctx, admin, production.workloadId, 'staging')
    expect(await call(sue, `POST /api/campaigns/${id}/start`)).toMatchObject({ status: 200 })
    await work()
    expect([...staging, production].map(runs)).toEqual([
      configHash(FIRST),
      configHash(SECOND),
      configHash(FIRST),
    ])
    const targets = (await call(admin, `GET /api/campaigns/${id}/targets`)).json as CampaignTarget[]
    expect(targets.find(({ workload_id }) => workload_id === staging[0]!.workloadId)).toMatchObject({
      state: 'skipped',
      reason: 'not_selected',
    })
  })

  it('leaves alone in its roll-back what left the scope since', async () => {
    const id = await draft(sue)
    await approve(tom, id, await ask(sue, id))
    await call(sue, `POST /api/campaigns/${id}/start`)
    await work()
    for (const agent of staging) agent.apply()
    await work(1_000)
    await placeIn(ctx, admin, staging[0]!.workloadId, 'live')
    expect(await call(sue, `POST /api/campaigns/${id}/roll-back`)).toMatchObject({ status: 200 })
    for (let n = 0; n < 3; n++) await work(1_000)
    expect(staging.map(runs)).toEqual([configHash(SECOND), configHash(FIRST)])
  })

  it('stops when an approver loses the scope while it runs', async () => {
    const id = await draft(sue, { waves: [{ count: 1 }, {}] })
    await approve(tom, id, await ask(sue, id))
    await call(sue, `POST /api/campaigns/${id}/start`)
    await work()
    const group = { key: 'muster/env', values: ['dev'] }
    await makeScopedGroup(ctx, admin, 'dev-editors', group)
    await call(admin, `PATCH /api/users/${tom.userId}`, { groups: ['dev-editors'] })
    for (let n = 0; n < 3; n++) await work(10_000)
    expect(await readCampaign(sue, id)).toMatchObject({ status: 'halted', halt: { gate: 'approver_gone' } })
  })
})

describe('a campaign of others', () => {
  it('that reaches beyond the scope is decided, changed and read in full by nobody within it', async () => {
    const id = await draft(admin)
    const { plan_hash } = await plan(admin, id)
    const body = { comment: 'mine', plan_hash }
    // What goes on takes no field that it does not know: an unknown limit would be taken for none.
    const decide = (step: string) =>
      call(sue, `POST /api/campaigns/${id}/${step}`, step === 'continue' ? { comment: 'mine' } : body)
    for (const step of [
      'comments',
      'plan',
      'request',
      'approve',
      'reject',
      'withdraw',
      'start',
      'pause',
      'continue',
      'abort',
    ])
      expect(await decide(step), step).toMatchObject(OUTSIDE)
    expect(await call(sue, `POST /api/campaigns/${id}/roll-back`, body)).toMatchObject(OUTSIDE)
    const wider = { name: 'Mine', change: { kind: 'text', yaml: SECOND }, scope: { selector: EVERYWHERE } }
    expect(await call(sue, `PUT /api/campaigns/${id}`, wider)).toMatchObject(OUTSIDE)
    // What it would do with her own workloads she sees.
    expect((await call(sue, `GET /api/campaigns/${id}/groups`)).json).toMatchObject([{ count: 2 }])
    expect((await readCampaign(sue, id)).change).not.toHaveProperty('yaml')
    const listed = (await call(sue, 'GET /api/campaigns')).json as CampaignRecord[]
    expect(listed.map(({ change }) => 'yaml' in change)).toEqual([false])
    expect((await readCampaign(admin, id)).change).toHaveProperty('yaml')
  })

  it('whose selector stays within the scope is approved within it, and its diff hides what left', async () => {
    const id = await draft(admin, { scope: { selector: IN_STAGING } })
    const hash = await ask(admin, id)
    const groups = async () => (await call(sue, `GET /api/campaigns/${id}/groups`)).json as CampaignGroup[]
    expect((await groups())[0]!.diff).not.toBe('')
    for (const { workloadId } of staging) await placeIn(ctx, admin, workloadId, 'live')
    expect(await groups()).toEqual([])
    expect(await approve(sue, id, hash)).toMatchObject({ status: 200 })
    // Taking it back would push to all that it changed, wherever they are by now.
    expect(await call(sue, `POST /api/campaigns/${id}/roll-back`)).toMatchObject(OUTSIDE)
  })

  it('takes over no text of a fleet config that nothing within the scope is under', async () => {
    const config = await makeFleetConfig(admin, { match_labels: { 'muster/env': 'live' } })
    await call(admin, `POST /api/fleet-configs/${config.id}/versions`, { content: SECOND })
    const asked = {
      name: 'Peek',
      change: { kind: 'version', fleet_config_id: config.id, number: 1, takeover: true },
      scope: { selector: EVERYWHERE },
    }
    expect(await call(sue, 'POST /api/campaigns', asked)).toMatchObject(OUTSIDE)
    expect(await call(admin, 'POST /api/campaigns', asked)).toMatchObject({ status: 201 })
  })
})

async function makeFleetConfig(as: SignedIn, selector: object, priority = 0, name = 'Config') {
  const answer = await call(as, 'POST /api/fleet-configs', { name, selector, priority })
  expect(answer.status, answer.text).toBe(201)
  return answer.json as FleetConfigRecord
}

describe('a fleet config', () => {
  it('of somebody within a scope selects nothing that could ever lie outside', async () => {
    const make = (selector: object) =>
      call(sue, 'POST /api/fleet-configs', { name: 'Mine', selector, priority: 0 })
    const inside = { key: 'muster/env', operator: 'In', values: ['staging'] }
    for (const selector of [
      EVERYWHERE,
      { match_labels: { 'muster/env': 'live' } },
      { match_labels: { 'muster/team': 'staging' } },
      { match_expressions: [{ ...inside, values: ['staging', 'live'] }] },
      { match_expressions: [{ key: 'muster/env', operator: 'NotIn', values: ['live'] }] },
      { match_expressions: [{ key: 'muster/env', operator: 'Exists' }] },
      { match_labels: { 'identity/service.name': 'staging' } },
    ])
      expect(await make(selector), JSON.stringify(selector)).toMatchObject(OUTSIDE)
    expect(await make({ match_expressions: [inside] })).toMatchObject({ status: 201 })
  })

  it('is not changed, removed or versioned by somebody whose scope it reaches beyond, nor made to', async () => {
    const { id } = await makeFleetConfig(admin, EVERYWHERE, 0, 'All')
    const body = { name: 'All', selector: IN_STAGING, priority: 0 }
    await call(admin, `POST /api/fleet-configs/${id}/versions`, { content: SECOND })
    expect(await call(sue, `PUT /api/fleet-configs/${id}`, body)).toMatchObject(OUTSIDE)
    expect(await call(sue, `DELETE /api/fleet-configs/${id}`)).toMatchObject(OUTSIDE)
    expect(await call(sue, `POST /api/fleet-configs/${id}/versions`, { content: FIRST })).toMatchObject(
      OUTSIDE,
    )
    // Workloads of hers are under it: its text is read, and what it is for another's workload is not.
    const read = (path: string) => call(sue, `GET /api/fleet-configs/${id}/versions${path}`)
    for (const path of ['', '/1', '/1/compare?with=1', `/1/render?workload_id=${staging[0]!.workloadId}`])
      expect((await read(path)).status, path).toBe(200)
    expect(await read(`/1/render?workload_id=${production.workloadId}`)).toMatchObject(OUTSIDE)
    expect(await call(sue, `DELETE /api/fleet-configs/${id}/desired`)).toMatchObject(OUTSIDE)
    const own = await makeFleetConfig(sue, IN_STAGING, -1, 'Own')
    const wider = { name: 'Own', selector: EVERYWHERE, priority: -1 }
    expect(await call(sue, `PUT /api/fleet-configs/${own.id}`, wider)).toMatchObject(OUTSIDE)
    await call(sue, `POST /api/fleet-configs/${own.id}/versions`, { content: SECOND })
    const render = `GET /api/fleet-configs/${own.id}/versions/1/render?workload_id=`
    expect(await call(sue, `${render}${staging[0]!.workloadId}`)).toMatchObject({ status: 200 })
    expect(await call(sue, `${render}${production.workloadId}`)).toMatchObject(OUTSIDE)
  })

  it('never outranks one of others, whose workloads it would take', async () => {
    await makeFleetConfig(admin, EVERYWHERE, 0, 'Baseline')
    await makeFleetConfig(admin, { match_labels: { 'muster/env': 'live' } }, -10, 'Live')
    const make = (priority: number) =>
      call(sue, 'POST /api/fleet-configs', { name: 'Own', selector: IN_STAGING, priority })
    const outranks = { status: 403, json: { code: 'fleet_config_outranks', name: 'Baseline', priority: 0 } }
    expect(await make(1)).toMatchObject(outranks)
    expect(await make(0)).toMatchObject(outranks)
    // What can never select the same workload is not in the way.
    const made = await make(-1)
    expect(made).toMatchObject({ status: 201 })
    const { id } = made.json as FleetConfigRecord
    const raised = { name: 'Own', selector: IN_STAGING, priority: 5 }
    expect(await call(sue, `PUT /api/fleet-configs/${id}`, raised)).toMatchObject(outranks)
    expect(await call(admin, `PUT /api/fleet-configs/${id}`, raised)).toMatchObject({ status: 200 })
  })

  it('applies nothing by itself beyond the scope, by request, plan or approval', async () => {
    const { id } = await makeFleetConfig(sue, IN_STAGING, -1, 'Own')
    await call(sue, `POST /api/fleet-configs/${id}/versions`, { content: SECOND })
    const path = `POST /api/fleet-configs/${id}/auto-apply`
    const wider = { number: 1, selector: EVERYWHERE, comment: 'x', plan_hash: 'x' }
    expect(await call(sue, path, wider)).toMatchObject(OUTSIDE)
    expect(await call(sue, `${path}/plan`, wider)).toMatchObject(OUTSIDE)
    await makeFleetConfig(admin, EVERYWHERE, 0, 'Baseline')
    const higher = { number: 1, selector: IN_STAGING, priority: 1, comment: 'x', plan_hash: 'x' }
    expect(await call(sue, path, higher)).toMatchObject({
      status: 403,
      json: { code: 'fleet_config_outranks' },
    })
    const others = await makeFleetConfig(admin, EVERYWHERE, 2, 'Others')
    for (const step of ['approve', 'reject', 'pause', 'continue', 'turn-off', 'withdraw']) {
      const decide = `POST /api/fleet-configs/${others.id}/auto-apply/${step}`
      expect(await call(sue, decide, { comment: 'x', plan_hash: 'x' }), step).toMatchObject(OUTSIDE)
    }
  })

  it('comes from Git only as far as the token’s holder reaches', async () => {
    const { token } = await makeApiToken(ctx, sue, ['config:create', 'config:request'])
    const apply = (name: string, selector: object, priority = -1) =>
      invoke(ctx, 'POST /api/fleet-configs/desired', {
        as: token,
        body: { owner: 'repo', name, selector, priority, content: SECOND },
      })
    expect(await apply('Git', EVERYWHERE)).toMatchObject(OUTSIDE)
    const made = await apply('Git', IN_STAGING)
    expect(made).toMatchObject({ status: 200 })
    const { campaign_id } = made.json as { campaign_id: string }
    expect((await readCampaign(sue, campaign_id)).scope.cut_to).toHaveLength(1)
    await makeFleetConfig(admin, EVERYWHERE, 0, 'Baseline')
    expect(await apply('Baseline', IN_STAGING)).toMatchObject(OUTSIDE)
  })
})

describe('a template', () => {
  const made = (as: SignedIn) =>
    call(as, 'POST /api/configs', { name: 'Base', content: SECOND, kind: 'saved' })

  it('is listed and read within a scope, and made by nobody there, who is told why', async () => {
    const { id } = (await made(admin)).json as TemplateRecord
    const listed = (await call(sue, 'GET /api/configs')).json as TemplateRecord[]
    expect(listed.map((one) => one.id)).toContain(id)
    expect(await call(sue, `GET /api/configs/${id}`)).toMatchObject({
      status: 200,
      json: { content: SECOND },
    })
    const builtIn = listed.find(({ built_in }) => built_in)!
    expect(await call(sue, `GET /api/configs/${builtIn.id}`)).toMatchObject({ status: 200 })
    expect(await made(sue)).toMatchObject({
      status: 403,
      json: { code: 'out_of_scope', error: expect.stringContaining('whole fleet') },
    })
  })

  it('is no way to what a workload outside runs, by the hash of its config', async () => {
    const read = (as: SignedIn, text: string) => call(as, `GET /api/configs/${configHash(text)}`)
    expect(await read(sue, FIRST)).toMatchObject({ status: 200 })
    await pushConfig(ctx.fleet, production.workloadId, SECOND)
    await ctx.advance(300)
    expect(await read(admin, SECOND)).toMatchObject({ status: 200 })
    // As if there were none: the answer tells no guess from another.
    expect(await read(sue, SECOND)).toMatchObject({ status: 404 })
    await placeIn(ctx, admin, production.workloadId, 'dev')
    expect(await read(sue, SECOND)).toMatchObject({ status: 200 })
  })
})

describe('what else reaches many workloads', () => {
  it('holds and releases none, where one of those that are named lies outside', async () => {
    const ids = (...agents: FakeAgent[]) => agents.map(({ workloadId }) => workloadId)
    const body = { workload_ids: ids(staging[0]!, production), reason: 'mine' }
    for (const route of ['POST /api/holds', 'POST /api/holds/release'])
      expect(await call(sue, route, body), route).toMatchObject(OUTSIDE)
    const own = { workload_ids: ids(...staging), reason: 'mine' }
    expect(await call(sue, 'POST /api/holds', own)).toMatchObject({ status: 200, json: { changed_count: 2 } })
    expect(await call(sue, 'POST /api/holds/release', own)).toMatchObject({ status: 200 })
  })

  it('gives no evidence about a workload outside, by its id, by a label, or with the whole fleet', async () => {
    const pack = (scope: object) => ({ scope })
    const ids = (agents: readonly FakeAgent[]) => ({
      workload_ids: agents.map(({ workloadId }) => workloadId),
    })
    for (const scope of [ids([production]), ids([staging[0]!, production]), { whole_fleet: true }]) {
      const known = await call(admin, 'POST /api/reports/evidence-pack', pack(scope))
      expect(known.status, known.text).toBe(200)
      expect(await call(sue, 'POST /api/reports/evidence-pack', pack(scope))).toMatchObject(OUTSIDE)
      expect(await call(sue, 'POST /api/reports/evidence-pack/export', pack(scope))).toMatchObject(OUTSIDE)
    }
    const made = await call(sue, 'POST /api/reports/evidence-pack', pack(ids(staging)))
    expect(made.status, made.text).toBe(200)
    // What was previewed is not kept for whoever has other rights by now.
    const { report_hash } = made.json as { report_hash: string }
    const download = `POST /api/reports/evidence-pack/export?report_hash=${report_hash}`
    expect((await call(sue, download, pack(ids(staging)))).status).toBe(200)
    await makeScopedGroup(ctx, admin, 'dev-editors', { ...STAGING, values: ['dev'] })
    await call(admin, `PATCH /api/users/${sue.userId}`, { groups: ['dev-editors'] })
    expect((await call(sue, download, pack(ids(staging)))).status).toBe(409)
  })

  it('shows where data goes for the workloads within the scope only', async () => {
    const sendTo = async (agent: FakeAgent, host: string) => {
      const exporters = `exporters: {otlp: {endpoint: "${host}:4317"}}`
      const pipelines = 'service: {pipelines: {traces: {receivers: [otlp], exporters: [otlp]}}}'
      await pushConfig(ctx.fleet, agent.workloadId, `receivers: {otlp: {}}\n${exporters}\n${pipelines}\n`)
      agent.apply()
      await ctx.advance(300)
    }
    await sendTo(staging[0]!, 'staging.example.com')
    await sendTo(production, 'live.example.com')
    const read = (as: SignedIn) => call(as, 'GET /api/fleet/destinations')
    const shown = async (as: SignedIn) => JSON.stringify((await read(as)).json)
    const outsideOf = async (as: SignedIn) => (await read(as)).headers['Muster-Outside-Scope']
    expect([await outsideOf(sue), await outsideOf(admin)]).toEqual(['1', undefined])
    expect(await shown(admin)).toMatch(/live\.example\.com/)
    expect(await shown(sue)).toMatch(/staging\.example\.com/)
    expect(await shown(sue)).not.toMatch(/live\.example\.com/)
  })

  it('reviews only what was done within the scope', async () => {
    const asks = await request(admin, production)
    const body = { break_glass: true, break_glass_reason: 'now', comment: 'now' }
    const pushed = await call(admin, `POST ${approvals(production)}/${asks.id}/push`, body)
    expect(pushed.status, pushed.text).toBe(202)
    const [review] = ((await call(admin, 'GET /api/reviews')).json as { id: string; kind: string }[]).filter(
      ({ kind }) => kind === 'break_glass',
    )
    const look = { comment: 'fine', accepted: true }
    expect(await call(sue, `POST /api/reviews/${review!.id}`, look)).toMatchObject(OUTSIDE)
  })
})

describe('what was let in', () => {
  /** The service, where `work` is done once between the guards of a call and the transaction of its change. */
  function withMeanwhile(work: () => Promise<unknown>): FleetTestContext {
    let isDone = false
    const around = <T extends object>(target: T, names: readonly PropertyKey[]): T =>
      new Proxy(target, {
        get(inner, name) {
          const value: unknown = Reflect.get(inner, name)
          if (typeof value !== 'function') return value
          return async (...args: unknown[]) => {
            if (names.includes(name) && !isDone) {
              isDone = true
              await work()
            }
            return value.apply(inner, args)
          }
        },
      })
    const fleet = new Proxy(ctx.fleet, {
      get(inner, name) {
        const value: unknown = Reflect.get(inner, name)
        if (name === 'push' || name === 'pinKnownGood')
          return Reflect.get(around(inner, ['push', 'pinKnownGood']), name)
        return typeof value === 'function' ? value.bind(inner) : value
      },
    })
    const campaigns = new Proxy(ctx.campaigns, {
      get(inner, name) {
        if (name === 'parts') return { ...inner.parts, db: around(inner.parts.db, ['change']) }
        const value: unknown = Reflect.get(inner, name)
        return typeof value === 'function' ? value.bind(inner) : value
      },
    })
    return { ...ctx, db: around(ctx.db, ['change']), fleet, campaigns }
  }
  const callWith = async (work: () => Promise<unknown>, route: string, body?: object) =>
    invoke(withMeanwhile(work), route, { as: sue.token, body })

  it('by hand is refused where the workload left the scope, or the caller the group, before it is done', async () => {
    const [agent] = staging
    const id = agent!.workloadId
    for (const text of [SECOND, configYaml(3)]) {
      const body = { draft_yaml: text, target_group: 'single', comment: 'please' }
      const path = `POST ${approvals(agent!)}`
      const made = (await call(sue, path, body)).json as ApprovalRecord
      expect(await call(tom, `${path}/${made.id}/approve`, { comment: 'fine' })).toMatchObject({
        status: 200,
      })
      expect(await call(sue, `${path}/${made.id}/push`, {})).toMatchObject({ status: 202 })
      agent!.apply()
      await ctx.advance(1_000)
    }
    const waiting = await call(sue, `POST ${approvals(agent!)}`, { draft_yaml: configYaml(4), comment: 'x' })
    const { id: approval } = waiting.json as ApprovalRecord
    await call(tom, `POST ${approvals(agent!)}/${approval}/approve`, { comment: 'fine' })
    const named = { workload_ids: staging.map(({ workloadId }) => workloadId), reason: 'mine' }
    const path = `/api/workloads/${id}`
    const deeds: [string, object?][] = [
      [`POST ${path}/hold`, { reason: 'mine' }],
      [`POST ${path}/release`],
      ['POST /api/holds', named],
      ['POST /api/holds/release', named],
      [`POST ${path}/configs/${configHash(SECOND)}/known-good`],
      [`DELETE ${path}/known-good`],
      // Before the roll-backs, which retire what was approved without knowledge of them.
      [`POST ${path}/config/approvals/${approval}/push`, {}],
      [`POST ${path}/configs/${configHash(SECOND)}/rollback`],
      [`POST ${path}/rollback`],
    ]
    const ways: [() => Promise<unknown>, () => Promise<unknown>][] = [
      [() => placeIn(ctx, admin, id, 'live'), () => placeIn(ctx, admin, id, 'staging')],
      [
        () => call(admin, `PATCH /api/users/${sue.userId}`, { groups: ['viewer'] }),
        () => call(admin, `PATCH /api/users/${sue.userId}`, { groups: ['staging-editors'] }),
      ],
    ]
    const offered = agent!.offered().length
    for (const [route, body] of deeds)
      for (const [work, undo] of ways) {
        expect(await callWith(work, route, body), route).toMatchObject(OUTSIDE)
        await undo()
      }
    expect(agent!.offered()).toHaveLength(offered)
    expect(await database.pool.query('select from workload_holds')).toEqual([])
    // Each of them is done where nothing changes meanwhile.
    for (const [route, body] of deeds)
      expect((await callWith(async () => {}, route, body)).status, route).toBeLessThan(300)
  })

  it('of a fleet config is refused where it was widened, or the caller left the group, before it is done', async () => {
    // Nothing is under it, so that it could be removed.
    for (const { workloadId } of staging) await placeIn(ctx, admin, workloadId, 'live')
    const { id } = await makeFleetConfig(sue, IN_STAGING, 0, 'Own')
    const path = `/api/fleet-configs/${id}`
    const put = (selector: object) => call(admin, `PUT ${path}`, { name: 'Own', selector, priority: 0 })
    const regroup = (group: string) => call(admin, `PATCH /api/users/${sue.userId}`, { groups: [group] })
    const deeds: [string, object?][] = [
      [`POST ${path}/versions`, { content: SECOND }],
      [`PUT ${path}`, { name: 'Mine', selector: IN_STAGING, priority: 0 }],
      [`DELETE ${path}`],
    ]
    for (const [route, body] of deeds) {
      expect(await callWith(() => put(EVERYWHERE), route, body), route).toMatchObject(OUTSIDE)
      await put(IN_STAGING)
      expect(await callWith(() => regroup('viewer'), route, body), route).toMatchObject(OUTSIDE)
      await regroup('staging-editors')
    }
    expect((await call(admin, `GET ${path}`)).json).toMatchObject({ name: 'Own', newest_version: 0 })
    for (const [route, body] of deeds) expect((await call(sue, route, body)).status, route).toBeLessThan(300)
  })

  it('from Git is refused where the fleet config was widened, or the caller left the group, before it is done', async () => {
    const { id } = await makeFleetConfig(sue, IN_STAGING, 0, 'Own')
    const path = `/api/fleet-configs/${id}`
    const put = (selector: object) => call(admin, `PUT ${path}`, { name: 'Own', selector, priority: 0 })
    const regroup = (group: string) => call(admin, `PATCH /api/users/${sue.userId}`, { groups: [group] })
    const route = 'POST /api/fleet-configs/desired'
    const wish = { owner: 'repo', name: 'Own', selector: IN_STAGING, priority: 0, content: SECOND }
    expect(await callWith(() => put(EVERYWHERE), route, wish)).toMatchObject(OUTSIDE)
    expect((await call(admin, `GET ${path}`)).json).toMatchObject({ selector: EVERYWHERE, newest_version: 0 })
    await put(IN_STAGING)
    expect(await callWith(() => regroup('viewer'), route, wish)).toMatchObject(OUTSIDE)
    await regroup('staging-editors')
    expect((await call(sue, route, wish)).status).toBe(200)
  })
})
