import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database, Db } from '../../../lib/store/db.ts'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { StartPromises } from './starts.ts'

const database = await useTestDatabase()
const { pool } = database
let scene: AutoApplyScene
/** Runs last in each transaction, before it is committed. */
let atEnd: (tx: Db) => Promise<void>
let problems: string[]

const db: Database = {
  query: (text, params) => pool.query(text, params),
  execute: (text, params) => pool.execute(text, params),
  snapshot: (name, work) => pool.snapshot(name, work),
  transaction: (name, work) =>
    pool.transaction(name, async (tx) => {
      const answer = await work(tx)
      await atEnd(tx)
      return answer
    }),
}

beforeEach(async () => {
  atEnd = async () => {}
  problems = []
  scene = await AutoApplyScene.open(database, db)
})
afterEach(() => scene.ctx.close())

/** From now on look at every transaction, after `meanwhile` inside it. No operator approved anything. */
function watch(meanwhile: (tx: Db) => Promise<void> = async () => {}): void {
  const approved = { campaigns: new Map(), versions: new Map() }
  const report = (problem: string) => problems.push(problem)
  const starts = new StartPromises(report, approved, () => scene.ctx.clock.now())
  atEnd = async (tx) => {
    await meanwhile(tx)
    await starts.committing(null, 0, (text) => tx.query(text))
  }
}

/** All run version 1, and a campaign has brought version 2 to vm-1. Answers the campaign. */
async function bring(): Promise<string> {
  await scene.carry(1)
  await scene.write(2)
  return scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
}

/** Version 2 comes to the others by itself. */
async function comeToOthers(): Promise<void> {
  await scene.apply(2)
  for (let n = 0; n < 3; n++) await scene.work(16_000)
  await scene.applyAll()
  await scene.work(1_000)
}

describe('a version that applies by itself', () => {
  it('is not brought again by the push that takes it back', async () => {
    const id = await bring()
    await comeToOthers()
    expect(scene.runs('vm-2')).toBe(hashOn(2, 'vm-2'))
    watch()
    await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })
    for (let n = 0; n < 3; n++) {
      await scene.work(2_000)
      await scene.applyAll()
    }
    expect(scene.runs('vm-2')).toBe(hashOn(1, 'vm-2'))
    expect(problems).toEqual([])
  })

  it('is brought by no push once it has ended, or while a campaign is open', async () => {
    const id = await bring()
    const hasBegun = `exists (select from auto_apply_targets where state = 'started')`
    watch(async (tx) => {
      await tx.execute(`update auto_applies set status = 'ended' where ${hasBegun}`)
      await tx.execute(`update campaigns set status = 'paused' where id = $1 and ${hasBegun}`, [id])
    })
    await comeToOthers()
    for (const host of ['vm-2', 'vm-3']) {
      const pushes = `pushes to ${scene.agent(host).workloadId}`
      expect(problems).toContainEqual(expect.stringContaining(`${pushes} while it is ended`))
      expect(problems).toContainEqual(
        expect.stringContaining(`${pushes} although it is no newcomer and a campaign is open`),
      )
    }
  })
})
