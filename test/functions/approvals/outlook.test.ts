import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ApprovalOutlook, ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'
import { makeScopedGroup, placeIn } from '../../support/scopes.ts'

// What the page says before somebody asks is what would become of the request: nobody who made everybody's account
// learns only afterwards that none of them counts.

const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let admin: SignedIn
let olga: SignedIn
let pavel: SignedIn
const TEXT = configYaml()

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
})
beforeEach(async () => {
  for (const table of ['approvals', 'users', 'account_changes', 'approver_history'])
    await database.pool.execute(
      table === 'approver_history' ? 'update approver_history set had_two = false' : `delete from ${table}`,
    )
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  admin = await signIn(ctx, { groups: ['administrator'], email: 'admin@example.com' })
  olga = await signIn(ctx, { groups: ['editor'], email: 'olga@example.com' })
  pavel = await signIn(ctx, { groups: ['editor'], email: 'pavel@example.com' })
  for (const { userId } of [olga, pavel])
    await database.pool.execute(
      'insert into account_changes (user_id, by_id, changed_at) values ($1, $2, $3)',
      [userId, admin.userId, ctx.clock.now()],
    )
  await ctx.advance(1_000)
})
afterAll(() => ctx.close())

const path = () => `/api/workloads/${agent.workloadId}/config`

/** Somebody who may ask on staging only, where the agent is, and another agent elsewhere. */
async function openStaging(): Promise<{ stan: SignedIn; other: FakeAgent }> {
  await database.pool.execute('delete from groups where not is_system')
  await makeScopedGroup(ctx, admin)
  await placeIn(ctx, admin, agent.workloadId, 'staging')
  const stan = await signIn(ctx, { groups: ['staging-editors'], email: 'stan@example.com' })
  const other = fakeAgent(ctx.fleet)
  await ctx.advance(1_000)
  return { stan, other }
}

async function outlook(as: SignedIn, more = ''): Promise<ApprovalOutlook> {
  const way = `GET ${path()}/approval-outlook?draft_hash=${configHash(TEXT)}${more}`
  const { status, json } = await invoke(ctx, way, { as: as.token })
  expect(status, JSON.stringify(json)).toBe(200)
  return json as ApprovalOutlook
}

async function ask(as: SignedIn, at = path()): Promise<string> {
  const body = { draft_yaml: TEXT, comment: 'please' }
  const { status, json } = await invoke(ctx, `POST ${at}/approvals`, { as: as.token, body })
  expect(status, JSON.stringify(json)).toBe(201)
  await ctx.advance(1_000)
  return (json as ApprovalRecord).id
}

const step = (as: SignedIn, id: string, way: 'approve' | 'withdraw', at = path()) =>
  invoke(ctx, `POST ${at}/approvals/${id}/${way}`, { as: as.token, body: { comment: 'so' } })

const pathOf = ({ workloadId }: FakeAgent) => `/api/workloads/${workloadId}/config`

it('says that nobody could approve what whoever made all accounts asks for, and who could ask', async () => {
  const found = await outlook(admin)
  expect(found).toMatchObject({
    approval_class: 'unlabelled',
    approvals_needed: 1,
    author_counts: false,
    help: { could_approve: [], could_approve_count: 0 },
    could_ask: [
      { who: 'olga@example.com', could_approve: ['pavel@example.com'] },
      { who: 'pavel@example.com', could_approve: ['olga@example.com'] },
    ],
  })
  expect(found.help.do_not_count).toEqual([
    { who: 'olga@example.com', why: 'shaped_by_author', by: 'admin@example.com' },
    { who: 'pavel@example.com', why: 'shaped_by_author', by: 'admin@example.com' },
  ])
  expect(await outlook(olga)).toMatchObject({ help: { could_approve: ['pavel@example.com'] } })
  expect(await outlook(olga)).not.toHaveProperty('could_ask')
  const id = await ask(olga)
  expect((await step(admin, id, 'approve')).status).toBe(409)
  expect((await step(pavel, id, 'approve')).status).toBe(200)
})

it('says by the environment and the group that are asked for which rule would hold', async () => {
  expect(await outlook(olga, '&target_env=production')).toMatchObject({ approval_class: 'production' })
  expect(await outlook(olga, '&target_group=prod-eu')).toMatchObject({ approval_class: 'production' })
})

it('says who asked for the same text before and took it back, which keeps the accounts that he made from counting', async () => {
  const id = await ask(admin)
  expect((await step(admin, id, 'withdraw')).status).toBe(200)
  const { help, could_ask: askers, could_ask_reworded: reworded } = await outlook(olga)
  const before = { asked_at: expect.any(String), withdrawn: true }
  expect(help.could_approve_count).toBe(0)
  expect(help.do_not_count).toEqual([
    { who: 'admin@example.com', why: 'author', ...before },
    { who: 'pavel@example.com', why: 'shaped_by_author', by: 'admin@example.com', ...before },
  ])
  expect(askers).toEqual([])
  // Only the text keeps him as its author: in other words the same two may go on.
  expect(reworded).toEqual([
    { who: 'olga@example.com', could_approve: ['pavel@example.com'] },
    { who: 'pavel@example.com', could_approve: ['olga@example.com'] },
  ])
  // That he asked before is no news of a request that would be his.
  for (const one of (await outlook(admin)).help.do_not_count!) expect(one).not.toHaveProperty('asked_at')
  const second = await ask(olga)
  const read = await invoke(ctx, `GET ${path()}/approvals/${second}`, { as: pavel.token })
  expect((read.json as ApprovalRecord).help!.because).toMatchObject([{ who: 'admin@example.com', ...before }])
  // Somebody whose account none of them made could.
  const rita = await signIn(ctx, { groups: ['editor'], email: 'rita@example.com' })
  expect(await outlook(olga)).toMatchObject({ help: { could_approve: ['rita@example.com'] } })
  expect((await step(rita, second, 'approve')).status).toBe(200)
})

it('advises nobody to have an author of the text approve it in other words, but whose account one made', async () => {
  for (const author of [admin, olga]) {
    const id = await ask(author)
    expect((await step(author, id, 'withdraw')).status).toBe(200)
  }
  expect(await outlook(pavel)).toMatchObject({
    could_ask: [],
    could_ask_reworded: [{ who: 'olga@example.com', could_approve: ['pavel@example.com'] }],
  })
})

it('says nothing of when and by whom the same text was asked for where the reader is shown nothing', async () => {
  const { stan, other } = await openStaging()
  const id = await ask(admin, pathOf(other))
  expect((await step(admin, id, 'withdraw', pathOf(other))).status).toBe(200)
  const { help } = await outlook(stan)
  expect(help.could_approve_count).toBe(0)
  expect(help.do_not_count).toEqual([
    { who: 'admin@example.com', why: 'author' },
    { who: 'olga@example.com', why: 'shaped_by_author' },
    { who: 'pavel@example.com', why: 'shaped_by_author' },
  ])
  // Whoever is to approve it reads the same.
  const second = await ask(stan)
  const read = await invoke(ctx, `GET ${path()}/approvals/${second}`, { as: stan.token })
  expect((read.json as ApprovalRecord).help!.do_not_count).toEqual(help.do_not_count)
})

it('names nobody whom commits elsewhere name; where nobody knows where any more, only to whoever is shown every place', async () => {
  const { stan, other } = await openStaging()
  const body = { owner: 'shops', config: TEXT, commit_author: 'Carl <carl@elsewhere.example>' }
  const wished = await invoke(ctx, `POST ${pathOf(other)}/desired`, { as: olga.token, body })
  const { approval_id: id } = wished.json as { approval_id: string }
  await ctx.advance(1_000)
  expect((await step(pavel, id, 'approve', pathOf(other))).status).toBe(200)
  expect((await outlook(pavel)).help).not.toHaveProperty('unknown_authors')
  // As of what was noted before it was kept whose word it is.
  await database.pool.execute(`update commit_authors set by_id = ''`)
  expect((await outlook(pavel)).help.unknown_authors).toEqual(['Carl <carl@elsewhere.example>'])
  expect((await outlook(stan)).help).not.toHaveProperty('unknown_authors')
  const asked = await ask(stan)
  const read = async (as: SignedIn) =>
    (await invoke(ctx, `GET ${path()}/approvals/${asked}`, { as: as.token })).json as ApprovalRecord
  expect((await read(stan)).help).not.toHaveProperty('unknown_authors')
  expect((await read(pavel)).help!.unknown_authors).toEqual(['Carl <carl@elsewhere.example>'])
})

it('says that somebody withdrew a request only where they did so themselves', async () => {
  const id = await ask(admin)
  await database.pool.execute(
    `update approvals set status = 'withdrawn', closed_by = 'muster', closed_by_id = null, closed_at = updated_at
     where id = $1`,
    [id],
  )
  const { help } = await outlook(olga)
  expect(help.do_not_count![0]).toEqual({
    who: 'admin@example.com',
    why: 'author',
    asked_at: expect.any(String),
  })
})

it('says of what is kept in Git what whoever approves would hear', async () => {
  const kept = { owner: 'kept-here', config: TEXT }
  const wished = await invoke(ctx, `POST ${path()}/desired`, { as: olga.token, body: kept })
  const { approval_id: id } = wished.json as { approval_id: string }
  await ctx.advance(1_000)
  expect((await step(pavel, id, 'approve')).status).toBe(200)
  const way = `GET ${path()}/approval-outlook?draft_hash=${configHash(`${TEXT}# another\n`)}`
  const { status, json } = await invoke(ctx, way, { as: olga.token })
  expect({ status, json }).toMatchObject({ status: 409, json: { code: 'managed_elsewhere' } })
})

it('names nobody where two have to approve and all who could are not two people', async () => {
  const rules = {
    production: { approvals: 1, author_counts: false },
    other: { approvals: 1, author_counts: true },
  }
  const unlabelled = { approvals: 2, author_counts: false }
  const body = { ...rules, unlabelled }
  const set = await invoke(ctx, 'PUT /api/approval-policy', { as: admin.token, body })
  expect(set.status, JSON.stringify(set.json)).toBe(200)
  await ctx.advance(1_000)
  await signIn(ctx, { groups: ['editor'], email: 'rita@example.com' })
  expect(await outlook(olga)).toMatchObject({
    help: { could_approve: ['pavel@example.com', 'rita@example.com'], could_approve_count: 2 },
  })
  await database.pool.execute('delete from users where id = $1', [pavel.userId])
  // If Rita asked, the administrator and Olga could, each alone: he made her account.
  const found = await outlook(olga)
  expect(found).toMatchObject({
    approvals_needed: 2,
    help: { could_approve: [], could_approve_count: 0 },
    could_ask: [],
  })
  expect(found.help.do_not_count).toEqual([
    { who: 'admin@example.com', why: 'shaped_an_author', by: 'olga@example.com' },
    { who: 'rita@example.com', why: 'counts' },
  ])
})

it('names two of whom each alone adds nothing to an approval, and both together are enough', async () => {
  const rule = { approvals: 1, author_counts: true }
  const unlabelled = { approvals: 2, author_counts: false }
  const body = { production: { ...rule, author_counts: false }, other: rule, unlabelled }
  const set = await invoke(ctx, 'PUT /api/approval-policy', { as: admin.token, body })
  expect(set.status, JSON.stringify(set.json)).toBe(200)
  const rita = await signIn(ctx, { groups: ['editor'], email: 'rita@example.com' })
  await database.pool.execute('delete from account_changes where user_id = $1', [olga.userId])
  await database.pool.execute(
    'insert into account_changes (user_id, by_id, changed_at) values ($1, $2, $3)',
    [rita.userId, admin.userId, ctx.clock.now()],
  )
  await ctx.advance(1_000)
  const id = await ask(olga)
  expect((await step(admin, id, 'approve')).status).toBe(200)
  const read = async () => {
    const { json } = await invoke(ctx, `GET ${path()}/approvals/${id}`, { as: olga.token })
    return json as ApprovalRecord
  }
  expect((await read()).help).toMatchObject({
    could_approve: ['pavel@example.com', 'rita@example.com'],
    could_approve_count: 2,
  })
  expect((await step(pavel, id, 'approve')).status).toBe(200)
  expect(await read()).toMatchObject({ status: 'pending', help: { could_approve: ['rita@example.com'] } })
  expect((await step(rita, id, 'approve')).json).toMatchObject({ status: 'approved' })
})

it('names each of whom one more together with another is enough, whoever made whose account among them', async () => {
  const rule = { approvals: 1, author_counts: true }
  const unlabelled = { approvals: 2, author_counts: false }
  const body = { production: { ...rule, author_counts: false }, other: rule, unlabelled }
  const set = await invoke(ctx, 'PUT /api/approval-policy', { as: admin.token, body })
  expect(set.status, JSON.stringify(set.json)).toBe(200)
  const rita = await signIn(ctx, { groups: ['editor'], email: 'rita@example.com' })
  const tom = await signIn(ctx, { groups: ['editor'], email: 'tom@example.com' })
  await database.pool.execute('delete from account_changes where user_id = $1', [olga.userId])
  for (const [made, by] of [
    [rita, admin],
    [tom, admin],
    [tom, rita],
  ] as const)
    await database.pool.execute(
      'insert into account_changes (user_id, by_id, changed_at) values ($1, $2, $3) on conflict do nothing',
      [made.userId, by.userId, ctx.clock.now()],
    )
  await ctx.advance(1_000)
  const id = await ask(olga)
  expect((await step(admin, id, 'approve')).status).toBe(200)
  const { json } = await invoke(ctx, `GET ${path()}/approvals/${id}`, { as: olga.token })
  expect((json as ApprovalRecord).help).toMatchObject({
    could_approve: ['pavel@example.com', 'rita@example.com', 'tom@example.com'],
    could_approve_count: 3,
  })
  expect((await step(pavel, id, 'approve')).status).toBe(200)
  expect((await step(tom, id, 'approve')).json).toMatchObject({ status: 'approved' })
})
