import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommitInDoubt } from '../../../lib/store/db.ts'
import type { PlannedAutoApply } from '../../../lib/wire/auto-apply.ts'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// How often the schedules of campaigns and auto-apply ask the database while nothing happens.

const database = await useTestDatabase()
const { signal } = new AbortController()
let db: FaultyDatabase
let scene: AutoApplyScene
/** Statements and transactions since a test set it to zero. */
let asked = 0

beforeEach(async () => {
  const faulty = faultyDatabase(database.pool)
  const count = <Args extends unknown[], T>(work: (...args: Args) => T) => {
    return (...args: Args): T => {
      asked++
      return work(...args)
    }
  }
  db = {
    ...faulty,
    query: count(faulty.query) as typeof faulty.query,
    execute: count(faulty.execute),
    transaction: count(faulty.transaction) as typeof faulty.transaction,
  }
  scene = await AutoApplyScene.open(database, db)
})
afterEach(() => scene.ctx.close())

/** Let the schedules run through a minute in which nothing happens; answers how often the database was asked. */
async function quietMinute(): Promise<number> {
  asked = 0
  for (let n = 0; n < 120; n++) {
    scene.ctx.clock.advance(500)
    await scene.ctx.campaigns.work(signal)
    await scene.ctx.autoApply.work(signal)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return asked
}

it('is once a minute for each while there is no campaign and nothing is in force', async () => {
  await scene.work()
  expect(await quietMinute()).toBeLessThanOrEqual(2)
})

it('is less than once a second while a version is in force and reaches nobody new', async () => {
  await scene.carry(1)
  await scene.apply(1)
  await scene.work(70_000)
  expect(await quietMinute()).toBeLessThan(60)
})

it('is less than once a second while a version is paused', async () => {
  await scene.carry(1)
  await scene.apply(1)
  expect((await scene.on('POST', '/pause', { comment: 'wait' })).status).toBe(200)
  await scene.work(70_000)
  expect(await quietMinute()).toBeLessThan(60)
})

it('does not keep a newcomer waiting, however long nothing has happened', async () => {
  await scene.carry(1)
  await scene.apply(1)
  await scene.work(70_000)
  await quietMinute()
  scene.connect('vm-4')
  for (let n = 0; n < 3; n++) await scene.work(500)
  expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
})

it('does not keep an approval waiting whose answer was lost, although nobody was told of it', async () => {
  await scene.carry(1)
  await quietMinute()
  const { plan_hash } = (await scene.request(1)).json as PlannedAutoApply
  await scene.work()
  db.loseAnswer('auto-apply.decide')
  await expect(scene.approve(plan_hash)).rejects.toThrow(CommitInDoubt)
  scene.connect('vm-4')
  for (let n = 0; n < 4; n++) await scene.work(1_000)
  expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
})
