import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UserRecord } from '../../../lib/wire/identity.ts'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { settingsFor } from '../../support/oidc/provider.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { startTestService } from '../../support/service.ts'

const database = await useTestDatabase()
const EMAIL = 'last@example.com'
const PASSWORD = 'correct horse battery'
const config = {
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

  it('keeps that administrator', async () => {
    const path = `/api/users/${made[EMAIL]!.id}`
    const kept = { status: 409, json: { code: 'seed_admin' } }
    expect(await invoke(ctx, `DELETE ${path}`, { as: admin.token })).toMatchObject(kept)
    const body = { groups: ['viewer'] }
    expect(await invoke(ctx, `PATCH ${path}`, { as: admin.token, body })).toMatchObject(kept)
  })
})
