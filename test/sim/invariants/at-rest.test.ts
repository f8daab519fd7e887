import { expect, it } from 'vitest'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'
import { causeOfPush } from './alerts.ts'
import { checkRolledBack } from './campaigns.ts'

const database = await useTestDatabase()

it('an alert about an earlier push may stay while the next one is open, also where a campaign made that', () => {
  const push = { pushId: 'of a campaign', kind: 'approval', error: null } as const
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
  const ctx = await createFleetContext(database, { db: pool })
  const { workloadId } = fakeAgent(ctx.fleet, { host: 'base' })
  const { pushId } = await pushConfig(ctx.fleet, workloadId, configYaml())
  await pool.execute(
    `insert into campaigns (id, name, description, status, edition, change, scope, rules, wave, raised, created_by,
       approvals, created_at, updated_at)
     values ('cmp_1', 'one', '', 'rolled_back', 1, '{}', '{}', '{}', 0, '{}', 'a@example.com', '[]', now(), now())`,
  )
  await pool.execute(
    `insert into campaign_targets (campaign_id, workload_id, workload_name, position, wave, verdict, base_hash,
       is_production, instance_count, state, push_id, rollback_push_id, was_degraded)
     values ('cmp_1', $1, 'base', 0, 0, 'changes', repeat('a', 64), false, 1, 'rolled_back', gen_random_uuid(), $2, false)`,
    [workloadId, pushId],
  )
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
  await ctx.close()
})
