import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../runtime/config.ts'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

const SECRET = 'what every agent knows'
const withSettings = (settings: Partial<typeof ctx.config>) => ({
  ...ctx,
  config: { ...ctx.config, ...settings },
})

describe('GET /api/connect', () => {
  it('names the address that this service knows, to a viewer too, and never the credential', async () => {
    const { token } = await signIn(ctx, { groups: ['viewer'] })
    const behind = withSettings({
      publicUrl: 'https://muster.example.com',
      opampAddress: '10.0.0.7:4999',
      opampSharedSecret: SECRET,
    })
    const answer = await invoke(behind, 'GET /api/connect', { as: token })
    expect(answer).toMatchObject({
      status: 200,
      json: { url: 'wss://muster.example.com:4999/v1/opamp', host_from: 'public_url', needs_secret: true },
    })
    expect(answer.text).not.toContain(SECRET)
  })

  it('names the address that a proxy has for agents, whatever the listener’s is', async () => {
    const { token } = await signIn(ctx, { groups: ['viewer'] })
    const read = readConfig({
      JWT_SECRET: 'x'.repeat(40),
      DB_DSN: 'postgres://db',
      OPAMP_ADDR: ':4999',
      MUSTER_PUBLIC_URL: 'https://muster.example.com',
      MUSTER_OPAMP_PUBLIC_URL: 'https://opamp.example.com/',
    })
    if (!read.ok) throw new Error(read.error)
    const { agentUrl, publicUrl, opampAddress } = read.config
    const proxied = withSettings({ agentUrl, publicUrl, opampAddress })
    expect((await invoke(proxied, 'GET /api/connect', { as: token })).json).toMatchObject({
      url: 'wss://opamp.example.com/v1/opamp',
      host_from: 'agent_url',
    })
  })

  it.each(['opamp.example.com', 'ftp://x', 'wss://u:p@x', 'wss://x/other', 'wss://x/?a=b'])(
    'is not started with %s for it',
    (url) => {
      const base = { JWT_SECRET: 'x'.repeat(40), DB_DSN: 'postgres://db' }
      expect(readConfig({ ...base, MUSTER_OPAMP_PUBLIC_URL: url })).toMatchObject({
        ok: false,
        error: expect.stringMatching(/^MUSTER_OPAMP_PUBLIC_URL must be/),
      })
    },
  )

  it('takes the host that was asked for where no public address is set', async () => {
    const { token } = await signIn(ctx)
    const plain = withSettings({ publicUrl: '', opampAddress: ':4320', opampSharedSecret: '' })
    const ask = (host: string) => invoke(plain, 'GET /api/connect', { as: token, headers: { host } })
    expect((await ask('collectors.internal:8080')).json).toEqual({
      url: 'ws://collectors.internal:4320/v1/opamp',
      host_from: 'request',
      needs_secret: false,
    })
    expect((await ask('[::1]:8080')).json).toMatchObject({ url: 'ws://[::1]:4320/v1/opamp' })
    // A header is the caller's to choose: what is no host is not repeated.
    expect((await ask('evil\n  x: y')).json).toMatchObject({ url: 'ws://localhost:4320/v1/opamp' })
    expect((await ask('a/b?c')).json).toMatchObject({ url: 'ws://localhost:4320/v1/opamp' })
  })
})

describe('POST /api/connect/credential', () => {
  const guarded = withSettings({ opampSharedSecret: SECRET })

  it('gives the credential to a person who manages the settings, keeps it out of caches, and records who saw it', async () => {
    const { token, email } = await signIn(ctx, { groups: ['administrator'] })
    const answer = await invoke(guarded, 'POST /api/connect/credential', { as: token })
    expect(answer).toMatchObject({ status: 200, json: { secret: SECRET } })
    expect(answer.headers['Cache-Control']).toBe('no-store')
    const audited = await database.pool.query<{ email: string; detail: string }>(
      'select email, detail from audit_events where action = $1',
      ['opamp.credential_shown'],
    )
    expect(audited).toEqual([{ email, detail: '' }])
  })

  it('gives it to nobody else', async () => {
    for (const group of ['viewer', 'editor'] as const) {
      const { token } = await signIn(ctx, { groups: [group] })
      const answer = await invoke(guarded, 'POST /api/connect/credential', { as: token })
      expect(answer.status).toBe(403)
      expect(answer.text).not.toContain(SECRET)
    }
  })

  it('says that there is none where agents need none', async () => {
    const { token } = await signIn(ctx)
    const open = withSettings({ opampSharedSecret: '' })
    expect((await invoke(open, 'POST /api/connect/credential', { as: token })).json).toEqual({ secret: '' })
  })
})
