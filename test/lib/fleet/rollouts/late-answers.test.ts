import { afterEach, describe, expect, it } from 'vitest'
import { findTrouble } from '../../../../lib/fleet/views/trouble.ts'
import type { AgentConnection } from '../../../../lib/opamp/fleet-port.ts'
import type { AgentReport } from '../../../../lib/opamp/report.ts'
import type { StagePlan } from '../../../../lib/store/rollouts.ts'
import { HEALTHY, reportOf } from '../../../support/agent-report.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

// A push in stages fails on the first instance that says so, and there is no config to go back to. The others of its
// stage were sent the config as well: what they say of it a moment later is what became of it on them.

const database = await useTestDatabase()
let ctx: FleetTestContext

afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const STAGES: StagePlan[] = [
  { count: 4, dwellMs: 10_000, gates: ['no_failure'] },
  { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
]

/** Five instances without any config, four of which are sent one in stages; the first of them could not apply it. */
async function failInStages() {
  ctx = await createFleetContext(database)
  const workload = new PushedWorkload(ctx, 'abcde')
  await ctx.advance(500)
  await workload.stage(1, STAGES)
  workload.agents[0]!.fail('exit code 1')
  await ctx.advance(1_000)
  const push = workload.live.newestPush!
  expect(push).toMatchObject({ status: 'failed', counts: { target: 4, applied: 0, failed: 1 } })
  return { workload, pushId: push.pushId }
}

/** What pages say of the trouble of a workload, and of the instances that run the failed config still. */
const troubleOf = ({ live }: PushedWorkload) =>
  findTrouble(
    live,
    {
      drifted: { count: 0, first: null, altered: 0, alteredSince: null },
      isVersionOutdated: false,
      nowMs: ctx.clock.monotonicMs(),
      now: ctx.clock.now(),
    },
    { withTexts: false },
  )

describe('an answer that comes after the stages have failed with nothing to go back to', () => {
  it('counts in the push, so that it says of as many that they run it as run it', async () => {
    const { workload, pushId } = await failInStages()
    const [, b, c, d] = workload.agents
    b!.apply()
    c!.apply()
    d!.fail('exit code 1')
    await ctx.advance(1_000)
    expect(await workload.ends(pushId)).toMatchObject({
      a: 'failed: agent_exited',
      b: 'applied',
      c: 'applied',
      d: 'failed: agent_exited',
    })
    expect((await workload.stored(pushId)).counts).toMatchObject({ target: 4, applied: 2, failed: 2 })
    expect(workload.live.newestPush!.counts).toMatchObject({ target: 4, applied: 2, failed: 2 })
    expect(troubleOf(workload)).toMatchObject({ kind: 'push_failed', aftermath: { running_count: 2 } })
  })

  it('is over for its instance: that it is unhealthy counts at once', async () => {
    const { workload } = await failInStages()
    const [, b] = workload.agents
    b!.say({ health: { ...HEALTHY, healthy: false, status: 'StatusPermanentError', lastError: 'refused' } })
    b!.fail('exit code 1')
    await ctx.advance(3_000)
    expect(troubleOf(workload)).toMatchObject({ unhealthy_count: 1, instance_count: 5 })
  })

  it('that it failed keeps the config from its instance, as where it had said so in time, and is told with its cause', async () => {
    const { workload } = await failInStages()
    const d = workload.agents[3]!
    d.fail('exit code 1')
    await ctx.advance(1_000)
    const kept = await database.pool.query<{ uid: string }>(
      'select instance_uid as uid from quarantines where workload_id = $1 and config_hash = $2',
      [workload.id, config(1).hash],
    )
    expect(kept.map(({ uid }) => uid)).toContain(d.uid)
    const revision = ctx.views.newestRevision(workload.live, workload.live.newestPush!, { withTexts: false })
    expect(revision).toMatchObject({ failed_count: 2, error_groups: [{ count: 2 }] })
  })

  /** As above, but d, which had failed the config before, was sent nothing of the stages until they failed. */
  async function failBeforeOneIsSent() {
    ctx = await createFleetContext(database)
    const workload = new PushedWorkload(ctx, 'abcde')
    const [a, , , d] = workload.agents
    d!.fail('exit code 1', config(1).hash)
    await ctx.advance(500)
    // It reconnects with a gap in its sequence numbers: what it runs is not known, and is being asked for.
    d!.lose()
    const connection: AgentConnection = { id: 7_001, transport: 'ws', send: () => 'sent', drop() {} }
    const say = (sequenceNum: number, more: Partial<AgentReport>) =>
      ctx.fleet.receive(connection, reportOf(d!.uid, sequenceNum, { capabilities: SUPERVISOR, ...more }), {})
    say(50, {})
    await workload.stage(1, STAGES)
    a!.fail('exit code 1')
    await ctx.advance(1_000)
    const { pushId } = workload.live.newestPush!
    expect(await workload.stored(pushId)).toMatchObject({
      status: 'failed',
      counts: { target: 4, failed: 1 },
    })
    return { workload, pushId, d: d!, say }
  }

  it('is none where it says again what it had failed before, and was sent nothing of these stages', async () => {
    const { workload, pushId, d, say } = await failBeforeOneIsSent()
    const { hash } = config(1)
    say(51, { remoteConfigStatus: { hash, status: 'failed', errorMessage: 'exit code 1' } })
    await ctx.advance(1_000)
    expect(await workload.ends(pushId)).toMatchObject({ d: 'superseded' })
    expect((await workload.stored(pushId)).counts).toMatchObject({ failed: 1 })
    expect(workload.live.quarantinedInstances.get(hash)?.has(d.uid) ?? false).toBe(false)
  })

  it('is none of such a one either where another process has the fleet by then', async () => {
    const { pushId, d } = await failBeforeOneIsSent()
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    const again = fakeAgent(ctx.fleet, { uid: d.uid, host: 'vm', pod: 'pod-d' })
    again.fail('exit code 1', config(1).hash)
    await ctx.advance(1_000)
    const after = new PushedWorkload(ctx, '')
    expect(await after.ends(pushId)).toMatchObject({ d: 'superseded' })
    expect((await after.stored(pushId)).counts).toMatchObject({ failed: 1 })
  })

  it('leaves the push failed, and nobody else is offered what it brought', async () => {
    const { workload, pushId } = await failInStages()
    for (const agent of workload.agents.slice(1, 4)) agent.apply()
    await ctx.advance(20_000)
    expect(await workload.stored(pushId)).toMatchObject({ status: 'failed', phase: 'failed' })
    expect(workload.offered).toEqual([1, 1, 1, 1, null])
    expect(workload.live).toMatchObject({ activeHash: null, rollout: null })
  })

  it('counts also where another process has the fleet by then', async () => {
    const { workload, pushId } = await failInStages()
    const uids = workload.agents.map(({ uid }) => uid)
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    const again = fakeAgent(ctx.fleet, { uid: uids[1]!, host: 'vm', pod: 'pod-b' })
    again.apply(config(1).hash)
    await ctx.advance(1_000)
    const after = new PushedWorkload(ctx, '')
    expect(await after.ends(pushId)).toMatchObject({ a: 'failed: agent_exited', b: 'applied' })
    expect((await after.stored(pushId)).counts).toMatchObject({ target: 4, applied: 1, failed: 1 })
  })

  it('counts no more once another push has come', async () => {
    const { workload, pushId } = await failInStages()
    await workload.push(2)
    workload.agents[1]!.apply(config(1).hash)
    await ctx.advance(1_000)
    expect((await workload.stored(pushId)).counts).toMatchObject({ applied: 0, failed: 1 })
  })
})
