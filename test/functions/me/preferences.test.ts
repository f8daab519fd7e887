import { afterAll, describe, expect, it } from 'vitest'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

const save = (as: string, body: unknown) => invoke(ctx, 'PUT /api/me/preferences', { as, body })

describe('PUT /api/me/preferences', () => {
  it('stores both and shows them from then on', async () => {
    const user = await signIn(ctx, { groups: ['viewer'] })
    await save(user.token, { theme: 'light', language: 'en' })
    ctx.clock.advance(1_000)
    const stored = {
      user_id: user.userId,
      theme: 'dark',
      language: 'fr',
      updated_at: ctx.clock.now().toISOString(),
    }
    const answer = await save(user.token, { theme: 'dark', language: 'fr' })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual(stored)
    expect(await invoke(ctx, 'GET /api/me', { as: user.token })).toMatchObject({
      json: { preferences: stored },
    })
  })

  it('refuses what it does not know, the theme first', async () => {
    const { token } = await signIn(ctx)
    for (const [body, error] of [
      [{}, { error: 'invalid theme', field: 'theme', reason: 'missing' }],
      [{ language: 'fr' }, { error: 'invalid theme', field: 'theme', reason: 'missing' }],
      [
        { theme: 'Dark', language: 'de' },
        { error: 'invalid theme', field: 'theme', reason: 'unknown' },
      ],
      [{ theme: 'dark' }, { error: 'invalid language', field: 'language', reason: 'missing' }],
      [
        { theme: 'dark', language: 'EN' },
        { error: 'invalid language', reason: 'unknown' },
      ],
    ] as const) {
      const answer = await save(token, body)
      expect(answer).toMatchObject({ status: 400, json: error })
      expect(answer.json).toMatchObject({ hint: expect.stringContaining('both each time') })
    }
  })

  it('is 401 for a user who was removed a moment ago', async () => {
    const user = await signIn(ctx)
    await invoke(ctx, 'GET /api/me', { as: user.token })
    await database.pool.execute('DELETE FROM users WHERE id = $1', [user.userId])
    expect(await save(user.token, { theme: 'dark', language: 'en' })).toMatchObject({ status: 401 })
  })
})
