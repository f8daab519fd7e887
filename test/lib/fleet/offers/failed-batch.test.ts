import { expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'
import type { Database } from '../../../../lib/store/db.ts'
import { faultyDatabase, through } from '../../../support/faulty-database.ts'
import { createFleetContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

const database = await useTestDatabase()

it('an offer that could not be stored takes nothing from a newer one that was', async () => {
  let gate: Promise<void> | null = null
  let refuse = () => {}
  let isHeld = false
  const { pool } = database
  const db: Database = {
    ...through(pool),
    async transaction(name, work) {
      const held = gate
      gate = null
      isHeld = held !== null
      await held
      return pool.transaction(name, work)
    },
  }
  const ctx = await createFleetContext(database, { db })
  const first = fakeAgent(ctx.fleet, { host: 'batch' })
  await pushConfig(ctx.fleet, first.workloadId, configYaml())
  first.apply()
  await ctx.advance(1_000)
  const second = fakeAgent(ctx.fleet, { host: 'batch' })
  gate = new Promise((_, reject) => {
    refuse = () => reject(new Error('no'))
  })
  // The joiner's offer is about to be stored, and that does not get done.
  ctx.timers.advance(20)
  while (!isHeld) await new Promise((resolve) => setImmediate(resolve))
  await pushConfig(ctx.fleet, first.workloadId, configYaml(4318))
  refuse()
  await ctx.advance(5_000)
  expect(second.offered()).toEqual([configHash(configYaml(4318))])
  await ctx.close()
})

it('an offer that may have been stored and is due no more is held as its row is', async () => {
  const db = faultyDatabase(database.pool)
  const ctx = await createFleetContext(database, { db })
  const first = fakeAgent(ctx.fleet, { host: 'doubt' })
  const { pushId } = await pushConfig(ctx.fleet, first.workloadId, configYaml(4319))
  // This instance joins while the push is open, and does not report what becomes of configs.
  db.loseAnswer('offers.store')
  const second = fakeAgent(ctx.fleet, {
    host: 'doubt',
    capabilities: SUPERVISOR & ~AGENT_CAPABILITIES.reportsRemoteConfig,
  })
  await ctx.advance(500)
  expect(db.pending()).toEqual([])
  // Without an earlier config there is no rollback: the failed config stays assigned, and is offered to nobody.
  first.fail('no such exporter')
  await ctx.advance(5_000)
  expect(second.offered()).toEqual([])
  const stored = await database.pool.query<{ instance_uid: string; state: string }>(
    'select instance_uid, state from push_targets where push_id = $1 order by instance_uid',
    [pushId],
  )
  const { targets } = ctx.fleet.workload(first.workloadId)!.active!
  const held = [...targets].map(([instance_uid, { state }]) => ({ instance_uid, state }))
  expect(stored).toHaveLength(2)
  expect(held.sort((a, b) => (a.instance_uid < b.instance_uid ? -1 : 1))).toEqual(stored)
  await ctx.close()
})

it('an offer that may have been stored of a push that failed meanwhile counts as its row does', async () => {
  const db = faultyDatabase(database.pool)
  const ctx = await createFleetContext(database, { db })
  const first = fakeAgent(ctx.fleet, { host: 'failed' })
  await pushConfig(ctx.fleet, first.workloadId, configYaml(4321))
  first.apply()
  await ctx.advance(1_000)
  const { pushId } = await pushConfig(ctx.fleet, first.workloadId, configYaml(4322))
  db.loseAnswer('offers.store')
  const second = fakeAgent(ctx.fleet, { host: 'failed' })
  await ctx.advance(500)
  expect(db.pending()).toEqual([])
  first.fail('no such exporter')
  await ctx.advance(5_000)
  const [stored] = await database.pool.query<object>(
    `select p.status, target_count, joined_count, count(t.*)::int as rows,
       (count(*) filter (where t.is_target))::int as targets, (count(*) filter (where t.is_joiner))::int as joiners
     from pushes p join push_targets t using (push_id) where push_id = $1 group by p.push_id`,
    [pushId],
  )
  expect(stored).toEqual({
    status: 'failed',
    target_count: 2,
    joined_count: 1,
    rows: 2,
    targets: 2,
    joiners: 1,
  })
  expect(second.offered()).not.toContain(configHash(configYaml(4322)))
  await ctx.close()
})

it('an offer in doubt that is just being stored again is not taken for stored', async () => {
  const faulty = faultyDatabase(database.pool)
  let gate: Promise<void> | null = null
  let open = () => {}
  let isHeld = false
  const db: Database = {
    ...faulty,
    async transaction(name, work) {
      const held = name === 'offers.store' ? gate : null
      isHeld ||= held !== null
      await held
      return faulty.transaction(name, work)
    },
  }
  const ctx = await createFleetContext(database, { db })
  const first = fakeAgent(ctx.fleet, { host: 'again' })
  await pushConfig(ctx.fleet, first.workloadId, configYaml(4320))
  faulty.loseCommit('offers.store')
  const second = fakeAgent(ctx.fleet, { host: 'again' })
  await ctx.advance(500)
  await ctx.advance(980)
  expect(second.offered()).toEqual([])
  // Its report makes the offer due just before it would have been tried again.
  gate = new Promise((resolve) => {
    open = resolve
  })
  second.say({})
  ctx.timers.advance(10)
  while (!isHeld) await new Promise((resolve) => setImmediate(resolve))
  ctx.timers.advance(30)
  const { targets } = ctx.fleet.workload(first.workloadId)!.active!
  expect(targets.has(second.uid)).toBe(false)
  gate = null
  open()
  await ctx.advance(1_000)
  expect(second.offered()).toEqual([configHash(configYaml(4320))])
  expect(targets.has(second.uid)).toBe(true)
  await ctx.close()
})

it('who joins while others are told of the push is sent nothing before its row is stored, also where that was in doubt', async () => {
  const faulty = faultyDatabase(database.pool)
  let areReportsHeld = false
  const db: Database = {
    ...faulty,
    transaction: (name, work) =>
      areReportsHeld && (name === 'reports.store' || name === 'outcomes.store')
        ? Promise.reject(new Error('away'))
        : faulty.transaction(name, work),
  }
  const ctx = await createFleetContext(database, { db })
  const first = fakeAgent(ctx.fleet, { host: 'early' })
  const { pushId } = await pushConfig(ctx.fleet, first.workloadId, configYaml(4325))
  await ctx.advance(500)
  faulty.loseCommit('offers.store')
  const second = fakeAgent(ctx.fleet, { host: 'early' })
  await ctx.advance(500)
  second.lose()
  areReportsHeld = true
  await ctx.advance(1_500)
  // A push to many is told to some of them in each turn: it still is.
  const { active } = ctx.fleet.workload(first.workloadId)!
  expect(active?.targets.get(second.uid)).toMatchObject({ isJoiner: true, state: 'offered' })
  active!.beginning++
  const back = fakeAgent(ctx.fleet, { host: 'early', uid: second.uid })
  const rows = () =>
    database.pool.query('select from push_targets where push_id = $1 and instance_uid = $2', [
      pushId,
      second.uid,
    ])
  expect([back.offered().length, (await rows()).length]).toEqual([0, 0])
  await ctx.advance(500)
  expect([back.offered().length, (await rows()).length]).toEqual([1, 1])
  active!.beginning--
  areReportsHeld = false
  await ctx.close()
})
