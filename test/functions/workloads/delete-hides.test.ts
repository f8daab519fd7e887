import { afterAll, beforeEach, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, productionYaml } from '../../support/push-config.ts'

// A workload comes back under its former id, and its collectors run on what they run: who deletes it gets rid of nothing
// that waits for a second person.

const database = await useTestDatabase()
/** After this a workload without instances counts as disconnected. */
const GRACE_MS = 300_000
let ctx: FleetTestContext
let agent: FakeAgent
let ann: SignedIn
let bob: SignedIn

beforeEach(async () => {
  await ctx?.close()
  for (const table of ['workloads', 'users', 'settings', 'label_rules', 'reviews'])
    await database.pool.execute(`delete from ${table}`)
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  ann = await signIn(ctx, { email: 'ann@example.com' })
  bob = await signIn(ctx, { email: 'bob@example.com' })
  agent = fakeAgent(ctx.fleet, { host: 'web-1' })
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const call = (as: SignedIn, request: string, body?: object) => invoke(ctx, request, { as: as.token, body })
const on = (path = '') => `/api/workloads/${agent.workloadId}${path}`
const remove = async (as = ann) => {
  const { status, json } = await call(as, `DELETE ${on()}`)
  return status === 204 ? status : (json as { code: string }).code
}
const openReviews = async () => (await call(bob, 'GET /api/reviews?status=open')).json as ReviewRecord[]
const labelReview = async () => (await openReviews()).find(({ kind }) => kind === 'labels')
/** Let the day pass for which the stricter rule is kept, by the database's clock. */
const passDay = () =>
  database.pool.execute(`update reviews set kept_since = kept_since - interval '24 hours'`)
const label = (labels: Record<string, string>, as = ann) =>
  call(as, `PUT ${on('/trusted-labels')}`, { labels })

async function breakGlass(): Promise<void> {
  const asked = await call(ann, `POST ${on('/config/approvals')}`, { draft_yaml: configYaml(9) })
  const { id } = asked.json as ApprovalRecord
  const body = { comment: 'now', break_glass: true, break_glass_reason: 'it burns' }
  expect((await call(ann, `POST ${on(`/config/approvals/${id}/push`)}`, body)).status).toBe(202)
  await ctx.advance(300)
  agent.apply()
  await ctx.advance(300)
  expect(await openReviews()).toHaveLength(1)
}

it('the glass that was broken stays listed while a collector runs on with the text', async () => {
  await breakGlass()
  const machine = { ...ann, token: (await makeApiToken(ctx, ann, ['workload:delete'])).token }
  for (const who of [ann, machine, bob]) expect(await remove(who)).toBe('deletion_hides_review')
  const [review] = await openReviews()
  await call(bob, `POST /api/reviews/${review!.id}`, { comment: 'seen', accepted: true })
  expect(await remove()).toBe(204)
})

it('a workload that is gone with its collectors can be deleted all the same, once they are no longer just restarting', async () => {
  await breakGlass()
  agent.goodbye()
  await ctx.advance(300)
  expect(await remove()).toBe('deletion_hides_review')
  await ctx.advance(GRACE_MS)
  expect(await remove()).toBe(204)
})

const STAGING = {
  name: 'All',
  selector: { match_labels: { 'identity/host.name': 'web-*' } },
  labels: { env: 'staging' },
  confirm_lowering: true,
}

it('the stricter rule that a label rule leaves for a day ends by no deletion', async () => {
  expect((await call(ann, 'POST /api/label-rules', STAGING)).status).toBe(201)
  await ctx.advance(1_000)
  expect(await remove()).toBe('deletion_hides_labels')
  const review = await labelReview()
  // Nor where the second person found that it was not in order.
  expect(
    (await call(bob, `POST /api/reviews/${review!.id}`, { comment: 'no', accepted: false })).status,
  ).toBe(200)
  expect(await remove()).toBe('deletion_hides_labels')
  await passDay()
  expect(await remove()).toBe(204)
})

it('labels by hand for which approvals ask more are taken away first, which keeps the stricter rule for a day', async () => {
  await label({ env: 'production' }, bob)
  expect((await call(bob, 'POST /api/label-rules', STAGING)).status).toBe(201)
  await ctx.advance(1_000)
  await passDay()
  expect(await remove()).toBe('deletion_lowers')
  expect((await label({})).status).toBe(200)
  expect(await remove()).toBe('deletion_hides_labels')
  const made = await call(ann, `POST ${on('/config/approvals')}`, {
    draft_yaml: productionYaml(5),
    prod_confirmation: true,
  })
  const { id } = made.json as ApprovalRecord
  const own = await call(ann, `POST ${on(`/config/approvals/${id}/approve`)}`, { comment: 'mine' })
  expect(own.status).toBe(409)
})

it('labels by hand for which approvals ask no more than without them hinder no deletion', async () => {
  await label({ env: 'production' }, bob)
  expect(await remove()).toBe(204)
})
