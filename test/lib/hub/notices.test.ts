import { afterAll, beforeEach, expect, it } from 'vitest'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { applyFrame } from '../../../runtime/ui/logic/fleet-frames.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database)
})
afterAll(() => ctx.close())

/** The push in the newest `push_update` frame. */
function toldPush(): RevisionRecord | undefined {
  const told = ctx.frames.filter((frame) => frame.type === 'push_update').at(-1)
  return told?.push
}

it('tells how the newest push reads since its config was pinned', async () => {
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  const push = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
  agent.apply()
  await ctx.advance(3_000)
  expect(toldPush()).toMatchObject({ status: 'applied', is_last_known_good: false })
  await ctx.fleet.pinKnownGood(
    agent.workloadId,
    push.hash,
    { userId: 'u1', email: 'ops@example.com', askAgain: null },
    async () => ({ ok: true }),
  )
  await ctx.advance(3_000)
  expect(toldPush()).toMatchObject({ is_last_known_good: true })
})

it('tells how the newest push reads since its config was named', async () => {
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  const push = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
  agent.apply()
  await ctx.advance(3_000)
  ctx.counters.setLabel(agent.workloadId, push.hash, 'spring')
  await ctx.advance(3_000)
  expect(toldPush()).toMatchObject({ label: 'spring' })
})

it('tells that nobody answers a push once that is so', async () => {
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  await pushConfig(ctx.fleet, agent.workloadId, configYaml())
  await ctx.advance(3_000)
  expect(toldPush()).toMatchObject({ timed_out_count: 0 })
  await ctx.advance(40_000)
  expect(toldPush()).toMatchObject({ timed_out_count: 1 })
})

it('tells a push no more while nothing of it changes', async () => {
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  await pushConfig(ctx.fleet, agent.workloadId, configYaml())
  agent.apply()
  // The worst that was seen under a push is part of it.
  agent.say({ health: { ...HEALTHY, healthy: false } })
  await ctx.advance(3_000)
  const count = () => ctx.frames.filter((frame) => frame.type === 'push_update').length
  const before = count()
  agent.say({ health: HEALTHY })
  await ctx.advance(3_000)
  agent.say({ health: { ...HEALTHY, healthy: false } })
  await ctx.advance(70_000)
  expect(count()).toBe(before)
})

it.each([
  ['', false],
  [', also after a restart', true],
])(
  'tells the newest push of a workload that came back from the archive after the workload%s',
  async (_, isRestarted) => {
    const host = 'archived'
    const agent = fakeAgent(ctx.fleet, { host })
    await ctx.advance(300)
    const { pushId, hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    agent.apply()
    await ctx.advance(3_000)
    agent.lose()
    await ctx.advance(130_000)
    expect(await ctx.fleet.archive(agent.workloadId, null, async () => {})).toMatchObject({ ok: true })
    await ctx.advance(3_000)
    if (isRestarted) {
      await ctx.close()
      ctx = await createFleetContext(database)
    }
    const before = ctx.frames.length
    // It says at once that it runs the config: nothing of the push changes.
    const more = { remoteConfigStatus: { hash, status: 'applied', errorMessage: '' } } as const
    fakeAgent(ctx.fleet, { host, uid: agent.uid, more })
    await ctx.advance(3_000)
    const shown = new Map<string, WorkloadRecord>()
    for (const frame of ctx.frames.slice(before)) applyFrame(shown, frame, { withArchived: false })
    expect(shown.get(agent.workloadId)).toMatchObject({ current_config_push: { push_id: pushId } })
  },
)

const HEALTHY = {
  healthy: true,
  status: 'StatusOK',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}
