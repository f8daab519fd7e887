import { describe, expect, it } from 'vitest'
import { openAuthority } from '../../../lib/identity/authority.ts'
import { openTokens } from '../../../lib/identity/sessions/tokens.ts'
import { type Database, DatabaseUnavailable } from '../../../lib/store/db.ts'
import { fakeClock } from '../../support/fakes.ts'

const sessionId = '01980000-0000-7000-8000-000000000001'
const userId = '01980000-0000-7000-8000-00000000000a'

/** A stand-in for a database with one session, which counts reads and can be away or slow. */
async function setUp() {
  const clock = fakeClock()
  const tokens = openTokens('a-test-secret-of-at-least-32-characters', clock)
  const { token, expiresAt } = await tokens.sign({
    userId,
    email: 'a@x',
    groups: [],
    sessionId,
    issuedAt: clock.now(),
  })
  const state = {
    reads: 0,
    isAway: false,
    isGone: false,
    slow: null as Promise<void> | null,
    roles: ['viewer'],
  }
  const db = {
    async query() {
      state.reads++
      const { isGone, roles } = state
      await state.slow
      if (state.isAway) throw new DatabaseUnavailable('away')
      const row = {
        userId,
        email: 'a@x',
        expiresAt,
        groups: roles,
        roles: roles.map((role) => ({ role, scope: null })),
      }
      return isGone ? [] : [row]
    },
  } as unknown as Database
  const authority = openAuthority({ db, clock, tokens })
  return { clock, state, authority, ask: () => authority.authenticate(token), tokens }
}

describe('authority', () => {
  it('is read once for 30 s, and again after that', async () => {
    const { clock, state, ask } = await setUp()
    await Promise.all([ask(), ask(), ask()])
    expect(state.reads).toBe(1)
    state.roles = ['administrator']
    clock.advance(29_999)
    expect(await ask()).toMatchObject({
      ok: true,
      user: { grants: [{ permissions: [], scope: null }], groups: ['viewer'] },
    })
    clock.advance(1)
    expect(await ask()).toMatchObject({ ok: true, user: { groups: ['administrator'] } })
    expect(state.reads).toBe(2)
  })

  it('is forgotten when it is told to', async () => {
    const { state, authority, ask } = await setUp()
    await ask()
    state.isGone = true
    authority.forget()
    expect(await ask()).toEqual({ ok: false, code: 'unauthorized' })
  })

  it('does not remember what was read before it was told to forget', async () => {
    const { state, authority, ask } = await setUp()
    let finish = () => {}
    state.slow = new Promise((resolve) => {
      finish = resolve
    })
    const early = ask()
    await expect.poll(() => state.reads).toBe(1)
    state.isGone = true
    authority.forget()
    const late = ask()
    finish()
    expect(await early).toMatchObject({ ok: true })
    expect(await late).toEqual({ ok: false, code: 'unauthorized' })
    expect(await ask()).toEqual({ ok: false, code: 'unauthorized' })
  })

  it('lasts 30 s without the database, which then is what is missing, not the credential', async () => {
    const { clock, state, ask } = await setUp()
    await ask()
    state.isAway = true
    clock.advance(29_999)
    expect(await ask()).toMatchObject({ ok: true })
    clock.advance(1)
    expect(await ask()).toEqual({ ok: false, code: 'database-unavailable' })
    state.isAway = false
    expect(await ask()).toMatchObject({ ok: true })
  })

  it('belongs to the user of the token', async () => {
    const { clock, authority, tokens } = await setUp()
    const other = await tokens.sign({
      userId: '01980000-0000-7000-8000-00000000000b',
      email: 'b@x',
      groups: [],
      sessionId,
      issuedAt: clock.now(),
    })
    expect(await authority.authenticate(other.token)).toEqual({ ok: false, code: 'unauthorized' })
  })
})
