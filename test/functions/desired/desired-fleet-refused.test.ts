import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { DesiredFleetResult } from '../../../lib/wire/desired.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// A proposal for Git that is refused in the end takes nothing away: what was asked for before goes on waiting.

const database = await useTestDatabase()
let ctx: FleetTestContext
let db: FaultyDatabase
let admin: SignedIn
let heir: SignedIn
let machine: string

beforeEach(async () => {
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db, edition: createCompleteEdition() })
  admin = await signIn(ctx)
  heir = await signIn(ctx, { groups: ['editor'] })
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
  campaign: { takeover: true },
}
const OTHER = { content: configYaml(2) }
const send = (more: object = {}) =>
  invoke(ctx, 'POST /api/fleet-configs/desired', { as: machine, body: { ...WISH, ...more } })
const read = async (id: string) =>
  (await invoke(ctx, `GET /api/campaigns/${id}`, { as: admin.token })).json as CampaignRecord

/** Let Git's campaign for the first version wait for approval, or for its start; answers its id. */
async function waiting(status: string): Promise<string> {
  const { campaign_id: id } = (await send()).json as DesiredFleetResult
  await database.pool.execute('update campaigns set status = $1 where id = $2', [status, id])
  return id!
}

it.each(['requested', 'approved'])(
  'a campaign that was %s goes on waiting where the next run breaks off',
  async (status) => {
    const former = await waiting(status)
    db.loseCommit('campaign.create')
    await expect(send(OTHER)).rejects.toThrow('connection lost')
    await ctx.advance(5_000)
    expect((await read(former)).status).toBe(status)
    const again = (await send(OTHER)).json as DesiredFleetResult
    expect(again).toMatchObject({ action: 'propose', version: 2 })
    expect(await read(former)).toMatchObject({
      status: 'withdrawn',
      close_comment: 'Git asks for something else now',
    })
    const rows = await database.pool.query<{ action: string; id: string }>(
      `select action, resource_id as id from audit_events where action like 'campaign.%' order by seq desc limit 2`,
    )
    expect(rows).toEqual([
      { action: 'campaign.withdraw', id: former },
      { action: 'campaign.create', id: again.campaign_id },
    ])
  },
)

it.each(['requested', 'draft'])(
  'a campaign that was %s stays as it is where the owner is handed over meanwhile',
  async (status) => {
    const former = await waiting(status)
    const before = await read(former)
    const handedOver = new Promise<void>((resolve) => {
      ctx.fleetConfigs.storeMemberships = async () => {
        const body = { owner: 'platform', to_account_id: heir.userId }
        const done = await invoke(ctx, 'POST /api/managed-configs/hand-over', { as: admin.token, body })
        expect(done.status, JSON.stringify(done.json)).toBe(200)
        resolve()
      }
    })
    expect(await send(OTHER)).toMatchObject({ status: 409, json: { code: 'owner_taken' } })
    await handedOver
    expect(await read(former)).toEqual(before)
  },
)
