import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noteCommitAuthors } from '../../../lib/store/commit-authors.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { UserRecord } from '../../../lib/wire/identity.ts'
import { fakeClock } from '../../support/fakes.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { addSession, invoke, signIn as signInLocally } from '../../support/invoke.ts'
import { openJar, settingsFor, startProvider, type TestProvider } from '../../support/oidc/provider.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { productionYaml } from '../../support/push-config.ts'

// Two accounts of one person, before and after a removal or at the same time, are not two people.

const PUBLIC_URL = 'http://127.0.0.1:9'
const database = await useTestDatabase()
let provider: TestProvider
let ctx: FleetTestContext
let agent: FakeAgent

beforeAll(async () => {
  provider = await startProvider(PUBLIC_URL)
})
afterAll(async () => {
  await ctx.close()
  await provider.stop()
})
beforeEach(async () => {
  await ctx?.close()
  for (const table of [
    ...[
      'workloads',
      'users',
      'settings',
      'external_ids',
      'provider_names',
      'account_changes',
      'commit_authors',
    ],
  ])
    await database.pool.execute(`delete from ${table}`)
  const groupMap = new Map([['otel-admins', ['administrator']]])
  const oidc = settingsFor(provider.issuer, PUBLIC_URL, { groupMap })
  // The provider's tokens are of now.
  const clock = fakeClock(new Date().toISOString())
  ctx = await createFleetContext(database, { clock, config: { publicUrl: PUBLIC_URL, oidc } })
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
})

interface Person {
  token: string
  id: string
}

/** Sign in with the provider as somebody who is an administrator by the group map. */
async function signIn(name: string, more: object = {}): Promise<Person> {
  const claims = { sub: name, email: `${name}@example.com`, name, groups: ['otel-admins'], ...more }
  await provider.tell({ claims })
  const begun = await invoke(ctx, 'GET /api/auth/oidc/login')
  const { url } = await openJar().follow(begun.headers['Location']!, (at) =>
    at.pathname.endsWith('/callback'),
  )
  const cookie = begun.cookies[0]!.split(';')[0]!
  const back = await invoke(ctx, `GET ${url.pathname}${url.search}`, { headers: { cookie } })
  const token = /^om_session=([^;]+)/.exec(back.cookies[0]!)![1]!
  return { token, id: ((await call({ token }, 'GET /api/me')).json as { id: string }).id }
}

const call = ({ token }: { token: string }, request: string, body?: object) =>
  invoke(ctx, request, { as: token, body })
const remove = (by: Person, whom: Person) => call(by, `DELETE /api/users/${whom.id}`)
/** A local user, made and signed in. */
async function makePuppet(by: Person, group: string, email = 'puppet@example.com'): Promise<Person> {
  const body = { email, password: 'correct horse battery', groups: [group] }
  const { id } = (await call(by, 'POST /api/users', body)).json as UserRecord
  const { token } = await addSession(ctx, { userId: id, email })
  return { id, token }
}
const base = () => `/api/workloads/${agent.workloadId}/config/approvals`
async function request(by: Person, n: number): Promise<string> {
  const body = {
    draft_yaml: productionYaml(n),
    target_group: `g${n}`,
    target_env: 'production',
    prod_confirmation: true,
  }
  const { status, json } = await call(by, `POST ${base()}`, body)
  expect(status).toBe(201)
  return (json as ApprovalRecord).id
}
/** Ask for the same text for another workload. */
async function requestElsewhere(by: Person, n: number): Promise<void> {
  const { workloadId } = fakeAgent(ctx.fleet, { host: 'elsewhere' })
  await ctx.advance(300)
  const body = { draft_yaml: productionYaml(n), prod_confirmation: true, target_env: 'production' }
  const asked = await call(by, `POST /api/workloads/${workloadId}/config/approvals`, body)
  expect(asked.status).toBe(201)
  ctx.clock.advance(1_000)
}
const approve = (by: Person, id: string) => call(by, `POST ${base()}/${id}/approve`, { comment: 'fine' })
const another = (reason: string) => ({ status: 409, json: { code: 'approval_needs_another', reason } })
/** Another administrator, so that anybody may be removed. */
async function seed(): Promise<Person> {
  const { userId, token } = await signInLocally(ctx, { email: 'seed@example.com' })
  return { id: userId, token }
}

describe('somebody of the provider who removed himself and signs in again', () => {
  it('approves nothing of an account that he made before', async () => {
    await seed()
    const before = await signIn('alice')
    const puppet = await makePuppet(before, 'editor')
    expect(await approve(before, await request(puppet, 1))).toMatchObject(another('shaped_an_author'))
    expect((await remove(before, before)).status).toBe(204)
    const after = await signIn('alice')
    expect(await approve(after, await request(puppet, 2))).toMatchObject(another('shaped_an_author'))
    expect(await approve(puppet, await request(after, 3))).toMatchObject(another('shaped_by_author'))
  })

  it('approves no text that he asked for before, whoever asks for it now', async () => {
    const other = await seed()
    const before = await signIn('alice')
    await request(before, 1)
    await remove(other, before)
    const after = await signIn('alice')
    expect(after.id).toBe(before.id)
    expect(await approve(after, await request(other, 1))).toMatchObject(another('author'))
    // What he did not ask for is anybody's, and so is what is asked of him.
    expect((await approve(after, await request(other, 2))).status).toBe(200)
    expect((await approve(other, await request(after, 3))).status).toBe(200)
  })

  it('lowers the approval policy not together with an account that he made before', async () => {
    await seed()
    const before = await signIn('alice')
    const puppet = await makePuppet(before, 'administrator')
    await remove(before, before)
    const after = await signIn('alice')
    const laxer = { approvals: 1, author_counts: true }
    const policy = { production: laxer, other: laxer, unlabelled: laxer }
    expect((await call(puppet, 'PUT /api/approval-policy', policy)).json).toHaveProperty('pending')
    expect(await call(after, 'PUT /api/approval-policy', policy)).toMatchObject({
      status: 409,
      json: { code: 'policy_needs_another' },
    })
  })

  it('has nothing of what was open or his own before, and the groups of now', async () => {
    const other = await seed()
    const before = await signIn('alice')
    const expires_at = new Date(ctx.clock.now().getTime() + 3_600_000).toISOString()
    const asked = { name: 'ci', permissions: ['config:request'], expires_at }
    const { token } = (await call(before, 'POST /api/tokens', asked)).json as { token: string }
    expect((await call({ token }, 'GET /api/me')).status).toBe(200)
    await call(before, 'PUT /api/me/preferences', { theme: 'dark' })
    await remove(other, before)
    const after = await signIn('alice')
    for (const gone of [before, { token }]) expect((await call(gone, 'GET /api/me')).status).toBe(401)
    expect((await call(after, 'GET /api/tokens')).json).toEqual([])
    expect(await database.pool.query('select from user_preferences')).toEqual([])
    expect((await call(after, 'GET /api/me')).json).toMatchObject({ groups: [{ name: 'administrator' }] })
  })

  it('is named by a commit also under a name that the provider gave him before', async () => {
    const other = await seed()
    const before = await signIn('alice', { email: 'maiden@example.com' })
    await remove(other, before)
    const after = await signIn('alice')
    const id = await request(other, 1)
    const [{ hash } = { hash: '' }] = await database.pool.query<{ hash: string }>(
      'select draft_hash as hash from approvals where id = $1',
      [id],
    )
    const maiden = { name: 'maiden@example.com', said: 'Ada <maiden@example.com>' }
    const claim = { configHash: hash, byId: '', place: '' }
    await noteCommitAuthors(database.pool, claim, [maiden], ctx.clock)
    expect(await approve(after, id)).toMatchObject(another('author'))
  })
})

describe('whoever has another account, by the e-mail of which both are known as one person', () => {
  /** Without a claim that an e-mail is hers, nobody is asked for a link: she is a user of her own. */
  const olga = { email: undefined, preferred_username: 'olga@example.com', name: 'Olga' }

  /** O of the provider, and L, a local administrator with the same e-mail, who made E and is gone or not. */
  async function scene(isGone: boolean): Promise<{ other: Person; o: Person; l: Person; e: Person }> {
    const other = await seed()
    const l = await makePuppet(other, 'administrator', 'olga@example.com')
    const e = await makePuppet(l, 'administrator', 'e@example.com')
    if (isGone) expect((await remove(other, l)).status).toBe(204)
    const o = await signIn('olga', olga)
    expect(o.id).not.toBe(l.id)
    ctx.clock.advance(1_000)
    return { other, o, l, e }
  }

  it('is not approved by an account that the other one made, also once that one is gone', async () => {
    for (const isGone of [false, true]) {
      const { o, e } = await scene(isGone)
      const { email: judge, token } = await signInLocally(ctx, { email: 'judge@example.com' })
      const id = await request(o, 1)
      expect(await approve(e, id)).toMatchObject(another('shaped_by_author'))
      const { json } = await call(e, `GET ${base()}/${id}`)
      const { help } = json as ApprovalRecord
      expect(help!.because).toMatchObject([{ account_at: expect.any(String) }])
      expect(help!.could_approve).toEqual([judge])
      expect((await approve({ id: '', token }, id)).status).toBe(200)
      for (const table of ['approvals', 'users', 'external_ids', 'provider_names', 'account_changes'])
        await database.pool.execute(`delete from ${table}`)
    }
  })

  it('approves nothing of such an account, and is no second beside it', async () => {
    const { other, o, e } = await scene(false)
    const third = await makePuppet(other, 'administrator', 'third@example.com')
    expect(await approve(e, await request(o, 1))).toMatchObject(another('shaped_by_author'))
    ctx.clock.advance(1_000)
    const rule = { approvals: 2, author_counts: false }
    const policy = { production: rule, other: rule, unlabelled: rule }
    for (const as of [other, o]) await call(as, 'PUT /api/approval-policy', policy)
    const id = await request(third, 2)
    expect((await approve(e, id)).json).toMatchObject({ status: 'pending', tally: { given: 1 } })
    expect((await approve(o, id)).json).toMatchObject({ status: 'pending', tally: { given: 1 } })
  })

  it('does not approve what an account asks for that the other one made, also once that one is gone', async () => {
    for (const isGone of [false, true]) {
      const { o, e } = await scene(isGone)
      const { email: judge, token } = await signInLocally(ctx, { email: 'judge@example.com' })
      const id = await request(e, 1)
      expect(await approve(o, id)).toMatchObject(another('shaped_an_author'))
      const could = [judge, 'seed@example.com'].sort()
      const because = [{ who: 'e@example.com', account_at: expect.any(String) }]
      expect((await call(o, `GET ${base()}/${id}`)).json).toMatchObject({
        help: { because, could_approve: could },
      })
      expect((await approve({ id: '', token }, id)).status).toBe(200)
      for (const table of ['approvals', 'users', 'external_ids', 'provider_names', 'account_changes'])
        await database.pool.execute(`delete from ${table}`)
    }
  })

  it('is no second person beside an account that the other one made, as the policy says before anybody asks', async () => {
    const { other, l, e } = await scene(false)
    const policy = async () => (await call(e, 'GET /api/approval-policy')).json
    expect(await policy()).not.toHaveProperty('lacks_second_person')
    expect((await remove(l, other)).status).toBe(204)
    expect(await policy()).toMatchObject({ lacks_second_person: true })
    await makePuppet(l, 'administrator', 'third@example.com')
    expect(await policy()).not.toHaveProperty('lacks_second_person')
  })

  it('has what she committed approved by no account that the other one made', async () => {
    const { other, o, e } = await scene(false)
    // By another e-mail of hers, which the other account has not.
    const again = await signIn('olga', { ...olga, email: 'private@example.com' })
    expect(again.id).toBe(o.id)
    const id = await request(other, 1)
    const [{ hash } = { hash: '' }] = await database.pool.query<{ hash: string }>(
      'select draft_hash as hash from approvals where id = $1',
      [id],
    )
    const named = { name: 'private@example.com', said: 'Olga <private@example.com>' }
    const claim = { configHash: hash, byId: '', place: '' }
    await noteCommitAuthors(database.pool, claim, [named], ctx.clock)
    expect(await approve(e, id)).toMatchObject(another('shaped_by_author'))
  })

  it('keeps nobody from approving by asking for the same text elsewhere under the name of who made the accounts', async () => {
    const root = await seed()
    const helper = await makePuppet(root, 'administrator', 'helper@example.com')
    const asker = await signIn('asker')
    // She says at the provider that she has the administrator's e-mail, and asks for the text of another workload.
    const eve = await signIn('eve', { email: 'seed@example.com', email_verified: false })
    expect(eve.id).not.toBe(root.id)
    await requestElsewhere(eve, 1)
    const id = await request(asker, 1)
    expect((await call(asker, `GET ${base()}/${id}`)).json).toMatchObject({
      help: { could_approve: ['helper@example.com', 'seed@example.com'] },
    })
    expect((await approve(helper, id)).status).toBe(200)
  })

  it('has not the help of whoever made that other account', async () => {
    const other = await seed()
    await makePuppet(other, 'administrator', 'olga@example.com')
    const o = await signIn('olga', olga)
    ctx.clock.advance(1_000)
    expect(await approve(other, await request(o, 1))).toMatchObject(another('shaped_an_author'))
  })
})

describe('two accounts under one name', () => {
  /** Without a claim that an e-mail is his, nobody is asked for a link: he is a user of his own. */
  const unclaimed = { email: undefined, preferred_username: 'Hugo@example.com', name: 'Hugo Hand' }

  it('of which one is local are one person for a request, however the other is shown', async () => {
    const other = await seed()
    const local = await makePuppet(other, 'administrator', 'hugo@example.com')
    const unverified = { ...unclaimed, email: 'hugo@example.com', email_verified: false }
    for (const [n, more] of [unclaimed, unverified].entries()) {
      const twin = await signIn(`hugo-${n}`, more)
      expect(twin.id).not.toBe(local.id)
      const id = await request(local, n)
      expect(await approve(twin, id)).toMatchObject(another('same_person'))
      const { json } = await call(twin, `GET ${base()}/${id}`)
      // Nor is he proposed: whoever made the account of the other counts no more than he does.
      expect(json).toMatchObject({ tally: { own: 'same_person' }, help: { could_approve_count: 0 } })
      expect(await approve(local, await request(twin, n + 10))).toMatchObject(another('same_person'))
    }
  })

  it('of which the local one is removed are one person still for what it asked for and did', async () => {
    const other = await seed()
    const local = await makePuppet(other, 'administrator', 'hugo@example.com')
    const twin = await signIn('hugo', unclaimed)
    const asked = await request(local, 1)
    const broken = await request(local, 2)
    const push = {
      comment: 'now',
      break_glass: true,
      break_glass_reason: 'it burns',
      prod_double_confirmed: true,
    }
    expect((await call(local, `POST ${base()}/${broken}/push`, push)).status).toBe(202)
    expect((await remove(other, local)).status).toBe(204)
    const { json } = await call(twin, `GET ${base()}/${asked}`)
    expect(json).toMatchObject({ tally: { own: 'same_person' } })
    expect(await approve(twin, asked)).toMatchObject(another('same_person'))
    const [review] = (await call(twin, 'GET /api/reviews')).json as { id: string }[]
    const looked = await call(twin, `POST /api/reviews/${review!.id}`, { comment: 'fine', accepted: true })
    expect(looked).toMatchObject({ status: 409, json: { reason: 'same_person' } })
    const third = await signIn('bob')
    expect((await approve(third, asked)).status).toBe(200)
  })

  it('of the provider are one person for a request, and two whose full name is the same are two', async () => {
    await seed()
    const one = await signIn('olga')
    const two = await signIn('olga-adm', { email: 'OLGA@example.com' })
    const namesake = await signIn('olga-2', { name: 'olga' })
    const id = await request(one, 1)
    expect(await approve(two, id)).toMatchObject(another('same_person'))
    expect((await approve(namesake, id)).status).toBe(200)
  })

  it.each([
    ['beside an e-mail of his own', {}],
    ['and tells no e-mail', { email: undefined }],
  ])('are two where one only has the e-mail of the other as his full name %s', async (_, more) => {
    await seed()
    const victim = await signIn('victim')
    const mallory = await signIn('mallory', { name: ' Victim@example.com', ...more })
    expect((await approve(victim, await request(mallory, 1))).status).toBe(200)
  })

  it('keep each other from what others ask for with a text that one asked for elsewhere only where somebody vouches for that', async () => {
    const root = await seed()
    const asker = await signIn('asker')
    const olga = await signIn('olga')
    const email = 'olga@example.com'
    const chosen = [
      { email, email_verified: false },
      { email: undefined, preferred_username: email },
    ]
    for (const [n, more] of chosen.entries()) {
      await requestElsewhere(await signIn(`mallory-${n}`, more), n)
      expect((await approve(olga, await request(asker, n))).status).toBe(200)
    }
    await requestElsewhere(await signIn('olga-adm', { email }), 2)
    expect(await approve(olga, await request(asker, 2))).toMatchObject(another('same_person'))
    const local = await makePuppet(root, 'administrator', 'hugo@example.com')
    await requestElsewhere(local, 3)
    await remove(root, local)
    const twin = await signIn('hugo', unclaimed)
    expect(await approve(twin, await request(asker, 3))).toMatchObject(another('same_person'))
  })

  it('are no two people of two who have to approve', async () => {
    const other = await seed()
    const rule = { approvals: 2, author_counts: false }
    await call(other, 'PUT /api/approval-policy', { production: rule, other: rule, unlabelled: rule })
    const [one, two] = [await signIn('olga'), await signIn('olga-adm', { email: 'olga@example.com' })]
    const id = await request(other, 1)
    expect((await approve(one, id)).json).toMatchObject({ status: 'pending', tally: { given: 1 } })
    const { json } = await call(two, `GET ${base()}/${id}`)
    expect(json).toMatchObject({ tally: { own: 'same_person' } })
    expect(await approve(two, id)).toMatchObject(another('same_person'))
    expect((await approve(await signIn('bob'), id)).json).toMatchObject({ status: 'approved' })
  })

  it('lower the approval policy not together', async () => {
    const other = await seed()
    const local = await makePuppet(other, 'administrator', 'hugo@example.com')
    const twin = await signIn('hugo', unclaimed)
    const laxer = { approvals: 1, author_counts: true }
    const policy = { production: laxer, other: laxer, unlabelled: laxer }
    expect((await call(twin, 'PUT /api/approval-policy', policy)).json).toHaveProperty('pending')
    expect(await call(local, 'PUT /api/approval-policy', policy)).toMatchObject({
      status: 409,
      json: { code: 'policy_needs_another' },
    })
  })

  it('are two of those who may approve: by a name that he chose nobody stays the only one', async () => {
    await database.pool.execute('update approver_history set had_two = false')
    const first = await signIn('mallory', { ...unclaimed, preferred_username: 'pia@example.com' })
    expect((await approve(first, await request(first, 1))).json).toMatchObject({ status: 'approved' })
    await signIn('pia')
    expect(await approve(first, await request(first, 2))).toMatchObject(another('author'))
  })
})

describe('whoever is linked to a local user', () => {
  it('is the person still whose former account asked for a text', async () => {
    const other = await seed()
    const before = await signIn('alice')
    await request(before, 1)
    await remove(other, before)
    await makePuppet(other, 'administrator', 'alice@example.com')
    await signIn('alice').catch(() => {})
    const [asked] = (await call(other, 'GET /api/link-requests')).json as { id: string }[]
    expect((await call(other, `POST /api/link-requests/${asked!.id}/accept`)).status).toBe(204)
    const after = await signIn('alice')
    expect(after.id).not.toBe(before.id)
    expect(await approve(after, await request(other, 1))).toMatchObject(another('same_person'))
  })
})
