import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import { createCommunityEdition, createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
const GATES = createCommunityEdition()
let ctx: FleetTestContext
let agent: FakeAgent
let editor: SignedIn
let admin: SignedIn
const FIRST = configYaml()
const SECOND = `${configYaml()}# another text\n`

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: GATES })
  admin = await signIn(ctx)
  editor = await signIn(ctx, { groups: ['editor'] })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const path = () => `/api/workloads/${agent.workloadId}/config`
const send = (config: string, more: object = {}) =>
  invoke(ctx, `POST ${path()}/desired`, {
    as: editor.token,
    body: { owner: 'platform', config, commit_sha: 'abc123', commit_author: 'Ann', ...more },
  })
const wish = async (config: string, more: object = {}) => {
  const answer = await send(config, more)
  expect(answer.status).toBe(200)
  return answer.json as DesiredResult
}
const requests = async () =>
  (await invoke(ctx, `GET ${path()}/approvals`, { as: editor.token })).json as ApprovalRecord[]
const managed = async (query = '') =>
  (await invoke(ctx, `GET /api/managed-configs${query}`, { as: editor.token })).json
const post = (rest: string, body: object, as = admin) =>
  invoke(ctx, `POST ${path()}/approvals${rest === '' ? '' : `/${rest}`}`, { as: as.token, body })

/** Approve what Git asked for, as people do. */
async function approve({ approval_id: id }: DesiredResult): Promise<void> {
  expect((await post(`${id}/approve`, { comment: 'fine' })).status).toBe(200)
}
/** Approve and push it. */
async function carryOut(asked: DesiredResult): Promise<void> {
  await approve(asked)
  const { approval_id: id } = asked
  expect((await post(`${id}/push`, { comment: 'go' })).status).toBe(202)
}

describe('a config that Git holds', () => {
  it('is asked for once, with its commit, and says so when it is asked again', async () => {
    expect(await wish(FIRST, { dry_run: true })).toMatchObject({ action: 'propose' })
    expect([await requests(), await managed()]).toEqual([[], []])
    const first = await wish(FIRST, { commit_authors: ['Bob <bob@example.com>'] })
    expect(first).toMatchObject({ action: 'propose', config_hash: configHash(FIRST) })
    const again = await wish(FIRST, { commit_sha: 'def456', commit_authors: ['Bob <bob@example.com>'] })
    expect(again).toEqual({ ...first, action: 'waits' })
    expect(await requests()).toMatchObject([
      {
        id: first.approval_id,
        status: 'pending',
        requester: editor.email,
        target_group: 'git/platform',
        request_comment: 'From Git: platform at abc123 by Ann',
      },
    ])
    expect(await managed('?owner=platform')).toMatchObject([
      { owner: 'platform', commit_sha: 'abc123', commit_author: 'Ann', config_hash: configHash(FIRST) },
    ])
    expect(await managed('?owner=other')).toEqual([])
    const records = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 2, offset: 0 })
    expect(records.map(({ action }) => action)).toEqual(['config.approval.request', 'config.manage'])
    // Whoever is named does not count as a second person, so it is known which account named him.
    expect(JSON.parse(records[1]!.detail)).toMatchObject({
      commit_author: 'Ann',
      commit_authors: ['Bob <bob@example.com>'],
    })
  })

  it('is unchanged once people approved and pushed it, and goes back and forth as Git does', async () => {
    await carryOut(await wish(FIRST))
    expect(await wish(FIRST)).toMatchObject({ action: 'unchanged' })
    await carryOut(await wish(SECOND))
    const back = await wish(FIRST)
    expect(back).toMatchObject({ action: 'propose' })
    await carryOut(back)
    expect(await wish(FIRST)).toMatchObject({ action: 'unchanged' })
  })

  it('takes back what Git does not ask for any more, also where it was approved', async () => {
    const first = await wish(FIRST)
    await post(`${first.approval_id}/approve`, { comment: 'fine' })
    const second = await wish(SECOND)
    expect(second.action).toBe('propose')
    const after = Object.fromEntries((await requests()).map(({ id, status }) => [id, status]))
    expect(after).toEqual({ [second.approval_id!]: 'pending', [first.approval_id!]: 'withdrawn' })
  })

  it('is held once it was rejected, until its text changes or somebody says again', async () => {
    const first = await wish(FIRST)
    await post(`${first.approval_id}/reject`, { comment: 'no' })
    expect(await wish(FIRST)).toMatchObject({ action: 'held', reason: 'rejected' })
    expect(await wish(FIRST, { again: true })).toMatchObject({ action: 'propose' })
    const other = await wish(SECOND)
    await post(`${other.approval_id}/reject`, { comment: 'no' })
    expect(await wish(SECOND)).toMatchObject({ action: 'held', reason: 'rejected' })
    expect(await wish(`${SECOND}# third\n`)).toMatchObject({ action: 'propose' })
  })

  it('is held once something else was pushed in its place', async () => {
    await carryOut(await wish(FIRST))
    await carryOut(await wish(SECOND))
    const asked = await post('', { draft_yaml: FIRST, target_group: 'hotfix', comment: 'now' })
    const broken = { comment: 'now', break_glass: true, break_glass_reason: 'an incident' }
    expect((await post(`${(asked.json as ApprovalRecord).id}/push`, broken)).status).toBe(202)
    expect(await wish(SECOND)).toMatchObject({ action: 'held', reason: 'replaced' })
    expect(await wish(SECOND, { again: true })).toMatchObject({ action: 'propose' })
  })

  it('is refused where it is no config, and for another owner', async () => {
    expect(await send('a: [')).toMatchObject({ status: 400, json: { code: 'configuration_invalid' } })
    expect(await managed()).toEqual([])
    expect(await send('  ')).toMatchObject({ status: 400, json: { code: 'draft_empty' } })
    expect(await send(FIRST, { owner: 'two words' })).toMatchObject({ json: { code: 'owner_invalid' } })
    await wish(FIRST)
    expect(await send(FIRST, { owner: 'other' })).toMatchObject({
      status: 409,
      json: { code: 'managed_elsewhere', owner: 'platform' },
    })
  })
})

describe('what a token that may only request asks for in the name of an owner', () => {
  let tokens: string[]
  beforeEach(async () => {
    const others = [editor, await signIn(ctx, { groups: ['editor'] })]
    tokens = await Promise.all(
      others.map(async (other) => (await makeApiToken(ctx, other, ['config:request'])).token),
    )
  })
  const ask = (as: number, owner: string, config = FIRST) =>
    invoke(ctx, `POST ${path()}/desired`, { as: tokens[as]!, body: { owner, config } })
  const byHand = async (config: string) =>
    ((await post('', { draft_yaml: config, comment: 'by hand' }, editor)).json as ApprovalRecord).id

  it('keeps nobody out until one of its requests was approved', async () => {
    const id = await byHand(SECOND)
    await post(`${id}/approve`, { comment: 'fine' })
    expect((await ask(0, 'evil')).status).toBe(200)
    expect(await managed()).toMatchObject([{ owner: 'evil', accepted: false }])
    expect((await post(`${id}/push`, { comment: 'go' })).status).toBe(202)
    agent.apply()
    await ctx.advance(1_000)
    expect(await ask(0, 'evil', SECOND)).toMatchObject({ json: { action: 'unchanged' } })
    const next = await byHand(FIRST)
    expect((await post(`${next}/approve`, { comment: 'fine' })).status).toBe(200)
    expect((await post(`${next}/push`, { comment: 'go' })).status).toBe(202)
  })

  it('is kept there at once where that runs already and the token may push as well', async () => {
    await carryOut({ approval_id: await byHand(FIRST) } as DesiredResult)
    expect(await ask(0, 'good')).toMatchObject({ json: { action: 'unchanged' } })
    expect(await managed()).toMatchObject([{ owner: 'good', accepted: false }])
    for (let n = 0; n < 2; n++)
      expect(await wish(FIRST, { owner: 'good' })).toMatchObject({ action: 'unchanged' })
    expect(await managed()).toMatchObject([{ owner: 'good', accepted: true }])
    const id = await byHand(SECOND)
    expect(await post(`${id}/approve`, { comment: 'fine' })).toMatchObject({ json: { owner: 'good' } })
  })

  it('keeps no other owner out either: the one that is approved first keeps the workload', async () => {
    const evil = (await ask(0, 'evil')).json as DesiredResult
    const good = (await ask(1, 'good', SECOND)).json as DesiredResult
    expect(good).toMatchObject({ action: 'propose' })
    expect((await ask(1, 'good', SECOND)).json).toMatchObject({ action: 'waits' })
    expect(await ask(1, 'another', SECOND)).toMatchObject({
      status: 409,
      json: { code: 'managed_elsewhere', owner: 'good' },
    })
    await carryOut(good)
    const elsewhere = { status: 409, json: { code: 'managed_elsewhere', owner: 'good' } }
    expect(await ask(0, 'evil')).toMatchObject(elsewhere)
    expect(await post(`${evil.approval_id}/approve`, { comment: 'fine' })).toMatchObject(elsewhere)
    expect(await post(`${await byHand(FIRST)}/approve`, { comment: 'fine' })).toMatchObject(elsewhere)
    expect(await managed()).toMatchObject([
      { owner: 'good', accepted: true },
      { owner: 'evil', accepted: false },
    ])
  })

  it('keeps one workload each where two are approved at one time', async () => {
    const asked = [await ask(0, 'evil'), await ask(1, 'good', SECOND)].map(
      ({ json }) => json as DesiredResult,
    )
    const statuses = await Promise.all(
      asked.map(async ({ approval_id: id }) => (await post(`${id}/approve`, { comment: 'fine' })).status),
    )
    expect(statuses.sort()).toEqual([200, 409])
    expect((await requests()).map(({ status }) => status).sort()).toEqual(['approved', 'pending'])
  })

  it('takes no owner from the account that asked first in its name, and is let go of by that alone', async () => {
    await ask(1, 'good', SECOND)
    expect(await ask(0, 'good')).toMatchObject({ status: 409, json: { code: 'owner_taken' } })
    const release = (as: string, owner: string) =>
      invoke(ctx, `DELETE ${path()}/desired?owner=${owner}`, { as })
    expect(await release(editor.token, 'evil')).toMatchObject({ json: { code: 'managed_elsewhere' } })
    expect((await release(admin.token, 'good')).status).toBe(204)
    expect([await managed(), (await requests()).map(({ status }) => status)]).toEqual([[], ['withdrawn']])
  })
})

describe('a workload that is kept in Git', () => {
  it('takes requests of people only by broken glass', async () => {
    await approve(await wish(FIRST))
    const asked = await post('', { draft_yaml: SECOND, comment: 'by hand' }, editor)
    expect(asked.status).toBe(201)
    const { id } = asked.json as ApprovalRecord
    expect(await post(`${id}/approve`, { comment: 'fine' })).toMatchObject({
      status: 409,
      json: { code: 'managed_elsewhere', owner: 'platform' },
    })
    const broken = { comment: 'now', break_glass: true, break_glass_reason: 'an incident' }
    expect((await post(`${id}/push`, broken)).status).toBe(202)
  })

  it('does not take what was approved before by hand, and nobody takes the name of Git', async () => {
    const { id } = (await post('', { draft_yaml: SECOND, comment: 'by hand' }, editor)).json as ApprovalRecord
    await post(`${id}/approve`, { comment: 'fine' })
    await approve(await wish(FIRST))
    expect(await post(`${id}/push`, { comment: 'go' })).toMatchObject({ json: { code: 'managed_elsewhere' } })
    expect(
      await post('', { draft_yaml: SECOND, comment: 'x', target_group: 'git/platform' }, editor),
    ).toMatchObject({ status: 400, json: { code: 'group_reserved' } })
  })

  it('is left to people again by its owner alone, and keeps what it runs', async () => {
    await carryOut(await wish(FIRST))
    const open = await wish(SECOND)
    const release = (owner: string) =>
      invoke(ctx, `DELETE ${path()}/desired?owner=${owner}`, { as: editor.token })
    expect(await release('other')).toMatchObject({ status: 409, json: { code: 'managed_elsewhere' } })
    expect((await release('platform')).status).toBe(204)
    expect(await managed()).toEqual([])
    expect((await requests()).find(({ id }) => id === open.approval_id)).toMatchObject({
      status: 'withdrawn',
      close_comment: `${editor.email} let go of what platform keeps here`,
    })
    expect(ctx.fleet.workload(agent.workloadId)?.activeHash).toBe(configHash(FIRST))
    expect(await release('platform')).toMatchObject({ status: 404, json: { code: 'not_managed' } })
  })
})

it('what Git holds is asked for with the right to request and none to push, and let go of with that alone', async () => {
  const { token: asks } = await makeApiToken(ctx, editor, ['config:request'])
  const { token: pushes } = await makeApiToken(ctx, editor, ['workload:push_config'])
  const body = { owner: 'platform', config: FIRST }
  const apply = async (as: string) => (await invoke(ctx, `POST ${path()}/desired`, { as, body })).status
  expect([await apply(pushes), await apply(asks)]).toEqual([403, 200])
  const release = async (as: string) =>
    (await invoke(ctx, `DELETE ${path()}/desired?owner=platform`, { as })).status
  expect([await release(asks), await release(pushes)]).toEqual([403, 204])
})

it('nobody else asks for anything in the name of an owner, or lets go as an account of the same name', async () => {
  const other = await signIn(ctx, { groups: ['editor'] })
  await wish(FIRST)
  const mine = agent
  const apply = (as: string, more = {}) =>
    invoke(ctx, `POST ${path()}/desired`, { as, body: { owner: 'platform', config: SECOND, ...more } })
  const taken = { status: 409, json: { code: 'owner_taken', owner: 'platform' } }
  expect(await apply(other.token)).toMatchObject(taken)
  expect(await apply(other.token, { dry_run: true })).toMatchObject({ json: { action: 'propose' } })
  expect(await requests()).toMatchObject([{ status: 'pending', draft_hash: configHash(FIRST) }])
  agent = fakeAgent(ctx.fleet, { service: 'another' })
  await ctx.advance(300)
  expect(await apply(other.token)).toMatchObject(taken)
  // The account goes, and another one gets its name.
  agent = mine
  await database.pool.execute('delete from users where id = $1', [editor.userId])
  await database.pool.execute('update users set email = $2 where id = $1', [other.userId, editor.email])
  const { token } = await makeApiToken(ctx, other, ['workload:push_config', 'config:request'])
  expect(await apply(token)).toMatchObject(taken)
  const release = (as: string) => invoke(ctx, `DELETE ${path()}/desired?owner=platform`, { as })
  expect(await release(token)).toMatchObject({ status: 403, json: { code: 'session_required' } })
  expect((await release(admin.token)).status).toBe(204)
  expect((await apply(token)).status).toBe(200)
})

it('what overrules Git shows on the page of drift: a rollback and broken glass, until it runs what Git says again', async () => {
  await ctx.close()
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  agent = fakeAgent(ctx.fleet, { service: 'overruled' })
  await ctx.advance(300)
  const drift = async () => {
    const { json } = await invoke(ctx, 'GET /api/config-safety/drift', { as: admin.token })
    const { items, summary } = json as DriftOverview
    const own = items.find(({ workload_id: id }) => id === agent.workloadId)
    return [own?.drift_reasons?.includes('differs_from_git') ?? false, summary.differ_from_git]
  }
  const carry = async (config: string) => {
    await carryOut(await wish(config))
    agent.apply()
    await ctx.advance(1_000)
  }
  await carry(FIRST)
  expect(await drift()).toEqual([false, 0])
  const next = await wish(SECOND)
  expect(await drift()).toEqual([false, 0])
  await carryOut(next)
  agent.apply()
  await ctx.advance(1_000)
  expect(await drift()).toEqual([false, 0])
  const back = { comment: 'back' }
  expect(
    (await invoke(ctx, `POST /api/workloads/${agent.workloadId}/rollback`, { as: admin.token, body: back }))
      .status,
  ).toBe(202)
  agent.apply()
  await ctx.advance(1_000)
  expect(await drift()).toEqual([true, 1])
  await carryOut(await wish(SECOND, { again: true }))
  agent.apply()
  await ctx.advance(1_000)
  expect(await drift()).toEqual([false, 0])
})

it('what Git holds is let go of by its own account, or in person, and by nobody who only knows the owner', async () => {
  const other = await signIn(ctx, { groups: ['editor'] })
  const { token: pushes } = await makeApiToken(ctx, other, ['workload:push_config'])
  const body = { owner: 'platform', config: FIRST }
  const { token: asks } = await makeApiToken(ctx, editor, ['config:request'])
  const apply = async () => (await invoke(ctx, `POST ${path()}/desired`, { as: asks, body })).status
  const release = (as: string) => invoke(ctx, `DELETE ${path()}/desired?owner=platform`, { as })
  expect(await apply()).toBe(200)
  expect(await release(pushes)).toMatchObject({ status: 403, json: { code: 'session_required' } })
  expect((await release(other.token)).status).toBe(204)
})
