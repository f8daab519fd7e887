import { afterAll, expect, it } from 'vitest'
import { openSaidRefusals } from '../../../../lib/identity/oidc/said-refusals.ts'
import type { OidcSettings } from '../../../../lib/identity/oidc/settings.ts'
import { signInExternally } from '../../../../lib/identity/oidc/sign-in.ts'
import { openTokens } from '../../../../lib/identity/sessions/tokens.ts'
import { createTestContext, TEST_CONFIG } from '../../../support/invoke.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const said = openSaidRefusals(ctx.clock)

it('the sockets of an API token end once the provider has no group for its holder any more', async () => {
  const announced: string[] = []
  const issuer = 'https://idp.example.com'
  const parts = {
    db: ctx.db,
    clock: ctx.clock,
    random: ctx.random,
    tokens: openTokens(TEST_CONFIG.jwtSecret, ctx.clock),
    ends: { announce: (ids: readonly string[]) => void announced.push(...ids) },
    settings: { groupMap: new Map([['ops', ['editor']]]), sessionMs: 3_600_000 } as unknown as OidcSettings,
    keptAdministrators: [],
    said,
    noteMissing: () => {},
  }
  const person = {
    subject: 'eve',
    displayName: 'eve@example.com',
    email: 'eve@example.com',
    names: [],
    providerSession: null,
  }
  const at = new Date(0)
  expect(await signInExternally(parts, issuer, { ...person, groups: ['ops'] }, at)).toMatchObject({
    ok: true,
  })
  const [user] = await database.pool.query<{ id: string }>(`select id from users where subject = 'eve'`)
  const by = { userId: user!.id, email: 'eve@example.com', askAgain: null }
  const expiresAt = new Date(ctx.clock.now().getTime() + 86_400_000)
  const made = await ctx.identity.apiTokens.create(by, by.userId, { name: 'ci', permissions: [], expiresAt })
  if (!made.ok) throw new Error(made.code)
  expect(await signInExternally(parts, issuer, { ...person, groups: [] }, at)).toMatchObject({
    code: 'no-group',
  })
  expect(await ctx.identity.authenticateBearer(made.secret, '192.0.2.1')).toMatchObject({
    code: 'holder-inactive',
  })
  expect(announced).toContain(made.token.id)
})
