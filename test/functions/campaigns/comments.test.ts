import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { invoke, makeApiToken, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// People talk about a campaign as about a request: from when it is asked for until it is started, without deciding it.

const database = await useTestDatabase()
let scene: CampaignScene

beforeEach(async () => {
  await scene?.ctx.close()
  scene = await CampaignScene.open(database, 1)
})
afterAll(() => scene.ctx.close())

const comment = (id: string, text: string, as = scene.editor) =>
  scene.call('POST', `/${id}/comments`, { comment: text }, as)
async function request(): Promise<string> {
  const id = await scene.planned()
  const { plan_hash } = await scene.record(id)
  expect((await scene.call('POST', `/${id}/request`, { plan_hash })).status).toBe(200)
  return id
}
async function approve(id: string): Promise<void> {
  const { plan_hash } = await scene.record(id)
  const yes = { comment: 'yes', plan_hash }
  expect((await scene.call('POST', `/${id}/approve`, yes, scene.approver)).status).toBe(200)
}

it('is said while it waits, and after it was approved, which stands', async () => {
  const id = await request()
  const said = await comment(id, ' Why this week? ', scene.approver)
  expect(said).toMatchObject({
    status: 201,
    json: { status: 'requested', comments: [{ by: scene.approver.email, comment: 'Why this week?' }] },
  })
  await approve(id)
  await scene.ctx.advance(1_000)
  const again = await comment(id, 'Wait for Ann.')
  expect(again).toMatchObject({ status: 201, json: { status: 'approved' } })
  const { comments, approvals } = await scene.record(id)
  expect(comments).toMatchObject([
    { by: scene.approver.email, comment: 'Why this week?', at: expect.any(String) },
    { by: scene.editor.email, comment: 'Wait for Ann.', at: expect.any(String) },
  ])
  // Whoever starts it can tell what was said since.
  expect(comments![1]!.at > approvals[0]!.at).toBe(true)
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  expect((await scene.record(id)).comments).toHaveLength(2)
  // A list says what each is about, not what was said of it.
  const { json } = await scene.call('GET', '')
  expect((json as CampaignRecord[])[0]).not.toHaveProperty('comments')
})

it('is in the audit trail', async () => {
  const id = await request()
  await comment(id, 'Why this week?')
  const rows = await database.pool.query(
    `select email as actor, detail::json->>'comment' as said from audit_events where action = 'campaign.comment' and resource_id = $1`,
    [id],
  )
  expect(rows).toEqual([{ actor: scene.editor.email, said: 'Why this week?' }])
})

it('says where a token said it', async () => {
  const id = await request()
  const { token } = await makeApiToken(scene.ctx, scene.editor, ['config:request'])
  await comment(id, 'Why this week?')
  await invoke(scene.ctx, `POST /api/campaigns/${id}/comments`, { as: token, body: { comment: 'hm' } })
  const { comments } = await scene.record(id)
  expect(comments!.map(({ comment: said, by_token: isByToken }) => [said, isByToken])).toEqual([
    ['Why this week?', undefined],
    ['hm', true],
  ])
})

it('lets one that waits live on, and none that is approved, which whoever may only ask could keep for good', async () => {
  const passDays = async (days: number) => {
    await database.pool.execute(
      `update campaigns set updated_at = updated_at - make_interval(days => ${days})`,
    )
    scene.ctx.clock.advance(3_600_001)
    await scene.work()
  }
  const [waits, approved] = [await request(), await request()]
  await approve(approved)
  await passDays(13)
  for (const id of [waits, approved]) expect((await comment(id, 'soon')).status).toBe(201)
  await passDays(2)
  expect((await scene.record(approved)).status).toBe('expired')
  expect((await scene.record(waits)).status).toBe('requested')
})

describe('is refused', () => {
  it('of one that nobody asked for, that was started, or that is not there', async () => {
    const id = await scene.planned()
    const notReady = { status: 409, json: { code: 'campaign_not_ready' } }
    expect(await comment(id, 'hm')).toMatchObject(notReady)
    const asked = await request()
    await approve(asked)
    await scene.call('POST', `/${asked}/start`)
    expect(await comment(asked, 'hm')).toMatchObject(notReady)
    expect(await comment('cmp_none', 'hm')).toMatchObject({ status: 404 })
  })

  it('where it says nothing, or too much', async () => {
    const id = await request()
    expect(await comment(id, '  ')).toMatchObject({ status: 400, json: { code: 'comment_required' } })
    expect(await comment(id, 'x'.repeat(4_001))).toMatchObject({
      status: 400,
      json: { code: 'text_too_long' },
    })
    await database.pool.execute(
      `insert into campaign_comments (campaign_id, author, author_id, body, created_at)
       select $1, 'a', 'a', 'b', now() from generate_series(1, 200)`,
      [id],
    )
    expect(await comment(id, 'one more')).toMatchObject({ status: 400, json: { code: 'comments_full' } })
  })

  it('by an account that has said much, so that no token keeps others from saying anything', async () => {
    const id = await request()
    const { userId } = scene.editor
    const said = (author: string, count: number) =>
      database.pool.execute(
        `insert into campaign_comments (campaign_id, author, author_id, body, created_at)
         select $1, 'a', $2, 'b', now() from generate_series(1, $3::int)`,
        [id, author, count],
      )
    await said(userId, 49)
    await said('another', 60)
    const { token } = await makeApiToken(scene.ctx, scene.editor, ['config:request'])
    const byToken = () =>
      invoke(scene.ctx, `POST /api/campaigns/${id}/comments`, { as: token, body: { comment: 'hm' } })
    expect((await byToken()).status).toBe(201)
    expect(await byToken()).toMatchObject({ status: 400, json: { code: 'comments_full_of_one', max: 50 } })
    expect((await comment(id, 'no', await signIn(scene.ctx, { groups: ['editor'] }))).status).toBe(201)
  })

  it('to whoever may not ask for changes', async () => {
    const id = await request()
    const viewer = await signIn(scene.ctx, { groups: ['viewer'] })
    expect(await comment(id, 'hm', viewer)).toMatchObject({ status: 403 })
    const { token } = await makeApiToken(scene.ctx, scene.editor, ['workload:push_config'])
    const path = `POST /api/campaigns/${id}/comments`
    expect(await invoke(scene.ctx, path, { as: token, body: { comment: 'hm' } })).toMatchObject({
      status: 403,
    })
  })
})
