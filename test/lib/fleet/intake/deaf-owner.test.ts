import { expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import { type FakeClock, fakeClock } from '../../../support/fakes.ts'
import { type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { createTestContext } from '../../../support/invoke.ts'
import { manualTimers } from '../../../support/manual-timers.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml } from '../../../support/push-config.ts'
import { PushedWorkload } from '../../../support/pushed-workload.ts'

const database = await useTestDatabase()
let hears = true

/** A process that is an owner among fronts: what these pass on comes only while it hears. */
async function openOwner(clock: FakeClock): Promise<FleetTestContext> {
  const timers = manualTimers(clock)
  const base = createTestContext(database, { clock }, { timers, hears: () => hears, mayOffer: () => hears })
  const { fleet } = base
  await base.counters.load(base.db)
  await base.labelRules.load(base.db)
  await fleet.start()
  const advance = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      timers.advance(Math.min(500, left))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await fleet.writer.flush()
  }
  const close = async () => {
    await fleet.stop()
    await base.close()
  }
  return Object.assign({ ...base, timers, frames: [], advance, close }) as unknown as FleetTestContext
}

it('a new owner that is deaf for longer than the grace takes nothing back for those that it could not hear', async () => {
  const clock = fakeClock()
  let ctx = await openOwner(clock)
  const before = new PushedWorkload(ctx, 'abc')
  await ctx.advance(1_000)
  await before.settle(1)
  await before.settle(2)
  const bad = before.join('d')
  await ctx.advance(2_000)
  bad.fail(configHash(configYaml(2)))
  await ctx.advance(2_000)
  await ctx.close()

  ctx = await openOwner(clock)
  const workload = ctx.fleet.workload(before.id)!
  const comeBack = (uid: string, pod: string) =>
    fakeAgent(ctx.fleet, { uid, host: 'vm', pod, more: { health: HEALTHY } })
  comeBack(bad.uid, 'pod-d').fail(configHash(configYaml(2)))
  await ctx.advance(1_000)
  hears = false
  await ctx.advance(125_000)
  hears = true
  await ctx.advance(500)
  for (const [index, { uid }] of before.agents.slice(0, 3).entries())
    comeBack(uid, `pod-${'abc'[index]}`).apply(configHash(configYaml(2)))
  await ctx.advance(10_000)
  expect(workload.active!.push).toMatchObject({ status: 'applied', kind: 'approval' })
  expect(workload.activeHash).toBe(configHash(configYaml(2)))
  expect([...workload.quarantinedHashes]).toEqual([])
  await ctx.close()
})

it('asked for a push while it is deaf, it answers after ten seconds', async () => {
  const ctx = await openOwner(fakeClock())
  const agent = fakeAgent(ctx.fleet, { host: 'other' })
  await ctx.advance(30_000)
  agent.lose()
  hears = false
  await ctx.advance(3_000)
  const answers: boolean[] = []
  const asked = ctx.fleet
    .canTakeConfig(ctx.fleet.workload(agent.workloadId)!)
    .then((can) => answers.push(can))
  await ctx.advance(25_000)
  expect(answers).toEqual([false])
  hears = true
  await asked
  await ctx.close()
})
