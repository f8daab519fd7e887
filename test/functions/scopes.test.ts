import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { permissionsOf } from '../../lib/model/permissions.ts'
import { UNSCOPABLE } from '../../lib/model/scopes.ts'
import { createCompleteEdition } from '../../runtime/editions.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { createFleetContext, type FleetTestContext } from '../support/fleet.ts'
import { invoke, makeApiToken, type SignedIn, signIn } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { connectIn, makeScopedGroup, member, OUTSIDE } from '../support/scopes.ts'

// Where a permission must be held follows from an endpoint's metadata alone, so one table covers every endpoint.
const UNKNOWN = '00000000-0000-7000-8000-000000000000'
const endpoints = loadFunctions(FUNCTIONS).http.flatMap(({ id, definition: { route, access } }) => {
  if (access.kind !== 'signed-in') return []
  const [method, path = ''] = route.split(' ')
  return [{ id, method: method === 'ANY' ? 'GET' : method, path, ...access }]
})
const fill = (path: string, workloadId: string) =>
  path.replace('/workloads/:id', `/workloads/${workloadId}`).replace(/:[a-z_]+\+?/g, UNKNOWN)

const database = await useTestDatabase()
let ctx: FleetTestContext
let scoped: SignedIn
let machine: string
const places: Record<string, string> = {}

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  const admin = await signIn(ctx)
  await makeScopedGroup(ctx, admin)
  scoped = await member(ctx, 'staging-editors', 'viewer')
  machine = (await makeApiToken(ctx, scoped, permissionsOf(['editor']))).token
  places['inside'] = (await connectIn(ctx, admin, 'staging', { service: 'inside' })).workloadId
  places['outside'] = (await connectIn(ctx, admin, 'production', { service: 'outside' })).workloadId
  // An agent that says of itself what only operators may say is outside all the same.
  const attributes = { env: 'staging', 'muster/env': 'staging', 'deployment.environment': 'staging' }
  places['unlabelled'] = (await connectIn(ctx, admin, null, { service: 'unlabelled', attributes })).workloadId
  places['unknown'] = UNKNOWN
})
afterAll(() => ctx.close())

const OUT = ['outside', 'unlabelled', 'unknown'] as const
const asked = endpoints.filter(({ permission }) => permission !== null)
const ofEditors = asked.filter(({ permission }) => permissionsOf(['editor']).includes(permission!))

describe('where the permission of an endpoint must be held', () => {
  it('is on its workload exactly where its path names one, and everywhere for what is about none', () => {
    for (const { id, path, reach, permission } of asked) {
      const isOfAll = UNSCOPABLE.includes(permission!)
      const isOfOne = /^\/api\/workloads\/:id(\/|$)/.test(path) && !isOfAll
      expect([id, reach === 'workload'], id).toEqual([id, isOfOne])
      if (isOfAll) expect([id, reach]).toEqual([id, 'nothing'])
    }
  })

  // Those that show what lies within a scope alone are called one by one in sight.test.ts. One that is added here needs a
  // test of what it refuses to whoever is in a scope, such as those of scopes-attacks.test.ts.
  it('is said by the function itself for these only, each of which has a test of its own', () => {
    const idsOf = (wanted: string) => endpoints.flatMap(({ id, reach }) => (reach === wanted ? id : []))
    expect(idsOf('anywhere')).toEqual(['configs/migration-preview', 'configs/policy-preview'])
    expect(idsOf('handler')).toEqual([
      'adopt/check',
      'alerts/reopen',
      'alerts/resolve',
      'alerts/resolve-many',
      ...['approve', 'continue', 'pause', 'plan', 'reject', 'request', 'turn-off', 'withdraw'].map(
        (id) => `auto-apply/${id}`,
      ),
      ...[
        'abort',
        'approve',
        'comment',
        'continue',
        'create',
        'edit',
        'pause',
        'plan',
        'reject',
        'remove',
      ].map((id) => `campaigns/${id}`),
      ...['request', 'roll-back', 'start', 'withdraw'].map((id) => `campaigns/${id}`),
      'desired/apply-fleet',
      'desired/release-fleet',
      ...[
        'add-version',
        'compare-versions',
        'create',
        'remove',
        'render-version',
        'update',
        'version',
        'versions',
      ].map((id) => `fleet-configs/${id}`),
      'holds/create',
      'holds/release',
      'reports/evidence-pack',
      'reports/export',
      'reviews/review',
      'templates/get',
    ])
  })
})

describe('an editor within a scope', () => {
  it.each(ofEditors.filter(({ reach }) => reach === 'workload'))(
    '$id is out of scope for a workload with another label, without the label, or that does not exist',
    async ({ method, path, credential }) => {
      for (const as of credential === 'session' ? [scoped.token] : [scoped.token, machine])
        for (const place of OUT)
          expect(
            await invoke(ctx, `${method} ${fill(path, places[place]!)}`, { as, body: '{' }),
            place,
          ).toMatchObject(OUTSIDE)
    },
  )

  it.each(ofEditors.filter(({ reach }) => reach === 'workload'))(
    '$id is let through to the workload within the scope',
    async ({ method, path }) => {
      const request = `${method} ${fill(path, places['inside']!)}`
      const answer = await invoke(ctx, request, { as: scoped.token, body: '{' })
      expect(answer.status, answer.text).not.toBe(403)
    },
  )

  it.each(ofEditors.filter(({ reach }) => reach === 'nothing'))(
    '$id is out of scope: it is about no workload, or about all',
    async ({ method, path }) => {
      const request = `${method} ${fill(path, places['inside']!)}`
      expect(await invoke(ctx, request, { as: scoped.token, body: '{' })).toMatchObject(OUTSIDE)
    },
  )

  it.each(asked.filter(({ permission }) => !permissionsOf(['editor']).includes(permission!)))(
    '$id is forbidden: no group gives the right',
    async ({ method, path }) => {
      const request = `${method} ${fill(path, places['inside']!)}`
      expect(await invoke(ctx, request, { as: scoped.token, body: '{' })).toMatchObject({
        status: 403,
        text: '{"error":"forbidden"}\n',
      })
    },
  )

  it('reads the fleet like anybody, but agents’ texts only within the scope', async () => {
    const list = await invoke(ctx, 'GET /api/workloads', { as: scoped.token })
    expect(list.json).toHaveLength(3)
    const read = (place: string) =>
      invoke(ctx, `GET /api/workloads/${places[place]}/configs/abc`, { as: scoped.token })
    expect(await read('inside')).toMatchObject({ status: 404 })
    expect(await read('outside')).toMatchObject(OUTSIDE)
  })
})
