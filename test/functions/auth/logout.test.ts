import { afterAll, describe, expect, it } from 'vitest'
import { addSession, createTestContext, hearEndedSessions, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const ctx = createTestContext(await useTestDatabase())
afterAll(() => ctx.close())
const ended = hearEndedSessions(ctx)

const CLEARED = 'om_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'

describe('POST /api/auth/logout', () => {
  it('ends this session at once, no other, and takes the cookie away', async () => {
    const here = await signIn(ctx)
    const there = await addSession(ctx, here)
    await invoke(ctx, 'GET /api/me', { as: here.token })
    const answer = await invoke(ctx, 'POST /api/auth/logout', {
      headers: { cookie: `om_session=${here.token}` },
    })
    expect(answer).toMatchObject({
      status: 204,
      text: '',
      cookies: [CLEARED],
    })
    expect(await invoke(ctx, 'GET /api/me', { as: here.token })).toMatchObject({ status: 401 })
    expect(await invoke(ctx, 'GET /api/me', { as: there.token })).toMatchObject({ status: 200 })
    expect(ended).toEqual([here.sessionId])
  })

  it('takes the cookie away without a session, or with one that is over', async () => {
    expect(await invoke(ctx, 'POST /api/auth/logout')).toMatchObject({ status: 204, cookies: [CLEARED] })
    expect(await invoke(ctx, 'POST /api/auth/logout', { as: 'garbage' })).toMatchObject({ status: 204 })
  })

  it('does not let a page of another origin end a session', async () => {
    const user = await signIn(ctx)
    const cookie = `om_session=${user.token}`
    const headers = { cookie, host: 'muster.example', origin: 'https://evil.example' }
    expect(await invoke(ctx, 'POST /api/auth/logout', { headers })).toMatchObject({ status: 403 })
    expect(await invoke(ctx, 'GET /api/me', { as: user.token })).toMatchObject({ status: 200 })
  })
})
