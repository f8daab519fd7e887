import { afterAll, beforeEach, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { ChangeNewsBody } from '../../../lib/wire/news.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { eventually } from '../../support/eventually.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const URL = 'https://muster.example.com'
const WEBHOOK = 'https://hooks.example.com/in'
const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let [ann, bob]: SignedIn[] = []

async function open(config: { publicUrl?: string; webhookUrl?: string }): Promise<void> {
  await ctx?.close()
  for (const table of ['campaigns', 'workloads', 'users', 'webhook_deliveries'])
    await database.pool.execute(`delete from ${table}`)
  ctx = await createFleetContext(database, { edition: createCompleteEdition(), config })
  ann = await signIn(ctx, { email: 'ann@example.com' })
  bob = await signIn(ctx, { email: 'bob@example.com' })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
}
beforeEach(() => open({ publicUrl: URL, webhookUrl: WEBHOOK }))
afterAll(() => ctx.close())

const call = (as: SignedIn | undefined, request: string, body?: object) =>
  invoke(ctx, request, { as: as!.token, body })
const base = () => `/api/workloads/${agent.workloadId}/config/approvals`
async function request(port = 1): Promise<ApprovalRecord> {
  const body = { draft_yaml: configYaml(port), comment: 'password: hunter2', target_group: `g${port}` }
  return (await call(ann, `POST ${base()}`, body)).json as ApprovalRecord
}
/** The bodies that wait to be sent to the webhook, oldest first. */
async function owed(): Promise<ChangeNewsBody[]> {
  const rows = await database.pool.query<{ body: string }>('select body from webhook_deliveries order by id')
  return rows.map(({ body }) => {
    const news = JSON.parse(body) as ChangeNewsBody
    expect(ChangeNewsBody.validate(news)[0]).toBeUndefined()
    return news
  })
}

it('a request, its approval and its rejection are told with a link and without anybody’s words', async () => {
  const { id } = await request()
  ctx.clock.advance(1_000)
  await call(bob, `POST ${base()}/${id}/approve`, { comment: 'token=xyzzy' })
  const about = {
    kind: 'request',
    id,
    production: false,
    requested_by: 'ann@example.com',
    target_group: 'g1',
    workload_id: agent.workloadId,
    workload_name: ctx.fleet.workload(agent.workloadId)!.displayName,
    target_env: '',
    draft_hash: configHash(configYaml(1)),
  }
  const link = `${URL}/workloads/${agent.workloadId}/changes/${id}`
  const now = ctx.clock.now().getTime()
  expect(await owed()).toEqual([
    {
      event: 'change_requested',
      at: new Date(now - 1_000).toISOString(),
      link,
      change: { ...about, status: 'pending', by: 'ann@example.com' },
    },
    {
      event: 'change_approved',
      at: new Date(now).toISOString(),
      link,
      change: { ...about, status: 'approved', by: 'bob@example.com' },
    },
  ])
  ctx.clock.advance(1_000)
  await call(bob, `POST ${base()}/${id}/reject`, { comment: 'no' })
  expect((await owed()).at(-1)).toMatchObject({ event: 'change_rejected', change: { status: 'rejected' } })
  expect(JSON.stringify(await owed())).not.toMatch(/hunter2|xyzzy|receivers/)
})

it('broken glass is told with its reason, without the secrets in it', async () => {
  const { id } = await request()
  ctx.clock.advance(1_000)
  const reason = `the key api_key=sk-1234567890abcdef leaked ${'x'.repeat(1_000)}`
  const body = { comment: 'c', break_glass: true, break_glass_reason: reason }
  expect((await call(ann, `POST ${base()}/${id}/push`, body)).status).toBe(202)
  const told = (await owed()).at(-1)!
  expect(told).toMatchObject({ event: 'glass_broken', change: { status: 'pushed', by: 'ann@example.com' } })
  expect(told.change.reason).toMatch(/^the key .*leaked x+$/)
  expect(told.change.reason!.length).toBe(300)
  expect(JSON.stringify(told)).not.toContain('sk-1234567890')
})

it('a withdrawal, a push as approved, and what is refused are nobody’s news', async () => {
  const first = await request()
  await call(ann, `POST ${base()}/${first.id}/withdraw`, { comment: '' })
  const second = await request(2)
  await call(ann, `POST ${base()}/${second.id}/approve`, { comment: 'mine' })
  await call(bob, `POST ${base()}/${second.id}/approve`, { comment: 'fine' })
  await call(ann, `POST ${base()}/${second.id}/push`, { comment: 'go' })
  expect((await owed()).map(({ event }) => event).sort()).toEqual([
    ...['change_approved', 'change_requested', 'change_requested'],
  ])
})

it('campaigns are told of as well', async () => {
  await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
  agent.apply()
  await ctx.advance(300)
  const draft = {
    name: 'Two',
    change: { kind: 'text', yaml: configYaml(2) },
    scope: { workload_ids: [agent.workloadId] },
    waves: [{}],
  }
  const { id } = (await call(ann, 'POST /api/campaigns', draft)).json as CampaignRecord
  await call(ann, `POST /api/campaigns/${id}/plan`)
  await eventually('it is planned', () => ctx.campaigns.planner.progress(id) === null)
  const { plan_hash } = (await call(ann, `GET /api/campaigns/${id}`)).json as CampaignRecord
  expect((await call(ann, `POST /api/campaigns/${id}/request`, { comment: '', plan_hash })).status).toBe(200)
  expect(await owed()).toMatchObject([
    {
      event: 'change_requested',
      link: `${URL}/campaigns/${id}`,
      change: { kind: 'campaign', id, name: 'Two', workload_count: 1, by: 'ann@example.com' },
    },
  ])
})

it('has no link where nobody said where browsers find the service, and nothing is owed without a webhook', async () => {
  await open({ webhookUrl: WEBHOOK })
  await request()
  expect((await owed())[0]).not.toHaveProperty('link')
  await open({ publicUrl: URL })
  await request()
  expect(await owed()).toEqual([])
})
