import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AuditSink } from '../../../lib/audit/delivery.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { config, PushedWorkload } from '../../support/pushed-workload.ts'
import { commitSlowly, untilAwaited } from '../../support/slow-commit.ts'

// The audit sink of an edition gets every record that is stored, also when the process was not told that its commit
// stands.

const database = await useTestDatabase()
let db: FaultyDatabase
let ctx: FleetTestContext
let told: string[]
let isArchiveAway: boolean

beforeEach(async () => {
  told = []
  isArchiveAway = false
  const auditSink: AuditSink = {
    async deliver({ action }) {
      if (isArchiveAway) throw new Error('the archive is away')
      told.push(action)
    },
  }
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db, edition: { ...createCompleteEdition(), auditSink } })
})
afterEach(async () => {
  expect(db.pending()).toEqual([])
  await ctx.close()
  await database.pool.execute('delete from workloads')
  for (const table of ['settings', 'label_rules', 'fleet_configs'])
    await database.pool.execute(`delete from ${table}`)
})

const recorded = async (action: string) =>
  (await database.pool.query('select from audit_events where action = $1', [action])).length

it('the archive hears once of what an operator did, when the database has said that it stands', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  const as = (await signIn(ctx)).token
  const path = `PUT /api/workloads/${workload.id}/trusted-labels`
  db.loseAnswer('workload.trusted-labels')
  const lost = invoke(ctx, path, { as, body: { labels: { env: 'test' } } })
  await expect(lost).rejects.toThrow('connection lost at commit')
  expect(told).toEqual([])
  await ctx.advance(5_000)
  expect(told).toEqual(['workload.trusted_labels'])
  expect(workload.live.trustedLabels).toEqual({ env: 'test' })
})

it('the archive hears nothing of what the database has taken back', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  const as = (await signIn(ctx)).token
  const before = await recorded('workload.trusted_labels')
  db.loseCommit('workload.trusted-labels')
  const lost = invoke(ctx, `PUT /api/workloads/${workload.id}/trusted-labels`, { as, body: { labels: {} } })
  await expect(lost).rejects.toThrow('connection lost at commit')
  await ctx.advance(5_000)
  expect([told, await recorded('workload.trusted_labels')]).toEqual([[], before])
})

it('the archive hears once of what the service did by itself', async () => {
  const workload = new PushedWorkload(ctx, 'ab')
  await ctx.advance(500)
  await workload.settle(1)
  await workload.push(2)
  db.loseAnswer('rollback.automatic')
  for (const agent of workload.agents) agent.fail('exit code 1')
  await ctx.advance(10_000)
  expect(workload.offered).toEqual([1, 1])
  expect([told, await recorded('config.auto_rollback')]).toEqual([['config.auto_rollback'], 1])
})

it('the version that the fleet is measured by is what the database holds, also where the answer to it was lost', async () => {
  const as = (await signIn(ctx)).token
  db.loseAnswer('settings.recommend-version')
  const lost = invoke(ctx, 'PUT /api/settings/recommended-version', { as, body: { version: '0.150.0' } })
  await expect(lost).rejects.toThrow('connection lost at commit')
  await ctx.advance(5_000)
  expect(ctx.recommendedVersion.version).toBe('0.150.0')
})

it('the version that the fleet is measured by is what the database holds, also where reading it anew failed', async () => {
  const as = (await signIn(ctx)).token
  db.refuse('from settings')
  const asked = invoke(ctx, 'PUT /api/settings/recommended-version', { as, body: { version: '0.150.0' } })
  await expect(asked).rejects.toThrow('time-out')
  await ctx.advance(5_000)
  expect(ctx.recommendedVersion.version).toBe('0.150.0')
})

it('label rules are those that the database holds, also where reading them anew failed: found by seed 23232', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  const as = (await signIn(ctx)).token
  const body = {
    name: 'all',
    selector: { match_labels: { 'identity/host.name': '*' } },
    labels: { tier: 'web' },
  }
  db.refuse('from label_rules')
  await expect(
    invoke(ctx, 'POST /api/label-rules', { as, body: { ...body, confirm_lowering: true } }),
  ).rejects.toThrow('time-out')
  await ctx.advance(5_000)
  expect(ctx.labelRules.rules.map(({ name }) => name)).toEqual(['all'])
  expect(workload.live.trustedLabels).toEqual({ tier: 'web' })
})

it('a freeze is in force as the database holds it, also where its answer was lost or reading it anew failed', async () => {
  const as = (await signIn(ctx)).token
  const freeze = (reason: string) =>
    invoke(ctx, 'PUT /api/freeze', {
      as,
      body: { reason, until: new Date(ctx.clock.now().getTime() + 3_600_000).toISOString() },
    })
  db.loseAnswer('freeze.set')
  await expect(freeze('one')).rejects.toThrow('connection lost at commit')
  await ctx.advance(1_000)
  expect(ctx.fleetConfigs.freeze?.reason).toBe('one')
  db.refuse('from workload_holds')
  await expect(freeze('two')).rejects.toThrow('time-out')
  await ctx.advance(1_000)
  expect(ctx.fleetConfigs.freeze?.reason).toBe('two')
})

const isShownOutdated = async (as: string, id: string) =>
  ((await invoke(ctx, `GET /api/workloads/${id}`, { as })).json as { version_outdated: boolean })
    .version_outdated

it('workloads are shown by the version that counts, also where its answer was lost', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  const as = (await signIn(ctx)).token
  expect(await isShownOutdated(as, workload.id)).toBe(false)
  db.loseAnswer('settings.recommend-version')
  const lost = invoke(ctx, 'PUT /api/settings/recommended-version', { as, body: { version: '0.200.0' } })
  await expect(lost).rejects.toThrow('connection lost')
  await ctx.advance(5_000)
  expect(ctx.recommendedVersion.version).toBe('0.200.0')
  expect(await isShownOutdated(as, workload.id)).toBe(true)
})

it('what is said to be applied although the archive did not take its record is in force', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  const as = (await signIn(ctx)).token
  const until = new Date(ctx.clock.now().getTime() + 3_600_000).toISOString()
  isArchiveAway = true
  for (const [route, body] of [
    ['PUT /api/settings/recommended-version', { version: '0.200.0' }],
    ['PUT /api/freeze', { until, reason: 'the weekend' }],
    [`POST /api/workloads/${workload.id}/hold`, { reason: 'by hand' }],
  ] as const)
    expect(await invoke(ctx, route, { as, body })).toMatchObject({
      status: 503,
      json: { side_effect_status: 'applied' },
    })
  isArchiveAway = false
  await ctx.advance(5_000)
  expect(ctx.recommendedVersion.version).toBe('0.200.0')
  expect(await isShownOutdated(as, workload.id)).toBe(true)
  expect(ctx.fleetConfigs.freeze?.reason).toBe('the weekend')
  expect(ctx.fleetConfigs.holdOf(workload.id)?.reason).toBe('by hand')
})

it('browsers that missed a frame are told to fetch again what they show', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  const as = (await signIn(ctx)).token
  const path = `/api/workloads/${workload.id}/config/approvals`
  const made = await invoke(ctx, `POST ${path}`, { as, body: { draft_yaml: config(2).body } })
  const { id } = made.json as { id: string }
  await ctx.advance(5_000)
  ctx.frames.length = 0
  db.loseAnswer('approval.comment')
  const lost = invoke(ctx, `POST ${path}/${id}/comments`, { as, body: { comment: 'wait' } })
  await expect(lost).rejects.toThrow('connection lost')
  const told = () => ctx.frames.filter(({ type }) => type === 'resync').length
  await ctx.advance(30_000)
  expect(told()).toBe(1)
  // And once more when it cannot be committed any later.
  await ctx.advance(600_000)
  expect(told()).toBe(2)
})

const stage = (percentage: number, dwellMs = 0) => ({ percentage, dwellMs, gates: [] })

it('a live workload that was deleted in its first rollout starts over, also where the answer was lost', async () => {
  const workload = new PushedWorkload(ctx, 'ab')
  await ctx.advance(500)
  const as = (await signIn(ctx)).token
  expect(await workload.stage(1, [stage(50, 3_600_000), stage(100)])).toMatchObject({ ok: true })
  await ctx.advance(1_000)
  const before = workload.live
  db.loseAnswer('workload.delete')
  const deletion = invoke(ctx, `DELETE /api/workloads/${workload.id}`, { as })
  await expect(deletion).rejects.toThrow('connection lost')
  // An agent says something before the database is asked: the workload is written again.
  workload.agents[0]!.apply(config(1).hash)
  await ctx.advance(30_000)
  for (const agent of workload.agents) agent.describe()
  await ctx.advance(30_000)
  const after = ctx.fleet.workload(workload.id)
  expect(after).not.toBe(before)
  expect(after).toMatchObject({ rollout: null, newestPush: null, pushSeq: 0 })
})

it('what the database is slow to commit is followed when it is, also where its answer was lost before', async () => {
  const as = (await signIn(ctx)).token
  const until = new Date(ctx.clock.now().getTime() + 3_600_000).toISOString()
  const { finish } = commitSlowly(db, (name) => name === 'freeze.set')
  const lost = invoke(ctx, 'PUT /api/freeze', { as, body: { until, reason: 'slow' } })
  await expect(lost).rejects.toThrow('connection lost')
  const settled = ctx.advance(2_000)
  await untilAwaited(database)
  finish()
  await settled
  expect(ctx.fleetConfigs.freeze?.reason).toBe('slow')
})

it('what the service did without a record is followed, also where it is committed long after its answer was lost', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  workload.agents[0]!.lose()
  await ctx.advance(600_000)
  const { finish, committed } = commitSlowly(db, (name) => name === 'alerts.look')
  await expect(ctx.alerts.run(new AbortController().signal)).rejects.toThrow('connection lost')
  await ctx.advance(20_000)
  finish()
  await committed
  await ctx.advance(60_000)
  expect(ctx.counters.openAlerts(workload.id)).toBe(1)
})
