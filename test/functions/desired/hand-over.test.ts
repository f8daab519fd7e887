import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { lockApproval } from '../../../lib/store/approvals.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { moveRequests } from '../../../lib/store/git-owners.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { DesiredResult } from '../../../lib/wire/desired.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// What an owner in Git keeps may come to be another team's, or another account's: nothing that people decided is lost.

const database = await useTestDatabase()
let ctx: FleetTestContext
let [one, two]: FakeAgent[] = []
let admin: SignedIn
let former: SignedIn
let heir: SignedIn
const FIRST = configYaml(1)
const SECOND = configYaml(2)

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  await database.pool.execute('delete from managed_fleet_configs')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  admin = await signIn(ctx)
  former = await signIn(ctx, { groups: ['editor'] })
  heir = await signIn(ctx, { groups: ['editor'] })
  one = fakeAgent(ctx.fleet, { host: 'one' })
  two = fakeAgent(ctx.fleet, { host: 'two' })
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const send = (as: SignedIn, owner: string, agent: FakeAgent | undefined, config: string) =>
  invoke(ctx, `POST /api/workloads/${agent!.workloadId}/config/desired`, {
    as: as.token,
    body: { owner, config },
  })
async function wish(as: SignedIn, owner: string, agent: FakeAgent | undefined, config: string) {
  const { status, json } = await send(as, owner, agent, config)
  expect(status, JSON.stringify(json)).toBe(200)
  return json as DesiredResult
}
const post = (agent: FakeAgent | undefined, rest: string, as = admin) =>
  invoke(ctx, `POST /api/workloads/${agent!.workloadId}/config/approvals/${rest}`, {
    as: as.token,
    body: { comment: 'said' },
  })
const handOver = (body: object, as = admin) =>
  invoke(ctx, 'POST /api/managed-configs/hand-over', { as: as.token, body })

const toTold = (of: { workload_id: string; owner: string; accepted: boolean }) =>
  `${of.workload_id} ${of.owner} ${of.accepted}`

describe('what an owner in Git keeps, handed over', () => {
  it('all at once to another account under the same name: what was rejected stays held', async () => {
    const { approval_id: id } = await wish(former, 'platform', one, FIRST)
    await wish(former, 'platform', two, SECOND)
    expect((await post(one, `${id}/reject`)).status).toBe(200)
    expect(await send(heir, 'platform', one, FIRST)).toMatchObject({
      status: 409,
      json: { code: 'owner_taken' },
    })
    const done = await handOver({ owner: 'platform', to_account_id: heir.userId })
    expect([done.status, done.json]).toEqual([200, { workload_count: 2, fleet_config_count: 0 }])
    expect(await wish(heir, 'platform', one, FIRST)).toMatchObject({ action: 'held', reason: 'rejected' })
    expect(await wish(heir, 'platform', two, SECOND)).toMatchObject({ action: 'waits' })
    expect(await send(former, 'platform', one, FIRST)).toMatchObject({ status: 409 })
    const [record] = await listAuditRecords(
      database.pool,
      { action: 'config.hand_over' },
      {
        beforeSeq: null,
        limit: 1,
        offset: 0,
      },
    )
    expect(record).toMatchObject({ userId: admin.userId, resourceId: 'platform' })
    expect(JSON.parse(record!.detail)).toMatchObject({ to_owner: 'platform', to_account: heir.email })
  })

  it('one workload to another owner: the rest stays, what was rejected stays held, and what waits can be approved', async () => {
    const { approval_id: id } = await wish(former, 'platform', one, FIRST)
    expect((await post(one, `${id}/reject`)).status).toBe(200)
    const waiting = await wish(former, 'platform', two, SECOND)
    const body = { owner: 'platform', to_owner: 'shop', to_account_id: heir.userId }
    for (const agent of [one, two])
      expect(await handOver({ ...body, workload_ids: [agent!.workloadId] })).toMatchObject({
        status: 200,
        json: { workload_count: 1 },
      })
    expect(await wish(heir, 'shop', one, FIRST)).toMatchObject({ action: 'held', reason: 'rejected' })
    expect(await wish(heir, 'shop', two, SECOND)).toEqual({ ...waiting, action: 'waits' })
    const list = await invoke(ctx, `GET /api/workloads/${two!.workloadId}/config/approvals`, {
      as: admin.token,
    })
    expect(list.json as ApprovalRecord[]).toMatchObject([
      { id: waiting.approval_id, target_group: 'git/shop' },
    ])
    expect((await post(two, `${waiting.approval_id}/approve`)).status).toBe(200)
    expect(await send(former, 'platform', two, FIRST)).toMatchObject({
      status: 409,
      json: { code: 'managed_elsewhere', owner: 'shop' },
    })
  })

  it('that the heir asked for something of itself: that gives way, approved or not', async () => {
    const mine = await wish(former, 'platform', one, FIRST)
    await wish(heir, 'shop', one, SECOND)
    await wish(heir, 'shop', two, SECOND)
    await wish(former, 'platform', two, FIRST)
    expect((await post(one, `${mine.approval_id}/approve`)).status).toBe(200)
    const done = await handOver({ owner: 'platform', to_owner: 'shop', to_account_id: heir.userId })
    expect([done.status, done.json]).toEqual([200, { workload_count: 2, fleet_config_count: 0 }])
    const { json } = await invoke(ctx, 'GET /api/managed-configs', { as: admin.token })
    expect(json).toHaveLength(2)
    expect(json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ workload_id: one!.workloadId, owner: 'shop', accepted: true }),
        expect.objectContaining({ workload_id: two!.workloadId, owner: 'shop', accepted: false }),
      ]),
    )
    expect(await wish(heir, 'shop', two, FIRST)).toMatchObject({ action: 'waits' })
  })

  it('what the heir keeps already: it goes on keeping that, and what the former owner asked for there is withdrawn', async () => {
    const asked = await wish(former, 'platform', one, FIRST)
    const kept = await wish(heir, 'shop', one, SECOND)
    expect((await post(one, `${kept.approval_id}/approve`)).status).toBe(200)
    await wish(former, 'platform', two, FIRST)
    const again = await wish(heir, 'shop', one, configYaml(3))
    const named = { owner: 'platform', to_owner: 'shop', to_account_id: heir.userId }
    const done = await handOver({ ...named, workload_ids: [one!.workloadId] })
    expect([done.status, done.json]).toEqual([200, { workload_count: 0, fleet_config_count: 0 }])
    expect(await handOver(named)).toMatchObject({ status: 200, json: { workload_count: 1 } })
    const { json } = await invoke(ctx, 'GET /api/managed-configs', { as: admin.token })
    expect((json as { workload_id: string; owner: string; accepted: boolean }[]).map(toTold).sort()).toEqual(
      [`${one!.workloadId} shop true`, `${two!.workloadId} shop false`].sort(),
    )
    const list = await invoke(ctx, `GET /api/workloads/${one!.workloadId}/config/approvals`, {
      as: admin.token,
    })
    expect(list.json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: asked.approval_id, status: 'withdrawn' }),
        expect.objectContaining({ id: again.approval_id, status: 'pending', target_group: 'git/shop' }),
      ]),
    )
  })

  it('a fleet config of the same owner: a version whose campaign was rejected stays held', async () => {
    const definition = { name: 'edge', selector: { match_labels: { 'muster/tier': 'edge' } }, content: FIRST }
    const apply = (as: SignedIn, owner: string) =>
      invoke(ctx, 'POST /api/fleet-configs/desired', { as: as.token, body: { owner, ...definition } })
    const made = await apply(former, 'platform')
    expect(made.status, JSON.stringify(made.json)).toBe(200)
    await database.pool.execute(`update campaigns set status = 'rejected'`)
    const { fleet_config_id } = made.json as { fleet_config_id: string }
    const body = {
      owner: 'platform',
      to_owner: 'shop',
      to_account_id: heir.userId,
      fleet_config_ids: [fleet_config_id],
    }
    expect(await handOver(body)).toMatchObject({ json: { workload_count: 0, fleet_config_count: 1 } })
    expect((await apply(heir, 'shop')).json).toMatchObject({ action: 'held', reason: 'rejected' })
  })

  it('is nothing of a name, an id or an account that nothing can have', async () => {
    await wish(former, 'platform', one, FIRST)
    const nul = 'a\u0000'
    const to = { to_account_id: heir.userId }
    for (const body of [
      { owner: nul, to_owner: 'edge', ...to },
      { owner: 'platform', workload_ids: [nul], ...to },
    ])
      expect(await handOver(body)).toMatchObject({ status: 404, json: { code: 'not_managed' } })
    expect(await handOver({ owner: 'platform', to_account_id: nul })).toMatchObject({
      json: { code: 'account_unknown' },
    })
  })

  it('goes to an account that is said by its e-mail, or as a service account by its name', async () => {
    await wish(former, 'platform', one, FIRST)
    const unknown = await handOver({ owner: 'platform', to_account_id: 'nobody@example.com' })
    expect(unknown).toMatchObject({ status: 400, json: { code: 'account_unknown' } })
    const said = { owner: 'platform', to_account_id: heir.email.toUpperCase() }
    expect(await handOver(said)).toMatchObject({ status: 200, json: { workload_count: 1 } })
    expect(await wish(heir, 'platform', one, FIRST)).toMatchObject({ action: 'waits' })
    await invoke(ctx, 'POST /api/service-accounts', {
      as: admin.token,
      body: { name: 'platform-ci', groups: ['editor'], owner_id: admin.userId },
    })
    const robot = { owner: 'platform', to_account_id: 'service:platform-ci' }
    expect(await handOver(robot)).toMatchObject({ status: 200, json: { workload_count: 1 } })
    expect((await send(heir, 'platform', one, FIRST)).json).toMatchObject({ code: 'owner_taken' })
  })

  it('never leaves a name to two accounts, nor takes what another owner keeps', async () => {
    await wish(former, 'platform', one, FIRST)
    await wish(former, 'platform', two, SECOND)
    const part = { owner: 'platform', to_account_id: heir.userId, workload_ids: [one!.workloadId] }
    expect(await handOver(part)).toMatchObject({
      status: 409,
      json: { code: 'owner_taken', owner: 'platform' },
    })
    expect(await wish(former, 'platform', one, FIRST)).toMatchObject({ action: 'waits' })
    for (const body of [
      { ...part, owner: 'shop' },
      { ...part, workload_ids: ['0123456789abcdef01234567'] },
    ])
      expect(await handOver(body)).toMatchObject({ status: 404, json: { code: 'not_managed' } })
    expect(await handOver({ ...part, to_owner: 'no name' })).toMatchObject({
      json: { code: 'owner_invalid' },
    })
    const nobody = { ...part, to_account_id: '00000000-0000-7000-8000-000000000000' }
    expect(await handOver(nobody)).toMatchObject({ status: 400, json: { code: 'account_unknown' } })
  })

  /** Hand all that platform keeps to the heir while a release by the former account's pipeline waits for its turn. */
  async function handOverDuring(path: string, lock: string): Promise<number> {
    const { token } = await makeApiToken(ctx, former, ['workload:push_config'])
    let release: Promise<{ status: number }> | undefined
    await database.pool.transaction('hold', async (tx) => {
      await tx.query(lock)
      release = invoke(ctx, `DELETE ${path}/desired?owner=platform`, { as: token })
      const waiting = `select 1 from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`
      await expect.poll(() => database.pool.query(waiting)).toHaveLength(1)
      const { status } = await handOver({ owner: 'platform', to_account_id: heir.userId })
      expect(status).toBe(200)
    })
    return (await release!).status
  }

  it('takes it from an account that waits to let go of it: the request that waits stays the heir’s', async () => {
    const { approval_id: id } = await wish(former, 'platform', one, FIRST)
    const path = `/api/workloads/${one!.workloadId}/config`
    const status = await handOverDuring(path, 'select from workloads for update')
    const kept = await invoke(ctx, 'GET /api/managed-configs', { as: admin.token })
    const request = await invoke(ctx, `GET ${path}/approvals/${id}`, { as: admin.token })
    expect({ status, kept: kept.json, request: request.json }).toMatchObject({
      status: 403,
      kept: [{ owner: 'platform' }],
      request: { status: 'pending' },
    })
    expect((await invoke(ctx, `DELETE ${path}/desired?owner=platform`, { as: heir.token })).status).toBe(204)
  })

  it('takes a fleet config from an account that waits to let go of it: its campaign stays the heir’s', async () => {
    const made = await invoke(ctx, 'POST /api/fleet-configs/desired', {
      as: former.token,
      body: {
        owner: 'platform',
        name: 'heirloom',
        selector: { match_labels: { 'muster/tier': 'heirloom' } },
        content: FIRST,
      },
    })
    expect(made.status, JSON.stringify(made.json)).toBe(200)
    const { fleet_config_id: id } = made.json as { fleet_config_id: string }
    await database.pool.execute(`update campaigns set status = 'requested'`)
    const status = await handOverDuring(`/api/fleet-configs/${id}`, 'select from campaigns for update')
    const managed = await database.pool.query(
      'select owner, applied_by_id as "by" from managed_fleet_configs where fleet_config_id = $1',
      [id],
    )
    const campaigns = await database.pool.query('select status from campaigns')
    expect({ status, managed, campaigns }).toEqual({
      status: 403,
      managed: [{ owner: 'platform', by: heir.userId }],
      campaigns: campaigns.map(() => ({ status: 'requested' })),
    })
  })

  it('by a person who may break the glass everywhere, and by nobody else', async () => {
    await wish(former, 'platform', one, FIRST)
    const body = { owner: 'platform', to_account_id: heir.userId }
    const viewer = await signIn(ctx, { groups: ['viewer'] })
    expect((await handOver(body, viewer)).status).toBe(403)
    const { token } = await makeApiToken(ctx, admin, ['config:break_glass'])
    expect(await handOver(body, { ...admin, token })).toMatchObject({ json: { code: 'session_required' } })
  })
})

it('waits for whoever approves a newer request of the same group, and holds no older one meanwhile', async () => {
  await ctx.advance(1_000)
  const ask = async (port: number) => {
    await ctx.advance(1_000)
    const body = { draft_yaml: configYaml(port), target_group: 'edge', comment: 'please' }
    const path = `/api/workloads/${one!.workloadId}/config/approvals`
    return ((await invoke(ctx, `POST ${path}`, { as: former.token, body })).json as ApprovalRecord).id
  }
  const older = await ask(11)
  expect((await post(one, `${older}/approve`)).status).toBe(200)
  const newer = await ask(12)
  await ctx.advance(1_000)
  expect((await post(one, `${older}/comments`)).status).toBeLessThan(300)
  const to = { accountId: heir.userId, now: ctx.clock.now() }
  // As an approval does: the newer request first, and then the older one that it retires.
  await database.pool
    .transaction('approval', async (tx) => {
      await lockApproval(tx, newer)
      const moved = database.pool.transaction('hand-over', (other) =>
        moveRequests(other, to, { workloadIds: [one!.workloadId], from: 'edge', to: 'core', formerIds: [] }),
      )
      await expect
        .poll(() =>
          database.pool.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and query like '%set handed_at = case%' and datname = current_database()`),
        )
        .toHaveLength(1)
      await lockApproval(tx, older)
      return { moved }
    })
    .then(({ moved }) => moved)
  const groups = await database.pool.query(
    `select target_group as "group" from approvals where id = any($1)`,
    [[older, newer]],
  )
  expect(groups).toEqual([{ group: 'core' }, { group: 'core' }])
})
