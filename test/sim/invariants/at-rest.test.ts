import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rollBackToHash } from '../../../lib/changes/perform-rollback.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { StagePlan } from '../../../lib/store/rollouts.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'
import { causeOfPush } from './alerts.ts'
import { checkBases, checkRolledBack } from './campaigns.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database, { db: database.pool })
})
afterEach(async () => {
  await ctx.close()
  for (const table of ['campaigns', 'workloads']) await database.pool.execute(`delete from ${table}`)
})

/** Store a campaign with one target. */
async function storeTarget(of: {
  workloadId: string
  baseHash: string
  state: 'started' | 'rolled_back'
  pushId: string | null
  rollbackPushId: string | null
}): Promise<void> {
  await database.pool.execute(
    `insert into campaigns (id, name, description, status, edition, change, scope, rules, wave, raised, created_by,
       approvals, created_at, updated_at)
     values ('cmp_1', 'one', '', 'rolled_back', 1, '{}', '{}', '{}', 0, '{}', 'a@example.com', '[]', now(), now())`,
  )
  await database.pool.execute(
    `insert into campaign_targets (campaign_id, workload_id, workload_name, position, wave, verdict, base_hash,
       is_production, instance_count, state, push_id, rollback_push_id, was_degraded)
     values ('cmp_1', $1, 'base', 0, 0, 'changes', $2, false, 1, $3, coalesce($4::uuid, gen_random_uuid()), $5, false)`,
    [of.workloadId, of.baseHash, of.state, of.pushId, of.rollbackPushId],
  )
}

it('an alert about an earlier push may stay while the next one is open, also where a campaign made that', () => {
  const counts = { target: 1, applying: 0, applied: 1, failed: 0, straggler: 0, gone: 0, joined: 0 }
  const push = { pushId: 'of a campaign', kind: 'approval', error: null, counts } as const
  const ofCampaigns = new Set([push.pushId])
  for (const told of [ofCampaigns, new Set<string>()]) {
    expect(causeOfPush({ ...push, status: 'pending', phase: 'no_status' }, told)).toEqual({})
    expect(causeOfPush({ ...push, status: 'applied', phase: 'applied' }, told)).toEqual({
      push_failed: false,
    })
  }
  const failed = { ...push, status: 'failed', phase: 'failed' } as const
  expect(causeOfPush(failed, ofCampaigns)).toEqual({ push_failed: false })
  expect(causeOfPush(failed, new Set())).toEqual({ push_failed: true })
})

it('a target was given its base, unless its workload was deleted later, with its pushes', async () => {
  const { pool } = database
  const { workloadId } = fakeAgent(ctx.fleet, { host: 'base' })
  const { pushId } = await pushConfig(ctx.fleet, workloadId, configYaml())
  const baseHash = 'a'.repeat(64)
  await storeTarget({ workloadId, baseHash, state: 'rolled_back', pushId: null, rollbackPushId: pushId })
  const told = async () => {
    const problems: string[] = []
    await checkRolledBack(pool, (problem) => problems.push(problem))
    return problems
  }
  expect(await told()).toEqual([
    `after cmp_1 was rolled back, ${workloadId} (rolled_back) was given something else than its base`,
  ])
  await pool.execute('update campaign_targets set rollback_push_id = gen_random_uuid()')
  expect(await told()).toEqual([])
})

describe('what a workload ran when a campaign pushed to it', () => {
  const STAGES: StagePlan[] = [
    { count: 1, dwellMs: 0, gates: [] },
    { percentage: 100, dwellMs: 0, gates: [] },
  ]
  const hashOf = (port: number) => configHash(configYaml(port))

  /** Two agents of a workload that runs config 2 and has config 3 in the first stage of a rollout. */
  async function startRollout(): Promise<FakeAgent> {
    const agents = [fakeAgent(ctx.fleet, { host: 'base' }), fakeAgent(ctx.fleet, { host: 'base' })] as const
    const [{ workloadId }] = agents
    for (const port of [1, 2]) {
      await pushConfig(ctx.fleet, workloadId, configYaml(port))
      for (const agent of agents) agent.apply()
    }
    await pushConfig(ctx.fleet, workloadId, configYaml(3), undefined, STAGES)
    return agents[0]
  }

  /** What is found where the next push is that of a campaign's target with this base. */
  async function found(workloadId: string, baseHash: string): Promise<string[]> {
    const { pushId } = await pushConfig(ctx.fleet, workloadId, configYaml(9))
    await storeTarget({ workloadId, baseHash, state: 'started', pushId, rollbackPushId: null })
    const problems: string[] = []
    await checkBases(database.pool, (problem) => problems.push(problem))
    return problems
  }

  it("is what an operator's rollback of the workload brought, also where it undid a push in stages", async () => {
    const { workloadId } = await startRollout()
    const actor = { userId: 'u1', email: 'operator@example.com', askAgain: null }
    const stillMay = async () => true
    const back = await rollBackToHash(ctx, { workloadId, hash: hashOf(1), comment: '', actor, stillMay })
    expect(back).toMatchObject({ ok: true })
    expect(ctx.fleet.workload(workloadId)!.activeHash).toBe(hashOf(1))
    expect(await found(workloadId, hashOf(1))).toEqual([])
  })

  it('is what it ran before a rollout whose members were taken back', async () => {
    const agent = await startRollout()
    agent.fail('bad config')
    await ctx.advance(2_000)
    const workload = ctx.fleet.workload(agent.workloadId)!
    expect(workload.newestPush).toMatchObject({ kind: 'auto-rollback', hash: hashOf(2) })
    expect(workload.activeHash).toBe(hashOf(2))
    const problems = await found(agent.workloadId, hashOf(1))
    expect(problems).toEqual([
      `cmp_1 pushed to ${agent.workloadId}, which ran ${hashOf(2).slice(0, 8)} and not ${hashOf(1).slice(0, 8)}`,
    ])
  })
})
