import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FakeAgentOptions,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'
import { tallyFault } from '../../../support/recount.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

const database = await useTestDatabase()
const YAML = configYaml()
const HASH = configHash(YAML)
const SIGHT = { withTexts: false }

let ctx: FleetTestContext
let tests = 0
beforeEach(async () => {
  tests++
  ctx = await createFleetContext(database)
})
afterEach(() => ctx.close())

const join = (options: FakeAgentOptions = {}): FakeAgent =>
  fakeAgent(ctx.fleet, { host: `bare-${tests}`, ...options })

async function restart(): Promise<void> {
  await ctx.close()
  ctx = await createFleetContext(database)
}

/** Let an agent send heartbeats, one each half minute, for this many seconds. */
async function beat(agent: FakeAgent, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 30) {
    await ctx.advance(30_000)
    agent.say({})
  }
}

const recordOf = (agent: FakeAgent) => ctx.views.workload(ctx.fleet.workload(agent.workloadId)!, SIGHT)
const eventsOf = async (agent: FakeAgent) => {
  await ctx.fleet.writer.flush()
  const rows = await database.pool.query<{ event_type: string; version: string }>(
    'select event_type, version from workload_events where instance_uid = $1 order by id',
    [agent.uid],
  )
  return rows.map(({ event_type: type, version }) =>
    (type === 'connected' ? `${type} ${version}` : type).trim(),
  )
}

describe.each(['ws', 'http'] as const)(
  'over %s: an agent that never answers what it is after a restart',
  (transport) => {
    it('is alive by its connection, placed by its home, and marked as not yet described', async () => {
      const first = join({ transport, attributes: { region: 'eu' } })
      await ctx.advance(1_000)
      const before = recordOf(first)
      await restart()
      const again = join({ uid: first.uid, transport, isBare: true })
      expect(again.workloadId).toBe(first.workloadId)
      await beat(again, 600)
      const now = { ...recordOf(again), last_seen_at: before.last_seen_at }
      expect(now).toEqual(before)
      expect([...(await ctx.views.instances(ctx.fleet.workload(again.workloadId)!, SIGHT))]).toMatchObject([
        { instance_uid: first.uid, described: false, accepts_remote_config: true },
      ])
      expect(await eventsOf(first)).toEqual(['connected 0.149.0'])
    })

    it('is pushed to, and counts', async () => {
      const first = join({ transport })
      await restart()
      const again = join({ uid: first.uid, transport, isBare: true })
      const push = await pushConfig(ctx.fleet, again.workloadId, YAML)
      await beat(again, 30)
      // Its report of what it runs may still be on its way, so nothing is offered yet.
      expect(again.offered()).toEqual([])
      await beat(again, 60)
      expect(again.offered()).toEqual([HASH])
      again.apply(HASH)
      expect(push).toMatchObject({ status: 'applied', counts: { target: 1, applied: 1 } })
    })
  },
)

it('an agent that only tells what it runs counts with that in its workload', async () => {
  const first = join()
  await restart()
  const again = join({ uid: first.uid, isBare: true })
  await ctx.advance(1_000)
  again.effective(YAML)
  await ctx.advance(1_000)
  const workload = ctx.fleet.workload(again.workloadId)!
  expect(ctx.fleet.state.instances.get(again.uid)!.reportedConfigHash).not.toBe('')
  expect(tallyFault(workload.live, [...workload.instances], '')).toBe('')
})

describe('an agent that describes itself a little later', () => {
  it('is shown as it is from then on, without a second event', async () => {
    const first = join({ pod: 'pod-1' })
    await restart()
    const again = join({ uid: first.uid, isBare: true, pod: 'pod-1' })
    await ctx.advance(5_000)
    again.describe()
    await ctx.advance(100_000)
    const [shown] = [...(await ctx.views.instances(ctx.fleet.workload(first.workloadId)!, SIGHT))]
    expect(shown).toMatchObject({ pod_name: 'pod-1', version: '0.149.0' })
    expect(shown).not.toHaveProperty('described')
    expect(await eventsOf(first)).toEqual(['connected 0.149.0'])
  })

  it('is not offered anything before, whatever it can report', async () => {
    const first = join()
    await pushConfig(ctx.fleet, first.workloadId, YAML)
    first.apply()
    await restart()
    const capabilities = SUPERVISOR & ~0x1000
    const again = join({ uid: first.uid, isBare: true, capabilities })
    await ctx.advance(30_000)
    expect(again.offered()).toEqual([])
    again.describe()
    await ctx.advance(1_000)
    expect(again.offered()).toEqual([HASH])
  })

  it('has its connection in the history with what it is, where it came after the grace', async () => {
    const first = join()
    await restart()
    await ctx.advance(200_000)
    expect(ctx.fleet.workload(first.workloadId)!.status).toBe('disconnected')
    const again = join({ uid: first.uid, isBare: true, version: '0.150.0' })
    await ctx.advance(1_000)
    expect(ctx.fleet.workload(first.workloadId)!.status).toBe('connected')
    again.describe()
    expect(await eventsOf(first)).toEqual(['connected 0.149.0', 'connected 0.150.0'])
  })

  it('goes over to the workload that it names', async () => {
    const first = join()
    await restart()
    const again = join({ uid: first.uid, isBare: true, service: 'another' })
    expect(again.workloadId).toBe(first.workloadId)
    again.describe()
    expect(ctx.fleet.workload(first.workloadId)!.live.count).toBe(0)
    expect(ctx.fleet.state.instances.get(first.uid)!.workload!.displayName).toBe('another')
    await ctx.advance(200_000)
    expect(ctx.fleet.workload(first.workloadId)!.status).toBe('disconnected')
  })
})

it('an agent of a workload that takes no configs is offered none, described or not', async () => {
  const first = join({ attributes: { 'telemetry.sdk.language': 'java', 'os.description': '' } })
  await ctx.advance(1_000)
  await restart()
  const again = join({ uid: first.uid, isBare: true })
  await beat(again, 120)
  expect(recordOf(again)).toMatchObject({ status: 'connected', type: 'sdk', accepts_remote_config: false })
  await expect(pushConfig(ctx.fleet, again.workloadId, YAML)).rejects.toThrow('workload-not-connected')
})

it('an agent that never described itself leaves as others do', async () => {
  const first = join()
  await restart()
  const again = join({ uid: first.uid, isBare: true })
  await beat(again, 120)
  again.lose()
  expect(ctx.fleet.workload(first.workloadId)!.live.count).toBe(0)
  const back = join({ uid: first.uid, isBare: true })
  await beat(back, 90)
  back.goodbye()
  await ctx.advance(200_000)
  expect(ctx.fleet.workload(first.workloadId)!.status).toBe('disconnected')
  expect(await eventsOf(first)).toEqual(['connected 0.149.0', 'disconnected', 'connected', 'disconnected'])
})
