import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { UserRecord } from '../../../lib/wire/identity.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { addSession, invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { productionYaml } from '../../support/push-config.ts'

// Whoever made an account may use it: where two have to approve, both together are one.

const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let [ann, xena]: SignedIn[] = []

beforeEach(async () => {
  await ctx?.close()
  for (const table of ['workloads', 'users', 'settings', 'account_changes'])
    await database.pool.execute(`delete from ${table}`)
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  ann = await signIn(ctx, { email: 'ann@example.com' })
  xena = await signIn(ctx, { email: 'xena@example.com' })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const call = (as: SignedIn | undefined, route: string, body?: object) =>
  invoke(ctx, route, { as: as!.token, body })
const base = () => `/api/workloads/${agent.workloadId}/config/approvals`

/** An editor whose account Ann made, signed in, and made before what is requested. */
async function makeEditor(name: string): Promise<SignedIn> {
  const user = { email: `${name}@example.com`, password: 'correct horse battery', groups: ['editor'] }
  const { id, email } = (await call(ann, 'POST /api/users', user)).json as UserRecord
  ctx.clock.advance(1_000)
  return addSession(ctx, { userId: id, email })
}
async function needTwo(authorCounts: boolean): Promise<void> {
  const rule = { approvals: 2, author_counts: authorCounts }
  const policy = { production: rule, other: rule, unlabelled: rule }
  for (const as of [ann, xena]) expect((await call(as, 'PUT /api/approval-policy', policy)).status).toBe(200)
}
async function request(by: SignedIn | undefined): Promise<string> {
  const draft = { draft_yaml: productionYaml(1), prod_confirmation: true }
  const { status, json } = await call(by, `POST ${base()}`, draft)
  expect(status, JSON.stringify(json)).toBe(201)
  return (json as ApprovalRecord).id
}
/** Approve it; what it comes to: its status and how many approvals count. */
async function approve(by: SignedIn | undefined, id: string): Promise<unknown[]> {
  const { status, json } = await call(by, `POST ${base()}/${id}/approve`, { comment: 'fine' })
  if (status !== 200) return [status, (json as { reason?: string }).reason]
  const { status: now, tally } = json as ApprovalRecord
  return [now, tally!.given]
}

describe('where two have to approve', () => {
  it('whoever made the account of the other is not the second, though the author counts', async () => {
    const ed = await makeEditor('ed')
    await needTwo(true)
    const id = await request(ed)
    expect(await approve(ed, id)).toEqual(['pending', 1])
    expect(await approve(ann, id)).toEqual(['pending', 1])
    expect(await approve(ed, id)).toEqual([409, 'approved_already'])
    const push = await call(ann, `POST ${base()}/${id}/push`, { comment: 'go', prod_double_confirmed: true })
    expect(push.status).toBe(409)
    expect(await approve(xena, id)).toEqual(['approved', 2])
  })

  it('is not named as somebody who could approve, and the others are', async () => {
    const ed = await makeEditor('ed')
    await needTwo(false)
    const carl = await signIn(ctx, { email: 'carl@example.com', groups: ['editor'] })
    const id = await request(carl)
    const could = async () =>
      ((await call(carl, `GET ${base()}/${id}`)).json as ApprovalRecord).help!.could_approve
    expect(await could()).toEqual([ann!.email, ed.email, xena!.email])
    expect(await approve(ann, id)).toEqual(['pending', 1])
    expect(await could()).toEqual([xena!.email])
  })

  it('nor for what a third person asked for, and two whose accounts the first made are two, in whatever order', async () => {
    const [ed, eve] = [await makeEditor('ed'), await makeEditor('eve')]
    await needTwo(false)
    const id = await request(xena)
    expect(await approve(ann, id)).toEqual(['pending', 1])
    const { json } = await call(ed, `GET ${base()}/${id}`)
    expect(json).toMatchObject({ tally: { own: 'counts' } })
    expect(await approve(ed, id)).toEqual(['pending', 1])
    expect(await approve(eve, id)).toEqual(['approved', 2])
  })
})
