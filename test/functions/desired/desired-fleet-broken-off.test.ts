import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredFleetResult } from '../../../lib/wire/desired.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let db: FaultyDatabase
let admin: SignedIn
let machine: string

beforeEach(async () => {
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db, edition: createCompleteEdition() })
  admin = await signIn(ctx)
  const permissions = ['config:create', 'config:read_content', 'config:request']
  machine = (await makeApiToken(ctx, admin, permissions)).token
  fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': 'vm-1' } })
  await ctx.advance(1_000)
})
afterEach(async () => {
  expect(db.pending()).toEqual([])
  await ctx.close()
  for (const table of ['workloads', 'campaigns', 'fleet_configs'])
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
const OTHER = { content: `${configYaml()}# another text\n`, commit_sha: 'def456' }
const send = (more: object = {}) =>
  invoke(ctx, 'POST /api/fleet-configs/desired', { as: machine, body: { ...WISH, ...more } })
const get = async <T>(path: string) => (await invoke(ctx, `GET ${path}`, { as: admin.token })).json as T

it.each([
  ['done', 'campaign.create'],
  ['rejected', 'campaign.create'],
  ['draft', 'campaign.decide'],
])(
  'what Git holds is proposed by the next run where the one before broke off, whose former campaign was %s',
  async (status, name) => {
    const first = (await send()).json as DesiredFleetResult
    await database.pool.execute('update campaigns set status = $1 where id = $2', [status, first.campaign_id])
    db.loseCommit(name)
    await expect(send(OTHER)).rejects.toThrow('connection lost')
    await ctx.advance(5_000)
    const again = (await send(OTHER)).json as DesiredFleetResult
    expect(again).toMatchObject({ action: 'propose', version: 2 })
    const { change } = await get<CampaignRecord>(`/api/campaigns/${again.campaign_id}`)
    expect(change).toMatchObject({ number: 2 })
    expect(await send(OTHER)).toMatchObject({ json: { action: 'waits', campaign_id: again.campaign_id } })
  },
)

it('a campaign for what Git holds is the one that the next run finds, also where its answer was lost', async () => {
  db.loseAnswer('campaign.create')
  await expect(send()).rejects.toThrow('connection lost')
  await ctx.advance(5_000)
  const [campaign, ...others] = await get<CampaignRecord[]>('/api/campaigns')
  expect(await send()).toMatchObject({ json: { action: 'waits', campaign_id: campaign?.id } })
  expect(others).toEqual([])
  expect(await get('/api/campaigns')).toHaveLength(1)
})

it('of two owners that bring the same fleet config at once, the second is told who keeps it', async () => {
  const [one, two] = await Promise.all([send(), send({ owner: 'others' })])
  const [winner, refused] = one.status === 200 ? ['platform', two] : ['others', one]
  expect(refused).toMatchObject({ status: 409, json: { code: 'managed_elsewhere', owner: winner } })
})
