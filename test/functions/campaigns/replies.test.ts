import { afterAll, beforeAll, expect, it } from 'vitest'
import { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { loadFunctions } from '../../../runtime/loader.ts'
import { FUNCTIONS } from '../../../runtime/manifest.generated.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'
import { connectIn, makeScopedGroup, member } from '../../support/scopes.ts'

// Whoever decides about a campaign is answered with it. No such answer may tell more than a read of it by the same
// person: the scopes of the reader cut both.
const database = await useTestDatabase()
const withCampaign = loadFunctions(FUNCTIONS).http.flatMap(({ id, definition: { route, replies } }) =>
  !route.startsWith('GET ') && replies.some(({ json }) => json === CampaignRecord) ? [id] : [],
)
const tried = new Set<string>()
let ctx: FleetTestContext
let sue: SignedIn
let tom: SignedIn
let inside: FakeAgent
let outside: FakeAgent

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  const admin = await signIn(ctx)
  await makeScopedGroup(ctx, admin)
  sue = await member(ctx, 'staging-editors')
  tom = await member(ctx, 'staging-editors')
  inside = await connectIn(ctx, admin, 'staging', { host: 's-1' })
  outside = await connectIn(ctx, admin, 'live', { host: 'p-1' })
  for (const agent of [inside, outside]) {
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    agent.apply()
  }
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const draft = () => ({
  name: 'Two',
  change: { kind: 'text', yaml: configYaml(2) },
  scope: { workload_ids: [inside, outside].map(({ workloadId }) => workloadId) },
  waves: [{}],
})

/** Decide as somebody, and compare the answer with what the same person reads then. */
async function decide(id: string, request: string, body: object = {}, as = sue): Promise<CampaignRecord> {
  tried.add(id)
  const answer = await invoke(ctx, request, { as: as.token, body })
  expect(answer.status, `${id}: ${answer.text}`).toBeLessThan(300)
  const made = answer.json as CampaignRecord
  const read = (await invoke(ctx, `GET /api/campaigns/${made.id}`, { as: as.token })).json as CampaignRecord
  // How far a plan has come, and what the runner does at once, may differ between the two.
  const shown = ({ change, scope, outside_scope_count, name }: CampaignRecord) => {
    return { change, scope, outside_scope_count, name }
  }
  expect({ id, ...shown(made) }).toEqual({ id, ...shown(read) })
  expect(answer.text, id).not.toContain(outside.workloadId)
  expect(made, id).toMatchObject({ outside_scope_count: 1, scope: { workload_ids: [inside.workloadId] } })
  return made
}

async function planned(path: string): Promise<{ comment: string; plan_hash: string | undefined }> {
  const { id } = await decide('campaigns/plan', `POST ${path}/plan`)
  while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
  const { json } = await invoke(ctx, `GET ${path}`, { as: sue.token })
  return { comment: 'yes', plan_hash: (json as CampaignRecord).plan_hash }
}

async function requested(): Promise<{ path: string; yes: { comment: string } }> {
  const { id } = await decide('campaigns/create', 'POST /api/campaigns', draft())
  const path = `/api/campaigns/${id}`
  await decide('campaigns/edit', `PUT ${path}`, { ...draft(), name: 'Three' })
  const yes = await planned(path)
  await decide('campaigns/request', `POST ${path}/request`, yes)
  return { path, yes }
}

async function work(ms = 0): Promise<void> {
  await ctx.advance(ms)
  await ctx.campaigns.work(new AbortController().signal)
  await ctx.advance(300)
}

it('tells whoever decides about a campaign no more than a read of it', async () => {
  const [first, second, third] = [await requested(), await requested(), await requested()]
  await decide('campaigns/reject', `POST ${first.path}/reject`, { comment: 'no' }, tom)
  await decide('campaigns/withdraw', `POST ${second.path}/withdraw`, { comment: 'no' })
  await decide('campaigns/approve', `POST ${third.path}/approve`, third.yes, tom)
  await decide('campaigns/comment', `POST ${third.path}/comments`, { comment: 'hm' })
  await decide('campaigns/start', `POST ${third.path}/start`)
  await decide('campaigns/pause', `POST ${third.path}/pause`)
  await decide('campaigns/continue', `POST ${third.path}/continue`)
  await work()
  await decide('campaigns/abort', `POST ${third.path}/abort`)
  inside.apply()
  await work(1_000)
  await decide('campaigns/roll-back', `POST ${third.path}/roll-back`)
  expect([...tried].toSorted()).toEqual(withCampaign.toSorted())
})

it('names to nobody the workloads that made it stop and lie outside of what the reader is shown', async () => {
  const { id } = await decide('campaigns/create', 'POST /api/campaigns', draft())
  const halt = {
    gate: 'failed',
    value: 2,
    limit: 0,
    wave: 0,
    workload_ids: [outside.workloadId, inside.workloadId],
  }
  await database.pool.execute(`update campaigns set status = 'halted', halt = $2::jsonb where id = $1`, [
    id,
    JSON.stringify(halt),
  ])
  const read = await invoke(ctx, `GET /api/campaigns/${id}`, { as: sue.token })
  expect(read.json).toMatchObject({ halt: { value: 2, workload_ids: [inside.workloadId] } })
  expect(read.text).not.toContain(outside.workloadId)
})
