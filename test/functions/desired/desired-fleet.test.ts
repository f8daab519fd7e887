import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Permission } from '../../../lib/model/permissions.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredFleetResult } from '../../../lib/wire/desired.ts'
import type { FleetConfigRecord, FleetConfigVersion } from '../../../lib/wire/fleet-configs.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
let machine: string

beforeEach(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  const permissions: Permission[] = [
    'config:create',
    'config:read_content',
    'config:request',
    'workload:push_config',
  ]
  machine = (await makeApiToken(ctx, admin, permissions)).token
})
afterEach(async () => {
  await ctx.close()
  for (const table of ['workloads', 'campaigns', 'fleet_configs', 'unseen_texts', 'commit_authors'])
    await database.pool.execute(`delete from ${table}`)
})

const WISH = {
  owner: 'platform',
  name: 'edge',
  selector: { match_labels: { 'identity/host.name': 'vm-*' } },
  content: configYaml(),
  commit_sha: 'abc123',
  commit_author: 'Ann',
  campaign: { takeover: true },
}
const OTHER = `${configYaml()}# another text\n`
const send = (more: object = {}, as = machine) =>
  invoke(ctx, 'POST /api/fleet-configs/desired', { as, body: { ...WISH, ...more } })
async function wish(more: object = {}): Promise<DesiredFleetResult> {
  const { status, json } = await send(more)
  expect({ status, json }).toMatchObject({ status: 200 })
  return json as DesiredFleetResult
}
const get = async <T>(path: string) => (await invoke(ctx, `GET ${path}`, { as: admin.token })).json as T
const post = (path: string, body: object = {}, as = admin.token) => invoke(ctx, `POST ${path}`, { as, body })
const campaign = (id = '') => get<CampaignRecord>(`/api/campaigns/${id}`)
const fleetConfigs = () => get<FleetConfigRecord[]>('/api/fleet-configs')

/** Connect a host with one instance. */
async function host(name: string) {
  const agent = fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': name } })
  await ctx.advance(1_000)
  return agent
}

/** Plan and request the campaign that Git asked for, as the command line does; returns its id. */
async function ask({ campaign_id: id = '' }: DesiredFleetResult): Promise<string> {
  await post(`/api/campaigns/${id}/plan`, {}, machine)
  await expect.poll(async () => (await campaign(id)).status).toBe('planned')
  const { plan_hash } = await campaign(id)
  const body = { plan_hash, comment: 'From Git', prod_confirmation: true }
  expect(await post(`/api/campaigns/${id}/request`, body, machine)).toMatchObject({ status: 200 })
  return id
}

/** Write that a campaign is in this status, approved as somebody else than its authors had to, and was pushed to all its workloads. */
async function stands(id: string, status: string): Promise<void> {
  const approvals = JSON.stringify([{ rule: { approvals: 1, authorCounts: false, validHours: null } }])
  await database.pool.execute(`update campaigns set status = $2, approvals = $3::jsonb where id = $1`, [
    ...[id, status, approvals],
  ])
  await database.pool.execute(
    'update campaign_targets set push_id = gen_random_uuid() where campaign_id = $1',
    [id],
  )
}

it('nobody else proposes a fleet config in the name of an owner', async () => {
  await wish()
  const other = await signIn(ctx, { groups: ['editor'] })
  const taken = { status: 409, json: { code: 'owner_taken', owner: 'platform' } }
  for (const more of [{ content: OTHER }, { name: 'core', priority: 1 }])
    expect(await send(more, other.token)).toMatchObject(taken)
  expect(await send({ content: OTHER, dry_run: true }, other.token)).toMatchObject({ status: 200 })
  expect(await fleetConfigs()).toMatchObject([{ name: 'edge', newest_version: 1 }])
})

describe('a fleet config that Git holds', () => {
  it('is proposed as a version and a campaign with its commit, and a second run adds nothing', async () => {
    await host('vm-1')
    expect(await wish({ dry_run: true })).toEqual({
      name: 'edge',
      action: 'propose',
      workload_count: 0,
      joining_count: 1,
      leaving_count: 0,
      unknown_authors: ['Ann'],
    })
    expect(await fleetConfigs()).toEqual([])
    const first = await wish({ commit_authors: ['Bob <bob@example.com>'] })
    expect(first).toMatchObject({
      action: 'propose',
      version: 1,
      campaign_status: 'draft',
      workload_count: 1,
    })
    const filter = { action: 'fleet_config.manage' }
    const [record] = await listAuditRecords(database.pool, filter, { beforeSeq: null, limit: 1, offset: 0 })
    // Whoever is named does not count as a second person, so it is known which account named him.
    expect(JSON.parse(record!.detail)).toMatchObject({
      commit_author: 'Ann',
      commit_authors: ['Bob <bob@example.com>'],
    })
    const again = await wish({ commit_sha: 'def456', commit_authors: ['Bob <bob@example.com>'] })
    const { joining_count: joined, leaving_count: left, ...stays } = first
    expect([joined, left]).toEqual([1, 0])
    expect(again).toEqual({ ...stays, action: 'waits' })
    const [config, ...others] = await fleetConfigs()
    expect(others).toEqual([])
    const managed = { owner: 'platform', version: 1, commit_sha: 'abc123', commit_author: 'Ann' }
    expect(config).toMatchObject({ name: 'edge', newest_version: 1, managed })
    const [version] = await get<FleetConfigVersion[]>(`/api/fleet-configs/${config!.id}/versions`)
    expect(version).toMatchObject({ author: admin.email, comment: 'From Git: platform at abc123 by Ann' })
    expect(await campaign(first.campaign_id)).toMatchObject({
      status: 'draft',
      created_by: admin.email,
      change: { kind: 'version', fleet_config_id: config!.id, number: 1, takeover: true },
    })
    expect(await get('/api/campaigns')).toHaveLength(1)
    // Only a person may approve.
    const id = await ask(first)
    const approve = { plan_hash: (await campaign(id)).plan_hash, comment: 'fine' }
    expect(await post(`/api/campaigns/${id}/approve`, approve, machine)).toMatchObject({ status: 403 })
    expect(await wish()).toMatchObject({ action: 'waits', campaign_id: id, campaign_status: 'requested' })
  })

  it('is another version when its text changes: what nobody answered is taken back, a draft is changed', async () => {
    await host('vm-1')
    const first = await wish()
    const second = await wish({ content: OTHER })
    expect(second).toMatchObject({ action: 'propose', version: 2, campaign_id: first.campaign_id })
    const id = await ask(second)
    const third = await wish({ commit_sha: 'back' })
    expect(third).toMatchObject({ action: 'propose', version: 3, campaign_status: 'draft' })
    expect(third.campaign_id).not.toBe(id)
    expect(await campaign(id)).toMatchObject({
      status: 'withdrawn',
      close_comment: 'Git asks for something else now',
    })
  })

  it('is carried by the rules that Git says by now, also where its campaign waits for approval', async () => {
    await host('vm-1')
    const { campaign_id: first } = await wish()
    const slower = { campaign: { takeover: true, limits: { failed: 7 } } }
    expect(await wish({ ...slower, dry_run: true })).toMatchObject({
      action: 'propose',
      campaign_rules: 'new',
    })
    const second = await wish(slower)
    expect(second).toMatchObject({ action: 'propose', version: 1, campaign_id: first, campaign_rules: 'new' })
    expect(await campaign(first)).toMatchObject({ limits: { failed: 7 } })
    const again = await wish(slower)
    expect(again).toMatchObject({ action: 'waits', campaign_id: first })
    expect(again).not.toHaveProperty('campaign_rules')
    const id = await ask(second)
    const third = await wish({ campaign: { takeover: true, limits: { failed: 8 } } })
    expect(third).toMatchObject({ action: 'propose', version: 1, campaign_rules: 'new' })
    expect(third.campaign_id).not.toBe(id)
    expect(await campaign(third.campaign_id)).toMatchObject({ limits: { failed: 8 } })
    expect(await campaign(id)).toMatchObject({ status: 'withdrawn' })
    // One that was started goes on by its own.
    await database.pool.execute(`update campaigns set status = 'paused' where id = $1`, [third.campaign_id])
    const left = { action: 'waits', campaign_id: third.campaign_id, campaign_rules: 'former' }
    expect(await wish(slower)).toMatchObject(left)
    expect(await campaign(third.campaign_id)).toMatchObject({ limits: { failed: 8 } })
  })

  it('is held once it was rejected, until its text changes or somebody says so', async () => {
    await host('vm-1')
    const id = await ask(await wish())
    await post(`/api/campaigns/${id}/reject`, { comment: 'no' })
    expect(await wish()).toMatchObject({ action: 'held', reason: 'rejected', campaign_id: id })
    expect(await wish({ content: OTHER, dry_run: true })).toMatchObject({ action: 'propose' })
    const again = await wish({ again: true })
    expect(again).toMatchObject({ action: 'propose', version: 1, campaign_status: 'draft' })
    expect(again.campaign_id).not.toBe(id)
  })

  it('is not approved by whoever its commit names, also once Git names somebody else or lets go of it', async () => {
    await host('vm-1')
    const author = await signIn(ctx, { groups: ['editor'] })
    const approve = async (id: string) => {
      const body = { plan_hash: (await campaign(id)).plan_hash, comment: 'fine' }
      const { status, json } = await post(`/api/campaigns/${id}/approve`, body, author.token)
      return [status, (json as { reason?: string }).reason]
    }
    const first = await wish({ commit_author: `Ann <${author.email.toUpperCase()}>` })
    expect(await approve(await ask(first))).toEqual([409, 'author'])
    // A later commit by somebody else changes the selector and not the text, so the author of the text is still an
    // author.
    const wider = { selector: { match_labels: { 'identity/host.name': 'vm*' } } }
    await wish({ ...wider, commit_author: 'Bob <bob@example.com>' })
    expect(await approve(first.campaign_id!)).toEqual([409, 'author'])
    const gone = `DELETE /api/fleet-configs/${first.fleet_config_id}/desired?owner=platform`
    expect(await invoke(ctx, gone, { as: machine })).toMatchObject({ status: 204 })
    const change = { kind: 'version', fleet_config_id: first.fleet_config_id, number: 1, takeover: true }
    const made = await post('/api/campaigns', { name: 'by hand', change, scope: {} })
    expect(made).toMatchObject({ status: 201 })
    const byHand = await ask({ campaign_id: (made.json as CampaignRecord).id } as DesiredFleetResult)
    expect(await approve(byHand)).toEqual([409, 'author'])
  })

  it('tells whoever is to approve whom its commits name that nobody here is called', async () => {
    await host('vm-1')
    const known = await signIn(ctx, { groups: ['editor'] })
    const commit_authors = [`Known <${known.email}>`, 'Dora <dora@x.example>']
    const wished = await wish({ commit_author: 'Eve <eve@x.example>', commit_authors })
    const { help } = await campaign(await ask(wished))
    expect(help?.unknown_authors).toEqual(['Dora <dora@x.example>', 'Eve <eve@x.example>'])
  })

  it('is not approved by whoever wrote the version before that nobody brought to a workload', async () => {
    await host('vm-1')
    const author = await signIn(ctx, { groups: ['editor'] })
    await ask(await wish({ commit_author: `Ann <${author.email}>` }))
    const id = await ask(await wish({ content: OTHER, commit_author: 'Bot <bot@example.com>' }))
    const body = { plan_hash: (await campaign(id)).plan_hash, comment: 'fine' }
    const refused = { status: 409, json: { reason: 'author' } }
    expect(await post(`/api/campaigns/${id}/approve`, body, author.token)).toMatchObject(refused)
  })

  it('nor where Git let go of it in between, and people wrote a version', async () => {
    await host('vm-1')
    const author = await signIn(ctx, { groups: ['editor'] })
    const { fleet_config_id } = await wish({ commit_author: `Ann <${author.email}>` })
    const gone = `DELETE /api/fleet-configs/${fleet_config_id}/desired?owner=platform`
    expect(await invoke(ctx, gone, { as: machine })).toMatchObject({ status: 204 })
    const byHand = { content: `${OTHER}# by hand\n`, comment: 'mine' }
    expect(await post(`/api/fleet-configs/${fleet_config_id}/versions`, byHand)).toMatchObject({
      status: 201,
    })
    const id = await ask(await wish({ content: OTHER, commit_author: 'Bot <bot@example.com>' }))
    const body = { plan_hash: (await campaign(id)).plan_hash, comment: 'fine' }
    const refused = { status: 409, json: { reason: 'author' } }
    expect(await post(`/api/campaigns/${id}/approve`, body, author.token)).toMatchObject(refused)
  })

  it('is approved by whoever made the one before that ran, where only values are others', async () => {
    await host('vm-1')
    const [ann, bob] = [await signIn(ctx, { groups: ['editor'] }), await signIn(ctx, { groups: ['editor'] })]
    const approve = async (id: string, as: SignedIn) => {
      const body = { plan_hash: (await campaign(id)).plan_hash, comment: 'fine' }
      const { status, json } = await post(`/api/campaigns/${id}/approve`, body, as.token)
      return [status, (json as { reason?: string }).reason]
    }
    const sites = (rows: object, by: SignedIn) => ({
      content: configYaml().replace('127.0.0.1', `\${muster:site}`),
      variables: [{ name: 'site', pattern: '[a-z0-9-]+', default: 'nowhere' }],
      table: { label: 'muster/region', rows },
      commit_author: `Somebody <${by.email}>`,
    })
    const first = await ask(await wish(sites({ paris: { site: 'p' } }, ann)))
    expect(await approve(first, ann)).toEqual([409, 'author'])
    // What nobody brought to run comes with the next one.
    const both = sites({ paris: { site: 'p' }, berlin: { site: 'b' } }, bob)
    const second = await ask(await wish(both))
    expect(await approve(second, ann)).toEqual([409, 'author'])
    expect(await approve(second, bob)).toEqual([409, 'author'])
    await stands(second, 'done')
    const third = await ask(await wish(sites({ paris: { site: 'q' } }, bob)))
    expect(await approve(third, bob)).toEqual([409, 'author'])
    expect(await approve(third, ann)).toEqual([200, undefined])
  })

  it('is not approved by whoever made the one that ran and was taken back since, and is once another one ran', async () => {
    await host('vm-1')
    const [ann, bob] = [await signIn(ctx, { groups: ['editor'] }), await signIn(ctx, { groups: ['editor'] })]
    const approve = async (id: string, as: SignedIn) => {
      const body = { plan_hash: (await campaign(id)).plan_hash, comment: 'fine' }
      const { status, json } = await post(`/api/campaigns/${id}/approve`, body, as.token)
      return [status, (json as { reason?: string }).reason]
    }
    const change = async (n: number, by: string) =>
      ask(await wish({ content: `${configYaml()}# ${n}\n`, commit_author: `Somebody <${by}>` }))
    const first = await change(1, ann.email)
    await stands(first, 'done')
    expect(await approve(await change(2, bob.email), ann)).toEqual([200, undefined])
    await stands(first, 'rolled_back')
    const third = await change(3, 'bot@example.com')
    expect(await approve(third, ann)).toEqual([409, 'author'])
    expect(await approve(third, bob)).toEqual([409, 'author'])
    await stands(third, 'done')
    expect(await approve(await change(4, 'bot@example.com'), ann)).toEqual([200, undefined])
  })

  it('is about whom Git says, without another version or campaign', async () => {
    const first = await wish()
    const moved = { match_labels: { 'identity/host.name': 'db-*' } }
    await host('db-1')
    expect(await wish({ selector: moved, priority: 5, description: 'databases' })).toEqual({
      ...first,
      action: 'waits',
      workload_count: 1,
      joining_count: 1,
      leaving_count: 0,
      definition_changes: ['description', 'selector', 'priority'],
    })
    const [config] = await fleetConfigs()
    expect(config).toMatchObject({
      selector: moved,
      priority: 5,
      description: 'databases',
      newest_version: 1,
    })
  })

  it('is for whom a version reaches by itself as long as that is approved, and not for others', async () => {
    const { fleet_config_id: id } = await wish()
    await database.pool.execute(
      `insert into auto_applies (id, fleet_config_id, fleet_config_name, status, number, version_hash, selector, priority,
         policy_hash, reaches_production, plan, plan_hash, author_ids, requested_by, requested_by_id, requested_at,
         request_comment, approvals, updated_at)
       values ('apl_1', $1, 'edge', 'active', 1, 'h', '{}', 0, 'p', false, '{}', 'h', '{}', 'ann', 'ann', $2, '', '[]', $2)`,
      [id, ctx.clock.now()],
    )
    const refused = { status: 409, json: { code: 'auto_apply_in_force' } }
    expect(await send({ priority: 7 })).toMatchObject(refused)
    expect(
      await send({ content: OTHER, selector: { match_labels: { 'identity/host.name': '*' } } }),
    ).toMatchObject(refused)
    expect(await fleetConfigs()).toMatchObject([{ priority: 0, newest_version: 1 }])
    expect(await wish({ content: OTHER })).toMatchObject({ action: 'propose', version: 2 })
    await database.pool.execute('delete from auto_applies')
  })

  it('is changed in Git only: not by another owner, and not by hand', async () => {
    const { fleet_config_id: id } = await wish()
    expect(await send({ owner: 'others' })).toMatchObject({
      status: 409,
      json: { code: 'managed_elsewhere' },
    })
    const refused = { status: 409, json: { code: 'fleet_config_managed', owner: 'platform' } }
    const path = `/api/fleet-configs/${id}`
    expect(await post(`${path}/versions`, { content: OTHER })).toMatchObject(refused)
    const edit = { name: 'mine', selector: WISH.selector }
    expect(await invoke(ctx, `PUT ${path}`, { as: admin.token, body: edit })).toMatchObject(refused)
    expect(await invoke(ctx, `DELETE ${path}`, { as: admin.token })).toMatchObject(refused)
    expect(await fleetConfigs()).toMatchObject([{ name: 'edge', newest_version: 1 }])
  })

  it('is left to people again: what nobody answered is taken back, versions stay', async () => {
    await host('vm-1')
    const first = await wish()
    const id = await ask(first)
    const release = (owner: string) =>
      invoke(ctx, `DELETE /api/fleet-configs/${first.fleet_config_id}/desired?owner=${owner}`, {
        as: machine,
      })
    expect(await release('others')).toMatchObject({ status: 409, json: { code: 'managed_elsewhere' } })
    expect((await release('platform')).status).toBe(204)
    expect(await release('platform')).toMatchObject({ status: 404, json: { code: 'not_managed' } })
    expect(await campaign(id)).toMatchObject({
      status: 'withdrawn',
      close_comment: expect.stringMatching(/^\S+ let go of what platform keeps here$/),
    })
    const [config] = await fleetConfigs()
    expect(config).toMatchObject({ newest_version: 1 })
    expect(config).not.toHaveProperty('managed')
    expect((await post(`/api/fleet-configs/${config!.id}/versions`, { content: OTHER })).status).toBe(201)
  })

  it.each([
    ['an owner that is no name', { owner: '' }, 'owner_invalid'],
    ['a label that agents report', { selector: { match_labels: { team: 'x' } } }, undefined],
    ['a text that is no YAML', { content: 'a: [' }, 'version_text_invalid'],
    ['a value that is not declared', { content: 'a: ${muster:nowhere}' }, 'version_text_invalid'],
    ['waves of nothing', { campaign: { waves: [{ count: -1 }] } }, 'campaign_number_invalid'],
  ])('is refused with %s, and nothing is stored', async (_, more, code) => {
    const { status, json } = await send(more)
    expect({ status, json }).toMatchObject({ status: 400, ...(code === undefined ? {} : { json: { code } }) })
    expect(await fleetConfigs()).toEqual([])
  })

  it('needs the rights to write a version and to request it, and none to push', async () => {
    const lacking: Permission[][] = [
      ['config:request'],
      ['config:create'],
      ['config:create', 'workload:push_config'],
    ]
    for (const missing of lacking) {
      const { token } = await makeApiToken(ctx, admin, missing)
      expect((await send({}, token)).status).toBe(403)
    }
    const { token } = await makeApiToken(ctx, admin, ['config:create', 'config:request'])
    expect((await send({}, token)).status).toBe(200)
  })
})
