import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { OidcSettings } from '../../../lib/identity/oidc/settings.ts'
import { listAccountStandings } from '../../../lib/store/account-ties.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { LinkRequestRecord, Me, SignInRefusal, UserRecord } from '../../../lib/wire/identity.ts'
import type { Config } from '../../../runtime/config.ts'
import { addSession } from '../../support/invoke.ts'
import {
  CLIENT_ID,
  openJar,
  settingsFor,
  startProvider,
  type TestProvider,
} from '../../support/oidc/provider.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { findFreePort, startTestService, type TestService } from '../../support/service.ts'

const database = await useTestDatabase()
const port = await findFreePort()
const publicUrl = `http://127.0.0.1:${port}`
const host = `127.0.0.1:${port}`
let provider: TestProvider
let muster: TestService

beforeAll(async () => {
  provider = await startProvider(publicUrl)
})
afterAll(() => provider.stop())
beforeEach(async () => {
  await database.pool.execute(
    'delete from users; delete from external_ids; delete from provider_names; delete from ended_provider_sessions',
  )
  await provider.tell({ claims: ADA, forged: null, key: null, isUnpublished: false, isDenied: false })
})

const ADA = { sub: 'ada-1', email: 'ada@example.com', name: 'Ada', groups: ['otel-editors'] }

/** Run `work` against muster with these settings. */
async function withMuster(
  oidc: Partial<OidcSettings>,
  work: () => Promise<void>,
  config: Partial<Config> = {},
): Promise<void> {
  const settings = settingsFor(provider.issuer, publicUrl, oidc)
  muster = await startTestService(database, { listenAddress: host, publicUrl, oidc: settings, ...config })
  await work().finally(() => muster.stop())
}

const MAPPED = {
  groupMap: new Map([
    ['otel-editors', ['editor']],
    ['otel-admins', ['administrator']],
  ]),
}

/** Sign in as the user that was set at the provider. */
async function signIn(jar = openJar(), next = '/drift') {
  const { url } = await jar.follow(
    `${publicUrl}/api/auth/oidc/login?next=${encodeURIComponent(next)}`,
    (at) => at.host === host && !at.pathname.startsWith('/api/'),
  )
  const token = jar.cookie(host, 'om_session')
  const refusal = async () =>
    (await (await jar.get(`${publicUrl}/api/auth/oidc/refusal`)).json()) as SignInRefusal
  return { jar, url, token, landed: url.pathname + url.search, refusal }
}

const isCallback = (url: URL) => url.pathname.endsWith('/callback')

const me = async (token: string | undefined) =>
  (await muster.call('GET', '/api/me', { as: token ?? 'none' })).json as Me
const newest = async () =>
  (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 }))[0]!

describe('somebody of the provider', () => {
  it('is signed in, comes back to the page that was wanted, and has the groups that the claims map to', () =>
    withMuster(MAPPED, async () => {
      const { token, landed, jar } = await signIn()
      expect(landed).toBe('/drift')
      expect(jar.cookie(host, 'muster_sign_in')).toBeUndefined()
      expect(await me(token)).toMatchObject({
        email: 'ada@example.com',
        groups: [{ name: 'editor' }],
        has_password: false,
      })
      expect(await newest()).toMatchObject({ action: 'auth.login.success', email: 'ada@example.com' })
      const [session] = await database.pool.query<{ hours: number }>(
        'select round(extract(epoch from expires_at - created_at) / 3600)::int as hours from sessions',
      )
      expect(session).toEqual({ hours: 10 })
      // The same subject is the same user, also with another e-mail; the groups follow the claims of each sign-in.
      await provider.tell({ claims: { ...ADA, email: 'ada.l@example.com', groups: ['otel-admins', 'x'] } })
      const again = await signIn()
      const now = await me(again.token)
      expect(now).toMatchObject({ email: 'ada.l@example.com', groups: [{ name: 'administrator' }] })
      expect((await me(token)).id).toBe(now.id)
      const { json } = await muster.call('GET', '/api/users', { as: again.token! })
      expect(json).toMatchObject([
        { id: now.id, signs_in_with: 'provider', groups_from: 'provider', has_password: false },
      ])
      const change = { as: again.token!, body: { groups: ['viewer'] } }
      expect(await muster.call('PATCH', `/api/users/${now.id}`, change)).toMatchObject({
        status: 409,
        json: { code: 'groups_follow_claims' },
      })
      const reset = { as: again.token!, body: { password: 'correct horse battery' } }
      expect(await muster.call('PATCH', `/api/users/${now.id}`, reset)).toMatchObject({
        status: 409,
        json: { code: 'no_password_here' },
      })
    }))

  it('is offered by name, and only where it is configured', async () => {
    await withMuster({}, async () => {
      const { json } = await muster.call('GET', '/api/auth/methods')
      expect(json).toMatchObject({
        methods: [
          { id: 'password' },
          { id: 'oidc', type: 'sso', display_name: 'Test Directory', login_url: '/api/auth/oidc/login' },
        ],
      })
    })
    const plain = await startTestService(database)
    try {
      expect((await plain.call('GET', '/api/auth/methods')).json).toMatchObject({
        methods: [{ id: 'password' }],
      })
      expect((await plain.call('GET', '/api/auth/oidc/login')).status).toBe(404)
    } finally {
      await plain.stop()
    }
  })

  it('never comes back to another host', () =>
    withMuster({}, async () => {
      for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a\\..\\b', 'x'])
        expect((await signIn(openJar(), next)).landed).toBe('/')
    }))

  it('approves nothing that was asked for before the provider made the account, or regrouped it', () =>
    withMuster(MAPPED, async () => {
      const shaped = async (id: string, requestedAt: Date) => {
        const [account] = await listAccountStandings(database.pool, [id], [])
        return account && (account.changedAt ?? 0) > requestedAt
      }
      const idOf = async () => (await me((await signIn()).token)).id
      const before = new Date(Date.now() - 1_000)
      const first = await idOf()
      expect(await shaped(first, before)).toBe(true)
      const later = () => new Date(Date.now() + 1_000)
      expect(await shaped(first, later())).toBe(false)
      // A user who is removed and signs in again is the same one, with a new account, which may not approve a request
      // that is older than itself.
      await muster.call('DELETE', `/api/users/${first}`, { as: await muster.token() })
      const asked = new Date()
      const second = await idOf()
      expect(second).toBe(first)
      expect(await shaped(second, asked)).toBe(true)
      const between = async (change: object) => {
        await database.pool.execute(`update account_changes set changed_at = now() - interval '1 day'`)
        const at = new Date(Date.now() - 1_000)
        await provider.tell({ claims: { ...ADA, ...change } })
        expect(await idOf()).toBe(second)
        return shaped(second, at)
      }
      expect(await between({ email: 'ada.l@example.com' })).toBe(false)
      expect(await between({ groups: ['otel-admins'] })).toBe(true)
      expect(await between({ groups: ['otel-admins', 'x'] })).toBe(false)
    }))

  it('has no entry without a group that means something, loses what was open, and reads which groups came', () =>
    withMuster(MAPPED, async () => {
      const first = await signIn()
      expect((await muster.call('GET', '/api/me', { as: first.token! })).status).toBe(200)
      const expires_at = new Date(Date.now() + 3_600_000).toISOString()
      const asked = { as: first.token!, body: { name: 'ci', permissions: [], expires_at } }
      const made = (await muster.call('POST', '/api/tokens', asked)).json as { token: string }
      expect((await muster.call('GET', '/api/me', { as: made.token })).status).toBe(200)
      await provider.tell({ claims: { ...ADA, groups: ['cooks', 'gardeners'] } })
      const { landed, token, refusal } = await signIn()
      expect([landed, token]).toEqual(['/login?sso=refused', undefined])
      expect(await refusal()).toEqual({ reason: 'no_group', groups: ['cooks', 'gardeners'] })
      expect(await newest()).toMatchObject({ action: 'auth.login.failure' })
      expect((await muster.call('GET', '/api/me', { as: first.token! })).status).toBe(401)
      expect((await muster.call('GET', '/api/me', { as: made.token })).json).toMatchObject({
        code: 'holder_inactive',
      })
    }))

  it('reads which groups came in whatever script, as many as a cookie holds', () =>
    withMuster(MAPPED, async () => {
      const groups = ['\u0001'.repeat(800), ...Array.from({ length: 120 }, (_, n) => `運用監視グループ${n}`)]
      await provider.tell({ claims: { ...ADA, groups } })
      const jar = openJar()
      const { url } = await jar.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
      const cookies = (await jar.get(url.href)).headers.getSetCookie()
      for (const cookie of cookies) expect(cookie.length).toBeLessThan(4_096)
      const { reason, groups: shown } = (await (
        await jar.get(`${publicUrl}/api/auth/oidc/refusal`)
      ).json()) as SignInRefusal
      expect(reason).toBe('no_group')
      // The first is too long for a cookie; what comes behind it is not.
      expect(shown?.slice(0, 60)).toEqual(groups.slice(1, 61))
    }))

  it('stays the last administrator, which is recorded and alarmed of, until the groups or somebody else say otherwise', () =>
    withMuster(MAPPED, async () => {
      await provider.tell({ claims: { ...ADA, groups: ['otel-admins'] } })
      await signIn()
      // Nobody but Ada is an administrator from here on.
      await database.pool.execute("delete from users where kind = 'local'")
      const namesOf = async (token: string | undefined) =>
        (await me(token)).groups.map(({ name }: { name: string }) => name)
      const kept = () => database.pool.query('select email from users where is_kept_administrator')
      await provider.tell({ claims: ADA })
      const lowered = await signIn()
      expect(await namesOf(lowered.token)).toEqual(['administrator', 'editor'])
      expect((await newest()).detail).toContain('"kept_administrator":true')
      expect(await kept()).toHaveLength(1)
      // Without any group there is no entry, and still an administrator for the day on which the groups are right.
      await provider.tell({ claims: { ...ADA, groups: ['cooks'] } })
      expect((await signIn()).token).toBeUndefined()
      expect((await newest()).detail).toContain('"kept_administrator":true')
      expect(await kept()).toHaveLength(1)
      await provider.tell({
        claims: { ...ADA, sub: 'bob-1', email: 'bob@example.com', groups: ['otel-admins'] },
      })
      await signIn()
      await provider.tell({ claims: ADA })
      expect(await namesOf((await signIn()).token)).toEqual(['editor'])
      expect(await kept()).toEqual([])
    }))

  it('has no entry by a group of muster that is gone', () =>
    withMuster({ groupMap: new Map([['shop', ['shop-editors']]]) }, async () => {
      const as = await muster.token()
      const body = { name: 'shop-editors', role: 'editor', scope: null }
      const { id } = (await muster.call('POST', '/api/groups', { as, body })).json as { id: string }
      await provider.tell({ claims: { ...ADA, groups: ['shop', 'cooks'] } })
      const first = await signIn()
      expect(await me(first.token)).toMatchObject({ groups: [{ name: 'shop-editors' }] })
      const { id: ada } = await me(first.token)
      await muster.call('DELETE', `/api/users/${ada}`, { as })
      expect((await muster.call('DELETE', `/api/groups/${id}`, { as })).status).toBe(204)
      const { landed, token, refusal } = await signIn()
      expect([landed, token]).toEqual(['/login?sso=refused', undefined])
      expect(await refusal()).toEqual({
        reason: 'no_group',
        groups: ['shop', 'cooks'],
        mapped_to_missing: true,
      })
      // Once at the start, when nobody had made it yet, and once by her.
      const missing = muster.log.lines.filter(({ message }) => message.includes('group map'))
      const line = { level: 'warn', fields: { err: 'shop-editors' } }
      expect(missing).toMatchObject([line, line])
      expect(await database.pool.query("select 1 from users where kind <> 'local'")).toEqual([])
      // It is back: so is she.
      await muster.call('POST', '/api/groups', { as, body })
      expect(await me((await signIn()).token)).toMatchObject({ groups: [{ name: 'shop-editors' }] })
    }))

  it('is refused where the provider left groups out because there are too many', () =>
    withMuster(MAPPED, async () => {
      for (const overage of [{ _claim_names: { groups: 'src1' } }, { hasgroups: true }]) {
        await provider.tell({ claims: { ...ADA, ...overage } })
        expect(await (await signIn()).refusal()).toEqual({ reason: 'groups_overage' })
      }
      expect(await database.pool.query('select 1 from users')).toEqual([])
    }))

  it('gets its groups from administrators where nothing is mapped', () =>
    withMuster({}, async () => {
      const { token } = await signIn()
      const { id, groups } = await me(token)
      expect(groups).toEqual([])
      const admin = await muster.token()
      await muster.call('PATCH', `/api/users/${id}`, { as: admin, body: { groups: ['editor'] } })
      const again = await signIn()
      expect((await me(again.token)).groups).toMatchObject([{ name: 'editor' }])
    }))
})

describe('whoever has the e-mail of a local user', () => {
  it('waits until an administrator says that they are the same', () =>
    withMuster(MAPPED, async () => {
      const admin = await muster.token()
      const local = (
        await muster.call('POST', '/api/users', {
          as: admin,
          body: { email: 'Ada@Example.com', password: 'correct horse battery', groups: ['administrator'] },
        })
      ).json as UserRecord
      for (const _ of [1, 2]) expect(await (await signIn()).refusal()).toEqual({ reason: 'link_requested' })
      const requests = async () =>
        (await muster.call('GET', '/api/link-requests', { as: admin })).json as LinkRequestRecord[]
      const [request, ...more] = await requests()
      expect(more).toEqual([])
      expect(request).toMatchObject({ user_id: local.id, subject: 'ada-1', email: 'ada@example.com' })
      await muster.call('DELETE', `/api/link-requests/${request!.id}`, { as: admin })
      expect(await requests()).toEqual([])
      await signIn()
      const [second] = await requests()
      const accept = () => muster.call('POST', `/api/link-requests/${second!.id}/accept`, { as: admin })
      expect(await accept()).toMatchObject({ status: 204 })
      expect(await accept()).toMatchObject({ status: 404 })
      const { token } = await signIn()
      expect(await me(token)).toMatchObject({ id: local.id, groups: [{ name: 'editor' }] })
    }))

  it('takes the name of a local user at no later sign-in either, and that is recorded', () =>
    withMuster(MAPPED, async () => {
      const admin = await muster.token()
      const body = { email: 'boss@example.com', password: 'correct horse battery', groups: ['administrator'] }
      await muster.call('POST', '/api/users', { as: admin, body })
      const first = await me((await signIn()).token)
      await provider.tell({ claims: { ...ADA, email: 'Boss@Example.com', name: 'Boss' } })
      const later = await me((await signIn()).token)
      expect([later.id, later.email]).toEqual([first.id, 'ada@example.com'])
      const { detail, email } = await newest()
      expect([email, detail]).toEqual([
        'ada@example.com',
        expect.stringContaining('"name_taken":"Boss@Example.com"'),
      ])
    }))

  it('asks for nothing where the provider says no e-mail, but a user name that is one: people may choose that', () =>
    withMuster(MAPPED, async () => {
      const admin = await muster.token()
      const body = { email: 'boss@example.com', password: 'correct horse battery', groups: ['administrator'] }
      await muster.call('POST', '/api/users', { as: admin, body })
      await provider.tell({ claims: { ...ADA, email: undefined, preferred_username: 'boss@example.com' } })
      const { email } = (await me((await signIn()).token)) as { email: string }
      expect(email).toMatch(/^boss@example\.com \(.+\)$/)
      expect((await muster.call('GET', '/api/link-requests', { as: admin })).json).toEqual([])
    }))

  it('asks for nothing with an e-mail that the provider itself calls unverified, and is not called by it', () =>
    withMuster(MAPPED, async () => {
      const admin = await muster.token()
      const body = { email: 'boss@example.com', password: 'correct horse battery', groups: ['administrator'] }
      await muster.call('POST', '/api/users', { as: admin, body })
      await provider.tell({ claims: { ...ADA, email: 'boss@example.com', email_verified: false } })
      expect(await me((await signIn()).token)).toMatchObject({ email: 'Ada' })
      expect((await muster.call('GET', '/api/link-requests', { as: admin })).json).toEqual([])
    }))

  it('is never linked to an administrator whom the settings name', () =>
    withMuster(
      MAPPED,
      async () => {
        await signIn()
        const admin = await muster.token()
        const [request] = (await muster.call('GET', '/api/link-requests', { as: admin }))
          .json as LinkRequestRecord[]
        expect(
          await muster.call('POST', `/api/link-requests/${request!.id}/accept`, { as: admin }),
        ).toMatchObject({
          status: 409,
          json: { code: 'seed_admin' },
        })
      },
      { seedAdmin: { email: 'ada@example.com', password: 'correct horse battery' } },
    ))
})

describe('what does not hold is refused', () => {
  const refused = { reason: 'provider_refused' }

  it('a wrong issuer, audience or nonce, a token of the past, and an unknown key', () =>
    withMuster({}, async () => {
      const past = Math.floor(Date.now() / 1_000) - 120
      for (const forged of [
        { iss: 'http://127.0.0.1:1' },
        { aud: 'another' },
        { aud: [CLIENT_ID, 'another'], azp: 'another' },
        { nonce: 'another' },
        { nonce: null },
        { exp: past },
      ]) {
        await provider.tell({ forged })
        expect([forged, await (await signIn()).refusal()]).toEqual([forged, refused])
      }
      for (const sub of ['a\0b', 'x'.repeat(256)]) {
        await provider.tell({ claims: { sub } })
        expect(await (await signIn()).refusal()).toEqual(refused)
      }
      await provider.tell({ claims: ADA, forged: null, isUnpublished: true })
      expect(await (await signIn()).refusal()).toEqual(refused)
      expect(await database.pool.query('select 1 from users')).toEqual([])
    }))

  it('the discovery of another issuer', () =>
    withMuster({ issuer: `http://localhost:${provider_port()}` }, async () => {
      expect(await (await signIn()).refusal()).toEqual(refused)
    }))

  it('a code that was used, a state that is another browser’s, and a flow that is over', () =>
    withMuster({}, async () => {
      const jar = openJar()
      const { url: callback } = await jar.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
      const flow = jar.cookie(host, 'muster_sign_in')!
      // The callback is refused in a browser that has begun no sign-in, or another one.
      expect((await openJar().get(callback.href)).headers.get('location')).toBe('/login?sso=refused')
      const victim = openJar()
      await victim.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
      await victim.get(callback.href)
      expect(victim.cookie(host, 'om_session')).toBeUndefined()
      expect(await (await victim.get(`${publicUrl}/api/auth/oidc/refusal`)).json()).toEqual({
        reason: 'sign_in_lost',
      })
      expect((await jar.get(callback.href)).headers.get('location')).toBe('/')
      const replay = (cookie: string) => fetch(callback, { redirect: 'manual', headers: { cookie } })
      for (const cookie of [`muster_sign_in=${flow}`, `muster_sign_in=${flow}x`, '']) {
        const answer = await replay(cookie)
        expect(answer.headers.get('location')).toBe('/login?sso=refused')
        expect(answer.headers.getSetCookie().join()).not.toContain('om_session')
      }
    }))

  it('a callback of a flow that has had one, also where that one failed', () =>
    withMuster({}, async () => {
      const jar = openJar()
      const { url: callback } = await jar.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
      const flow = jar.cookie(host, 'muster_sign_in')!
      const wrong = new URL(callback)
      wrong.searchParams.set('code', 'guessed')
      const comeBack = async (at: URL) => {
        const answer = await fetch(at, { redirect: 'manual', headers: { cookie: `muster_sign_in=${flow}` } })
        const [refusal] = answer.headers
          .getSetCookie()
          .filter((of) => of.startsWith('muster_sign_in_refusal='))
        const cookie = refusal?.split(';')[0] ?? ''
        return (await fetch(`${publicUrl}/api/auth/oidc/refusal`, { headers: { cookie } })).json()
      }
      expect(await comeBack(wrong)).toEqual(refused)
      expect(await comeBack(wrong)).toEqual({ reason: 'sign_in_lost' })
      expect(await comeBack(callback)).toEqual({ reason: 'sign_in_lost' })
    }))

  it('nobody for however many sign-ins of the same address that failed, begun here or not', () =>
    withMuster({}, async () => {
      for (const change of ['error=access_denied', 'error=server_error', 'code=guessed'])
        for (let n = 0; n < 12; n++) {
          const jar = openJar()
          const { url } = await jar.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
          const state = url.searchParams.get('state')
          const at = `${publicUrl}/api/auth/oidc/callback?${change}&state=${state}`
          expect((await jar.get(at)).headers.get('location')).toBe('/login?sso=refused')
        }
      const { token, refusal } = await signIn()
      expect([token !== undefined, await refusal()]).toEqual([true, {}])
    }))

  it('nobody for the callbacks of strangers who have begun no sign-in, behind a proxy that gives all one address', () =>
    withMuster({}, async () => {
      const jar = openJar()
      const { url: replayed } = await jar.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
      const cookie = `muster_sign_in=${jar.cookie(host, 'muster_sign_in')}`
      await fetch(replayed, { redirect: 'manual', headers: { cookie } })
      const stray = async (query: string, headers: Record<string, string> = {}) => {
        const answer = await fetch(`${publicUrl}/api/auth/oidc/callback${query}`, {
          redirect: 'manual',
          headers,
        })
        expect(answer.headers.get('location')).toBe('/login?sso=refused')
      }
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          await stray('')
          await stray('?state=x&code=y')
          await stray('?state=x&code=y', { cookie })
          await stray(replayed.search, { cookie })
        }),
      )
      const { token, refusal } = await signIn()
      expect([token !== undefined, await refusal()]).toEqual([true, {}])
    }))

  it('whoever says no at the provider', () =>
    withMuster({}, async () => {
      await provider.tell({ isDenied: true })
      expect(await (await signIn()).refusal()).toEqual({ reason: 'sign_in_cancelled' })
    }))
})

const provider_port = () => new URL(provider.issuer).port

describe('a provider', () => {
  it('that signs with another key is followed', () =>
    withMuster({}, async () => {
      expect((await signIn()).token).toBeDefined()
      await provider.tell({ rotate: true })
      const { token, refusal } = await signIn()
      expect([token !== undefined, await refusal()]).toEqual([true, {}])
    }))

  it.each([
    [59, true],
    [-59, true],
    [300, false],
    [-900, false],
  ])('whose clock is %i s off is believed: %s', async (seconds, isBelieved) => {
    const off = await startProvider(publicUrl, { clockOffsetMs: seconds * 1_000 })
    try {
      await off.tell({ claims: ADA })
      await withMuster({ issuer: off.issuer }, async () => {
        const { token, refusal } = await signIn()
        expect(token !== undefined).toBe(isBelieved)
        if (!isBelieved) expect(await refusal()).toEqual({ reason: 'provider_refused' })
      })
    } finally {
      await off.stop()
    }
  })

  it('that is away stops new sign-ins only, and not the start', async () => {
    const away = await startProvider(publicUrl)
    await away.tell({ claims: ADA })
    await withMuster({ issuer: away.issuer }, async () => {
      const { token } = await signIn()
      const jar = openJar()
      const { url: callback } = await jar.follow(`${publicUrl}/api/auth/oidc/login`, (url) =>
        url.pathname.endsWith('/callback'),
      )
      await away.stop()
      await jar.get(callback.href)
      expect(await (await jar.get(`${publicUrl}/api/auth/oidc/refusal`)).json()).toEqual({
        reason: 'provider_away',
      })
      expect((await muster.call('GET', '/api/me', { as: token! })).status).toBe(200)
    })
    await withMuster({ issuer: away.issuer }, async () => {
      const { landed, refusal } = await signIn()
      expect(landed).toBe('/login?sso=refused')
      expect(await refusal()).toEqual({ reason: 'provider_away' })
    })
  })
})

describe('a logout at the provider', () => {
  const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const nowS = () => Math.floor(Date.now() / 1_000)
  const post = (token: string) =>
    fetch(`${publicUrl}/api/auth/oidc/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    })
  const sidOf = async () =>
    (await database.pool.query<{ sid: string }>('select provider_session as sid from sessions'))[0]!.sid

  it('ends the session that it opened, its sockets, and no other', () =>
    withMuster({}, async () => {
      const { token } = await signIn()
      const sid = await sidOf()
      const other = await signIn()
      const socket = new WebSocket(`${publicUrl.replace('http', 'ws')}/ws?token=${token}`)
      await new Promise((resolve) => socket.on('open', resolve))
      const closed = new Promise<number>((resolve) => socket.on('close', resolve))
      const base = { iss: provider.issuer, aud: CLIENT_ID, iat: nowS(), jti: 'x', sub: 'ada-1' }
      const answer = await post(await provider.sign({ ...base, sid, events: EVENTS }))
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(await closed).toBe(1008)
      expect((await muster.call('GET', '/api/me', { as: token! })).status).toBe(401)
      expect((await muster.call('GET', '/api/me', { as: other.token! })).status).toBe(200)
      expect((await post(await provider.sign({ ...base, events: EVENTS }))).status).toBe(200)
      expect((await muster.call('GET', '/api/me', { as: other.token! })).status).toBe(401)
    }))

  it('that is refused is in the log, with why, as the provider says it once and nobody else is told', () =>
    withMuster({}, async () => {
      const base = { iss: provider.issuer, iat: nowS(), jti: 'x', sub: 'ada-1', events: EVENTS }
      // A stranger's rubbish does not hide why those of the provider are refused.
      for (let n = 0; n < 3; n++) expect((await post('rubbish')).status).toBe(400)
      expect((await post(await provider.sign({ ...base, aud: 'grafana' }))).status).toBe(400)
      const lines = muster.log.lines.filter(({ message }) => message.includes('logout token'))
      const invalid = { code: 'logout-token-invalid', count: 1 }
      expect(lines.map(({ level, fields }) => [level, fields])).toEqual([
        ['warn', { ...invalid, err: 'ERR_JWS_INVALID' }],
        ['warn', { ...invalid, err: 'unexpected "aud" claim value' }],
      ])
    }))

  it('ends the command lines that were signed in in that session, and by a subject all of that person', () =>
    withMuster({}, async () => {
      const [one, two] = [await signIn(), await signIn()]
      const commandLine = async (session: string | undefined) => {
        const verifier = randomBytes(32).toString('base64url')
        const challenge = createHash('sha256').update(verifier).digest('base64url')
        const login = { challenge, state: 'a-state-of-the-command-line', port: 40_123, machine: 'laptop' }
        const asked = await muster.call('POST', '/api/auth/command-line', { as: session!, body: login })
        const code = new URL((asked.json as { redirect_to: string }).redirect_to).searchParams.get('code')
        const body = { code, verifier }
        return (await muster.call('POST', '/api/auth/command-line/token', { body })).json as { token: string }
      }
      const [first, second] = [await commandLine(one.token), await commandLine(two.token)]
      const standing = async () =>
        Promise.all(
          [first, second].map(
            async ({ token }) => (await muster.call('GET', '/api/me', { as: token })).status,
          ),
        )
      expect(await standing()).toEqual([200, 200])
      const [{ sid } = { sid: '' }] = await database.pool.query<{ sid: string }>(
        'select provider_session as sid from sessions order by created_at, id',
      )
      const base = {
        iss: provider.issuer,
        aud: CLIENT_ID,
        iat: nowS(),
        jti: 'x',
        sub: 'ada-1',
        events: EVENTS,
      }
      expect((await post(await provider.sign({ ...base, sid }))).status).toBe(200)
      expect(await standing()).toEqual([401, 200])
      expect((await post(await provider.sign(base))).status).toBe(200)
      expect(await standing()).toEqual([401, 401])
    }))

  it('ends a sign-in of that session, or of that person, that is under way and not back yet', () =>
    withMuster({}, async () => {
      const jar = openJar()
      await signIn(jar)
      const sid = await sidOf()
      const begin = async () => (await jar.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)).url
      const comeBack = async (callback: URL) => (await jar.get(callback.href)).headers.get('location')
      const base = { iss: provider.issuer, aud: CLIENT_ID, iat: nowS(), jti: 'x', events: EVENTS }
      const sessions = () => database.pool.query('select 1 from sessions')
      const underWay = await begin()
      expect((await post(await provider.sign({ ...base, sid }))).status).toBe(200)
      expect([await comeBack(underWay), await sessions()]).toEqual(['/login?sso=refused', []])
      const other = openJar()
      const { url } = await other.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
      expect((await post(await provider.sign({ ...base, sub: 'ada-1' }))).status).toBe(200)
      expect((await other.get(url.href)).headers.get('location')).toBe('/login?sso=refused')
      expect(await sessions()).toEqual([])
      // Whoever signs in anew afterwards gets in.
      expect((await signIn()).token).toBeDefined()
    }))

  it('of a session and a subject ends what that person opened without saying of which session it is', () =>
    withMuster({}, async () => {
      const base = { iss: provider.issuer, aud: CLIENT_ID, iat: nowS(), sub: 'ada-1', events: EVENTS }
      const named = await signIn()
      await provider.tell({ forged: { sid: null } })
      const [one, two] = [await signIn(), await signIn()]
      await provider.tell({ claims: { ...ADA, sub: 'eve-1', email: 'eve@example.com' } })
      const eve = await signIn()
      await provider.tell({ claims: ADA })
      const jar = openJar()
      const { url } = await jar.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
      expect((await post(await provider.sign({ ...base, jti: 'a', sid: 'unknown' }))).status).toBe(200)
      const statuses = [named, one, two, eve].map(
        async ({ token }) => (await muster.call('GET', '/api/me', { as: token! })).status,
      )
      expect(await Promise.all(statuses)).toEqual([200, 401, 401, 200])
      // Nor does a sign-in that was under way open one.
      expect((await jar.get(url.href)).headers.get('location')).toBe('/login?sso=refused')
    }))

  it('ends nothing that was opened after it, however often the same token is sent', () =>
    withMuster({}, async () => {
      const first = await signIn()
      const base = { iss: provider.issuer, aud: CLIENT_ID, iat: nowS(), jti: 'x', events: EVENTS }
      const token = await provider.sign({ ...base, sub: 'ada-1' })
      const statusOf = async (session: string | undefined) =>
        (await muster.call('GET', '/api/me', { as: session! })).status
      expect((await post(token)).status).toBe(200)
      expect(await statusOf(first.token)).toBe(401)
      const second = await signIn()
      const jar = openJar()
      const { url } = await jar.follow(`${publicUrl}/api/auth/oidc/login`, isCallback)
      expect((await post(token)).status).toBe(200)
      expect(await statusOf(second.token)).toBe(200)
      expect((await jar.get(url.href)).headers.get('location')).toBe('/')
      // Another token is another logout.
      expect((await post(await provider.sign({ ...base, jti: 'y', sub: 'ada-1' }))).status).toBe(200)
      expect(await statusOf(second.token)).toBe(401)
    }))

  it('by a subject ends what a linked user opened with a password, too', () =>
    withMuster(MAPPED, async () => {
      const admin = await muster.token()
      const password = 'correct horse battery'
      const body = { email: 'ada@example.com', password, groups: ['viewer'] }
      const eve = { ...body, email: 'eve@example.com' }
      await muster.call('POST', '/api/users', { as: admin, body: eve })
      const { id } = (await muster.call('POST', '/api/users', { as: admin, body })).json as UserRecord
      const logIn = () => muster.call('POST', '/api/auth/login', { body: { email: body.email, password } })
      await signIn()
      const [request] = (await muster.call('GET', '/api/link-requests', { as: admin }))
        .json as LinkRequestRecord[]
      await muster.call('POST', `/api/link-requests/${request!.id}/accept`, { as: admin })
      expect((await logIn()).status).toBe(401)
      // No administrator gives her a password again, and one that an older process gave her fits no more.
      const change = { as: admin, body: { password: 'another battery staple' } }
      expect(await muster.call('PATCH', `/api/users/${id}`, change)).toMatchObject({
        status: 409,
        json: { code: 'no_password_here' },
      })
      const users = (await muster.call('GET', '/api/users', { as: admin })).json as UserRecord[]
      expect(users.find((user) => user.id === id)).toMatchObject({ has_password: false })
      await database.pool.execute(
        `update users set password_hash = (select password_hash from users where email = 'eve@example.com') where id = $1`,
        [id],
      )
      expect((await logIn()).status).toBe(401)
      const { token } = await addSession(muster.service.ctx as never, { userId: id, email: body.email })
      expect(await muster.call('GET', '/api/me', { as: token })).toMatchObject({
        status: 200,
        json: { has_password: false },
      })
      const base = { iss: provider.issuer, aud: CLIENT_ID, iat: nowS(), jti: 'x', sub: 'ada-1' }
      expect((await post(await provider.sign({ ...base, events: EVENTS }))).status).toBe(200)
      expect((await muster.call('GET', '/api/me', { as: token })).status).toBe(401)
    }))

  it('is what the provider itself tells when somebody logs out there', () =>
    withMuster({}, async () => {
      const { jar, token } = await signIn()
      const page = await (await jar.get(`${provider.issuer}/session/end`)).text()
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)![1]!
      const body = new URLSearchParams({ xsrf, logout: 'yes' })
      await jar.get(`${provider.issuer}/session/end/confirm`, { method: 'POST', body })
      expect((await muster.call('GET', '/api/me', { as: token! })).status).toBe(401)
    }))

  it('signed with a key that is new since the keys were last asked for ends the session all the same', () =>
    withMuster({}, async () => {
      const { token } = await signIn()
      const base = { iss: provider.issuer, aud: CLIENT_ID, iat: nowS(), jti: 'x', events: EVENTS }
      const other = await provider.sign({ ...base, sub: 'somebody-else' })
      expect((await post(other)).status).toBe(200)
      await provider.tell({ rotate: true })
      expect((await post(await provider.sign({ ...base, sub: 'ada-1' }))).status).toBe(200)
      expect((await muster.call('GET', '/api/me', { as: token! })).status).toBe(401)
    }))

  it('is believed only from the provider, for us, now, as what it is', () =>
    withMuster({}, async () => {
      const { token } = await signIn()
      const sid = await sidOf()
      const good = { iss: provider.issuer, aud: CLIENT_ID, iat: nowS(), jti: 'x', sid, events: EVENTS }
      for (const change of [
        { iss: 'http://127.0.0.1:1' },
        { aud: 'another' },
        { iat: nowS() - 3_600 },
        { iat: nowS() + 3_600 },
        { iat: undefined },
        { events: {} },
        { events: { 'http://schemas.openid.net/event/backchannel-logout': 'x' } },
        { nonce: 'n' },
        { sid: undefined },
        { exp: nowS() - 3_600 },
      ])
        expect([change, (await post(await provider.sign({ ...good, ...change }))).status]).toEqual([
          change,
          400,
        ])
      await provider.tell({ isUnpublished: true })
      expect((await post(await provider.sign(good))).status).toBe(400)
      const none = Buffer.from('{"alg":"none"}').toString('base64url')
      const payload = Buffer.from(JSON.stringify(good)).toString('base64url')
      for (const forged of [`${none}.${payload}.`, '', 'x', token!])
        expect((await post(forged)).status).toBe(400)
      expect((await muster.call('GET', '/api/me', { as: token! })).status).toBe(200)
    }))
})
