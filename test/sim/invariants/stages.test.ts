import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Database, Db } from '../../../lib/store/db.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { type FakeAgent, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'
import type { ShownTarget } from '../operator/campaigns.ts'
import { checkStages, StagePromises } from './stages.ts'

const database = await useTestDatabase()
const { pool } = database
let scene: CampaignScene
let pods: FakeAgent[]
let problems: string[]
/** Runs last in each transaction, before it is committed. */
let atEnd: (tx: Db) => Promise<void>

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

/** A campaign by which three of thirty pods have a config in their workload's first stage; answers its id. */
async function openAmidStages(): Promise<string> {
  pods = Array.from({ length: 30 }, (_, n) => fakeAgent(scene.ctx.fleet, { host: 'vm-big', pod: `pod-${n}` }))
  await scene.ctx.advance(300)
  await pushConfig(scene.ctx.fleet, pods[0]!.workloadId, configYaml(1))
  for (const pod of pods) pod.apply()
  await scene.ctx.advance(300)
  const id = await scene.start({})
  await scene.work(300, 2)
  return id
}

beforeEach(async () => {
  problems = []
  atEnd = async () => {}
  scene = await CampaignScene.open(database, 0, db)
})
afterEach(() => scene.ctx.close())

const report = (problem: string) => problems.push(problem)

/** Let the next stage begin, looked at after `meanwhile` inside its transaction; answers how many stages began. */
async function goOn(id: string, meanwhile = ''): Promise<number> {
  const { plan_hash: planHash } = await scene.record(id)
  const targets = await pool.query<ShownTarget>(
    `select workload_id, wave, verdict, base_hash, result_hash, is_production from campaign_targets
     where campaign_id = $1`,
    [id],
  )
  const campaigns = new Map([[id, { planHash: planHash!, targets }]])
  const approved = { campaigns, startedMs: new Map(), versions: new Map() }
  const stages = new StagePromises(report, approved, () => scene.ctx.clock.now())
  atEnd = async (tx) => {
    const begun = await tx.query(
      'select from rollouts where stage_index > 0 and xmin = pg_current_xact_id()::xid',
    )
    if (begun.length > 0 && meanwhile !== '') await tx.execute(meanwhile)
    await stages.committing(null, 0, (text) => tx.query(text))
  }
  for (const pod of pods) if (pod.offered().length > 1) pod.apply()
  await scene.work(1_000)
  await scene.work(32_000, 2)
  return stages.begun
}

it('a stage begins while its campaign runs', async () => {
  const id = await openAmidStages()
  expect(await goOn(id)).toBe(1)
  expect(problems).toEqual([])
})

it('none begins while its campaign is paused, while the workload is held, or outside what was approved', async () => {
  const id = await openAmidStages()
  const { workloadId } = pods[0]!
  const begins = `${id} begins stage 2 in ${workloadId} `
  const meanwhile = [
    `update campaigns set status = 'paused', plan_hash = 'another'`,
    `insert into workload_holds (workload_id, reason, held_by, held_by_id, held_at, due_at)
     values ('${workloadId}', '', '', '', now(), now())`,
  ]
  expect(await goOn(id, `with one as (${meanwhile[0]}) ${meanwhile[1]} on conflict do nothing`)).toBe(1)
  expect(problems).toEqual([
    `${begins}while it is paused`,
    `${begins}outside the approved set`,
    `${begins}while that is held`,
  ])
})

it('a large target goes in stages', async () => {
  const starts = new StagePromises(
    report,
    { campaigns: new Map(), startedMs: new Map(), versions: new Map() },
    () => scene.ctx.clock.now(),
  )
  atEnd = async (tx) => {
    await starts.starting(20, (text) => tx.query(text))
  }
  await openAmidStages()
  expect(problems).toEqual([])
  await scene.ctx.close()
  scene = await CampaignScene.open(database, 0, db)
  atEnd = async (tx) => {
    await tx.execute('delete from rollouts')
    await starts.starting(20, (text) => tx.query(text))
  }
  const id = await openAmidStages()
  expect(problems).toContain(`${id} pushes to all 30 instances of ${pods[0]!.workloadId} at once`)
})

it('at rest the stages of a target have ended as the target has', async () => {
  const id = await openAmidStages()
  const found = async (change: string) => {
    problems = []
    await pool.execute(change)
    await checkStages(pool, report)
    return problems
  }
  const target = `target ${pods[0]!.workloadId} of ${id} `
  expect(await found('select')).toEqual([`${target}is still amid its stages`])
  expect(await found(`update rollouts set status = 'halted'`)).toEqual([
    `${target}is started, though its stages halted`,
  ])
  const failed = `update campaign_targets set state = 'failed', cause = 'rollout_halted'`
  expect(await found(failed)).toEqual([])
  expect(await found(`update campaigns set status = 'aborted'`)).toEqual([
    `${target}has halted stages, though what brought them is aborted`,
  ])
  expect(await found(`update rollouts set status = 'stopped'`)).toEqual([])
  expect(await found(`update campaign_targets set state = 'applied'`)).toEqual([
    `${target}has applied it, though its stages are stopped`,
  ])
})
