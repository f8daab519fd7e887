import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { UserRecord } from '../../../lib/wire/identity.ts'
import { addSession, createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { settingsFor } from '../../support/oidc/provider.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { startTestService } from '../../support/service.ts'

const database = await useTestDatabase()
const EMAIL = 'last@example.com'
const PASSWORD = 'correct horse battery'
const config = {
  webhookUrl: 'https://hooks.example.com/muster',
  onlyPasswordLogin: EMAIL,
  publicUrl: 'http://127.0.0.1:1',
  oidc: settingsFor('http://127.0.0.1:2', 'http://127.0.0.1:1'),
}
const ctx = createTestContext(database, { config })
afterAll(() => ctx.close())
const made: Record<string, UserRecord> = {}
let admin: Awaited<ReturnType<typeof signIn>>
const logIn = (email: string) => invoke(ctx, 'POST /api/auth/login', { body: { email, password: PASSWORD } })
beforeAll(async () => {
  admin = await signIn(ctx, { email: 'admin@example.com' })
})

describe('PASSWORD_LOGIN=only', () => {
  it('does not start without that administrator', async () => {
    await expect(startTestService(database, config)).rejects.toThrow(
      'PASSWORD_LOGIN=only:last@example.com: there is no local administrator with this e-mail',
    )
  })

  it('lets the one administrator in with a password, tells the log of it, and nobody else', async () => {
    for (const email of [EMAIL, 'other@example.com']) {
      const body = { email, password: PASSWORD, groups: ['administrator'] }
      made[email] = (await invoke(ctx, 'POST /api/users', { as: admin.token, body })).json as UserRecord
    }
    expect(await logIn('other@example.com')).toMatchObject({
      status: 401,
      json: { error: 'invalid credentials' },
    })
    expect(ctx.log.lines.filter(({ level }) => level === 'warn')).toEqual([])
    expect(await logIn('LAST@example.com')).toMatchObject({ status: 200 })
    expect(ctx.log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { email: EMAIL } },
    ])
    const started = await startTestService(database, config)
    await started.stop()
  })

  it('does not start where the provider vouches for that account, which then has no password', async () => {
    const bind = (issuer: string | null) =>
      database.pool.execute('update users set issuer = $2, subject = $2 where email_key = $1', [
        EMAIL,
        issuer,
      ])
    await bind('https://login.example.com')
    try {
      await expect(startTestService(database, config)).rejects.toThrow(
        'PASSWORD_LOGIN=only:last@example.com: this user signs in with the identity provider and has no password here; name a local administrator',
      )
      expect((await logIn(EMAIL)).status).toBe(401)
    } finally {
      await bind(null)
    }
  })

  it('alarms of the sign-in for a day, and again of another', async () => {
    const look = async () => {
      await ctx.alerts.run(new AbortController().signal)
      const { json } = await invoke(ctx, 'GET /api/alerts', { as: admin.token })
      return (json as AlertRecord[]).filter(({ rule }) => rule === 'last_resort_login')
    }
    const [alert, ...more] = await look()
    expect(more).toEqual([])
    expect(alert).toMatchObject({ severity: 'critical', workload_id: '', details: { name: EMAIL } })
    const owed = await database.pool.query('select body from webhook_deliveries')
    expect(owed.map((row) => JSON.stringify(row)).join()).toContain('last_resort_login')
    expect(await look()).toEqual([alert])
    const { token } = await addSession(ctx, { userId: made[EMAIL]!.id, email: EMAIL })
    const own = await invoke(ctx, `POST /api/alerts/${alert!.id}/resolve`, { as: token })
    expect(own).toMatchObject({ status: 409, json: { code: 'alert_needs_another' } })
    ctx.clock.advance(60_000)
    await logIn(EMAIL)
    const [again] = await look()
    expect(again).toMatchObject({ rule: 'last_resort_login' })
    expect(again!.id).not.toBe(alert!.id)
    ctx.clock.advance(24 * 3_600_000)
    admin = await signIn(ctx, { email: 'later@example.com' })
    expect(await look()).toEqual([])
  })

  it('keeps that administrator', async () => {
    const path = `/api/users/${made[EMAIL]!.id}`
    const kept = { status: 409, json: { code: 'seed_admin' } }
    expect(await invoke(ctx, `DELETE ${path}`, { as: admin.token })).toMatchObject(kept)
    const body = { groups: ['viewer'] }
    expect(await invoke(ctx, `PATCH ${path}`, { as: admin.token, body })).toMatchObject(kept)
  })
})
