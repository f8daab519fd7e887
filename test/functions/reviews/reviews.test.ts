import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { noteUnreviewed } from '../../../lib/changes/reviews.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { UserRecord } from '../../../lib/wire/identity.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { addSession, invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, productionYaml, pushConfig } from '../../support/push-config.ts'

const HOUR_MS = 3_600_000
const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let [ann, bob, cy, eve]: SignedIn[] = []

beforeEach(async () => {
  await ctx?.close()
  for (const table of ['workloads', 'users', 'settings']) await database.pool.execute(`delete from ${table}`)
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  ann = await signIn(ctx, { email: 'ann@example.com' })
  bob = await signIn(ctx, { email: 'bob@example.com' })
  cy = await signIn(ctx, { email: 'cy@example.com' })
  eve = await signIn(ctx, { email: 'eve@example.com', groups: ['editor'] })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const call = (as: SignedIn | undefined, request: string, body?: object) =>
  invoke(ctx, request, { as: as!.token, body })
const on = (path: string) => `/api/workloads/${agent.workloadId}${path}`
const listed = async (status = 'open', as = ann) =>
  (await call(as, `GET /api/reviews?status=${status}`)).json as ReviewRecord[]
const look = (as: SignedIn | undefined, id: string, accepted = true) =>
  call(as, `POST /api/reviews/${id}`, { comment: 'looked', accepted })
const another = (reason: string) => ({ status: 409, json: { code: 'review_needs_another', reason } })

async function settle(): Promise<void> {
  agent.apply()
  await ctx.advance(300)
}
async function run(port: number): Promise<string> {
  ctx.clock.advance(1_000)
  const { hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml(port))
  await settle()
  return hash
}
/** The same by a request that somebody else approves. */
async function bring(port: number): Promise<string> {
  const config = configYaml(port)
  const asked = await call(eve, `POST ${on('/config/approvals')}`, { draft_yaml: config })
  const way = `POST ${on(`/config/approvals/${(asked.json as ApprovalRecord).id}`)}`
  expect((await call(ann, `${way}/approve`, { comment: 'fine' })).status).toBe(200)
  expect((await call(eve, `${way}/push`, { comment: 'now' })).status).toBe(202)
  await settle()
  return configHash(config)
}
async function breakGlass(as = eve, yaml = configYaml(9)): Promise<ReviewRecord> {
  const asked = await call(as, `POST ${on('/config/approvals')}`, { draft_yaml: yaml })
  const { id } = asked.json as ApprovalRecord
  const body = { comment: 'now', break_glass: true, break_glass_reason: 'it burns' }
  expect((await call(as, `POST ${on(`/config/approvals/${id}/push`)}`, body)).status).toBe(202)
  await settle()
  return (await listed()).find((review) => review.approval_id === id)!
}

describe('broken glass', () => {
  it('is listed with who, when and why until somebody else has looked at it, which is recorded', async () => {
    const review = await breakGlass()
    expect(review).toEqual({
      id: expect.stringMatching(/^rev_[0-9a-f]{32}$/),
      kind: 'break_glass',
      reason: 'it burns',
      workload_id: agent.workloadId,
      config_hash: configHash(configYaml(9)),
      push_id: expect.any(String),
      approval_id: expect.stringMatching(/^car_/),
      done_by: 'eve@example.com',
      author_ids: [eve!.userId],
      own: 'counts',
      done_at: new Date(ctx.clock.now().getTime() - 300).toISOString(),
    })
    expect(await look(eve, review.id)).toMatchObject(another('author'))
    expect(await call(bob, `POST /api/reviews/${review.id}`, { comment: ' ', accepted: true })).toMatchObject(
      { status: 400, json: { code: 'comment_required' } },
    )
    const { token } = await makeApiToken(ctx, bob!, ['config:approve'])
    expect(await look({ ...bob!, token }, review.id)).toMatchObject({ status: 403 })
    ctx.clock.advance(9 * HOUR_MS)
    expect(await listed()).toHaveLength(1)
    expect(await look(bob, review.id)).toMatchObject({
      status: 200,
      json: { reviewed_by: 'bob@example.com', comment: 'looked', accepted: true },
    })
    expect(await listed()).toEqual([])
    expect((await listed('done')).map(({ id }) => id)).toEqual([review.id])
    expect(await look(cy, review.id)).toMatchObject({ status: 409, json: { code: 'review_done' } })
    expect(await look(cy, 'rev_none')).toMatchObject({ status: 404 })
    const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(record).toMatchObject({ action: 'config.review', email: 'bob@example.com' })
    const told = ctx.frames.flatMap((frame) => (frame.type === 'review_update' ? [frame.review] : []))
    expect(told.map(({ is_open }) => is_open)).toEqual([true, false])
  })

  it('is looked at by no account that whoever broke it made, nor by whoever made that account', async () => {
    const body = { email: 'sock@example.com', password: 'correct horse battery', groups: ['editor'] }
    const { id, email } = (await call(ann, 'POST /api/users', body)).json as UserRecord
    const sock = await addSession(ctx, { userId: id, email })
    ctx.clock.advance(1_000)
    const own = await breakGlass(ann)
    // The list says before the click what the look would come to.
    const ownOf = async (who: typeof sock) => {
      const { json } = await call(who, 'GET /api/reviews')
      return (json as ReviewRecord[]).find(({ id }) => id === own.id)?.own
    }
    expect([await ownOf(sock), await ownOf(ann!), await ownOf(bob!)]).toEqual([
      'shaped_by_author',
      'author',
      'counts',
    ])
    expect(await look(sock, own.id)).toMatchObject(another('shaped_by_author'))
    expect((await look(bob, own.id)).status).toBe(200)
    await run(1)
    // Another text than Ann's own, of which she would be an author.
    const its = await breakGlass(sock, configYaml(8))
    expect(await look(ann, its.id)).toMatchObject(another('shaped_an_author'))
  })

  it('is what one may go back to once a second person accepted it, and not where he did not', async () => {
    const review = await breakGlass()
    await run(1)
    const back = () => call(eve, `POST ${on(`/configs/${review.config_hash}/rollback`)}`)
    expect(await back()).toMatchObject({ status: 409, json: { code: 'target_not_approved' } })
    expect((await look(bob, review.id, false)).json).toMatchObject({ accepted: false })
    expect(await back()).toMatchObject({ status: 409, json: { code: 'target_not_approved' } })
    const again = await breakGlass()
    await run(1)
    await look(bob, again.id)
    expect(await back()).toMatchObject({ status: 202 })
  })
})

describe('a rollback and a pin', () => {
  it('are listed as well; a newer pin takes the place of one that nobody looked at', async () => {
    const [first, second] = [await run(1), await run(2)]
    expect((await call(eve, `POST ${on('/rollback')}`)).status).toBe(202)
    await settle()
    const [rollback] = await listed()
    expect(rollback).toMatchObject({ kind: 'rollback', config_hash: first, done_by: 'eve@example.com' })
    await look(bob, rollback!.id)
    await call(eve, `POST ${on(`/configs/${first}/known-good`)}`)
    await call(ann, `POST ${on(`/configs/${second}/known-good`)}`, { force: true })
    const pins = await listed()
    expect(pins).toMatchObject([{ kind: 'known_good', config_hash: second, done_by: 'ann@example.com' }])
    expect(await look(ann, pins[0]!.id)).toMatchObject(another('author'))
    expect((await look(eve, pins[0]!.id)).status).toBe(200)
  })

  it('nor does a token that goes back and forth fill the list: of a workload the last rollback is looked at', async () => {
    const [first, second] = [await bring(1), await bring(2)]
    const { token } = await makeApiToken(ctx, eve!, ['workload:push_config'])
    const back = async (hash: string) => {
      const path = `POST ${on(`/configs/${hash}/rollback`)}`
      expect((await call({ ...eve!, token }, path)).status).toBe(202)
      await settle()
    }
    await back(first)
    const [seen] = await listed()
    await back(second)
    await back(first)
    const open = await listed()
    expect(open).toMatchObject([{ kind: 'rollback', config_hash: first, done_by: 'eve@example.com' }])
    expect(open[0]!.push_id).not.toBe(seen!.push_id)
    expect((await look(bob, seen!.id)).status).toBe(404)
    expect((await look(bob, open[0]!.id)).status).toBe(200)
  })

  it('what one rolls back before anybody looked at another’s is as old as that, and neither of both looks at it', async () => {
    const [first, second] = [await run(1), await run(2)]
    const back = async (who: SignedIn | undefined, hash: string) => {
      expect((await call(who, `POST ${on(`/configs/${hash}/rollback`)}`)).status).toBe(202)
      await settle()
    }
    await back(eve, first)
    const [{ done_at: since } = { done_at: '' }] = await listed()
    ctx.clock.advance(60_000)
    await back(ann, second)
    ctx.clock.advance(60_000)
    await back(eve, first)
    const open = await listed()
    expect(open).toMatchObject([
      { config_hash: first, done_at: since, done_by: 'ann@example.com, eve@example.com' },
    ])
    expect(await look(eve, open[0]!.id)).toMatchObject(another('author'))
    expect(await look(ann, open[0]!.id)).toMatchObject(another('author'))
    expect((await look(bob, open[0]!.id)).status).toBe(200)
  })

  it('go with their workload, whose collectors are gone', async () => {
    await breakGlass()
    agent.goodbye()
    // Until the grace is over its collector may just be starting again.
    await ctx.advance(300_000)
    await call(ann, `DELETE ${on('')}`)
    expect(await listed()).toEqual([])
  })
})

describe('labels that change which rule holds', () => {
  const label = (as: SignedIn | undefined, labels: object) =>
    call(as, `PUT ${on('/trusted-labels')}`, { labels })
  let asked = 0
  async function request(as = ann): Promise<string> {
    const body = {
      draft_yaml: productionYaml(++asked + 4_000),
      target_group: `g${asked}`,
      prod_confirmation: true,
    }
    return ((await call(as, `POST ${on('/config/approvals')}`, body)).json as ApprovalRecord).id
  }
  const approve = (as: SignedIn | undefined, id: string) =>
    call(as, `POST ${on(`/config/approvals/${id}/approve`)}`, { comment: 'fine' })
  const byAuthor = { status: 409, json: { code: 'approval_needs_another', reason: 'author' } }

  it('that take a workload out of production are looked at also where the policy asks the same of both', async () => {
    const rule = { approvals: 2, author_counts: false, valid_hours: 24 }
    const policy = { production: rule, other: rule, unlabelled: rule }
    expect((await call(ann, 'PUT /api/approval-policy', policy)).status).toBe(200)
    await label(ann, { env: 'production' })
    await label(ann, { env: 'staging' })
    const [review] = await listed()
    expect(review).toMatchObject({ kind: 'labels', reason: 'production → other' })
  })

  it('leave approvals under the stricter one until a second administrator accepts them', async () => {
    const until = new Date(ctx.clock.now().getTime() + 24 * HOUR_MS).toISOString()
    expect((await label(ann, { env: 'staging' })).json).toMatchObject({ stricter_until: until })
    const [review] = await listed()
    expect(review).toMatchObject({
      kind: 'labels',
      reason: 'unlabelled → other',
      kept_classes: ['unlabelled'],
      kept_until: until,
    })
    const read = async () => (await call(ann, `GET ${on('/trusted-labels')}`)).json
    expect(await read()).toMatchObject({ labels: { env: 'staging' }, stricter_until: until })
    const id = await request()
    const { json } = await call(ann, `GET ${on(`/config/approvals/${id}`)}`)
    expect(json).toMatchObject({ author_counts: false })
    expect(await approve(ann, id)).toMatchObject(byAuthor)
    expect(await look(ann, review!.id)).toMatchObject(another('author'))
    expect(await look(eve, review!.id)).toMatchObject({ status: 403 })
    expect((await look(bob, review!.id)).status).toBe(200)
    expect(await read()).not.toHaveProperty('stricter_until')
    expect((await approve(ann, id)).status).toBe(200)
  })

  it('count after a day where nobody says anything, and then wait no more', async () => {
    await label(ann, { env: 'staging' })
    const id = await request()
    // By the database's clock: one of a process that leaps makes no day of a moment.
    ctx.clock.advance(25 * HOUR_MS)
    const again = await addSession(ctx, ann!)
    expect(await approve(again, id)).toMatchObject(byAuthor)
    expect(await listed('open', again)).toHaveLength(1)
    await database.pool.execute(`update reviews set kept_since = kept_since - interval '24 hours'`)
    expect(await listed('open', again)).toEqual([])
    expect((await approve(again, id)).status).toBe(200)
  })

  it('are not got around by changing them twice, nor by the same two people', async () => {
    await label(ann, { env: 'production' })
    await label(ann, { env: 'staging' })
    await label(bob, { env: 'test', team: 'x' })
    await label(bob, {})
    const [review] = await listed()
    expect(review).toMatchObject({ kept_classes: ['other', 'production'], done_by: 'bob@example.com' })
    for (const person of [ann, bob]) expect(await look(person, review!.id)).toMatchObject(another('author'))
    expect((await look(cy, review!.id)).status).toBe(200)
  })

  it('are accepted as they were looked at, and not as somebody made them meanwhile', async () => {
    await label(ann, { env: 'staging' })
    const [seen] = await listed()
    await label(ann, { env: 'production' })
    await label(ann, { env: 'staging' })
    const [now] = await listed()
    expect(now).toMatchObject({ reason: 'production → other' })
    expect((await look(bob, seen!.id)).status).toBe(404)
    expect((await look(bob, now!.id)).status).toBe(200)
  })

  it('keep what an earlier change kept, also where a rule changes them next', async () => {
    await label(ann, { env: 'staging' })
    expect((await listed())[0]).toMatchObject({ kept_classes: ['unlabelled'] })
    const { workloadId } = agent
    const next = { kind: 'labels', workloadId, keptClasses: ['other'], reason: 'other → other' } as const
    const actor = { userId: ann!.userId, email: ann!.email, askAgain: null }
    await ctx.db.change('test', actor, async (tx) => {
      await noteUnreviewed(ctx, tx, actor, next)
      await tx.record({ action: 'test', resource: 'workload', resourceId: workloadId })
      return { ok: true }
    })
    expect((await listed())[0]).toMatchObject({ kept_classes: ['other', 'unlabelled'] })
  })

  it('say nothing where the class stays what it was, or asks as much', async () => {
    expect((await label(ann, { env: 'production' })).json).not.toHaveProperty('stricter_until')
    expect((await label(ann, { env: 'production', team: 'x' })).json).not.toHaveProperty('stricter_until')
    expect(await listed()).toEqual([])
  })
})
