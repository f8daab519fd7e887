import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { seedAdministrator } from '../../../lib/identity/bootstrap.ts'
import { listUsers } from '../../../lib/store/users.ts'
import { createTestContext, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
beforeEach(() => database.pool.execute('DELETE FROM users'))

const PASSWORD = 'correct horse battery'
const seed = (email: string, password = PASSWORD) => seedAdministrator({ email, password }, ctx)
const users = () => listUsers(database.pool, { after: null, limit: 10 })
const hashes = () => database.pool.query('SELECT password_hash FROM users')

describe('the first administrator', () => {
  it('is created where there is no user, and its e-mail is logged', async () => {
    await seed('Root@example.com')
    expect(await users()).toMatchObject([{ email: 'Root@example.com', groups: ['administrator'] }])
    expect(ctx.log.lines.at(-1)).toMatchObject({ level: 'info', fields: { email: 'Root@example.com' } })
    expect(JSON.stringify(ctx.log.lines)).not.toContain(PASSWORD)
    expect(
      await ctx.identity.logIn({ email: 'root@example.com', password: PASSWORD, address: 'x' }),
    ).toMatchObject({
      ok: true,
    })
  })

  it('stays as it is on the next start, password included, whoever else is there', async () => {
    await seed('root@example.com')
    const before = await hashes()
    await seed('ROOT@example.com', 'another pass phrase')
    expect(await hashes()).toEqual(before)
    await signIn(ctx, { email: 'other@example.com' })
    await seed('root@example.com')
    expect(await users()).toHaveLength(2)
  })

  it('is refused beside another user', async () => {
    await signIn(ctx, { email: 'other@example.com' })
    await expect(seed('root@example.com')).rejects.toThrow('database already contains a user')
    expect(await users()).toHaveLength(1)
  })

  it('is refused when its e-mail belongs to somebody who is no administrator', async () => {
    await signIn(ctx, { email: 'root@example.com', groups: ['editor'] })
    await expect(seed('root@example.com')).rejects.toThrow('already exists without administrator membership')
    expect(await users()).toMatchObject([{ groups: ['editor'] }])
  })

  it('is refused, and leaves nothing, without an administrator group', async () => {
    const rename = (from: string, to: string) =>
      database.pool.execute('UPDATE groups SET name = $2 WHERE name = $1', [from, to])
    await rename('administrator', 'boss')
    await expect(seed('root@example.com')).rejects.toThrow('no administrator group')
    await rename('boss', 'administrator')
    expect(await users()).toEqual([])
  })

  it('is one when two processes start at once with different e-mails', async () => {
    const outcomes = await Promise.allSettled([seed('one@example.com'), seed('two@example.com')])
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await users()).toHaveLength(1)
  })
})
