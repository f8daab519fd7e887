import { afterEach, expect, it } from 'vitest'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

it('an offer that its front never gets rid of ends its target once, and is still made', async () => {
  ctx = await createFleetContext(database)
  const workload = new PushedWorkload(ctx, 'a')
  const [agent] = workload.agents
  let isStuck = true
  // The agent sends but does not read: each frame is handed to its front, which says that it did not leave.
  agent!.connection.tell = (_uid, message) => {
    const { hash } = message.remoteConfig ?? {}
    if (hash !== undefined && isStuck)
      ctx.timers.after(1, () =>
        ctx.fleet.offerNotSent(agent!.connection, agent!.uid, Buffer.from(hash).toString('hex')),
      )
    return 'sent'
  }
  const pushId = await workload.push(1)
  await ctx.advance(500_000)
  expect(await workload.ends(pushId)).toEqual({ a: 'straggler: no_answer' })
  for (let seconds = 0; seconds < 10; seconds++) {
    await ctx.advance(1_000)
    expect(workload.live.active!.push).toMatchObject({ phase: 'no_status' })
  }
  isStuck = false
  await ctx.advance(2_000)
  agent!.say({ remoteConfigStatus: { hash: config(1).hash, status: 'applied', errorMessage: '' } })
  expect(await workload.ends(pushId)).toEqual({ a: 'applied' })
  expect(workload.live.active!.push.status).toBe('applied')
})
