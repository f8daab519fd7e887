import { afterEach, expect, it } from 'vitest'
import { markKnownGood } from '../../../lib/changes/known-good.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { config, PushedWorkload } from '../../support/pushed-workload.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const actor = { userId: 'u', email: 'operator@example.com', askAgain: null }
const request = (workloadId: string) => ({
  workloadId,
  hash: config(1).hash,
  actor,
  replaceReason: '',
  ifCurrent: null,
  isForced: false,
  stillMay: async () => true,
})

it('a config that fails while its pin waits for its turn is not pinned', async () => {
  ctx = await createFleetContext(database)
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  await workload.settle(1)
  // While the workload's turn is held, a failure is queued, and then a pin that was checked before the failure.
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const holding = ctx.fleet.pinKnownGood(workload.id, null, actor, async () => {
    await held
    return { ok: false }
  })
  workload.agents[0]!.fail('exit code 1')
  let isAsked = () => {}
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const pinKnownGood: typeof ctx.fleet.pinKnownGood = (...pin) => {
    isAsked()
    return ctx.fleet.pinKnownGood(...pin)
  }
  const fleet = { workload: (id: string) => ctx.fleet.workload(id), pinKnownGood }
  const marking = markKnownGood({ ...ctx, fleet: fleet as typeof ctx.fleet }, request(workload.id))
  await asked
  release()
  await holding
  expect(await marking).toEqual({ ok: false, code: 'config-not-applied' })
  expect(workload.live).toMatchObject({ knownGoodHash: null, newestPush: { status: 'failed' } })
})

it('a config that runs is pinned', async () => {
  ctx = await createFleetContext(database)
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  await workload.settle(1)
  expect(await markKnownGood(ctx, request(workload.id))).toMatchObject({ ok: true, isFirst: true })
  expect(workload.live.knownGoodHash).toBe(config(1).hash)
})
