import { afterAll, describe, expect, it } from 'vitest'
import type { OidcSettings } from '../../../lib/identity/oidc/settings.ts'
import { GATES } from '../../../lib/model/gates.ts'
import { createCompleteEdition, createEdition } from '../../../runtime/editions.ts'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

describe('the probes', () => {
  it('GET /healthz is ok without a database', async () => {
    const away = { ...ctx, readiness: { ping: async () => false } }
    expect(await invoke(away, 'GET /healthz')).toMatchObject({
      status: 200,
      text: 'ok',
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    })
  })

  it('GET /readyz follows the database and says nothing more', async () => {
    expect(await invoke(ctx, 'GET /readyz')).toMatchObject({ status: 200, text: 'ready' })
    const away = { ...ctx, readiness: { ping: async () => false } }
    expect(await invoke(away, 'GET /readyz')).toMatchObject({ status: 503, text: 'not ready\n' })
  })
})

describe('GET /api/system/database', () => {
  it('is nine whole numbers and nothing that says where the database is', async () => {
    const { token } = await signIn(ctx)
    const answer = await invoke(ctx, 'GET /api/system/database', { as: token })
    expect(Object.keys(answer.json as object)).toEqual([
      'max_open_connections',
      'open_connections',
      'in_use',
      'idle',
      'wait_count',
      'wait_duration_ms',
      'max_idle_closed',
      'max_idle_time_closed',
      'max_lifetime_closed',
    ])
    expect(Object.values(answer.json as object).every(Number.isSafeInteger)).toBe(true)
    expect(answer.json).toMatchObject({ max_open_connections: 12 })
  })

  it('is 503 where the store counts nothing', async () => {
    const { token } = await signIn(ctx)
    const answer = await invoke({ ...ctx, databaseStatistics: null }, 'GET /api/system/database', {
      as: token,
    })
    expect(answer).toMatchObject({ status: 503, json: { error: 'database statistics unavailable' } })
  })
})

describe('GET /api/system/info', () => {
  it('says which build runs, since when, on what, and where it listens', async () => {
    const { token } = await signIn(ctx)
    const startedAt = new Date('2026-07-01T08:00:00.000Z')
    const told = { ...ctx, running: { version: '1.2.3', nodeVersion: '24.1.0', startedAt } }
    const answer = await invoke(told, 'GET /api/system/info', { as: token })
    expect(answer.json).toEqual({
      version: '1.2.3',
      edition: 'community',
      started_at: '2026-07-01T08:00:00.000Z',
      node_version: '24.1.0',
      postgresql_version: expect.stringMatching(/^\d+\.\d+/),
      listeners: [
        { name: 'api', address: ctx.config.listenAddress },
        { name: 'opamp', address: ctx.config.opampAddress },
      ],
    })
  })

  it('names the metrics listener only where there is one, and never where the database is', async () => {
    const { token } = await signIn(ctx)
    const measured = { ...ctx, config: { ...ctx.config, metricsAddress: '127.0.0.1:9464' } }
    const answer = await invoke(measured, 'GET /api/system/info', { as: token })
    expect((answer.json as { listeners: object[] }).listeners.at(-1)).toEqual({
      name: 'metrics',
      address: '127.0.0.1:9464',
    })
    expect(answer.text).not.toContain('postgres://')
  })
})

describe('GET /api/v1/capabilities and /api/features', () => {
  it('are exactly two enabled capabilities in Community', async () => {
    expect((await invoke(ctx, 'GET /api/v1/capabilities')).json).toEqual({
      api_version: 'v1',
      capabilities: [
        { id: 'config_safety.approvals', state: 'enabled' },
        { id: 'config_safety.policy_preview', state: 'enabled' },
      ],
    })
    expect((await invoke(ctx, 'GET /api/features')).json).toEqual({
      features: { 'config_safety.approvals': true, 'config_safety.policy_preview': true },
    })
  })

  it('are every gate in the complete edition and the audit viewer, sorted', async () => {
    const complete = { ...ctx, edition: createCompleteEdition() }
    expect((await invoke(complete, 'GET /api/v1/capabilities')).json).toEqual({
      api_version: 'v1',
      capabilities: [...GATES, 'audit.viewer'].sort().map((id) => ({ id, state: 'enabled' })),
    })
  })

  it('show a capability that is off as such, whatever the licence opens', async () => {
    const edition = createEdition({
      name: 'test',
      capabilities: [{ id: 'config_safety.scoped_push', state: 'read_only', reason_code: 'read_only_mode' }],
      isLicensed: (gate) => gate === 'config_safety.canary_rollout',
    })
    expect(edition.gates.has('config_safety.scoped_push')).toBe(false)
    expect(edition.gates.has('config_safety.canary_rollout')).toBe(true)
    expect((await invoke({ ...ctx, edition }, 'GET /api/features')).json).toEqual({
      features: { 'config_safety.scoped_push': false },
    })
    const empty = { ...ctx, edition: createEdition({ name: 'empty', capabilities: [] }) }
    expect((await invoke(empty, 'GET /api/features')).json).toEqual({ features: {} })
    expect((await invoke(empty, 'GET /api/v1/capabilities')).json).toMatchObject({ capabilities: [] })
  })
})

describe('building an edition', () => {
  const build =
    (...capabilities: object[]) =>
    () =>
      createEdition({ name: 'test', capabilities: capabilities as never })

  it('refuses a document that breaks its own rules', () => {
    expect(build({ id: 'a', state: 'enabled' }, { id: 'a', state: 'enabled' })).toThrow('a is there twice')
    expect(build({ id: 'a', state: 'on' })).toThrow('unknown state')
    expect(build({ id: 'a', state: 'enabled', reason_code: 'not_enabled' })).toThrow('has a reason')
    expect(build({ id: 'a', state: 'disabled' })).toThrow('needs a known reason')
    expect(build({ id: 'a', state: 'read_only', reason_code: 'because' })).toThrow('needs a known reason')
  })
})

describe('GET /api/system/cluster', () => {
  it('says of a process that runs alone that it is not one of several', async () => {
    const { token } = await signIn(ctx)
    const answer = await invoke(ctx, 'GET /api/system/cluster', { as: token })
    expect(answer.json).toEqual({
      is_one_of_several: false,
      epoch: null,
      owned_since: null,
      served_by: null,
      takeovers: 0,
      members: [],
      departed: [],
      agents: { websocket: 0, polling: 0, awaited: 0 },
    })
  })
})

describe('GET /api/system/single-sign-on', () => {
  const oidc: OidcSettings = {
    issuer: 'https://login.example.com/realms/main',
    clientId: 'muster',
    clientSecret: 'not for anybody',
    clientAuth: 'basic',
    scopes: 'openid profile email',
    groupsClaim: 'groups',
    groupMap: new Map([
      ['otel-admins', ['administrator']],
      ['staff', ['viewer', 'nowhere']],
    ]),
    name: 'Example SSO',
    sessionMs: 36_000_000,
    publicUrl: 'https://muster.example.com',
    callbackUrl: 'https://muster.example.com/api/auth/oidc/callback',
  }
  const read = async (config: Partial<typeof ctx.config>) => {
    const { token } = await signIn(ctx)
    const told = { ...ctx, config: { ...ctx.config, ...config } }
    return invoke(told, 'GET /api/system/single-sign-on', { as: token })
  }

  it('says what is configured, where the provider sends to, and which groups there are not; and no secret', async () => {
    const { json, text } = await read({ oidc, publicUrl: oidc.publicUrl, onlyPasswordLogin: 'a@example.com' })
    expect(json).toEqual({
      provider: {
        name: 'Example SSO',
        issuer: oidc.issuer,
        client_id: 'muster',
        client_auth: 'basic',
        scopes: 'openid profile email',
        groups_claim: 'groups',
        session_hours: 10,
      },
      groups: [
        { theirs: 'otel-admins', ours: ['administrator'], missing: [] },
        { theirs: 'staff', ours: ['viewer', 'nowhere'], missing: ['nowhere'] },
      ],
      redirect_uri: oidc.callbackUrl,
      logout_uri: 'https://muster.example.com/api/auth/oidc/backchannel-logout',
      only_password_login: 'a@example.com',
    })
    expect(JSON.stringify(json) + text).not.toContain(oidc.clientSecret)
  })

  it('is empty where nothing is configured, and for administrators only', async () => {
    expect(await read({ oidc: null, publicUrl: '', onlyPasswordLogin: null })).toMatchObject({ json: {} })
    const { token } = await signIn(ctx, { groups: ['editor'] })
    expect(await invoke(ctx, 'GET /api/system/single-sign-on', { as: token })).toMatchObject({ status: 403 })
  })
})
