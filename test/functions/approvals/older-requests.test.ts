import { afterAll, beforeEach, expect, it } from 'vitest'
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
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCommunityEdition() })
  admin = await signIn(ctx)
  editor = await signIn(ctx, { groups: ['editor'] })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const call = (method: string, rest: string, body?: object, as = admin) =>
  invoke(ctx, `${method} /api/workloads/${agent.workloadId}/config/approvals${rest}`, {
    as: as.token,
    ...(body === undefined ? {} : { body }),
  })
const read = async (id: string) => (await call('GET', `/${id}`)).json as ApprovalRecord
const approve = (id: string) => call('POST', `/${id}/approve`, { comment: 'fine' })
const push = (id: string, more: object = {}) => call('POST', `/${id}/push`, { comment: 'go', ...more })

async function request(port: number, group: string): Promise<string> {
  await ctx.advance(1_000)
  const body = { draft_yaml: configYaml(port), target_group: group, comment: 'please' }
  const { status, json } = await call('POST', '', body, editor)
  expect(status, JSON.stringify(json)).toBe(201)
  return (json as ApprovalRecord).id
}

it('an approved request can be pushed no more once a newer one of its group is approved', async () => {
  const older = await request(1, 'edge')
  await approve(older)
  const newer = await request(2, 'edge')
  expect((await read(older)).status).toBe('approved')
  await approve(newer)
  expect(await read(older)).toMatchObject({ status: 'retired', closed_by: admin.email })
  expect(await push(older)).toMatchObject({ status: 409, json: { request_status: 'retired' } })
  expect((await push(newer)).status).toBe(202)
})

it.each([[{}], [{ break_glass: true, break_glass_reason: 'an incident' }]])(
  'an approved request can be pushed no more once a newer one of any group was pushed with %j',
  async (more) => {
    const older = await request(1, 'edge')
    await approve(older)
    const newer = await request(2, 'core')
    const waiting = await request(3, 'third')
    if (!('break_glass' in more)) await approve(newer)
    expect((await read(older)).status).toBe('approved')
    expect((await push(newer, more)).status).toBe(202)
    expect((await read(older)).status).toBe('retired')
    expect(await push(older)).toMatchObject({ status: 409, json: { request_status: 'retired' } })
    // What was requested later, or is still to be looked at, goes on.
    expect((await read(waiting)).status).toBe('pending')
    await approve(waiting)
    expect((await push(waiting)).status).toBe(202)
  },
)

it('an approved request stays where an older one is approved or pushed after it', async () => {
  const older = await request(1, 'edge')
  const newer = await request(2, 'core')
  await approve(newer)
  await approve(older)
  expect((await push(older)).status).toBe(202)
  expect((await read(newer)).status).toBe('approved')
  expect((await push(newer)).status).toBe(202)
})
