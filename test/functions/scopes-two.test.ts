import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  CampaignFigures,
  CampaignGroup,
  CampaignMatch,
  CampaignRecord,
  CampaignTarget,
} from '../../lib/wire/campaigns.ts'
import type { FleetConfigRecord, FleetConfigVersion, RenderedVersion } from '../../lib/wire/fleet-configs.ts'
import type { PushPreview } from '../../lib/wire/pushes.ts'
import type { ReviewRecord } from '../../lib/wire/reviews.ts'
import { createCompleteEdition } from '../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext } from '../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { configYaml, pushConfig } from '../support/push-config.ts'
import { connectIn, makeScopedGroup, member, OUTSIDE } from '../support/scopes.ts'

// One fleet, two teams, each within a scope of its own, and one config and one campaign for both.
const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
let [shop, bank]: SignedIn[] = []
let agents: Record<'shop' | 'bank', FakeAgent>
let config: FleetConfigRecord

const EVERYWHERE = { match_labels: { 'identity/service.name': 'collector' } }
const call = (as: SignedIn | undefined, request: string, body?: object) =>
  invoke(ctx, request, { as: as!.token, body })

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  for (const env of ['shop', 'bank'])
    await makeScopedGroup(ctx, admin, `${env}-editors`, { key: 'muster/env', values: [env] })
  shop = await member(ctx, 'shop-editors')
  bank = await member(ctx, 'bank-editors')
  agents = {
    shop: await connectIn(ctx, admin, 'shop', { service: 'collector', host: 's-1' }),
    bank: await connectIn(ctx, admin, 'bank', { service: 'collector', host: 'b-1' }),
  }
  for (const agent of Object.values(agents)) {
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(9))
    agent.apply()
  }
  await ctx.advance(1_000)
  const made = await call(admin, 'POST /api/fleet-configs', {
    name: 'All',
    selector: EVERYWHERE,
    priority: 0,
  })
  config = made.json as FleetConfigRecord
  const version = {
    content: configYaml(1),
    variables: [],
    table: { label: 'muster/env', rows: { shop: { port: '1' }, bank: { port: 'bank-only' } } },
  }
  const added = await call(admin, `POST /api/fleet-configs/${config.id}/versions`, {
    ...version,
    content: `${configYaml(1)}# \${muster:port}\n`,
    variables: [{ name: 'port', type: 'string', required: true }],
  })
  expect(added.status, added.text).toBe(201)
})
afterAll(() => ctx.close())

describe('the text of a config for both', () => {
  const path = () => `/api/fleet-configs/${config.id}/versions`

  it('is read by each who runs it, without what is about the other', async () => {
    for (const request of [`GET ${path()}/1`, `GET ${path()}`]) {
      const answer = await call(shop, request)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.text).not.toContain('bank-only')
    }
    // Who sees both reads it of the one version; lists carry no values.
    expect((await call(admin, `GET ${path()}/1`)).text).toContain('bank-only')
    const version = (await call(shop, `GET ${path()}/1`)).json as FleetConfigVersion
    expect(version.content).toContain('${muster:port}')
    expect(version.table).toEqual({ label: 'muster/env', rows: { shop: { port: '1' } } })
  })

  it('is rendered and carried by each to what is its own, and to nothing else', async () => {
    const render = (agent: FakeAgent) => call(shop, `GET ${path()}/1/render?workload_id=${agent.workloadId}`)
    const own = await render(agents.shop)
    expect((own.json as RenderedVersion).values).toEqual({ port: '1' })
    expect(await render(agents.bank)).toMatchObject(OUTSIDE)
    const change = { kind: 'version', fleet_config_id: config.id, number: 1 }
    const made = await call(shop, 'POST /api/campaigns', { name: 'Mine', change, scope: {}, waves: [{}] })
    expect(made.status, made.text).toBe(201)
    const { id } = made.json as CampaignRecord
    await planned(shop, id)
    const targets = (await call(shop, `GET /api/campaigns/${id}/targets`)).json as CampaignTarget[]
    expect(targets.map(({ workload_id }) => workload_id)).toEqual([agents.shop.workloadId])
    const groups = (await call(shop, `GET /api/campaigns/${id}/groups`)).json as CampaignGroup[]
    expect(groups).toMatchObject([{ count: 1, variables: { port: [{ value: '1', count: 1 }] } }])
    expect(groups[0]!.diff).toContain('127.0.0.1:1')
  })

  it('is changed, or set to apply by itself, by neither, and read by nobody who runs nothing of it', async () => {
    expect(await call(shop, `POST ${path()}`, { content: configYaml(2) })).toMatchObject(OUTSIDE)
    const wanted = { owner: 'repo', name: 'All', selector: EVERYWHERE, content: configYaml(2), dry_run: true }
    expect(await call(shop, 'POST /api/fleet-configs/desired', wanted)).toMatchObject(OUTSIDE)
    const plan = `POST /api/fleet-configs/${config.id}/auto-apply/plan`
    expect(await call(shop, plan, { number: 1 })).toMatchObject(OUTSIDE)
    await makeScopedGroup(ctx, admin, 'none-editors', { key: 'muster/env', values: ['none'] })
    const stranger = await member(ctx, 'none-editors')
    for (const request of ['/1', '', '/1/compare?with=1', `/1/render?workload_id=${agents.shop.workloadId}`])
      expect(await call(stranger, `GET ${path()}${request}`), request).toMatchObject(OUTSIDE)
    const change = { kind: 'version', fleet_config_id: config.id, number: 1 }
    const draft = { name: 'Peek', change, scope: {}, waves: [{}] }
    expect(await call(stranger, 'POST /api/campaigns', draft)).toMatchObject(OUTSIDE)
  })
})

async function planned(as: SignedIn | undefined, id: string): Promise<void> {
  expect((await call(as, `POST /api/campaigns/${id}/plan`)).status).toBe(202)
  while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a list that a right is needed for', () => {
  const paged = async (as: SignedIn | undefined, path: string) => {
    const answer = await call(as, `GET ${path}${path.includes('?') ? '&' : '?'}limit=50`)
    expect(answer.status, answer.text).toBe(200)
    return { rows: answer.json as object[], outside: answer.headers['Muster-Outside-Scope'] }
  }

  it('shows each the workloads of one campaign that are its own, and counts the others', async () => {
    const change = { kind: 'version', fleet_config_id: config.id, number: 1 }
    const everyone = Object.values(agents).map(({ workloadId }) => workloadId)
    const draft = { name: 'Both', change, scope: { workload_ids: everyone }, waves: [{}] }
    const { id } = (await call(admin, 'POST /api/campaigns', draft)).json as CampaignRecord
    await planned(admin, id)
    for (const [as, own] of [
      [shop, agents.shop],
      [bank, agents.bank],
    ] as const) {
      for (const order of ['plan', 'worst']) {
        const { rows, outside } = await paged(as, `/api/campaigns/${id}/targets?order=${order}`)
        expect(rows).toMatchObject([{ workload_id: own.workloadId }])
        expect(outside).toBe('1')
      }
      const whole = (await call(as, `GET /api/campaigns/${id}/targets`)).json as CampaignTarget[]
      expect(whole.map(({ workload_id }) => workload_id)).toEqual([own.workloadId])
      const record = (await call(as, `GET /api/campaigns/${id}`)).json as CampaignRecord
      expect(record).toMatchObject({ scope: { workload_ids: [own.workloadId] }, outside_scope_count: 1 })
      const groups = await call(as, `GET /api/campaigns/${id}/groups`)
      expect(groups.json).toMatchObject([{ count: 1, sample_workload_id: own.workloadId }])
      expect(groups.headers['Muster-Outside-Scope']).toBe('1')
      if (as === shop) expect(groups.text).not.toContain('bank-only')
    }
    const all = await paged(admin, `/api/campaigns/${id}/targets`)
    expect([all.rows.length, all.outside]).toEqual([2, undefined])
    await database.pool.execute(`update campaign_targets set state = 'failed', cause = 'unknown', title = ''`)
    const missed = async (as: SignedIn | undefined) =>
      ((await call(as, `GET /api/campaigns/${id}/figures`)).json as CampaignFigures).missed
    expect(await missed(admin)).toMatchObject([{ count: 2 }])
    expect(await missed(shop)).toMatchObject([
      { count: 1, workloads: [{ workload_id: agents.shop.workloadId }] },
    ])
  })

  it('leaves out what has nothing to do with the scope, and counts it', async () => {
    const only = { match_expressions: [{ key: 'muster/env', operator: 'In', values: ['bank'] }] }
    const change = { kind: 'text', yaml: configYaml(5) }
    const draft = { name: 'Bank', change, scope: { selector: only }, waves: [{}] }
    const { id } = (await call(admin, 'POST /api/campaigns', draft)).json as CampaignRecord
    const names = async (as: SignedIn | undefined) =>
      (await paged(as, '/api/campaigns')).rows.map((one) => (one as CampaignRecord).name)
    expect(await names(bank)).toContain('Bank')
    expect(await names(shop)).not.toContain('Bank')
    expect((await paged(shop, '/api/campaigns')).outside).toBe('1')
    for (const path of [
      '',
      '/targets',
      '/groups',
      '/groups/x/diff',
      '/groups/x/values?variable=y',
      '/figures',
    ])
      expect(await call(shop, `GET /api/campaigns/${id}${path}`), path).toMatchObject(OUTSIDE)
    const match = await call(shop, 'POST /api/campaigns/match', { scope: { selector: EVERYWHERE } })
    expect(match.json as CampaignMatch).toMatchObject({
      selected_count: 1,
      outside_scope_count: 1,
      excluded_count: 0,
    })
    const preview = await call(shop, 'POST /api/pushes/preview', { selector: EVERYWHERE })
    expect(preview.json as PushPreview).toMatchObject({
      targeted_count: 1,
      outside_scope_count: 1,
      targets: [{ workload_id: agents.shop.workloadId }],
    })
    expect(preview.text).not.toContain(agents.bank.workloadId)
  })

  it('of what is to be looked at shows the own workloads, page by page', async () => {
    for (const [at, agent] of [agents.bank, agents.shop, agents.bank].entries()) {
      const path = `POST /api/workloads/${agent.workloadId}/config/approvals`
      const body = { draft_yaml: configYaml(20 + at), target_group: `g${at}`, comment: 'x' }
      const { id } = (await call(admin, path, body)).json as { id: string }
      const glass = { break_glass: true, break_glass_reason: 'now', comment: 'now' }
      const pushed = await call(admin, `${path}/${id}/push`, glass)
      expect(pushed.status, pushed.text).toBe(202)
      agent.apply()
      await ctx.advance(1_000)
    }
    const { rows, outside } = await paged(shop, '/api/reviews')
    expect((rows as ReviewRecord[]).map(({ workload_id }) => workload_id)).toContain(agents.shop.workloadId)
    expect(JSON.stringify(rows)).not.toContain(agents.bank.workloadId)
    expect(Number(outside)).toBeGreaterThan(1)
    expect((await paged(admin, '/api/reviews')).rows.length).toBe(rows.length + Number(outside))
  })
})

describe('what is told at once', () => {
  it('is what everybody may see of the fleet, and nothing that a right is needed for', async () => {
    const told: string[] = []
    const client = {
      send(frames: readonly Uint8Array[]) {
        told.push(...frames.map((frame) => Buffer.from(frame).toString()))
        return frames.length
      },
      close() {},
      drop() {},
    }
    const expiresAt = new Date(ctx.clock.now().getTime() + 3_600_000)
    ctx.hub.add(client, { sessionId: shop!.sessionId, expiresAt })
    const path = `POST /api/workloads/${agents.bank.workloadId}/config/approvals`
    const body = { draft_yaml: configYaml(30), target_group: 'told', comment: 'a quiet reason' }
    const { id } = (await call(admin, path, body)).json as { id: string }
    const glass = { break_glass: true, break_glass_reason: 'a loud reason', comment: 'a third reason' }
    expect((await call(admin, `${path}/${id}/push`, glass)).status).toBe(202)
    agents.bank.apply()
    const change = { kind: 'text', yaml: configYaml(31) }
    const draft = { name: 'A plan', change, scope: { workload_ids: [agents.bank.workloadId] }, waves: [{}] }
    const campaign = (await call(admin, 'POST /api/campaigns', draft)).json as CampaignRecord
    await planned(admin, campaign.id)
    await ctx.advance(3_000)
    ctx.hub.flush()
    ctx.hub.remove(client)
    const all = told.join('\n')
    for (const type of ['approval_update', 'push_update', 'review_update', 'campaign_update'])
      expect(all).toContain(`"${type}"`)
    expect(all).not.toMatch(/a quiet reason|a loud reason|a third reason|A plan|receivers|127\.0\.0\.1/)
  })
})
