import { afterAll, describe, expect, it } from 'vitest'
import type { Gate } from '../../lib/gates.ts'
import { permissionsOf, ROLES } from '../../lib/permissions.ts'
import { createEdition } from '../../runtime/editions.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { createTestContext, invoke, signIn } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'

// What the guards refuse follows from an endpoint's metadata alone, so one table covers every endpoint.
const database = await useTestDatabase()
const closed = createTestContext(database, { edition: createEdition({ name: 'closed', capabilities: [] }) })
afterAll(() => closed.close())
const signedIn = Object.fromEntries(
  await Promise.all(ROLES.map(async (role) => [role, await signIn(closed, { groups: [role] })] as const)),
) as Record<(typeof ROLES)[number], Awaited<ReturnType<typeof signIn>>>

const endpoints = loadFunctions(FUNCTIONS).http.map(({ id, definition }) => {
  const [method, path = ''] = definition.route.split(' ')
  const filled = path.replace(/:[a-z_]+\+?/g, '00000000-0000-7000-8000-000000000000')
  return { id, definition, request: `${method === 'ANY' ? 'GET' : method} ${filled}` }
})
const guarded = endpoints.filter(({ definition }) => definition.access.kind === 'signed-in')

describe('every endpoint that asks who is calling', () => {
  it.each(guarded)('$id answers 401 without a credential and with a bad one', async ({ request }) => {
    const unauthorized = { status: 401, json: { error: 'unauthorized' } }
    expect(await invoke(closed, request)).toMatchObject(unauthorized)
    expect(await invoke(closed, request, { as: 'garbage' })).toMatchObject(unauthorized)
    const headers = { authorization: 'Bearer garbage', cookie: `om_session=${signedIn.administrator.token}` }
    expect(await invoke(closed, request, { headers })).toMatchObject(unauthorized)
  })
})

const gated = guarded.filter(({ definition }) => definition.gate !== null)
describe.skipIf(gated.length === 0)('every endpoint behind a gate', () => {
  it.each(gated)('$id answers feature_disabled while the gate is shut, to anybody', async (endpoint) => {
    const { request, definition } = endpoint
    for (const role of ROLES) {
      const answer = await invoke(closed, request, { as: signedIn[role].token })
      expect(answer).toMatchObject({ status: 403 })
      expect(answer.json).toEqual({
        error: 'feature disabled',
        code: 'feature_disabled',
        feature: definition.gate as Gate,
      })
    }
  })
})

const permitted = guarded.filter(
  ({ definition }) => definition.access.kind === 'signed-in' && definition.access.permission !== null,
)
describe('every endpoint that needs a permission', () => {
  it.each(permitted)('$id is forbidden to every role that lacks it', async ({ request, definition }) => {
    const ctx = { ...closed, edition: { ...closed.edition, gates: { has: () => true } } }
    const needed = definition.access.kind === 'signed-in' ? definition.access.permission! : null
    const lacking = ROLES.filter((role) => needed && !permissionsOf([role]).includes(needed))
    expect(lacking).toContain('viewer')
    for (const role of lacking) {
      const answer = await invoke(ctx, request, { as: signedIn[role].token, body: '{' })
      expect(answer).toMatchObject({ status: 403, text: '{"error":"forbidden"}\n' })
    }
  })
})

const unsafe = guarded.filter(({ request }) => !request.startsWith('GET '))
describe('every endpoint that changes something', () => {
  it.each(unsafe)('$id refuses the cookie of a page of another origin', async ({ request }) => {
    const cookie = `om_session=${signedIn.administrator.token}`
    const headers = { cookie, host: 'muster.example', origin: 'https://evil.example' }
    expect(await invoke(closed, request, { headers })).toMatchObject({
      status: 403,
      json: { error: 'origin not allowed' },
    })
  })
})
