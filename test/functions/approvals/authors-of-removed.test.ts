import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { deleteOldCommitAuthors, toAskedVersion } from '../../../lib/store/commit-authors.ts'
import { listAuthors } from '../../../lib/store/text-authors.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// Who wrote a text, asked for it or was named for it stays its author when what it was written for is removed: else whoever
// may remove that would approve it afterwards.

const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
let ann: SignedIn
let bob: SignedIn
let carl: SignedIn
let shop: FakeAgent
const TEXT = configYaml()

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  const [one, two, three] = [1, 2, 3].map(() => signIn(ctx, { groups: ['editor'] }))
  ;[ann, bob, carl] = await Promise.all([one!, two!, three!])
})
beforeEach(async () => {
  for (const table of ['approvals', 'commit_authors', 'commit_claims', 'authors_of_removed', 'campaigns'])
    await database.pool.execute(`delete from ${table}`)
  shop = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

async function call<Answer>(as: SignedIn, route: string, body: object, expected = 200): Promise<Answer> {
  const { status, json } = await invoke(ctx, route, { as: as.token, body })
  expect(status, JSON.stringify(json)).toBe(expected)
  await ctx.advance(1)
  return json as Answer
}

async function remove(as: SignedIn, path: string): Promise<void> {
  const { status, json } = await invoke(ctx, `DELETE ${path}`, { as: as.token })
  expect(status, JSON.stringify(json)).toBe(204)
  await ctx.advance(1)
}

const request = async (as: SignedIn, draft_yaml = TEXT, agent = shop): Promise<string> =>
  (
    await call<ApprovalRecord>(
      as,
      `POST /api/workloads/${agent.workloadId}/config/approvals`,
      { draft_yaml, comment: 'please' },
      201,
    )
  ).id

async function approve(as: SignedIn, id: string): Promise<unknown> {
  const way = `POST /api/workloads/${shop.workloadId}/config/approvals/${id}/approve`
  const { status, json } = await invoke(ctx, way, { as: as.token, body: { comment: 'fine' } })
  return status === 200 ? 'approved' : (json as { reason?: string }).reason
}

const nobody = (name: string) => ({ match_labels: { 'identity/host.name': `${name} is nowhere` } })
const definition = (name: string) => ({ name, description: '', selector: nobody(name), priority: 0 })

async function version(as: SignedIn, name: string, more: object = {}): Promise<string> {
  const { id } = await call<FleetConfigRecord>(as, 'POST /api/fleet-configs', definition(name), 201)
  const body = { content: TEXT, comment: 'mine', ...more }
  await call(as, `POST /api/fleet-configs/${id}/versions`, body, 201)
  return id
}

it('whoever wrote a version of a fleet config that was removed since does not approve its text', async () => {
  const id = await version(ann, 'removed')
  const asked = await request(bob)
  await remove(ann, `/api/fleet-configs/${id}`)
  expect(await approve(ann, asked)).toBe('author')
  expect(await approve(carl, asked)).toBe('approved')
})

it('nor whoever had a campaign bring a version of it', async () => {
  const id = await version(ann, 'carried')
  const change = { kind: 'version', fleet_config_id: id, number: 1, takeover: true }
  await call<CampaignRecord>(carl, 'POST /api/campaigns', { name: 'carries', change, scope: {} }, 201)
  await remove(ann, `/api/fleet-configs/${id}`)
  const asked = await request(bob)
  expect(await approve(carl, asked)).toBe('author')
})

it('but where others write it as a version with other values, they are not among its authors', async () => {
  const withRegion = (region: string) => ({
    content: `${TEXT}# \${var:region}\n`,
    variables: [{ name: 'region', type: 'string', default: region }],
  })
  await remove(ann, `/api/fleet-configs/${await version(ann, 'valued', withRegion('eu'))}`)
  const authorsOf = async (fleetConfigId: string) =>
    (await listAuthors(database.pool, toAskedVersion({ fleetConfigId, number: 1 }, []))).all
  expect(await authorsOf(await version(bob, 'other', withRegion('us')))).toEqual([bob.userId])
  expect([...(await authorsOf(await version(bob, 'same', withRegion('eu'))))].sort()).toEqual(
    [ann.userId, bob.userId].sort(),
  )
})

it('nor whoever asked for it on a workload that was removed', async () => {
  const other = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  await request(ann, TEXT, other)
  const asked = await request(bob)
  await remove(admin, `/api/workloads/${other.workloadId}`)
  expect(await approve(ann, asked)).toBe('author')
})

it('for a year, and for as long as the text is asked for or written anywhere', async () => {
  const id = await version(ann, 'trimmed')
  await remove(ann, `/api/fleet-configs/${id}`)
  const count = async () => (await database.pool.query('select from authors_of_removed')).length
  const trim = (ms = 60_000) =>
    database.pool.transaction('trim', (tx) => deleteOldCommitAuthors(tx, new Date(Date.now() + ms)))
  await trim(-60_000)
  expect(await count()).toBe(1)
  await request(bob)
  await trim()
  expect(await count()).toBe(1)
  await database.pool.execute('delete from approvals')
  await trim()
  expect(await count()).toBe(0)
})
