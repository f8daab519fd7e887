import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AuditSink } from '../../../lib/audit/delivery.ts'
import { createCommunityEdition } from '../../../runtime/editions.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { PushedWorkload } from '../../support/pushed-workload.ts'

// The audit sink of an edition gets every record that is stored, also when the process was not told that its commit
// stands.

const database = await useTestDatabase()
let db: FaultyDatabase
let ctx: FleetTestContext
let told: string[]

beforeEach(async () => {
  told = []
  const auditSink: AuditSink = { deliver: async ({ action }) => void told.push(action) }
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db, edition: { ...createCommunityEdition(), auditSink } })
})
afterEach(async () => {
  expect(db.pending()).toEqual([])
  await ctx.close()
  await database.pool.execute('delete from workloads')
  await database.pool.execute('delete from settings')
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
