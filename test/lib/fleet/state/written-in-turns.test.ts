import { afterEach, beforeEach, expect, it } from 'vitest'
import type { FollowedPush } from '../../../../lib/fleet/state/model.ts'
import { PUSHES_AT_ONCE, WORKLOADS_AT_ONCE } from '../../../../lib/fleet/state/write-behind.ts'
import type { Database, Db } from '../../../../lib/store/db.ts'
import { through } from '../../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

const database = await useTestDatabase()
const WORKLOADS = 2.5 * WORKLOADS_AT_ONCE

/** The ids of the workloads in each statement that wrote workloads, and how many pushes were in each that wrote them. */
let written: string[][]
let pushesWritten: number[]
/** Called after each such statement. */
let afterEachOne: () => void
let ctx: FleetTestContext
beforeEach(async () => {
  written = []
  pushesWritten = []
  afterEachOne = () => {}
  const noting = (tx: Db): Db => ({
    query: (text, params) => tx.query(text, params),
    async execute(text, params) {
      const touched = await tx.execute(text, params)
      if (text.startsWith('insert into workloads')) {
        written.push(String(params?.[0]).slice(1, -1).replaceAll('"', '').split(','))
        afterEachOne()
      }
      if (text.startsWith('update pushes')) pushesWritten.push((params![1] as string[]).length)
      return touched
    },
  })
  const db: Database = {
    ...through(database.pool),
    transaction: (name, work) => database.pool.transaction(name, (tx) => work(noting(tx))),
  }
  ctx = await createFleetContext(database, { db })
  for (let n = 0; n < WORKLOADS; n++) fakeAgent(ctx.fleet, { host: `host-${n}` })
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

it('many workloads are written some in each turn of the event loop, by id over all statements', async () => {
  let turns = 0
  const inEach: number[] = []
  afterEachOne = () => inEach.push(turns)
  const count = () => {
    turns++
    if (written.flat().length < WORKLOADS) setImmediate(count)
  }
  setImmediate(count)
  await ctx.fleet.writer.flush()
  expect(written.map(({ length }) => length)).toEqual([
    WORKLOADS_AT_ONCE,
    WORKLOADS_AT_ONCE,
    WORKLOADS_AT_ONCE / 2,
  ])
  const ids = written.flat()
  expect(ids).toEqual([...ids].sort())
  expect(new Set(ids)).toEqual(new Set(ctx.fleet.state.workloads.keys()))
  expect(new Set(inEach).size).toBe(3)
})

it('one that is deleted while others are written is not written any more', async () => {
  const last = [...ctx.fleet.state.workloads.values()].sort((a, b) => (a.id < b.id ? 1 : -1))[0]!
  afterEachOne = () => {
    last.isDeleted = true
  }
  await ctx.fleet.writer.flush()
  expect(written.flat()).toHaveLength(WORKLOADS - 1)
  expect(written.flat()).not.toContain(last.id)
})

it('many pushes are written some in each turn as well', async () => {
  await ctx.fleet.writer.flush()
  for (let n = 0; n < 2.5 * PUSHES_AT_ONCE; n++) {
    const pushId = `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
    ctx.fleet.writer.push({ push: { pushId, counts: {} } } as FollowedPush)
  }
  await ctx.fleet.writer.flush()
  expect(pushesWritten).toEqual([PUSHES_AT_ONCE, PUSHES_AT_ONCE, PUSHES_AT_ONCE / 2])
})
