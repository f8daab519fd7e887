import { afterAll, describe, expect, it } from 'vitest'
import type { AuthMethod } from '../../../lib/wire/identity.ts'
import { createEdition, type EditionParts } from '../../../runtime/editions.ts'
import { createTestContext, invoke } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const ctx = createTestContext(await useTestDatabase())
afterAll(() => ctx.close())

const password = {
  id: 'password',
  type: 'password',
  display_name: 'Email + password',
  login_url: '/api/auth/login',
}
const sso: AuthMethod = { id: 'acme', type: 'sso', display_name: 'Acme', login_url: '/sso/acme' }

async function methodsOf(parts: Partial<EditionParts>): Promise<unknown> {
  const edition = createEdition({ name: 'test', capabilities: [], ...parts })
  const answer = await invoke({ ...ctx, edition }, 'GET /api/auth/methods')
  return (answer.json as { methods: unknown }).methods
}

describe('GET /api/auth/methods', () => {
  it('is the password in Community', async () => {
    expect(await invoke(ctx, 'GET /api/auth/methods')).toMatchObject({
      status: 200,
      json: { methods: [password] },
    })
  })

  it("appends an edition's methods, the first of an id wins", async () => {
    const again = { ...sso, id: 'password' }
    expect(await methodsOf({ authMethods: [sso, again, { ...sso, display_name: 'Other' }] })).toEqual([
      password,
      sso,
    ])
  })

  it("is what an edition's provider says, an empty list included, and the fixed list when it says nothing", async () => {
    expect(await methodsOf({ provideAuthMethods: async () => [sso] })).toEqual([sso])
    expect(await methodsOf({ provideAuthMethods: async () => [] })).toEqual([])
    expect(await methodsOf({ authMethods: [sso], provideAuthMethods: async () => null })).toEqual([
      password,
      sso,
    ])
  })
})
