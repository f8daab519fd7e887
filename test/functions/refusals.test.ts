import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Gate } from '../../lib/model/gates.ts'
import { PERMISSIONS, permissionsOf, ROLES } from '../../lib/model/permissions.ts'
import { createCompleteEdition, createEdition } from '../../runtime/editions.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { alsoNeededOf } from '../../runtime/openapi.ts'
import { structSchema } from '../../runtime/struct-schema.ts'
import { createFleetContext, fakeAgent } from '../support/fleet.ts'
import { createTestContext, invoke, makeApiToken, signIn } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'

// What the guards refuse follows from an endpoint's metadata alone, so one table of cases covers every endpoint.
const FUNCTIONS_FOLDER = fileURLToPath(new URL('../../functions', import.meta.url))
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
      expect(answer.headers['Muster-Permission']).toBe(needed)
    }
  })
})

const WITH_GATES = { ...closed, edition: { ...closed.edition, gates: { has: () => true } } }
const inPerson = guarded.filter(
  ({ definition }) => definition.access.kind === 'signed-in' && definition.access.credential === 'session',
)
describe('what needs a person', () => {
  it.each(inPerson)('$id refuses an API token, whatever it may', async ({ request }) => {
    const { token } = await makeApiToken(closed, signedIn.administrator, PERMISSIONS)
    expect(await invoke(WITH_GATES, request, { as: token, body: '{' })).toMatchObject({
      status: 403,
      json: { code: 'session_required' },
    })
  })

  it('is also what a field of a body says needs one, and refuses a token before anything else', async () => {
    const asking = guarded.flatMap(({ id, request, definition }) =>
      alsoNeededOf(definition).map((also) => ({ id, request, ...also })),
    )
    expect(asking.map(({ id, when, permission, credential }) => [id, when, permission, credential])).toEqual([
      ['approvals/push', 'break_glass', 'config:break_glass', 'session'],
      ['desired/apply-fleet', null, 'config:create', 'any'],
      ['rollouts/continue', 'break_glass', 'config:break_glass', 'session'],
    ])
    const [push] = asking
    const { token } = await makeApiToken(closed, signedIn.administrator, PERMISSIONS)
    expect(
      await invoke(WITH_GATES, push!.request, { as: token, body: { break_glass: true, stages: [] } }),
    ).toMatchObject({ status: 403, json: { code: 'session_required' } })
  })

  it('is asked for by metadata: handlers look at the credential only where it depends on what is stored', () => {
    const files = readdirSync(FUNCTIONS_FOLDER, { recursive: true, encoding: 'utf8' })
    const looking = files.filter(
      (file) =>
        file.endsWith('.ts') &&
        /\bapiToken\s*[!=]==|problem\('session-required'/.test(
          readFileSync(join(FUNCTIONS_FOLDER, file), 'utf8'),
        ),
    )
    // Whoever proposed what Git holds may release it, by a token too; anybody else only in person. A deletion needs a
    // person where it takes something along that only a person may lift, a rollout goes on by one where the glass was
    // broken for it, an alert is resolved by one where it is about people, and people are told more names than tokens.
    expect(looking.toSorted()).toEqual([
      'alerts/_alert-id.ts',
      'desired/release-fleet.ts',
      'desired/release.ts',
      'rollouts/continue.ts',
      'users/names.ts',
      'workloads/_lifted-by-deletion.ts',
    ])
  })

  it('is approving, rejecting, reviewing, letting a command line in and seeing the agents’ credential, and every change of the policy, the freeze, users, groups of users, service accounts, tokens, passwords, trusted labels and owners in Git', () => {
    const changes = guarded.filter(({ definition }) => !definition.route.startsWith('GET '))
    const meant =
      /^((approvals|auto-apply|campaigns)\/(approve|reject)|auth\/confirm-command-line|connect\/credential|approval-policy\/|desired\/hand-over|freeze\/|reviews\/|users\/|groups\/(create|remove|update)|service-accounts\/|tokens\/|me\/password|label-rules\/(create|remove|update)|workloads\/(patch|trusted)-labels)/
    expect(inPerson.map(({ id }) => id)).toEqual(changes.map(({ id }) => id).filter((id) => meant.test(id)))
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

describe('every endpoint with a path or a query', () => {
  const asked = endpoints.flatMap(({ id, definition }) => {
    const [method = '', path = ''] = definition.route.split(' ')
    const query = structSchema(definition.query as never) as { properties?: Record<string, unknown> }
    const names = Object.keys(query.properties ?? {})
    const isAsked = method !== 'ANY' && (path.includes(':') || names.length > 0)
    return isAsked ? [{ id, method, path, query: names.map((name) => `${name}=%00`).join('&') }] : []
  })

  it('takes U+0000, which the database cannot look for, for something that is not there', async () => {
    const ctx = await createFleetContext(database, { edition: createCompleteEdition() })
    const { workloadId } = fakeAgent(ctx.fleet)
    await ctx.advance(300)
    const as = signedIn.administrator.token
    for (const { id, method, path, query } of asked) {
      // Calls below a workload get the id of a real one, so that it is their own parameters that hold U+0000.
      const isOnlyWorkload = path === '/api/workloads/:id'
      const known = path.startsWith('/api/workloads/:id/') ? path.replace(':id', workloadId) : path
      const filled = isOnlyWorkload ? '/api/workloads/%00' : known.replace(/:[a-z_]+/g, '%00')
      const answer = await invoke(ctx, `${method} ${filled}?${query}`, { as, body: '{}' })
      expect([id, answer.status < 500], answer.text).toEqual([id, true])
    }
    await ctx.close()
  })
})
