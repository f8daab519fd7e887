import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import settlePolicy from '../../../functions/approval-policy/settle.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { ApprovalPolicyRecord } from '../../../lib/wire/approval-policy.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { ServiceAccountRecord, UserRecord } from '../../../lib/wire/identity.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { addSession, invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { productionYaml } from '../../support/push-config.ts'

const HOUR_MS = 3_600_000
const database = await useTestDatabase()
let ctx: FleetTestContext
let agent: FakeAgent
let [ann, bob, cy]: SignedIn[] = []

beforeEach(async () => {
  await ctx?.close()
  for (const table of ['workloads', 'users', 'settings']) await database.pool.execute(`delete from ${table}`)
  await database.pool.execute('update approver_history set had_two = false')
  ctx = await createFleetContext(database)
  ann = await signIn(ctx, { email: 'ann@example.com' })
  bob = await signIn(ctx, { email: 'bob@example.com' })
  cy = await signIn(ctx, { email: 'cy@example.com' })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const call = (as: SignedIn | undefined, request: string, body?: object) =>
  invoke(ctx, request, { as: as!.token, body })
const base = () => `/api/workloads/${agent.workloadId}/config/approvals`
async function request(as = ann, n = 1): Promise<string> {
  const { json } = await call(as, `POST ${base()}`, { draft_yaml: productionYaml(n), target_group: `g${n}` })
  return (json as ApprovalRecord).id
}
const approve = (as: SignedIn | undefined, id: string) =>
  call(as, `POST ${base()}/${id}/approve`, { comment: 'fine' })
const push = (as: SignedIn | undefined, id: string, body: object = {}) =>
  call(as, `POST ${base()}/${id}/push`, { comment: 'go', prod_double_confirmed: true, ...body })
const refused = (code: string, reason: string) => ({ status: 409, json: { code, reason } })
const another = (reason: string) => refused('approval_needs_another', reason)

const ANYBODY = { approvals: 1, author_counts: true }
const ELSE = { approvals: 1, author_counts: false }
const TWO = { approvals: 2, author_counts: false, valid_hours: 24 }
const DEFAULT = { production: ELSE, other: ANYBODY, unlabelled: ELSE }
const put = (as: SignedIn | undefined, policy: object) => call(as, 'PUT /api/approval-policy', policy)
const policy = async () => (await call(ann, 'GET /api/approval-policy')).json as ApprovalPolicyRecord
/**
 * Accept the open review of labels: labels that change which approval rule holds count only once a second person has
 * accepted them.
 */
async function acceptLabels(as: SignedIn | undefined): Promise<void> {
  const [review] = (await call(as, 'GET /api/reviews')).json as ReviewRecord[]
  const body = { comment: 'right', accepted: true }
  expect((await call(as, `POST /api/reviews/${review!.id}`, body)).status).toBe(200)
}
const label = (env: string) =>
  call(ann, `PUT /api/workloads/${agent.workloadId}/trusted-labels`, { labels: { env } })

describe('an approval by default', () => {
  it('is somebody else’s in production and where nobody says where, and anybody’s elsewhere', async () => {
    const id = await request()
    expect(await approve(ann, id)).toMatchObject(another('author'))
    expect(await approve(bob, id)).toMatchObject({
      status: 200,
      json: {
        status: 'approved',
        approved_by: 'bob@example.com',
        approvals_needed: 1,
        author_counts: false,
        approvals: [{ by: 'bob@example.com', comment: 'fine', at: ctx.clock.now().toISOString() }],
      },
    })
    expect(await approve(cy, id)).toMatchObject({ status: 409, json: { code: 'approval_not_pending' } })
    expect(await push(ann, id)).toMatchObject({ status: 202 })
    await label('staging')
    const own = await request(ann, 2)
    expect(await approve(ann, own)).toMatchObject(another('author'))
    await acceptLabels(bob)
    expect(await approve(ann, own)).toMatchObject({ status: 200, json: { self_approved: true } })
    // The workload is production by the time of the push, so somebody else than the author has to have approved.
    await label('prod')
    expect(await push(ann, own)).toMatchObject(another('0_of_1'))
    expect((await call(ann, `GET ${base()}/${own}`)).json).toMatchObject({ approvals_short: true })
    expect(await approve(ann, own)).toMatchObject(another('author'))
    expect((await approve(bob, own)).status).toBe(200)
    expect(await push(ann, own)).toMatchObject({ status: 202 })
  })

  it('is no author’s who requested the same text under another request', async () => {
    await request(bob)
    expect(await approve(bob, await request(ann))).toMatchObject({ status: 409 })
    const { json } = await call(cy, `POST ${base()}`, {
      draft_yaml: productionYaml(1),
      target_group: 'elsewhere',
    })
    expect(await approve(bob, (json as ApprovalRecord).id)).toMatchObject(another('author'))
  })

  it('is not the owner’s of the service account that requested it', async () => {
    const account = { name: 'bot', owner_id: bob!.userId, groups: ['editor'] }
    const { id } = (await call(ann, 'POST /api/service-accounts', account)).json as ServiceAccountRecord
    const expires_at = new Date(ctx.clock.now().getTime() + HOUR_MS).toISOString()
    const asked = { name: 'ci', permissions: ['config:request'], expires_at }
    const { token } = (await call(ann, `POST /api/service-accounts/${id}/tokens`, asked)).json as {
      token: string
    }
    const requested = await request({ ...ann!, token })
    expect(await approve(bob, requested)).toMatchObject(another('author'))
    // The request stays bob's, who owned the account then, even when somebody else owns it later or it is deleted.
    await call(ann, `PATCH /api/service-accounts/${id}`, { owner_id: ann!.userId })
    expect(await approve(bob, requested)).toMatchObject(another('author'))
    await call(ann, `DELETE /api/service-accounts/${id}`)
    expect(await approve(bob, requested)).toMatchObject(another('author'))
    expect(await approve(cy, requested)).toMatchObject({ status: 200 })
  })

  it('is not that of whoever made the service account, or a token of it', async () => {
    const account = { name: 'bot', owner_id: bob!.userId, groups: ['editor'] }
    const { id } = (await call(ann, 'POST /api/service-accounts', account)).json as ServiceAccountRecord
    const expires_at = new Date(ctx.clock.now().getTime() + HOUR_MS).toISOString()
    const asked = { name: 'ci', permissions: ['config:request'], expires_at }
    const made = await call(cy, `POST /api/service-accounts/${id}/tokens`, asked)
    const requested = await request({ ...ann!, token: (made.json as { token: string }).token })
    await call(bob, `DELETE /api/service-accounts/${id}`)
    for (const person of [ann, cy])
      expect(await approve(person, requested)).toMatchObject(another('shaped_an_author'))
  })
})

describe('an account', () => {
  const PASSWORD = 'correct horse battery'

  it('that the author made or reset approves nothing of the author’s', async () => {
    const body = { email: 'sock@example.com', password: PASSWORD, groups: ['editor'] }
    const { id, email } = (await call(ann, 'POST /api/users', body)).json as UserRecord
    const sock = await addSession(ctx, { userId: id, email })
    ctx.clock.advance(1_000)
    expect(await approve(sock, await request(ann))).toMatchObject(another('shaped_by_author'))
    expect(await approve(sock, await request(bob, 2))).toMatchObject({ status: 200 })
    await call(ann, `PATCH /api/users/${bob!.userId}`, { password: PASSWORD })
    ctx.clock.advance(1_000)
    const again = await addSession(ctx, { userId: bob!.userId, email: 'bob@example.com' })
    expect(await approve(again, await request(ann, 3))).toMatchObject(another('shaped_by_author'))
  })

  it('that a third person made counts for another one that she made, and neither for hers', async () => {
    const [one, two] = await Promise.all(
      ['one@example.com', 'two@example.com'].map(async (address) => {
        const body = { email: address, password: PASSWORD, groups: ['editor'] }
        const { id, email } = (await call(ann, 'POST /api/users', body)).json as UserRecord
        return addSession(ctx, { userId: id, email })
      }),
    )
    ctx.clock.advance(1_000)
    expect(await approve(two, await request(one))).toMatchObject({ status: 200 })
    expect(await approve(two, await request(ann, 2))).toMatchObject(another('shaped_by_author'))
    expect(await approve(ann, await request(two, 3))).toMatchObject(another('shaped_an_author'))
  })

  it('that somebody made, reset or regrouped asks in the name of that person as well', async () => {
    const body = { email: 'sock@example.com', password: PASSWORD, groups: ['editor'] }
    const { id, email } = (await call(ann, 'POST /api/users', body)).json as UserRecord
    const sock = await addSession(ctx, { userId: id, email })
    const requested = await request(sock)
    ctx.clock.advance(1_000)
    expect(await approve(ann, requested)).toMatchObject(another('shaped_an_author'))
    await call(cy, `DELETE /api/users/${id}`)
    expect(await approve(ann, requested)).toMatchObject(another('shaped_an_author'))
    expect(await approve(bob, requested)).toMatchObject({ status: 200 })
    await call(cy, `PATCH /api/users/${bob!.userId}`, { groups: ['editor'] })
    const again = await addSession(ctx, { userId: bob!.userId, email: 'bob@example.com' })
    expect(await approve(cy, await request(again, 2))).toMatchObject(another('shaped_an_author'))
    expect(await approve(ann, await request(again, 3))).toMatchObject({ status: 200 })
  })

  it('that somebody made asks in the name of that person for a year after its removal, however old it was', async () => {
    const body = { email: 'sock@example.com', password: PASSWORD, groups: ['editor'] }
    const { id, email } = (await call(ann, 'POST /api/users', body)).json as UserRecord
    ctx.clock.advance(430 * 24 * HOUR_MS)
    const again = (as: SignedIn | undefined) =>
      addSession(ctx, { userId: as!.userId, email: `${as!.userId}@example.com` })
    const [sock, maker, other] = [
      await addSession(ctx, { userId: id, email }),
      await again(ann),
      await again(cy),
    ]
    const requested = await request(sock)
    expect((await call(other, `DELETE /api/users/${id}`)).status).toBe(204)
    await ctx.identity.trim()
    expect(await approve(maker, requested)).toMatchObject(another('shaped_an_author'))
    const kept = () => database.pool.query('select from account_changes where user_id = $1', [id])
    expect(await kept()).toHaveLength(1)
    ctx.clock.advance(367 * 24 * HOUR_MS)
    await ctx.identity.trim()
    expect(await kept()).toEqual([])
  })

  it('that somebody made confirms no laxer policy for that person, nor the other way round', async () => {
    const body = { email: 'sock@example.com', password: PASSWORD, groups: ['administrator'] }
    const { id, email } = (await call(ann, 'POST /api/users', body)).json as UserRecord
    const sock = await addSession(ctx, { userId: id, email })
    const laxer = { ...DEFAULT, production: ANYBODY }
    await put(sock, laxer)
    // Whoever cannot confirm it is told so before the click.
    const waiting = async (as: SignedIn | undefined) =>
      ((await call(as, 'GET /api/approval-policy')).json as ApprovalPolicyRecord).pending
    expect(await waiting(ann)).toMatchObject({ by: email, needs_another: true })
    for (const other of [sock, bob]) expect(await waiting(other)).not.toHaveProperty('needs_another')
    expect(await put(ann, laxer)).toMatchObject({ status: 409, json: { code: 'policy_needs_another' } })
    expect((await put(bob, laxer)).json).toEqual({ ...laxer, sole_approver: false })
  })

  it('that anybody changed since the request does not approve it', async () => {
    const id = await request(ann)
    ctx.clock.advance(1_000)
    await call(cy, `PATCH /api/users/${bob!.userId}`, { groups: ['editor'] })
    expect(await approve(bob, id)).toMatchObject(another('shaped_since_request'))
  })

  it('that lost the right before the push does not count any more', async () => {
    const id = await request(ann)
    await approve(bob, id)
    await call(cy, `PATCH /api/users/${bob!.userId}`, { groups: ['viewer'] })
    expect(await push(ann, id)).toMatchObject(another('0_of_1'))
    expect((await approve(cy, id)).status).toBe(200)
    expect(await push(ann, id)).toMatchObject({ status: 202 })
  })
})

describe('a token', () => {
  it('says neither yes nor no to what a person has to decide', async () => {
    const { token } = await makeApiToken(ctx, ann!, ['config:approve'])
    const machine = { ...ann!, token }
    const refusal = { status: 403, json: { code: 'session_required' } }
    const id = await request(bob)
    for (const step of ['approve', 'reject'])
      expect(await call(machine, `POST ${base()}/${id}/${step}`, { comment: 'no' })).toMatchObject(refusal)
    expect(await call(ann, `POST ${base()}/${id}/reject`, { comment: 'no' })).toMatchObject({ status: 200 })
  })
})

describe('the only person who may approve', () => {
  it('may approve as the author, which says so, until there ever were two', async () => {
    for (const { userId } of [bob!, cy!])
      await database.pool.execute('delete from users where id = $1', [userId])
    expect(await policy()).toMatchObject({ sole_approver: true })
    const id = await request()
    expect(await approve(ann, id)).toMatchObject({
      status: 200,
      json: { self_approved: true, approvals: [{ sole_approver: true }] },
    })
    expect(await push(ann, id)).toMatchObject({ status: 202 })
    const body = { email: 'dan@example.com', password: 'correct horse battery', groups: ['editor'] }
    const { id: dan } = (await call(ann, 'POST /api/users', body)).json as UserRecord
    expect((await call(ann, `DELETE /api/users/${dan}`)).status).toBe(204)
    expect(await policy()).toMatchObject({ sole_approver: false })
    expect(await approve(ann, await request(ann, 2))).toMatchObject(another('author'))
  })
})

describe('what ends the exception of the only person who may approve', () => {
  it('is named before anybody is added: the groups whose next member is a second one', async () => {
    for (const { userId } of [bob!, cy!])
      await database.pool.execute('delete from users where id = $1', [userId])
    const makers = { name: 'makers', role: 'editor', scope: { key: 'muster/env', values: ['dev'] } }
    expect((await call(ann, 'POST /api/groups', makers)).status).toBe(201)
    expect((await call(ann, 'POST /api/groups', { name: 'lookers', role: 'viewer' })).status).toBe(201)
    expect((await policy()).sole_approver_ends_with).toEqual(['administrator', 'editor', 'makers'])
    const body = { email: 'vera@example.com', password: 'correct horse battery', groups: ['lookers'] }
    const { id } = (await call(ann, 'POST /api/users', body)).json as UserRecord
    expect(await policy()).toMatchObject({ sole_approver: true })
    expect((await policy()).sole_approver_ends_with).toHaveLength(3)
    await call(ann, `PATCH /api/users/${id}`, { groups: ['makers'] })
    expect(await policy()).toMatchObject({ sole_approver: false })
    expect(await policy()).not.toHaveProperty('sole_approver_ends_with')
    for (const { id } of (await call(ann, 'GET /api/groups')).json as { id: string; name: string }[])
      await call(ann, `DELETE /api/groups/${id}`)
  })
})

describe('a team of two of whom one made the other', () => {
  const makeUser = async (as: SignedIn | undefined, email: string, group = 'editor') => {
    const body = { email, password: 'correct horse battery', groups: [group] }
    return ((await call(as, 'POST /api/users', body)).json as UserRecord).id
  }

  it('is told before its first change that neither counts for the other, until a third account ends it', async () => {
    for (const { userId } of [bob!, cy!])
      await database.pool.execute('delete from users where id = $1', [userId])
    expect(await policy()).not.toHaveProperty('lacks_second_person')
    // Whoever may only look on is nobody's second person.
    await makeUser(ann, 'vera@example.com', 'viewer')
    expect(await policy()).not.toHaveProperty('lacks_second_person')
    const dan = await makeUser(ann, 'dan@example.com')
    expect(await policy()).toMatchObject({ lacks_second_person: true })
    const [signed] = await Promise.all([addSession(ctx, { ...ann!, userId: dan })])
    const refusal = await approve(signed, await request())
    expect(refusal).toMatchObject(another('shaped_by_author'))
    expect((refusal.json as { hint: string }).hint).toContain(
      'two accounts that a third person made count for each other',
    )
    // As the refusal says: the two whom Ann made count for each other.
    const eve = await addSession(ctx, { ...ann!, userId: await makeUser(ann, 'eve@example.com') })
    expect(await policy()).not.toHaveProperty('lacks_second_person')
    expect(await approve(eve, await request(signed, 2))).toMatchObject({ status: 200 })
  })
})

describe('two approvals', () => {
  it('leave the request pending with the first, and are two people’s', async () => {
    expect((await put(ann, { ...DEFAULT, unlabelled: TWO })).status).toBe(200)
    const id = await request()
    expect(await approve(bob, id)).toMatchObject({
      status: 200,
      json: { status: 'pending', approvals_needed: 2, approvals: [{ by: 'bob@example.com' }] },
    })
    expect(await push(ann, id)).toMatchObject({ status: 409, json: { code: 'approval_required' } })
    expect(await approve(bob, id)).toMatchObject(another('approved_already'))
    ctx.clock.advance(1_000)
    expect(await approve(cy, id)).toMatchObject({
      status: 200,
      json: { status: 'approved', approved_by: 'cy@example.com' },
    })
    const { json } = await call(ann, `GET ${base()}/${id}`)
    expect((json as ApprovalRecord).timeline.map(({ what, who }) => [what, who])).toEqual([
      ['requested', 'ann@example.com'],
      ['approved', 'bob@example.com'],
      ['approved', 'cy@example.com'],
    ])
    expect(await push(ann, id)).toMatchObject({ status: 202 })
  })

  it('are too old after a while, and are given again', async () => {
    await put(ann, { ...DEFAULT, unlabelled: TWO })
    const id = await request()
    for (const person of [bob, cy]) expect((await approve(person, id)).status).toBe(200)
    ctx.clock.advance(24 * HOUR_MS + 1)
    ;[ann, bob, cy] = await Promise.all([ann!, bob!, cy!].map((person) => addSession(ctx, person)))
    await ctx.advance(300)
    expect(await push(ann, id)).toMatchObject(refused('approval_expired', '0_of_2'))
    for (const person of [bob, cy]) expect((await approve(person, id)).status).toBe(200)
    expect(await push(ann, id)).toMatchObject({ status: 202 })
  })
})

describe('the policy', () => {
  it('that asks less alarms until it counts or is taken back', async () => {
    const alerts = async () => {
      await ctx.alerts.run(new AbortController().signal)
      return ((await call(cy, 'GET /api/alerts')).json as AlertRecord[]).map(({ rule, details }) => [
        rule,
        details?.['name'],
      ])
    }
    const laxer = { ...DEFAULT, production: ANYBODY }
    expect(await put(ann, laxer)).toMatchObject({ status: 200 })
    expect(await alerts()).toEqual([['approval_policy_lowered', 'ann@example.com']])
    await put(bob, DEFAULT)
    expect(await alerts()).toEqual([])
    await put(ann, laxer)
    expect(await alerts()).toHaveLength(1)
    await put(bob, laxer)
    expect(await alerts()).toEqual([])
  })

  it('is read by everybody, changed at once where it asks more, and recorded', async () => {
    const viewer = await signIn(ctx, { groups: ['viewer'] })
    expect((await call(viewer, 'GET /api/approval-policy')).json).toEqual({
      ...DEFAULT,
      sole_approver: false,
    })
    expect((await put(ann, { ...DEFAULT, production: TWO })).json).toEqual({
      ...DEFAULT,
      production: TWO,
      sole_approver: false,
    })
    const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(record).toMatchObject({ action: 'settings.approval_policy', userId: ann!.userId })
    for (const rule of [
      { ...TWO, approvals: 3 },
      { ...TWO, valid_hours: 0 },
      { ...TWO, valid_hours: 1.5 },
    ])
      expect(await put(ann, { ...DEFAULT, other: rule })).toMatchObject({
        status: 400,
        json: { code: 'policy_invalid', class: 'other' },
      })
  })

  it('that asks less waits for a second person, who is not the first one’s', async () => {
    const laxer = { ...DEFAULT, production: ANYBODY }
    expect((await put(ann, laxer)).json).toMatchObject({
      ...DEFAULT,
      pending: { by: 'ann@example.com', production: ANYBODY },
    })
    expect((await put(ann, laxer)).json).toMatchObject({ pending: { by: 'ann@example.com' } })
    const body = { email: 'sock@example.com', password: 'correct horse battery', groups: ['administrator'] }
    const { id, email } = (await call(ann, 'POST /api/users', body)).json as UserRecord
    const sock = await addSession(ctx, { userId: id, email })
    expect(await put(sock, laxer)).toMatchObject({ status: 409, json: { code: 'policy_needs_another' } })
    expect((await put(bob, laxer)).json).toEqual({ ...laxer, sole_approver: false })
  })

  const laxer = { ...DEFAULT, production: ANYBODY }
  const settle = () => settlePolicy.run(ctx, new AbortController().signal)
  /** Let the policy that waits have been asked for so long ago, as the database sees it. */
  const age = (hours: number) =>
    database.pool.execute(
      `update settings set value = jsonb_set(value::jsonb, '{pending,at}', to_jsonb(to_char(
         (value::jsonb #>> '{pending,at}')::timestamptz at time zone 'utc' - make_interval(hours => $1),
         'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text where name = 'approval_policy' and value::jsonb #>> '{pending,at}' is not null`,
      [hours],
    )
  const records = async () =>
    (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 2, offset: 0 })).map(
      ({ action, email, detail }) => ({ action, email, detail: JSON.parse(detail) as unknown }),
    )

  it('that asks less comes into force after a day where nobody says anything, which is recorded once', async () => {
    await put(ann, laxer)
    const { pending } = await policy()
    await age(23)
    await settle()
    expect(await policy()).toMatchObject({ ...DEFAULT, pending: { by: 'ann@example.com' } })
    expect(await records()).toMatchObject([{ action: 'settings.approval_policy_asked' }, {}])
    await age(1)
    // Nothing counts but what is recorded.
    expect(await policy()).toMatchObject({ ...DEFAULT, pending: { by: 'ann@example.com' } })
    await settle()
    await settle()
    expect(await policy()).toEqual({ ...laxer, sole_approver: false })
    const [inForce, asked] = await records()
    expect(inForce).toMatchObject({
      action: 'settings.approval_policy',
      email: '',
      detail: { asked_by: 'ann@example.com', from: { production: { authorCounts: false } } },
    })
    expect(asked).toMatchObject({ action: 'settings.approval_policy_asked', email: 'ann@example.com' })
    const { asked_at } = inForce!.detail as { asked_at: string }
    expect(Date.parse(asked_at)).toBeLessThan(Date.parse(pending!.asked_at))
  })

  it('that asks less never counts where it is taken back within its day', async () => {
    await put(ann, laxer)
    expect((await put(bob, DEFAULT)).json).toEqual({ ...DEFAULT, sole_approver: false })
    await age(24)
    await settle()
    expect(await policy()).toEqual({ ...DEFAULT, sole_approver: false })
  })

  it('that asks less does not come into force early because the clock of a process jumps', async () => {
    await put(ann, laxer)
    const id = await request(ann)
    ctx.clock.set(new Date(ctx.clock.now().getTime() + 48 * HOUR_MS))
    ;[ann, bob] = await Promise.all([ann!, bob!].map((person) => addSession(ctx, person)))
    await settle()
    expect(await policy()).toMatchObject({ ...DEFAULT, pending: { by: 'ann@example.com' } })
    expect(await approve(ann, id)).toMatchObject(another('author'))
  })

  it('that came into force by waiting is told for a day, as it was when it was asked for', async () => {
    const told = async () => {
      await ctx.alerts.run(new AbortController().signal)
      return ((await call(cy, 'GET /api/alerts')).json as AlertRecord[]).map(({ id, message }) => ({
        id,
        message,
      }))
    }
    await put(ann, laxer)
    const [waiting] = await told()
    expect(waiting?.message).toMatch(/^ann@example.com asked for .* it counts from /)
    await age(24)
    await settle()
    const [counts, ...more] = await told()
    expect(more).toEqual([])
    expect(counts?.id).not.toBe(waiting?.id)
    expect(counts?.message).toMatch(
      /^The approval policy asks less since .*: ann@example.com asked for it, and nobody stood against it for a day$/,
    )
    await database.pool.execute(
      `update settings set value = jsonb_set(value::jsonb, '{at}', to_jsonb($1::text))::text
       where name = 'approval_policy_lowered'`,
      [new Date(Date.now() - 25 * HOUR_MS).toISOString()],
    )
    expect(await told()).toEqual([])
  })

  it('that asks less is silenced neither by who asked for it, nor by a token, nor by who does not manage settings', async () => {
    const editor = await signIn(ctx, { email: 'eve@example.com', groups: ['editor'] })
    const { token } = await makeApiToken(ctx, cy!, ['alert:resolve'])
    await put(ann, laxer)
    await ctx.alerts.run(new AbortController().signal)
    const [alert] = (await call(cy, 'GET /api/alerts')).json as AlertRecord[]
    for (const [who, status, json] of [
      [ann, 409, { code: 'alert_needs_another' }],
      [{ ...cy!, token }, 403, { code: 'session_required' }],
      [editor, 403, { error: 'forbidden' }],
    ] as const) {
      const refusal = { status, json }
      expect(await call(who, `POST /api/alerts/${alert!.id}/resolve`)).toMatchObject(refusal)
      const several = { alert_ids: [alert!.id], reason: '' }
      expect(await call(who, 'POST /api/alerts/resolve', several)).toMatchObject(refusal)
    }
    expect(await call(bob, `POST /api/alerts/${alert!.id}/resolve`)).toMatchObject({ status: 200 })
    await age(24)
    await settle()
    await ctx.alerts.run(new AbortController().signal)
    const [counts] = (await call(cy, 'GET /api/alerts')).json as AlertRecord[]
    const own = await call(ann, `POST /api/alerts/${counts!.id}/resolve`)
    expect(own).toMatchObject({ status: 409, json: { code: 'alert_needs_another' } })
    // Nor by setting the same policy once more, through an account that the asker made.
    const told = async () => {
      await ctx.alerts.run(new AbortController().signal)
      return ((await call(cy, 'GET /api/alerts')).json as AlertRecord[]).length
    }
    await database.pool.execute(
      `insert into account_changes (user_id, by_id, changed_at) values ($1, $2, now() - interval '2 days')`,
      [bob!.userId, ann!.userId],
    )
    expect(await put(bob, laxer)).toMatchObject({ status: 200 })
    expect(await told()).toBe(1)
    expect(await put(cy, laxer)).toMatchObject({ status: 200 })
    expect(await told()).toBe(0)
  })

  it.each([
    ['is gone', () => call(bob, `DELETE /api/users/${ann!.userId}`)],
    [
      'may not ask for it any more',
      () => call(bob, `PATCH /api/users/${ann!.userId}`, { groups: ['editor'] }),
    ],
  ])('that asks less is not confirmed where its asker %s', async (_, leave) => {
    await put(ann, laxer)
    expect((await leave()).status).toBeLessThan(300)
    // Nobody asks for it any more, so a second person who does is the first.
    expect((await put(bob, laxer)).json).toMatchObject({ ...DEFAULT, pending: { by: 'bob@example.com' } })
  })

  it('that asks less is dropped once its asker may not ask for it any more, which is recorded', async () => {
    await put(ann, laxer)
    await age(24)
    await call(bob, `PATCH /api/users/${ann!.userId}`, { groups: ['editor'] })
    await settle()
    expect(await policy()).toEqual({ ...DEFAULT, sole_approver: false })
    expect(await records()).toMatchObject([
      { action: 'settings.approval_policy_dropped', email: '', detail: { asked_by: 'ann@example.com' } },
      {},
    ])
  })

  it('that came into force by waiting is told no longer once it is raised again, or somebody else has touched it', async () => {
    for (const [who, policy] of [
      [bob, DEFAULT],
      [ann, DEFAULT],
      [bob, laxer],
    ] as const) {
      await put(ann, laxer)
      await age(24)
      await settle()
      await put(who, policy)
      await ctx.alerts.run(new AbortController().signal)
      expect((await call(cy, 'GET /api/alerts')).json).toEqual([])
      await put(bob, DEFAULT)
    }
  })

  it('that came into force by waiting is told no longer once another account with the same e-mail has touched it', async () => {
    await put(ann, laxer)
    await age(24)
    await settle()
    await database.pool.execute('update users set email = $1 where id = $2', [ann!.email, bob!.userId])
    await put(bob, laxer)
    await ctx.alerts.run(new AbortController().signal)
    expect((await call(cy, 'GET /api/alerts')).json).toEqual([])
  })

  it('that came into force by waiting is told although whoever asked for it asks for it again', async () => {
    await put(ann, laxer)
    await age(24)
    await settle()
    await put(ann, laxer)
    await ctx.alerts.run(new AbortController().signal)
    expect((await call(cy, 'GET /api/alerts')).json).toMatchObject([{ rule: 'approval_policy_lowered' }])
  })
})
