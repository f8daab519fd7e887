import { afterEach, beforeEach, expect, it } from 'vitest'
import { sweep } from '../../../lib/fleet/janitor.ts'
import { CommitInDoubt } from '../../../lib/store/db.ts'
import { nextTurn } from '../../../lib/turns.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'
import { config, PushedWorkload } from '../../support/pushed-workload.ts'

const DAY_MS = 86_400_000
let database: TestDatabase
let db: FaultyDatabase
let ctx: FleetTestContext
beforeEach(async () => {
  database = await createTestDatabase()
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db })
})
afterEach(async () => {
  await ctx.close()
  await database.drop()
})

const clean = () => {
  const { db, clock, log, fleet } = ctx
  const days = { retentionDays: 30, archiveDays: 90, eventRetentionDays: 30, alertRetentionDays: 60 }
  return sweep({ db, clock, log, fleet, ...days, workloadsMax: 1_000 }, new AbortController().signal)
}
const count = async (table: string) => (await database.pool.query(`select from ${table}`)).length

/** Lose the answer to the transaction that empties this table. */
function loseEmptying(table: string): void {
  const { transaction } = db
  db.transaction = async (name, work) => {
    const before = await count(table)
    const value = await transaction(name, work)
    if (before === 0 || (await count(table)) > 0) return value
    db.transaction = transaction
    throw new CommitInDoubt('connection lost at commit')
  }
}

it('a text that was swept is stored again when it is reported again, also where the answer was lost', async () => {
  const agent = fakeAgent(ctx.fleet)
  agent.effective(configYaml())
  await ctx.advance(1_000)
  agent.lose()
  await ctx.advance(130_000)
  ctx.clock.advance(2 * DAY_MS)
  loseEmptying('reported_configs')
  await clean()
  expect(await count('reported_configs')).toBe(0)
  const again = fakeAgent(ctx.fleet, { uid: agent.uid })
  again.effective(configYaml())
  await ctx.advance(5_000)
  expect(await count('reported_configs')).toBe(1)
})

/** Have the transaction that empties this table lose its answer, and be committed only once `finish` is called. */
function emptyLate(table: string): { finish: () => void; committed: Promise<void> } {
  const { transaction } = db
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  const committed = new Promise<void>((resolve) => {
    db.transaction = (name, work) =>
      new Promise((done, lost) => {
        const late = transaction(name, async (tx) => {
          const before = await tx.query(`select from ${table}`)
          const value = await work(tx)
          if (before.length === 0 || (await tx.query(`select from ${table}`)).length > 0) return value
          db.transaction = transaction
          lost(new CommitInDoubt('connection lost at commit'))
          await held
          resolve()
          return value
        })
        late.then(done, lost)
      })
  })
  return { finish, committed }
}

/** Whether a session waits for a row that another transaction has changed. */
const isAnybodyWaiting = async () =>
  (
    await database.pool.query(
      `select from pg_locks l join pg_stat_activity a using (pid)
       where l.locktype = 'transactionid' and not l.granted and a.datname = current_database()`,
    )
  ).length > 0

it.each(['the answer was lost', 'the commit came long after its answer was lost'])(
  'an agent that was forgotten is offered what it had failed, also where %s',
  async (how) => {
    const workload = new PushedWorkload(ctx, 'ab')
    await workload.settle(1)
    await workload.push(2)
    workload.agents[0]!.apply()
    await ctx.advance(1_000)
    workload.agents[1]!.goodbye()
    await ctx.advance(1_000)
    const back = workload.join('b', { uid: workload.agents[1]!.uid })
    await ctx.advance(1_000)
    back.fail('exit code 1')
    await ctx.advance(2_000)
    expect(await count('quarantines')).toBe(1)
    back.goodbye()
    await ctx.advance(130_000)
    for (let day = 0; day < 32; day++) {
      ctx.clock.advance(DAY_MS)
      workload.agents[0]!.say({})
      await ctx.advance(500)
    }
    if (how === 'the answer was lost') {
      loseEmptying('quarantines')
      await clean()
    } else {
      const late = emptyLate('quarantines')
      await clean()
      const settled = ctx.advance(2_000)
      while (!(await isAnybodyWaiting())) await nextTurn()
      late.finish()
      await late.committed
      await settled
    }
    await ctx.advance(5_000)
    expect(await count('quarantines')).toBe(0)
    const again = workload.join('b', { uid: back.uid })
    await ctx.advance(5_000)
    expect(again.offered()).toEqual([config(2).hash])
  },
)
