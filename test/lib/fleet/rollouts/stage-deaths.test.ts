import { afterEach, beforeEach, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

// A stage proves a config by its members: where they vanish with it, or never start, nobody else gets it.

const database = await useTestDatabase()
const TWO = configYaml(4318)
let ctx: FleetTestContext
let pods: FakeAgent[]
let workloadId: string

/** A workload of thirty pods, whose newest config goes to three of them first, as campaigns do it. */
beforeEach(async () => {
  ctx = await createFleetContext(database)
  pods = Array.from({ length: 30 }, (_, n) =>
    fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${n}`, more: { health: HEALTHY } }),
  )
  workloadId = pods[0]!.workloadId
  await pushConfig(ctx.fleet, workloadId, configYaml())
  for (const pod of pods) pod.apply()
  await ctx.advance(500)
  await pushConfig(ctx.fleet, workloadId, TWO, () => {}, [
    { percentage: 10, dwellMs: 30_000, gates: ['no_failure', 'health'] },
    { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
  ])
  await ctx.advance(500)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const members = () => pods.filter((pod) => pod.offered().includes(configHash(TWO)))

/** What the rollout came to within ten minutes. */
async function end() {
  for (let n = 0; n < 60; n++) await ctx.advance(10_000)
  const { status, halt } = ctx.fleet.workload(workloadId)!.rollout!.stored
  return { status, gate: halt?.gate }
}

it.each([
  ['all of its members', 3, 'no_member'],
  ['two of its three members', 2, 'health'],
])('a stage halts where %s vanish soon after they applied the config', async (_, count, gate) => {
  const [...first] = members()
  for (const pod of first) pod.apply()
  await ctx.advance(2_000)
  for (const pod of first.slice(0, count)) pod.lose()
  expect(await end()).toMatchObject({ status: 'halted', gate })
  expect(members()).toEqual(first)
})

it('a stage goes on where those that vanished come back in time, and where they said goodbye', async () => {
  const [first, second, third] = members()
  for (const pod of [first, second, third]) pod!.apply()
  await ctx.advance(2_000)
  first!.goodbye()
  second!.lose()
  await ctx.advance(50_000)
  expect(members()).toHaveLength(3)
  const back = fakeAgent(ctx.fleet, { uid: second!.uid, host: 'vm', more: { health: HEALTHY } })
  back.apply(configHash(TWO))
  await ctx.advance(60_000)
  expect(members().length).toBeGreaterThan(25)
})

it('a stage halts where two of its three members vanish while they apply the config', async () => {
  const [first, second, third] = members()
  for (const pod of [first, second]) pod!.applying()
  third!.apply()
  first!.lose()
  second!.lose()
  expect(await end()).toEqual({ status: 'halted', gate: 'no_failure' })
  expect(members()).toEqual([first, second, third])
})

it('a stage halts where its collectors never come out of their start', async () => {
  const starting = { ...HEALTHY, healthy: false, status: 'StatusStarting' }
  const first = members()
  for (const pod of first) {
    pod.apply()
    pod.say({ health: starting })
  }
  expect(await end()).toEqual({ status: 'halted', gate: 'health' })
  expect(members()).toEqual(first)
})

/** Let these pods start anew in turn, one after the other for forty seconds: before one is done the next one begins. */
async function startInTurns(starters: Iterable<FakeAgent>): Promise<void> {
  const starting = { ...HEALTHY, healthy: false, status: 'StatusStarting' }
  let before: FakeAgent | null = null
  for (const pod of starters) {
    pod.say({ health: starting })
    await ctx.advance(1_000)
    before?.say({ health: HEALTHY })
    before = pod
    await ctx.advance(39_000)
  }
}

it('a stage halts where two of its members start again and again in turn', async () => {
  const first = members()
  for (const pod of first) pod.apply()
  await startInTurns(Array.from({ length: 20 }, (_, n) => first[n % 2]!))
  const { status, halt } = ctx.fleet.workload(workloadId)!.rollout!.stored
  expect({ status, gate: halt?.gate }).toEqual({ status: 'halted', gate: 'health' })
  expect(members()).toEqual(first)
})

it('a stage goes on where there is always another one that starts, and each of them does once, or one twice', async () => {
  await pushConfig(ctx.fleet, workloadId, configYaml(4319), () => {}, [
    { count: 20, dwellMs: 0, gates: ['no_failure', 'health'] },
    { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
  ])
  await ctx.advance(500)
  const isMember = (pod: FakeAgent) => pod.offered().includes(configHash(configYaml(4319)))
  const first = pods.filter(isMember)
  expect(first).toHaveLength(20)
  first[0]!.say({ health: { ...HEALTHY, healthy: false, status: 'StatusStarting' } })
  for (const pod of first) pod.apply(configHash(configYaml(4319)))
  await startInTurns([...first.slice(0, 17), first[0]!])
  expect(pods.filter(isMember).length).toBeGreaterThan(25)
})

it.each([
  ['vanish before', true],
  ['vanish while no process owns the fleet, before', false],
])('a stage halts where two of its three members %s another process does', async (_, isBefore) => {
  const first = members()
  const vanished = first.slice(0, 2)
  for (const pod of first) pod.apply()
  await ctx.advance(2_000)
  if (isBefore) for (const pod of vanished) pod.lose()
  await ctx.advance(1_000)
  await ctx.close()
  ctx.clock.advance(5_000)
  ctx = await createFleetContext(database, { clock: ctx.clock })
  const before = pods
  pods = before.flatMap((pod, n) => {
    if (vanished.includes(pod)) return []
    const more = { health: HEALTHY }
    const back = fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${n}`, uid: pod.uid, more })
    back.apply(configHash(first.includes(pod) ? TWO : configYaml()))
    return back
  })
  expect(await end()).toMatchObject({ status: 'halted', gate: 'health' })
  expect(members()).toEqual([])
})

it('a member that had vanished and is back does not count as vanished in a later stage', async () => {
  const THREE = configYaml(4319)
  await pushConfig(ctx.fleet, workloadId, THREE, () => {}, [
    { count: 3, dwellMs: 240_000, gates: ['no_failure'] },
    { count: 6, dwellMs: 60_000, gates: ['no_failure', 'health'] },
    { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
  ])
  await ctx.advance(500)
  const offered = () => pods.filter((pod) => pod.offered().includes(configHash(THREE)))
  const first = offered()
  for (const pod of first) pod.apply()
  await ctx.advance(2_000)
  for (const pod of first.slice(1)) pod.lose()
  // For longer than the grace: they are forgotten, and come back as new instances.
  await ctx.advance(150_000)
  for (const { uid } of first.slice(1)) {
    const more = { health: HEALTHY }
    fakeAgent(ctx.fleet, { uid, host: 'vm', more }).apply(configHash(THREE))
  }
  await ctx.advance(120_000)
  for (const pod of offered()) if (!first.includes(pod)) pod.apply()
  await ctx.advance(120_000)
  const { rollout } = ctx.fleet.workload(workloadId)!
  expect({ stage: rollout?.stored.stageIndex, halt: rollout?.stored.halt ?? null }).toEqual({
    stage: 2,
    halt: null,
  })
})
