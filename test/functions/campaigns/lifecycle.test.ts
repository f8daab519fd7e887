import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type {
  CampaignFigures,
  CampaignGroup,
  CampaignRecord,
  CampaignTarget,
} from '../../../lib/wire/campaigns.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, productionYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let approver: SignedIn
let agents: FakeAgent[]

const FIRST = configHash(configYaml(1))
const SECOND = configHash(configYaml(2))
const HOSTS = ['vm-1', 'vm-2', 'vm-3', 'vm-4', 'vm-5', 'vm-6']

beforeEach(async () => {
  await ctx?.close()
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
afterAll(() => ctx.close())

const call = async (method: string, path: string, body?: unknown) =>
  invoke(ctx, `${method} /api/campaigns${path}`, { as: editor.token, body })
/** Approve a campaign, by default as somebody else than its author. */
const approve = (id: string, planHash: string | undefined, as = approver) =>
  invoke(ctx, `POST /api/campaigns/${id}/approve`, {
    as: as.token,
    body: { comment: 'yes', plan_hash: planHash },
  })
const record = async (id: string) => (await call('GET', `/${id}`)).json as CampaignRecord
const targets = async (id: string) => (await call('GET', `/${id}/targets`)).json as CampaignTarget[]
const runs = () => agents.map((agent) => agent.offered().at(-1))

/** Advance the clock by `ms`, let the campaigns do what is due, and the fleet what follows. */
async function work(ms = 0): Promise<void> {
  if (ms > 0) await ctx.advance(ms)
  await ctx.campaigns.work(new AbortController().signal)
  await ctx.advance(300)
}

const NO_DWELL = [{ count: 1 }, { percentage: 50 }, {}]

async function draft(more: object = {}): Promise<string> {
  const { status, json } = await call('POST', '', {
    name: 'Two',
    change: { kind: 'text', yaml: configYaml(2) },
    scope: {
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
    },
    waves: NO_DWELL,
    ...more,
  })
  expect(status).toBe(201)
  return (json as CampaignRecord).id
}

async function plan(id: string): Promise<CampaignRecord> {
  expect((await call('POST', `/${id}/plan`)).status).toBe(202)
  while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
  return record(id)
}

async function approved(more: object = {}): Promise<string> {
  const id = await draft(more)
  const { plan_hash } = await plan(id)
  const decision = { comment: 'all of them', plan_hash }
  expect((await call('POST', `/${id}/request`, decision)).status).toBe(200)
  expect((await approve(id, plan_hash)).status).toBe(200)
  return id
}

async function start(more: object = {}): Promise<string> {
  const id = await approved(more)
  expect((await call('POST', `/${id}/start`)).status).toBe(200)
  return id
}

const leave = (agent: FakeAgent) => {
  agent.goodbye()
  agent.lose()
}

const applyAll = () => {
  for (const agent of agents) if (agent.offered().at(-1) === SECOND) agent.apply()
}

describe('a draft', () => {
  const HALF = '\ud800'

  it.each([
    ['an id with a null character', { scope: { workload_ids: ['a\0'] } }],
    ['an excluded id with half a character', { scope: { ...scope(), exclude_ids: [HALF] } }],
    [
      'a fleet config with a null character',
      { change: { kind: 'version', fleet_config_id: '\0', number: 1 } },
    ],
    [
      'a patch with half a character',
      { change: { kind: 'patch', patch: { merge: { extensions: { a: HALF } } } } },
    ],
    ['a patch with such a key', { change: { kind: 'patch', patch: { merge: { [`a\0`]: {} } } } }],
  ])('of %s is refused: the database could not hold it', async (_, more) => {
    const body = { name: 'Two', change: { kind: 'text', yaml: configYaml(2) }, scope: scope(), ...more }
    expect(await call('POST', '', body)).toMatchObject({
      status: 400,
      json: { code: 'campaign_text_invalid' },
    })
  })

  it('may speak of a null character where it only names one', async () => {
    const patch = { merge: { extensions: { zpages: { note: '\\u0000' } } } }
    await draft({ change: { kind: 'patch', patch } })
  })
})

describe('a plan', () => {
  it('says what would be done with each workload, in waves, and changes nothing', async () => {
    const bare = fakeAgent(ctx.fleet, { host: 'vm-bare' })
    leave(agents[5]!)
    await ctx.advance(200_000)
    await pushConfig(ctx.fleet, agents[4]!.workloadId, configYaml(2))
    await ctx.advance(300)
    const id = await draft({ scope: { ...scope(), exclude_ids: [agents[3]!.workloadId] } })
    const found = await plan(id)
    expect(found.status).toBe('planned')
    expect(found.plan).toMatchObject({
      verdicts: { changes: 3, offline: 1, same: 1, unmanaged: 1, excluded: 1 },
      target_count: 4,
      instance_count: 3,
      production_count: 0,
      no_way_back_count: 0,
      group_count: 1,
    })
    expect(found.plan!.waves.map(({ target_count }) => target_count)).toEqual([1, 2, 1])
    const rows = await targets(id)
    expect(rows.find(({ workload_id }) => workload_id === bare.workloadId)).toMatchObject({
      verdict: 'unmanaged',
      state: 'left_out',
      wave: null,
    })
    expect(runs().slice(0, 4)).toEqual([FIRST, FIRST, FIRST, FIRST])
    const groups = (await call('GET', `/${id}/groups`)).json as { count: number; diff: string }[]
    expect(groups).toHaveLength(1)
    expect(groups[0]!.count).toBe(4)
    expect(groups[0]!.diff).toContain('-        endpoint: "127.0.0.1:1"\n+        endpoint: "127.0.0.1:2"')
  })

  it('says how risky each change is, as a request for one workload does, and who does not say what it was built with', async () => {
    const elsewhere = configYaml(1).replace('127.0.0.1:1', '0.0.0.0:1')
    const id = await draft({ change: { kind: 'text', yaml: elsewhere } })
    expect((await plan(id)).plan).toMatchObject({ target_count: 6, components_unknown_count: 6 })
    const [group] = (await call('GET', `/${id}/groups`)).json as CampaignGroup[]
    const single = await invoke(ctx, `POST /api/workloads/${agents[0]!.workloadId}/config/plan`, {
      as: editor.token,
      body: elsewhere,
    })
    const { risk_score } = single.json as ConfigPlan
    expect(risk_score.severity).not.toBe('none')
    expect(group!.risk).toBe(risk_score.severity)
    expect(group!.risks.length).toBeGreaterThan(0)
    for (const { title } of group!.risks) expect(risk_score.reasons).toContain(title)
  })

  it('puts workloads of production behind a single one of them, whatever was asked for', async () => {
    await invoke(ctx, `PUT /api/workloads/${agents[0]!.workloadId}/trusted-labels`, {
      as: (await signIn(ctx, { groups: ['administrator'] })).token,
      body: { labels: { env: 'prod' } },
    })
    const refused = await plan(await draft({ waves: [{}] }))
    expect(refused.plan).toMatchObject({ production_count: 0, refused: { policy_blocked: 1 } })
    const id = await draft({ waves: [{}], change: { kind: 'text', yaml: productionYaml(2) } })
    const { plan: found, plan_hash } = await plan(id)
    expect(found).toMatchObject({ production_count: 1, target_count: 6 })
    expect(found!.waves.map(({ target_count }) => target_count)).toEqual([1, 5])
    expect((await call('POST', `/${id}/request`, { plan_hash })).json).toMatchObject({
      code: 'production_confirmation_required',
      error: expect.stringContaining('prod_confirmation'),
      field: 'prod_confirmation',
    })
    expect((await call('POST', `/${id}/request`, { plan_hash, prod_confirmation: true })).status).toBe(200)
  })

  it('leaves alone whose config is kept in Git, and skips who came to be since', async () => {
    const keep = ({ workloadId }: FakeAgent) =>
      invoke(ctx, `POST /api/workloads/${workloadId}/config/desired`, {
        as: editor.token,
        body: { owner: 'platform', config: configYaml(1) },
      })
    expect((await keep(agents[0]!)).status).toBe(200)
    const id = await approved({ waves: [{}] })
    expect((await record(id)).plan).toMatchObject({ verdicts: { changes: 5, refused: 1 } })
    expect((await keep(agents[1]!)).status).toBe(200)
    await call('POST', `/${id}/start`)
    await work()
    const skipped = (await targets(id)).find(({ workload_id: of }) => of === agents[1]!.workloadId)
    expect(skipped).toMatchObject({ state: 'skipped', reason: 'kept_in_git' })
    expect(runs().slice(0, 2)).toEqual([FIRST, FIRST])
  })

  it('is gone when the campaign is changed', async () => {
    const id = await draft()
    await plan(id)
    const { status, json } = await call('PUT', `/${id}`, {
      name: 'Three',
      change: { kind: 'text', yaml: configYaml(3) },
      scope: scope(),
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({ status: 'draft', name: 'Three' })
    expect((json as CampaignRecord).plan).toBeUndefined()
    expect((await call('POST', `/${id}/request`, { plan_hash: 'x' })).status).toBe(409)
  })

  it('is emptied of what is left out when it is changed, but not of whom it is for', async () => {
    const excluded = { ...scope(), exclude_names: ['vm-3'] }
    const id = await draft({ description: 'Second of two', scope: excluded })
    const fresh = await record(await draft({ waves: undefined }))
    const plain = { name: 'Two', change: { kind: 'text', yaml: configYaml(2) } }
    for (const nobody of [{}, { selector: {} }, { exclude_names: ['vm-3'] }])
      expect(await call('PUT', `/${id}`, { ...plain, scope: nobody })).toMatchObject({
        status: 400,
        json: { code: 'campaign_scope_empty' },
      })
    // What was refused changed nothing.
    expect(await record(id)).toMatchObject({ description: 'Second of two', scope: excluded })
    expect((await record(id)).waves).toHaveLength(NO_DWELL.length)
    expect((await call('PUT', `/${id}`, { ...plain, scope: scope() })).status).toBe(200)
    const { description, scope: reach, waves } = await record(id)
    expect({ description, scope: reach, waves }).toEqual({
      description: fresh.description,
      scope: fresh.scope,
      waves: fresh.waves,
    })
  })
})

const scope = () => ({
  selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
})

describe('an approval', () => {
  it('is of the plan that was looked at, and of no other', async () => {
    const id = await draft()
    const { plan_hash } = await plan(id)
    expect((await call('POST', `/${id}/request`, { plan_hash: 'another' })).json).toMatchObject({
      code: 'campaign_plan_changed',
    })
    expect((await call('POST', `/${id}/request`, { plan_hash })).status).toBe(200)
    expect(
      (await call('PUT', `/${id}`, { name: 'x', change: { kind: 'text', yaml: 'a: 1' }, scope: scope() }))
        .json,
    ).toMatchObject({ code: 'campaign_not_ready', status: 'requested' })
    expect((await call('POST', `/${id}/approve`, { comment: 'yes', plan_hash: 'another' })).status).toBe(409)
    expect((await call('POST', `/${id}/start`)).json).toMatchObject({ code: 'campaign_not_ready' })
    expect(await approve(id, plan_hash, editor)).toMatchObject({
      status: 409,
      json: { code: 'approval_needs_another', reason: 'author' },
    })
    expect((await approve(id, plan_hash)).status).toBe(200)
    expect(await record(id)).toMatchObject({ status: 'approved', approvals: [{ by: approver.email }] })
  })

  it('is not of whoever changed the draft, asked for the same text elsewhere, or answers for who asked', async () => {
    const theirs = (as: SignedIn, method: string, path: string, body?: object) =>
      invoke(ctx, `${method} ${path}`, { as: as.token, body })
    const author = { status: 409, json: { code: 'approval_needs_another', reason: 'author' } }
    const text = (n: number) => ({ name: 'x', change: { kind: 'text', yaml: configYaml(n) }, scope: scope() })
    const request = async (id: string, as = editor) => {
      const { plan_hash } = await plan(id)
      const asked = await theirs(as, 'POST', `/api/campaigns/${id}/request`, { plan_hash })
      expect(asked.status).toBe(200)
      return plan_hash
    }
    const changed = await draft()
    expect((await theirs(approver, 'PUT', `/api/campaigns/${changed}`, text(3))).status).toBe(200)
    expect(await approve(changed, await request(changed))).toMatchObject(author)
    await theirs(approver, 'POST', `/api/workloads/${agents[0]!.workloadId}/config/approvals`, {
      draft_yaml: configYaml(4),
    })
    const same = await draft(text(4))
    expect(await approve(same, await request(same))).toMatchObject(author)
    const admin = await signIn(ctx)
    const account = { name: 'bot', owner_id: approver.userId, groups: ['editor'] }
    const bot = (await theirs(admin, 'POST', '/api/service-accounts', account)).json as { id: string }
    const made = await theirs(admin, 'POST', `/api/service-accounts/${bot.id}/tokens`, {
      name: 'ci',
      permissions: ['config:request'],
      expires_at: new Date(ctx.clock.now().getTime() + 3_600_000).toISOString(),
    })
    const machine = { ...editor, token: (made.json as { token: string }).token }
    const written = await theirs(machine, 'POST', '/api/campaigns', text(5))
    const { id } = written.json as CampaignRecord
    const planHash = await request(id, machine)
    await theirs(admin, 'DELETE', `/api/service-accounts/${bot.id}`)
    expect(await approve(id, planHash)).toMatchObject(author)
    expect((await approve(id, planHash, editor)).status).toBe(200)
  })

  it('is two people’s where the policy says so, and is counted again at the start', async () => {
    const two = { approvals: 2, author_counts: false }
    const policy = { production: two, other: two, unlabelled: two }
    const admin = await signIn(ctx)
    await invoke(ctx, 'PUT /api/approval-policy', { as: admin.token, body: policy })
    const id = await draft()
    const { plan_hash } = await plan(id)
    await call('POST', `/${id}/request`, { plan_hash })
    expect((await approve(id, plan_hash)).json).toMatchObject({ status: 'requested' })
    expect(await approve(id, plan_hash)).toMatchObject({ json: { reason: 'approved_already' } })
    expect((await approve(id, plan_hash, admin)).json).toMatchObject({ status: 'approved' })
    await database.pool.execute('delete from user_groups where user_id = $1', [approver.userId])
    expect(await call('POST', `/${id}/start`)).toMatchObject({
      status: 409,
      json: { code: 'approval_needs_another', reason: '1_of_2' },
    })
    // It is approved again as it was the first time: by the plan that was looked at.
    const third = await signIn(ctx, { groups: ['editor'] })
    expect(await approve(id, 'another', third)).toMatchObject({
      status: 409,
      json: { code: 'campaign_plan_changed' },
    })
    expect((await approve(id, plan_hash, third)).json).toMatchObject({ status: 'approved' })
    expect((await call('POST', `/${id}/start`)).status).toBe(200)
    await database.pool.execute(`delete from settings`)
  })
})

describe('a campaign', () => {
  it('goes wave by wave, and is done when everybody runs it', async () => {
    const id = await start()
    await work()
    expect(runs().filter((hash) => hash === SECOND)).toHaveLength(1)
    applyAll()
    await work(300)
    await work(300)
    expect(runs().filter((hash) => hash === SECOND)).toHaveLength(4)
    applyAll()
    for (let n = 0; n < 4; n++) {
      await work(300)
      applyAll()
    }
    expect(runs()).toEqual(HOSTS.map(() => SECOND))
    expect(await record(id)).toMatchObject({ status: 'done', counts: { applied: 6 } })
  })

  it('halts at the first failure of the first wave, with its cause, and starts nothing more', async () => {
    const id = await start()
    await work()
    const first = agents.find((agent) => agent.offered().at(-1) === SECOND)!
    first.fail('exporter "debug" cannot be built')
    await work(300)
    await work(300)
    expect(await record(id)).toMatchObject({
      status: 'halted',
      halt: { gate: 'failed', value: 1, limit: 0, wave: 0, workload_ids: [first.workloadId] },
    })
    await work(60_000)
    expect(runs()).toEqual(HOSTS.map(() => FIRST))
  })

  it('lists those first that need somebody, page by page as at once', async () => {
    const excluded = agents[5]!.workloadId
    const selector = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] }
    const id = await start({ waves: [{ count: 3 }, {}], scope: { selector, exclude_ids: [excluded] } })
    await work()
    const offered = agents.filter((agent) => agent.offered().at(-1) === SECOND)
    offered[1]!.fail('cannot be built')
    offered[0]!.apply()
    await work(300)
    await work(300)
    const all = (await call('GET', `/${id}/targets?order=worst`)).json as CampaignTarget[]
    expect(all.map(({ state }) => state)).toEqual([
      ...['failed', 'started', 'waiting', 'waiting', 'applied', 'left_out'],
    ])
    expect(all[0]).toMatchObject({ workload_id: offered[1]!.workloadId, cause: expect.any(String) })
    const pages: CampaignTarget[] = []
    for (let path: string | undefined = `/${id}/targets?order=worst&limit=2`; path !== undefined; ) {
      const page = await call('GET', path)
      pages.push(...(page.json as CampaignTarget[]))
      path = /<\/api\/campaigns([^>]*)>/.exec(page.headers['Link'] ?? '')?.[1]
    }
    expect(pages).toEqual(all)
  })

  it('starts nothing after a pause, and goes on when somebody continues', async () => {
    const id = await start()
    await work()
    expect((await call('POST', `/${id}/pause`)).status).toBe(200)
    applyAll()
    await work(300)
    await work(60_000)
    expect(runs().filter((hash) => hash === SECOND)).toHaveLength(1)
    expect((await record(id)).counts).toMatchObject({ applied: 1, waiting: 5 })
    expect((await call('POST', `/${id}/continue`)).status).toBe(200)
    await work(300)
    expect(runs().filter((hash) => hash === SECOND).length).toBeGreaterThan(1)
  })

  it('skips by name whose config has moved since it was approved', async () => {
    const id = await start({ waves: [{}], limits: { silent: 1 } })
    await pushConfig(ctx.fleet, agents[2]!.workloadId, configYaml(9))
    agents[2]!.apply()
    await ctx.advance(300)
    await work()
    const row = (await targets(id)).find(({ workload_id }) => workload_id === agents[2]!.workloadId)
    expect(row).toMatchObject({ state: 'skipped', reason: 'base_moved' })
    expect(agents[2]!.offered().at(-1)).toBe(configHash(configYaml(9)))
  })

  it('catches up with a host that was away, after everybody else is done', async () => {
    leave(agents[1]!)
    await ctx.advance(200_000)
    const id = await start({ waves: [{}] })
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'done', counts: { applied: 5, offline: 1 } })
    agents[1] = fakeAgent(ctx.fleet, { host: 'vm-2', uid: agents[1]!.uid })
    await work(6_000)
    await work(6_000)
    expect(agents[1]!.offered().at(-1)).toBe(SECOND)
    agents[1]!.apply()
    await work(6_000)
    expect((await record(id)).counts).toEqual({ applied: 6 })
  })

  it('gives everybody the former config back, but for who has moved on', async () => {
    const id = await start({ waves: [{}] })
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    await pushConfig(ctx.fleet, agents[0]!.workloadId, configYaml(9))
    agents[0]!.apply()
    await ctx.advance(300)
    expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await work()
    for (const agent of agents.slice(1)) {
      expect(agent.offered().at(-1)).toBe(FIRST)
      agent.apply()
    }
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 5, moved_on: 1 } })
    expect(agents[0]!.offered().at(-1)).toBe(configHash(configYaml(9)))
  })

  it('ends a target that never answers, and halts over silence', async () => {
    const id = await start({ waves: [{}] })
    await work()
    await work(11 * 60_000)
    await work(300)
    expect(await record(id)).toMatchObject({ status: 'halted', halt: { gate: 'silent', value: 6 } })
  })

  it('goes by the role of the group that its approver is in, whatever the name of the group', async () => {
    const id = await start()
    await database.pool.execute(
      `insert into groups values ('grp_release', 'release managers', 'editor', false, now())`,
    )
    await database.pool.execute(`update user_groups set group_id = 'grp_release' where user_id = $1`, [
      approver.userId,
    ])
    await work()
    const stored = await database.pool.query<{ status: string; halt: object }>(
      'select status, halt from campaigns where id = $1',
      [id],
    )
    expect(stored[0]).toMatchObject({ status: 'running', halt: null })
  })

  it('halts when whoever approved it may not approve any more', async () => {
    const id = await start()
    await database.pool.execute('delete from user_groups where user_id = $1', [approver.userId])
    await work()
    const stored = await database.pool.query<{ status: string; halt: object }>(
      'select status, halt from campaigns where id = $1',
      [id],
    )
    expect(stored[0]).toMatchObject({ status: 'halted', halt: { gate: 'approver_gone' } })
  })

  it('patches configs that differ otherwise', async () => {
    const id = await start({
      waves: [{}],
      change: { kind: 'patch', patch: { merge: { exporters: { debug: { verbosity: 'detailed' } } } } },
    })
    await work()
    const patched = configYaml(1).replace('debug:', 'debug:\n    verbosity: detailed')
    expect(runs()).toEqual(HOSTS.map(() => configHash(patched)))
    expect((await record(id)).status).toBe('running')
  })
})

describe('a patch that does not fit everywhere', () => {
  const change = {
    kind: 'patch',
    patch: { rename_component: [{ category: 'exporters', from: 'debug/core', to: 'debug/main' }] },
  }
  const withCore = configYaml(1)
    .replace('debug:', 'debug/core:')
    .replace('[debug]', '[debug/core]')
    .replace(
      'exporters:',
      'processors:\n  attributes:\n    actions:\n      - key: debug/core\n        action: delete\nexporters:',
    )

  beforeEach(async () => {
    await pushConfig(ctx.fleet, agents[0]!.workloadId, withCore)
    agents[0]!.apply()
    await ctx.advance(300)
  })

  it('leaves those out that it does not fit, with why, and names what is called like what it renames', async () => {
    const id = await draft({ change })
    expect((await plan(id)).plan).toMatchObject({ target_count: 1, refused: { patch_does_not_fit: 5 } })
    const refused = (await targets(id)).find(({ verdict }) => verdict === 'refused')
    expect(refused).toMatchObject({
      reason: 'patch_does_not_fit',
      title: expect.stringContaining('debug/core'),
    })
    const [group] = (await call('GET', `/${id}/groups`)).json as CampaignGroup[]
    expect(group!.other_matches).toEqual([expect.stringMatching(/^processors::attributes::/)])
  })

  it('can be asked for by nobody where it says so', async () => {
    const id = await draft({ change: { ...change, where_unfit: 'refuse' } })
    const { plan_hash, change: kept } = await plan(id)
    expect(kept).toMatchObject({ where_unfit: 'refuse' })
    expect(await call('POST', `/${id}/request`, { plan_hash })).toMatchObject({
      status: 409,
      json: { code: 'campaign_patch_unfit', count: 5 },
    })
  })
})

describe('a version of a fleet config', () => {
  const templated = configYaml(1).replace('127.0.0.1:1', `\${muster:site}:1`)

  async function fleetConfig(author = editor): Promise<string> {
    const made = await invoke(ctx, 'POST /api/fleet-configs', {
      as: editor.token,
      body: { name: 'Edge', selector: { match_labels: { 'identity/host.name': 'vm-*' } } },
    })
    expect(made.status, JSON.stringify(made.json)).toBe(201)
    const { id } = made.json as { id: string }
    const version = await invoke(ctx, `POST /api/fleet-configs/${id}/versions`, {
      as: author.token,
      body: {
        content: templated,
        comment: 'By site',
        variables: [{ name: 'site', label: 'identity/host.name', pattern: 'vm-[0-9]+' }],
      },
    })
    expect(version.status, JSON.stringify(version.json)).toBe(201)
    return id
  }

  it('reaches all that are under it, each with values of its own, and reads as one change', async () => {
    const configId = await fleetConfig()
    const change = { kind: 'version', fleet_config_id: configId, number: 1 }
    const id = await start({ scope: {}, waves: [{}], change })
    const { plan: found } = await record(id)
    expect(found).toMatchObject({ verdicts: { changes: 6 }, group_count: 1 })
    const [group] = (await call('GET', `/${id}/groups`)).json as CampaignGroup[]
    expect(group!.count).toBe(6)
    expect(group!.variables['site']).toHaveLength(6)
    await work()
    const own = HOSTS.map((host) => configHash(configYaml(1).replace('127.0.0.1:1', `${host}:1`)))
    expect(runs()).toEqual(own)
  })

  it('is approved by somebody else than who wrote it', async () => {
    const fleet_config_id = await fleetConfig(approver)
    const change = { kind: 'version', fleet_config_id, number: 1 }
    const id = await draft({ scope: {}, change })
    const { plan_hash } = await plan(id)
    expect((await call('POST', `/${id}/request`, { plan_hash })).status).toBe(200)
    expect(await approve(id, plan_hash)).toMatchObject({
      status: 409,
      json: { code: 'approval_needs_another', reason: 'author' },
    })
  })

  it('is the only way to change what is under it', async () => {
    await fleetConfig()
    const { plan: found } = await plan(await draft())
    expect(found).toMatchObject({ target_count: 0, refused: { under_fleet_config: 6 } })
  })
})

it('is rejected by a person, as it is approved by one', async () => {
  const id = await draft()
  const { token } = await makeApiToken(ctx, approver, ['config:approve', 'workload:push_config'])
  const reject = (as: string) =>
    invoke(ctx, `POST /api/campaigns/${id}/reject`, { as, body: { comment: 'no' } })
  expect(await reject(token)).toMatchObject({ status: 403, json: { code: 'session_required' } })
})

describe('a campaign that is taken back', () => {
  const DAY_MS = 86_400_000

  it.each([
    [30, 200, 'rolling_back'],
    [31, 409, 'done'],
  ])('can be so for thirty days: after %i days the answer is %i', async (days, status, then) => {
    const id = await start({ waves: [{}] })
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    expect((await record(id)).status).toBe('done')
    ctx.clock.advance(days * DAY_MS - 60_000)
    editor = await signIn(ctx, { groups: ['editor'] })
    const answer = await call('POST', `/${id}/roll-back`, { comment: 'no' })
    expect(answer.status, JSON.stringify(answer.json)).toBe(status)
    expect((await record(id)).status).toBe(then)
  })

  it('can be so for as long as it is not over, however long ago it began', async () => {
    const id = await start({ waves: [{ count: 1 }, {}] })
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    expect((await call('POST', `/${id}/pause`, { comment: 'wait' })).status).toBe(200)
    await database.pool.execute(
      `update campaigns set started_at = now() - interval '90 days' where id = $1`,
      [id],
    )
    expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
  })

  it('waits for who is away for ten minutes, also where it did not wait for anybody on its way', async () => {
    const id = await start({ waves: [{}], catch_up_seconds: 0 })
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    leave(agents[1]!)
    await ctx.advance(300)
    expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await work()
    await work(60_000)
    expect((await record(id)).counts['rollback_failed']).toBeUndefined()
    agents[1] = fakeAgent(ctx.fleet, { host: 'vm-2', uid: agents[1]!.uid })
    await work(6_000)
    await work(6_000)
    for (const agent of agents) agent.apply()
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 6 } })
  })

  it.each(['pause', 'abort'])(
    'takes back what was started, and starts nothing else, also after this: %s',
    async (step) => {
      const id = await start()
      await work()
      applyAll()
      await ctx.advance(300)
      expect((await call('POST', `/${id}/${step}`)).status).toBe(200)
      await work()
      const changed = agents.filter((agent) => agent.offered().at(-1) === SECOND)
      expect(changed).toHaveLength(1)
      expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
      for (let n = 0; n < 4; n++) {
        await work(300)
        for (const agent of changed) agent.apply()
      }
      expect(await record(id)).toMatchObject({
        status: 'rolled_back',
        counts: { rolled_back: 1, cancelled: 5 },
      })
      expect(runs()).toEqual(HOSTS.map(() => FIRST))
    },
  )
})

describe('the figures of a campaign', () => {
  const figures = async (id: string) => (await call('GET', `/${id}/figures`)).json as CampaignFigures

  it('are empty before it is started', async () => {
    expect(await figures(await approved())).toEqual({ reached: [], missed: [] })
  })

  it('say when half of the workloads and more had the change, and why others have not', async () => {
    const id = await start({ waves: [{}], limits: { failed: 1 } })
    await work()
    const [failing, ...well] = agents
    await ctx.advance(10_000)
    for (const agent of well.slice(0, 3)) agent.apply()
    await work(300)
    await ctx.advance(50_000)
    for (const agent of well.slice(3)) agent.apply()
    failing!.fail('exporter "debug" cannot be built')
    await work(300)
    await work(300)
    const { reached, missed } = await figures(id)
    // Five of six are more than half, and less than nine of ten.
    expect(reached.map(({ percentage }) => percentage)).toEqual([50, 90, 100])
    expect(reached.map(({ at }) => at !== undefined)).toEqual([true, false, false])
    const startedMs = Date.parse((await record(id)).started_at!)
    expect(reached[0]!.after_seconds).toBe((Date.parse(reached[0]!.at!) - startedMs) / 1000)
    expect(reached[0]!.after_seconds).toBeGreaterThanOrEqual(10)
    expect(reached[0]!.after_seconds).toBeLessThan(60)
    expect(missed).toMatchObject([
      { state: 'failed', count: 1, workloads: [{ workload_id: failing!.workloadId }] },
    ])
    const failed = (await targets(id)).find(({ state }) => state === 'failed')!
    expect(missed[0]).toMatchObject({ cause: failed.cause, title: failed.title })
  })

  it('say no times of one that is taken back', async () => {
    const id = await start({ waves: [{}] })
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    const last = (await figures(id)).reached.at(-1)!
    expect(last.percentage).toBe(100)
    expect(last.at).toBeDefined()
    expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    expect((await figures(id)).reached).toEqual([])
  })
})

describe('a config that has failed', () => {
  it('is brought again only by a campaign that says so in its request', async () => {
    await start({ waves: [{}], limits: { failed: 6 } })
    await work()
    for (const agent of agents) agent.fail('no such processor')
    for (let n = 0; n < 3; n++) await work(300)
    expect(runs()).toEqual(HOSTS.map(() => FIRST))
    for (const agent of agents) agent.apply()
    for (let n = 0; n < 2; n++) await work(300)
    const again = await draft({ name: 'Again' })
    const { plan: found, plan_hash } = await plan(again)
    expect(found).toMatchObject({ target_count: 0, verdicts: { quarantined: 6 } })
    expect((await call('POST', `/${again}/request`, { plan_hash })).json).toMatchObject({
      code: 'campaign_changes_nothing',
    })
    const id = await start({ name: 'In spite of that', waves: [{}], retry_quarantined: true })
    expect(await record(id)).toMatchObject({ retry_quarantined: true, plan: { verdicts: { changes: 6 } } })
    await work()
    expect(runs()).toEqual(HOSTS.map(() => SECOND))
  })
})

it('reaches a workload of more than twenty instances in stages: a tenth first', async () => {
  const pods = Array.from({ length: 21 }, (_, n) => fakeAgent(ctx.fleet, { host: 'big', pod: `pod-${n}` }))
  await ctx.advance(300)
  const values = ['big']
  await start({
    waves: [{}],
    scope: { selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values }] } },
    change: { kind: 'text', yaml: configYaml(2), takeover: true },
  })
  for (let n = 0; n < 3; n++) await work(300)
  expect(pods.filter((pod) => pod.offered().at(-1) === SECOND)).toHaveLength(3)
})

it('waits for who is away for seven days, and can be told to for thirty at most', async () => {
  expect((await record(await draft())).catch_up_seconds).toBe(7 * 86_400)
  expect((await record(await draft({ catch_up_seconds: 30 * 86_400 }))).catch_up_seconds).toBe(30 * 86_400)
  const change = { kind: 'text', yaml: configYaml(2) }
  const late = { name: 'Late', change, scope: scope(), catch_up_seconds: 30 * 86_400 + 1 }
  expect(await call('POST', '', late)).toMatchObject({
    status: 400,
    json: { code: 'campaign_number_invalid', max: 30 * 86_400 },
  })
})
