import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { ENDED_DRAFTS_KEPT } from '../../../lib/changes/create-approval.ts'
import { sweep } from '../../../lib/fleet/janitor.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { createCommunityEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// Whoever may request configs fills no database with texts that nobody ever approved.

const database = await useTestDatabase()
const DAY_MS = 86_400_000
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
const ask = (port: number, group = '') =>
  call('POST', '', { draft_yaml: configYaml(port), target_group: group, comment: 'please' }, editor)
async function requested(port: number, group = ''): Promise<string> {
  const { status, json } = await ask(port, group)
  expect(status, JSON.stringify(json)).toBe(201)
  return (json as ApprovalRecord).id
}
const step = async (id: string, what: string) =>
  expect((await call('POST', `/${id}/${what}`, { comment: 'said' })).status).toBeLessThan(300)
const draftOf = async (id: string) => ((await call('GET', `/${id}`)).json as ApprovalRecord).draft_yaml
/** What a requester asked for in `count` more requests, as one of them stands. */
const copies = (id: string, count: number, more: string) =>
  database.pool.execute(
    `insert into approvals select (jsonb_populate_record(a, jsonb_build_object(
         'id', a.id || n, 'target_group', a.target_group || n, ${more}))).*
       from approvals a, generate_series(1, ${count}) n where a.id = $1`,
    [id],
  )
/** So much time passes, after which people sign in again. */
async function wait(ms: number): Promise<void> {
  ctx.clock.advance(ms)
  admin = await signIn(ctx)
}
function clean() {
  const { db, clock, log, fleet } = ctx
  const days = { retentionDays: 900, archiveDays: 900, eventRetentionDays: 900, alertRetentionDays: 900 }
  return sweep({ db, clock, log, fleet, ...days, workloadsMax: 1_000 }, new AbortController().signal)
}

describe('the draft of a request that ended', () => {
  it('is forgotten after 90 days where nobody pushed it, and the request keeps its hash and its story', async () => {
    const replaced = await requested(1)
    const rejected = await requested(2)
    await step(rejected, 'reject')
    const withdrawn = await requested(3)
    await step(withdrawn, 'withdraw')
    const approved = await requested(5, 'edge')
    await step(approved, 'approve')
    await step(approved, 'withdraw')
    const open = await requested(4)
    const before = (await call('GET', `/${rejected}`)).json
    await wait(90 * DAY_MS - 60_000)
    await clean()
    expect(await draftOf(replaced)).toBe(configYaml(1))
    await wait(61_000)
    await clean()
    expect(await Promise.all([replaced, rejected, withdrawn, approved, open].map(draftOf))).toEqual([
      ...['', '', '', ''],
      configYaml(4),
    ])
    expect((await call('GET', `/${rejected}`)).json).toMatchObject({ ...(before as object), draft_yaml: '' })
    const list = (await call('GET', '?status=rejected')).json as ApprovalRecord[]
    expect(list).toMatchObject([{ id: rejected, draft_yaml: '' }])
    await step(open, 'approve')
  })

  it('is kept where it was pushed, and where a revision has it', async () => {
    const pushed = await requested(1)
    await step(pushed, 'approve')
    const same = await requested(1, 'same')
    await step(same, 'withdraw')
    await step(pushed, 'push')
    await wait(91 * DAY_MS)
    await clean()
    expect(await Promise.all([pushed, same].map(draftOf))).toEqual([1, 1].map(configYaml))
  })

  it('is forgotten at once where so many others of the same requester ended since', async () => {
    const first = await requested(11)
    await step(first, 'withdraw')
    ctx.clock.advance(1_000)
    const second = await requested(12)
    await step(second, 'withdraw')
    ctx.clock.advance(1_000)
    await copies(second, ENDED_DRAFTS_KEPT - 1, `'updated_at', a.updated_at + interval '1 second'`)
    await requested(13)
    expect(await Promise.all([first, second].map(draftOf))).toEqual(['', configYaml(12)])
  })

  it('is forgotten so also where the same person approved or rejected it: nobody else has seen it', async () => {
    const approved = await requested(31)
    await step(approved, 'withdraw')
    // As it is where the approval of an author counts.
    await database.pool.execute(
      'update approvals set approver_id = requester_id, approved_at = created_at where id = $1',
      [approved],
    )
    await database.pool.execute(
      `insert into approval_votes (approval_id, user_id, email, comment, approved_at, rule, sole_approver)
       select id, requester_id, 'a@example.com', '', created_at, '{}', false from approvals where id = $1`,
      [approved],
    )
    const rejected = await requested(32)
    expect((await call('POST', `/${rejected}/reject`, { comment: 'mine' }, editor)).status).toBe(200)
    ctx.clock.advance(1_000)
    const withdrawn = await requested(33)
    await step(withdrawn, 'withdraw')
    await copies(withdrawn, ENDED_DRAFTS_KEPT, `'updated_at', a.updated_at + interval '1 second'`)
    await requested(34)
    expect(await Promise.all([approved, rejected].map(draftOf))).toEqual(['', ''])
  })

  it('is not where somebody rejected or approved it: whoever asked for it does not make it go', async () => {
    const rejected = await requested(21)
    await step(rejected, 'reject')
    const approved = await requested(24)
    await step(approved, 'approve')
    await step(approved, 'withdraw')
    ctx.clock.advance(1_000)
    const withdrawn = await requested(22)
    await step(withdrawn, 'withdraw')
    await copies(withdrawn, ENDED_DRAFTS_KEPT, `'updated_at', a.updated_at + interval '1 second'`)
    await requested(23)
    expect(await Promise.all([rejected, approved, withdrawn].map(draftOf))).toEqual([
      configYaml(21),
      configYaml(24),
      '',
    ])
  })
})

it('one requester’s open requests take so much and no more, until one of them has ended', async () => {
  await database.pool.execute('alter table approvals alter column draft_yaml set storage external')
  const first = await requested(1, 'first')
  await copies(first, 128, `'comment', ''`)
  await database.pool.execute(`update approvals set draft_yaml = repeat('x', 1048576) where id <> $1`, [
    first,
  ])
  expect(await ask(2, 'second')).toMatchObject({ status: 409, json: { code: 'approval_drafts_too_large' } })
  const wish = { owner: 'platform', config: configYaml(3) }
  const path = `POST /api/workloads/${agent.workloadId}/config/desired`
  expect(await invoke(ctx, path, { as: editor.token, body: wish })).toMatchObject({ status: 409 })
  expect((await call('POST', '', { draft_yaml: configYaml(2) })).status).toBe(201)
  await step(`${first}1`, 'withdraw')
  await requested(2, 'second')
})
