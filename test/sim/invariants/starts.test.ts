import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database, Db } from '../../../lib/store/db.ts'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import type { SimService } from '../service/sim-service.ts'
import { StartPromises } from './starts.ts'

const database = await useTestDatabase()
const { pool } = database
let scene: AutoApplyScene
/** Runs last in each transaction, before it is committed. */
let atEnd: (tx: Db) => Promise<void>
let problems: string[]
/** The process does not find what later campaigns say of a workload. */
let isBlind: boolean
/** When campaigns were started, as the operator was told. */
let startedMs: Map<string, number>

const db: Database = {
  query: async (text, params) =>
    isBlind && text.includes('campaigns later on') ? [] : pool.query(text, params),
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
  isBlind = false
  startedMs = new Map()
  scene = await AutoApplyScene.open(database, db)
})
afterEach(() => scene.ctx.close())

/** From now on look at every transaction, after `meanwhile` inside it. No operator approved anything. */
function watch(meanwhile: (tx: Db) => Promise<void> = async () => {}): StartPromises {
  const approved = { campaigns: new Map(), startedMs, versions: new Map() }
  const report = (problem: string) => problems.push(problem)
  const starts = new StartPromises(report, approved, () => scene.ctx.clock.now())
  atEnd = async (tx) => {
    await meanwhile(tx)
    await starts.committing(PROCESS, scene.ctx.clock.monotonicMs(), (text) => tx.query(text))
  }
  return starts
}

/** The process whose transactions are looked at. Nothing is frozen in it. */
const PROCESS = { name: 'service', fleet: { workload: () => null } } as unknown as SimService

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

describe('a host that was away for two campaigns', () => {
  /** What is said of the older campaign once the host is back. */
  async function comesBack(): Promise<string[]> {
    await scene.carry(1)
    const away = scene.agent('vm-3')
    away.goodbye()
    away.lose()
    scene.agents.delete('vm-3')
    await scene.ctx.advance(200_000)
    await scene.write(2)
    const older = await scene.carry(2)
    await scene.write(3)
    const newer = await scene.carry(3)
    startedMs.set(newer, -60_001)
    watch()
    scene.connect('vm-3', { uid: away.uid })
    for (let n = 0; n < 3; n++) {
      await scene.work(3_000)
      await scene.applyAll()
    }
    return problems.filter((problem) => problem.startsWith(older) && problem.includes(newer))
  }

  it('gets nothing of the older one, and what gets it from there is told', async () => {
    expect(await comesBack()).toEqual([])
    expect(scene.agent('vm-3').offered()).not.toContain(hashOn(2, 'vm-3'))
    expect(scene.runs('vm-3')).toBe(hashOn(3, 'vm-3'))
  })

  it('is told of as wronged where the older one comes to it all the same', async () => {
    isBlind = true
    expect(await comesBack()).toEqual([
      expect.stringMatching(/which was away, although the later \S+ has it (offline|started|applied)$/),
    ])
  })
})

describe('a workload that became production after the plan', () => {
  /** What is said where a process has told so long ago of vm-1 that it is production, and pushes to it all the same. */
  async function pushed(agoMs: number): Promise<string[]> {
    await scene.carry(1)
    await scene.write(2)
    const { workloadId } = scene.agent('vm-1')
    const starts = watch()
    const workload = scene.ctx.fleet.workload(workloadId)!
    const trustedLabels = { environment: 'production' }
    starts.workloadTold(PROCESS.name, { ...workload, trustedLabels }, scene.ctx.clock.monotonicMs() - agoMs)
    await scene.carry(2, { scope: { workload_ids: [workloadId] } })
    return problems.filter((problem) => problem.includes('production'))
  }

  it('is told of as wronged where the process knew it before it began to push', async () => {
    expect(await pushed(60_000)).toEqual([expect.stringMatching(/pushes to \S+, which became production$/)])
  })

  it('is not where it became so only then', async () => {
    expect(await pushed(-60_000)).toEqual([])
  })
})
