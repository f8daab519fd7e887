import { afterAll, beforeEach, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene
let admin: SignedIn

beforeEach(async () => {
  await scene?.ctx.close()
  // Ten are named, so nobody of another test may be among them.
  for (const table of ['approvals', 'users']) await database.pool.execute(`delete from ${table}`)
  scene = await AutoApplyScene.open(database)
  admin = await signIn(scene.ctx, { groups: ['administrator'] })
})
afterAll(() => scene.ctx.close())

const pathOf = (name: string) => `/api/workloads/${scene.agent(name).workloadId}/config/approvals`

async function ask(name: string, as: SignedIn, version = 3): Promise<ApprovalRecord> {
  const body = { draft_yaml: configYaml(version), comment: name, prod_confirmation: true }
  const asked = await scene.call(`POST ${pathOf(name)}`, body, as)
  expect(asked.status, JSON.stringify(asked.json)).toBe(201)
  return asked.json as ApprovalRecord
}

const read = async (name: string, { id }: ApprovalRecord, as: SignedIn) =>
  (await scene.call(`GET ${pathOf(name)}/${id}`, undefined, as)).json as ApprovalRecord

/** Have one user change the groups of another. */
async function change(
  who: Pick<SignedIn, 'userId'>,
  by: SignedIn,
  groups = ['editor', 'viewer'],
): Promise<void> {
  const put = await scene.call(`PATCH /api/users/${who.userId}`, { groups }, by)
  expect(put.status, JSON.stringify(put.json)).toBeLessThan(300)
}

it('names who asked for the same text elsewhere and changed the reader’s account, and who could approve instead', async () => {
  await change(scene.approver, admin)
  await scene.ctx.advance(1_000)
  await ask('vm-2', admin)
  const request = await ask('vm-1', scene.editor)
  const { tally, help } = await read('vm-1', request, scene.approver)
  expect(tally!.own).toBe('shaped_by_author')
  expect(help!.because).toEqual([
    {
      who: admin.email,
      account_at: expect.any(String),
      same_text: true,
      asked_at: expect.any(String),
      workload_id: scene.agent('vm-2').workloadId,
      approval_id: expect.any(String),
    },
  ])
  const yes = { comment: 'yes' }
  const refused = await scene.call(`POST ${pathOf('vm-1')}/${request.id}/approve`, yes, scene.approver)
  expect(refused).toMatchObject({ status: 409, json: { reason: 'shaped_by_author', who: admin.email } })
  // Not by whoever asked for this one: they changed nothing of the account.
  expect((refused.json as { error: string }).error).toContain(
    `made or changed by ${admin.email}, who asked for the same text before, so both may be one person`,
  )
  const third = await signIn(scene.ctx, { groups: ['editor'] })
  const again = await read('vm-1', request, scene.approver)
  expect(again.help!.could_approve).toContain(third.email)
  for (const one of [admin, scene.editor, scene.approver])
    expect(again.help!.could_approve).not.toContain(one.email)
  expect(again.help!.could_approve_count).toBe(again.help!.could_approve.length)
})

it('names where nobody could approve whose accounts the author made, and that it was he', async () => {
  await database.pool.execute(
    `insert into account_changes (user_id, by_id, changed_at) select id, $1, $2 from users where id::text <> $1
     on conflict do nothing`,
    [admin.userId, scene.ctx.clock.now()],
  )
  await scene.ctx.advance(1_000)
  const request = await ask('vm-1', admin)
  const { help } = await read('vm-1', request, admin)
  expect(help!.could_approve).toEqual([])
  expect(help!.do_not_count).toContainEqual({
    who: scene.approver.email,
    why: 'shaped_by_author',
    by: admin.email,
  })
  expect(help!.do_not_count!.map(({ who }) => who)).not.toContain(admin.email)
})

it('names whoever changed the reader’s account after the request', async () => {
  const request = await ask('vm-1', scene.editor)
  await scene.ctx.advance(1_000)
  await change(scene.approver, admin)
  const { tally, help } = await read('vm-1', request, scene.approver)
  expect(tally!.own).toBe('shaped_since_request')
  expect(help!.because).toEqual([{ who: admin.email, account_at: expect.any(String) }])
  expect(help!.could_approve).toContain(admin.email)
})

it('says that the identity provider made or regrouped the reader’s account after the request, and of nobody that he is gone', async () => {
  const old = scene.approver
  const request = await ask('vm-1', scene.editor)
  await scene.ctx.advance(1_000)
  const fresh = await signIn(scene.ctx, { groups: ['editor'] })
  const now = scene.ctx.clock.now()
  await database.pool.execute('update users set created_at = $2 where id = $1', [fresh.userId, now])
  for (const { userId } of [fresh, old])
    await database.pool.execute(
      'insert into account_changes (user_id, by_id, changed_at) values ($1, $2, $3)',
      [userId, 'https://id.example.com', now],
    )
  const because = async (as: SignedIn) => (await read('vm-1', request, as)).help!.because
  const at = now.toISOString()
  expect(await because(fresh)).toEqual([{ account_at: at, by_provider: true, is_new: true }])
  expect(await because(old)).toEqual([{ account_at: at, by_provider: true }])
})

it('says in the list of all which requests wait for nobody, and takes it back once somebody could approve', async () => {
  const other = await signIn(scene.ctx, { groups: ['editor'] })
  const stuck = await ask('vm-1', scene.editor)
  await scene.ctx.advance(1_000)
  const users = (await scene.call('GET /api/users', undefined, admin)).json as { id: string; email: string }[]
  for (const { id: userId } of users)
    if (userId !== admin.userId) await change({ userId }, admin, ['editor', 'administrator'])
  await scene.ctx.advance(1_000)
  // The same text would have the same authors.
  const open = await ask('vm-2', other, 4)
  const listed = async (as: SignedIn) =>
    ((await scene.call('GET /api/approvals?status=pending', undefined, as)).json as ApprovalRecord[]).map(
      ({ id, nobody_can_approve: isStuck }) => [id, isStuck],
    )
  expect(await listed(scene.approver)).toEqual([
    [open.id, undefined],
    [stuck.id, true],
  ])
  const { help, nobody_can_approve: isStuck } = await read('vm-1', stuck, scene.approver)
  expect([help!.could_approve_count, isStuck]).toEqual([0, true])
  // By name and with why, so that nobody has to find out who made whose account.
  const uncounted = help!.do_not_count!
  expect(uncounted).toContainEqual({ who: scene.editor.email, why: 'author' })
  expect(uncounted).toContainEqual({ who: other.email, why: 'shaped_since_request' })
  expect(uncounted.map(({ who }) => who)).not.toContain(scene.approver.email)
  // Nobody who asked has to do with this account.
  const third = await signIn(scene.ctx, { groups: ['editor'] })
  expect(await listed(scene.approver)).toEqual([
    [open.id, undefined],
    [stuck.id, undefined],
  ])
  expect((await read('vm-1', stuck, scene.approver)).help!.could_approve).toEqual([third.email])
})

it('never says that nobody could approve where more hold the right than are looked at', async () => {
  const request = await ask('vm-1', admin)
  await database.pool.execute(
    `insert into account_changes (user_id, by_id, changed_at) select id, $1, now() from users where id::text <> $1
     on conflict do nothing`,
    [admin.userId],
  )
  expect((await read('vm-1', request, scene.approver)).nobody_can_approve).toBe(true)
  // 200 whom the author changed stand before the only one who could.
  await database.pool.execute(
    `with added as (
       insert into users (id, email, email_key, password_hash, created_at)
       select gen_random_uuid(), e, e, '!', now() from (select '0' || n || '@example.com' as e from generate_series(1, 200) n) of_all
       returning id),
     changed as (insert into account_changes (user_id, by_id, changed_at) select id, $1, now() from added)
     insert into user_groups (user_id, group_id)
       select added.id, g.id from added, groups g where g.name = 'editor'`,
    [admin.userId],
  )
  await signIn(scene.ctx, { email: 'zoe@example.com', groups: ['editor'] })
  const { help, nobody_can_approve: isStuck } = await read('vm-1', request, scene.approver)
  expect(isStuck).toBeUndefined()
  expect(help!.could_approve).toEqual([])
  expect(help).not.toHaveProperty('could_approve_count')
  await database.pool.execute(`delete from users where email like '0%@example.com'`)
})

it('names nobody where the own approval would count', async () => {
  const request = await ask('vm-1', scene.editor)
  const { help } = await read('vm-1', request, scene.approver)
  expect(help).toMatchObject({ because: [] })
  expect(help!.could_approve).toContain(scene.approver.email)
})
