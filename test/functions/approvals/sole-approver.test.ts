import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, productionYaml, pushConfig } from '../../support/push-config.ts'
import { connectIn, makeScopedGroup } from '../../support/scopes.ts'

// One administrator, and one person who may approve in production only.
const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
let agents: Record<'prod' | 'live', FakeAgent>

const PRODUCTION = { key: 'muster/env', values: ['prod'] }
const AUTHOR = { status: 409, json: { code: 'approval_needs_another', reason: 'author' } }

const call = (request: string, body?: object) => invoke(ctx, request, { as: admin.token, body })

beforeEach(async () => {
  await ctx?.close()
  for (const table of ['campaigns', 'workloads', 'users', 'settings'])
    await database.pool.execute(`delete from ${table}`)
  await database.pool.execute('delete from groups where not is_system')
  await database.pool.execute('update approver_history set had_two = false')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  await makeScopedGroup(ctx, admin, 'production-editors', PRODUCTION)
  const user = { email: 'dan@example.com', password: 'correct horse battery', groups: ['production-editors'] }
  expect((await call('POST /api/users', user)).status).toBe(201)
  agents = {
    prod: await connectIn(ctx, admin, 'prod', { service: 'collector', host: 'p-1' }),
    live: await connectIn(ctx, admin, 'live', { service: 'collector', host: 'l-1' }),
  }
  for (const agent of Object.values(agents)) {
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(9))
    agent.apply()
  }
  await ctx.advance(1_000)
})
afterAll(() => ctx.close())

async function approveCampaign(scope: object) {
  const change = { kind: 'text', yaml: productionYaml(1) }
  const made = await call('POST /api/campaigns', { name: 'Mine', change, scope, waves: [{}] })
  const { id } = made.json as CampaignRecord
  expect((await call(`POST /api/campaigns/${id}/plan`)).status).toBe(202)
  while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
  const { plan_hash } = (await call(`GET /api/campaigns/${id}`)).json as CampaignRecord
  const decision = { comment: 'all', plan_hash, prod_confirmation: true }
  const asked = await call(`POST /api/campaigns/${id}/request`, decision)
  expect(asked.status, asked.text).toBe(200)
  return call(`POST /api/campaigns/${id}/approve`, { comment: 'mine', plan_hash })
}

describe('the author who alone may approve it, since the second person may only elsewhere', () => {
  const everywhere = { match_labels: { 'identity/service.name': 'collector' } }
  const within = (...values: string[]) => ({
    match_expressions: [{ key: 'muster/env', operator: 'In', values }],
  })

  it('does not count for a campaign, whatever it reaches', async () => {
    const named = { workload_ids: [agents.prod.workloadId] }
    for (const scope of [
      named,
      { selector: everywhere },
      { selector: within('prod', 'live') },
      { selector: within('live') },
    ])
      expect(await approveCampaign(scope), JSON.stringify(scope)).toMatchObject(AUTHOR)
  })

  it('does not count for a workload that he labels so that nobody else may', async () => {
    const { workloadId } = agents.prod
    const base = `/api/workloads/${workloadId}/config/approvals`
    const approveOwn = async (number: number) => {
      const draft = {
        draft_yaml: productionYaml(number),
        target_group: `g${number}`,
        comment: 'please',
        prod_confirmation: true,
      }
      const asked = await call(`POST ${base}`, draft)
      expect(asked.status, asked.text).toBe(201)
      const { id } = asked.json as { id: string }
      return call(`POST ${base}/${id}/approve`, { comment: 'mine' })
    }
    expect(await approveOwn(2)).toMatchObject(AUTHOR)
    expect(
      (await call(`PUT /api/workloads/${workloadId}/trusted-labels`, { labels: { env: 'production' } }))
        .status,
    ).toBe(200)
    expect(await approveOwn(3)).toMatchObject(AUTHOR)
  })
})
