import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

const database = await useTestDatabase()
const YAML = configYaml()
const HASH = configHash(YAML)

let ctx: FleetTestContext
let tests = 0
beforeEach(async () => {
  tests++
  ctx = await createFleetContext(database)
})
afterEach(() => ctx.close())

const join = (uid?: string): FakeAgent =>
  fakeAgent(ctx.fleet, { host: `joining-${tests}`, ...(uid === undefined ? {} : { uid }) })

describe('who joins while a push is being committed', () => {
  it('is offered it without having to say another word, and is one of its targets', async () => {
    const first = join()
    const joiners: FakeAgent[] = []
    const push = await pushConfig(ctx.fleet, first.workloadId, YAML, () => void joiners.push(join()))
    await ctx.advance(1_000)
    expect(joiners[0]!.offered()).toEqual([HASH])
    expect(push.counts).toMatchObject({ target: 2, joined: 1 })
    for (const agent of [first, ...joiners]) agent.apply()
    expect(push.status).toBe('applied')
  })

  it('is counted where it runs the config already', async () => {
    const first = join()
    const push = await pushConfig(ctx.fleet, first.workloadId, YAML, () =>
      join().say({ remoteConfigStatus: { hash: HASH, status: 'applied', errorMessage: '' } }),
    )
    await ctx.advance(1_000)
    expect(push.counts).toMatchObject({ applied: 1, joined: 1 })
  })

  it('is offered what the failed push is rolled back to', async () => {
    const first = join()
    await pushConfig(ctx.fleet, first.workloadId, YAML)
    first.apply()
    await pushConfig(ctx.fleet, first.workloadId, configYaml(4318))
    const joiners: FakeAgent[] = []
    // After this failure nothing is offered until the rollback is stored.
    first.fail('port in use')
    joiners.push(join())
    expect(joiners[0]!.offered()).toEqual([])
    await ctx.advance(1_000)
    expect(joiners[0]!.offered()).toEqual([HASH])
  })

  it('is offered what is active when it is no member of the first stage', async () => {
    const first = join()
    const second = join()
    await pushConfig(ctx.fleet, first.workloadId, YAML)
    for (const agent of [first, second]) agent.apply()
    const joiners: FakeAgent[] = []
    const canary = configYaml(4318)
    await pushConfig(ctx.fleet, first.workloadId, canary, () => void joiners.push(join()), [
      { count: 1, dwellMs: 1_000, gates: [] },
      { percentage: 100, dwellMs: 0, gates: [] },
    ])
    await ctx.advance(500)
    expect(
      [...first.offered(), ...second.offered()].filter((hash) => hash === configHash(canary)),
    ).toHaveLength(1)
    expect(joiners[0]!.offered()).toEqual([HASH])
  })
})

describe('an automatic rollback that an instance cannot take', () => {
  it('goes on to all others, and brings what they run to those that come later', async () => {
    const pods = [join(), join(), join()]
    const [first, second, third] = pods as [FakeAgent, FakeAgent, FakeAgent]
    const { workloadId } = first
    await pushConfig(ctx.fleet, workloadId, YAML)
    for (const pod of pods) pod.apply()
    await pushConfig(ctx.fleet, workloadId, configYaml(4318))
    first.fail('port in use')
    await ctx.advance(1_000)
    first.fail('port in use')
    await ctx.advance(500)
    const back = ctx.fleet.workload(workloadId)!.newestPush!
    expect(back).toMatchObject({ kind: 'auto-rollback', status: 'pending' })
    for (const pod of [second, third]) pod.apply()
    await ctx.advance(1_000)
    expect(ctx.fleet.workload(workloadId)!.newestPush).toMatchObject({ status: 'applied' })
    const later = join()
    await ctx.advance(1_000)
    expect(later.offered()).toEqual([HASH])
    // The one that failed it is not offered it again.
    expect(first.offered().filter((hash) => hash === HASH)).toHaveLength(2)
  })

  it('waits for those that come while the first one fails it', async () => {
    const first = join()
    const { workloadId } = first
    await pushConfig(ctx.fleet, workloadId, YAML)
    first.apply()
    await pushConfig(ctx.fleet, workloadId, configYaml(4318))
    first.fail('port in use')
    await ctx.advance(1_000)
    const later = join()
    await ctx.advance(1_000)
    expect(later.offered()).toEqual([HASH])
    first.fail('port in use')
    await ctx.advance(1_000)
    later.apply()
    await ctx.advance(1_000)
    expect(ctx.fleet.workload(workloadId)!.newestPush).toMatchObject({
      kind: 'auto-rollback',
      status: 'applied',
    })
  })

  it('has failed where pod after pod comes and crashes on it, and is waited for no longer', async () => {
    const first = join()
    const { workloadId } = first
    await pushConfig(ctx.fleet, workloadId, YAML)
    first.apply()
    await pushConfig(ctx.fleet, workloadId, configYaml(4318))
    first.fail('port in use')
    await ctx.advance(1_000)
    let pod = join()
    await ctx.advance(1_000)
    expect(pod.offered()).toEqual([HASH])
    first.fail('port in use')
    for (let n = 0; n < 10; n++) {
      await ctx.advance(10_000)
      pod.lose()
      pod = join()
    }
    await ctx.advance(10_000)
    expect(ctx.fleet.workload(workloadId)!.newestPush).toMatchObject({
      kind: 'auto-rollback',
      status: 'failed',
    })
  })

  it('keeps its config from nobody else while one that joined is applying it', async () => {
    const pods = [join(), join(), join()]
    const { workloadId } = pods[0]!
    await pushConfig(ctx.fleet, workloadId, YAML)
    for (const pod of pods) pod.apply()
    await pushConfig(ctx.fleet, workloadId, configYaml(4318))
    pods[0]!.fail('port in use')
    await ctx.advance(1_000)
    const good = join()
    await ctx.advance(1_000)
    good.applying()
    for (const pod of pods) pod.fail('disk full')
    await ctx.advance(1_000)
    expect(ctx.fleet.workload(workloadId)!.newestPush).toMatchObject({ status: 'failed' })
    good.apply()
    await ctx.advance(1_000)
    const later = join()
    await ctx.advance(2_000)
    expect(later.offered()).toEqual([HASH])
  })

  it('has failed where nobody can', async () => {
    const pods = [join(), join()]
    const { workloadId } = pods[0]!
    await pushConfig(ctx.fleet, workloadId, YAML)
    for (const pod of pods) pod.apply()
    await pushConfig(ctx.fleet, workloadId, configYaml(4318))
    pods[0]!.fail('port in use')
    await ctx.advance(1_000)
    for (const pod of pods) pod.fail('port in use')
    await ctx.advance(1_000)
    expect(ctx.fleet.workload(workloadId)!.newestPush).toMatchObject({
      kind: 'auto-rollback',
      status: 'failed',
    })
  })
})

it('an instance that joined after a push and is gone leaves no row, also where the clock was put back meanwhile', async () => {
  const first = join()
  const push = await pushConfig(ctx.fleet, first.workloadId, YAML)
  first.apply()
  const joiner = join()
  await ctx.advance(1_000)
  joiner.apply()
  await ctx.advance(1_000)
  const rows = () =>
    database.pool.query(`select instance_uid from push_targets where push_id = $1 and is_joiner`, [
      push.pushId,
    ])
  expect(await rows()).toHaveLength(1)
  ctx.clock.set(new Date(ctx.clock.now().getTime() - 3_600_000))
  joiner.goodbye()
  await ctx.advance(130_000)
  expect(push.counts.joined).toBe(0)
  expect(await rows()).toEqual([])
})

it('keeps the rows of the last hundred that were lost with it, and of those that came back', async () => {
  const first = join()
  await pushConfig(ctx.fleet, first.workloadId, YAML)
  first.apply()
  const { active } = ctx.fleet.workload(first.workloadId)!
  const uids: string[] = []
  for (let round = 0; round < 4; round++) {
    const pods = Array.from({ length: 30 }, () => join())
    await ctx.advance(1_000)
    for (const pod of pods) pod.apply()
    await ctx.advance(1_000)
    for (const pod of pods) pod.lose()
    uids.push(...pods.map(({ uid }) => uid))
    // The first one comes back in between, and stays.
    if (round === 2) join(uids[0]).apply(HASH)
    await ctx.advance(150_000)
  }
  expect([...active!.targets.keys()].sort()).toEqual([first.uid, uids[0], ...uids.slice(20)].sort())
  expect(active!.lostJoiners.size).toBe(100)
  const stored = await ctx.db.query('select from push_targets where push_id = $1', [active!.push.pushId])
  expect(stored).toHaveLength(102)
})
