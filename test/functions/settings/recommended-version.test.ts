import { afterAll, expect, it } from 'vitest'
import { noFollowers } from '../../../lib/audit/commit-followers.ts'
import { RecommendedVersion } from '../../../lib/posture/recommended-version.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type { VersionIntelligence } from '../../../lib/wire/version-intelligence.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database, { edition: createCompleteEdition() })
afterAll(() => ctx.close())
const viewer = (await signIn(ctx, { groups: ['viewer'] })).token

const posture = () => invoke(ctx, 'GET /api/workloads/version-intelligence', { as: viewer })

it('the recommended version is what fleet, drift and posture measure by, until it is forgotten', async () => {
  const old = fakeAgent(ctx.fleet, { service: 'old', version: '0.148.0' })
  await ctx.advance(1_000)
  const isOutdated = async () => {
    const fleet = await invoke(ctx, `GET /api/workloads/${old.workloadId}`, { as: viewer })
    const drift = await invoke(ctx, 'GET /api/config-safety/drift', { as: viewer })
    const below = ((await posture()).json as VersionIntelligence).collectors_below_recommended.map(
      (one) => one.workload_id,
    )
    const marks = [
      (fleet.json as { version_outdated?: boolean }).version_outdated === true,
      (drift.json as DriftOverview).summary.outdated_versions === 1,
      below.includes(old.workloadId),
    ]
    expect(new Set(marks).size).toBe(1)
    return marks[0]
  }
  expect(await isOutdated()).toBe(false)
  const admin = await signIn(ctx, { groups: ['administrator'] })
  const put = (version: string, as: string) =>
    invoke(ctx, 'PUT /api/settings/recommended-version', { as, body: JSON.stringify({ version }) })
  expect((await put('0.149.0', viewer)).status).toBe(403)
  expect((await put('newest', admin.token)).status).toBe(400)
  expect(await put(' 0.149.0 ', admin.token)).toMatchObject({
    status: 200,
    json: { version: '0.149.0', source: 'stored' },
  })
  expect(await isOutdated()).toBe(true)
  // A process that starts later loads the stored version.
  const later = new RecommendedVersion({
    fallback: '',
    db: database.pool,
    followers: noFollowers,
    workloadIds: () => [],
    shownAnew() {},
  })
  await later.load(database.pool)
  expect(later.version).toBe('0.149.0')
  const audited = await database.pool.query<{ detail: string }>(
    'select detail from audit_events where action = $1',
    ['settings.recommended_version'],
  )
  expect(audited.map(({ detail }) => JSON.parse(detail))).toEqual([{ from: '', to: '0.149.0' }])
  expect((await put('', admin.token)).json).toEqual({ version: '', source: 'none' })
  expect(await isOutdated()).toBe(false)
})
