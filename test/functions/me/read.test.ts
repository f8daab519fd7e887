import { afterAll, describe, expect, it } from 'vitest'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

describe('GET /api/me', () => {
  it('is the user with groups, sorted permissions and default preferences', async () => {
    const user = await signIn(ctx, { email: 'Ed@Example.com', groups: ['viewer', 'editor'] })
    const answer = await invoke(ctx, 'GET /api/me', { as: user.token })
    expect(answer.status).toBe(200)
    const group = (role: string) => ({
      id: `grp_system_${role}`,
      name: role,
      role,
      is_system: true,
      created_at: '2026-01-01T00:00:00.000Z',
    })
    expect(answer.json).toEqual({
      id: user.userId,
      email: 'Ed@Example.com',
      groups: [group('editor'), group('viewer')],
      permissions: [
        'alert:resolve',
        'config:approve',
        'config:break_glass',
        'config:create',
        'config:read_content',
        'config:request',
        'reports:export',
        'workload:archive',
        'workload:push_config',
        'workload:validate_config',
      ],
      preferences: { user_id: user.userId, theme: 'system', language: 'en' },
    })
  })

  it('has empty lists for a user without groups', async () => {
    const user = await signIn(ctx, { groups: [] })
    expect(await invoke(ctx, 'GET /api/me', { as: user.token })).toMatchObject({
      json: { groups: [], permissions: [] },
    })
  })

  it('opens with the cookie alone, and with a bearer beside a stale cookie', async () => {
    const user = await signIn(ctx)
    const cookie = `om_session=${user.token}`
    expect(await invoke(ctx, 'GET /api/me', { headers: { cookie } })).toMatchObject({ status: 200 })
    const both = { authorization: `bearer ${user.token}`, cookie: 'om_session=stale' }
    expect(await invoke(ctx, 'GET /api/me', { headers: both })).toMatchObject({ status: 200 })
  })
})
