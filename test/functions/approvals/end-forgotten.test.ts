import { afterAll, beforeEach, expect, it } from 'vitest'
import endForgotten from '../../../functions/approvals/end-forgotten.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { storeSetting } from '../../../lib/store/settings.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { createCommunityEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let admin: SignedIn
let editor: SignedIn

beforeEach(async () => {
  await ctx?.close()
  for (const table of ['workloads', 'settings']) await database.pool.execute(`delete from ${table}`)
  ctx = await createFleetContext(database, { edition: createCommunityEdition() })
  admin = await signIn(ctx)
  editor = await signIn(ctx, { groups: ['editor'] })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const DAY_MS = 86_400_000
const call = (method: string, rest: string, body?: object, as = admin) =>
  invoke(ctx, `${method} /api/workloads/${agent.workloadId}/config/approvals${rest}`, {
    as: as.token,
    ...(body === undefined ? {} : { body }),
  })
async function request(isApproved: boolean): Promise<string> {
  const body = { draft_yaml: configYaml(1), target_group: 'edge', comment: 'please' }
  const { id } = (await call('POST', '', body, editor)).json as ApprovalRecord
  if (isApproved) expect((await call('POST', `/${id}/approve`, { comment: 'fine' })).status).toBe(200)
  return id
}
/** Let all of it have happened so many days earlier, and look. */
async function afterDays(id: string, days: number): Promise<ApprovalRecord> {
  const ago = `make_interval(days => ${days})`
  await database.pool.execute(
    `update approvals set created_at = created_at - ${ago}, updated_at = updated_at - ${ago}`,
  )
  await database.pool.execute(`update approval_votes set approved_at = approved_at - ${ago}`)
  await endForgotten.run(ctx, new AbortController().signal)
  return (await call('GET', `/${id}`)).json as ApprovalRecord
}
async function letThemBe(hours: number): Promise<void> {
  const rule = { approvals: 1, authorCounts: true, validHours: hours }
  const policy = { production: rule, other: rule, unlabelled: rule }
  const value = JSON.stringify({ policy, pending: null })
  await storeSetting(database.pool, 'approval_policy', { value, updatedAt: ctx.clock.now(), updatedBy: '' })
}

it.each([
  ['that nobody approves', false, 'Nobody approved it in time.'],
  ['that is approved and nobody pushes', true, 'Nobody pushed it in time.'],
])('a request %s ends 30 days after its last change, and says before when', async (_, isApproved, why) => {
  const id = await request(isApproved)
  const { status, updated_at, ends_at } = await afterDays(id, 29)
  expect(status).toBe(isApproved ? 'approved' : 'pending')
  expect(Date.parse(ends_at!) - Date.parse(updated_at)).toBe(30 * DAY_MS)
  const ended = await afterDays(id, 2)
  expect(ended).toMatchObject({ status: 'withdrawn', closed_by: 'muster', close_comment: why })
  expect(ended).not.toHaveProperty('ends_at')
  const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
  expect(record).toMatchObject({ action: 'config.approval.withdraw', configHash: configHash(configYaml(1)) })
  expect(ctx.counters.waitingApprovals(agent.workloadId)).toBe(0)
})

it('a request lives on for as long as the policy lets its approvals count, and for what is said about it', async () => {
  await letThemBe(24 * 60)
  const id = await request(true)
  expect((await afterDays(id, 59)).status).toBe('approved')
  expect((await afterDays(id, 2)).status).toBe('withdrawn')
  const other = await request(false)
  expect((await afterDays(other, 29)).status).toBe('pending')
  await call('POST', `/${other}/comments`, { comment: 'soon' })
  expect((await afterDays(other, 29)).status).toBe('pending')
})

it('what is approved ends as it would have, whatever is said about it: whoever may only ask keeps it no longer', async () => {
  const id = await request(true)
  expect((await afterDays(id, 29)).status).toBe('approved')
  expect((await call('POST', `/${id}/comments`, { comment: 'soon' })).status).toBe(201)
  expect((await afterDays(id, 2)).status).toBe('withdrawn')
})

it('approvals that are too old can be given again until the request ends', async () => {
  await letThemBe(72)
  const id = await request(true)
  expect(await afterDays(id, 20)).toMatchObject({ status: 'approved', approvals_short: true })
  expect((await call('POST', `/${id}/approve`, { comment: 'still fine' })).status).toBe(200)
  expect(await afterDays(id, 29)).toMatchObject({ status: 'approved' })
  expect((await afterDays(id, 2)).status).toBe('withdrawn')
})
