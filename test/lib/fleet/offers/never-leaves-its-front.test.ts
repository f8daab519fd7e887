import { afterEach, expect, it } from 'vitest'
import type { ChangeRecord } from '../../../../lib/wire/change-feed.ts'
import type { LiveInstance } from '../../../../lib/wire/instances.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { invoke, signIn } from '../../../support/invoke.ts'
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
  expect(await workload.ends(pushId)).toEqual({ a: 'straggler: not_sent' })
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

it('says that the config could not be sent where each offer waits at its front, and fails there after seconds', async () => {
  ctx = await createFleetContext(database)
  const workload = new PushedWorkload(ctx, 'ab')
  const [stuck, silent] = workload.agents
  const { token: as } = await signIn(ctx, { groups: ['viewer'] })
  for (const { connection, uid } of workload.agents) {
    Object.assign(connection, { acknowledges: true })
    connection.tell = (_uid, message) => {
      const { hash } = message.remoteConfig ?? {}
      const hex = hash === undefined ? null : Buffer.from(hash).toString('hex')
      if (hex !== null && uid === stuck!.uid)
        ctx.timers.after(5_000, () => ctx.fleet.offerNotSent(connection, uid, hex))
      else if (hex !== null) ctx.timers.after(5, () => ctx.fleet.offerSent(connection, uid))
      return 'sent'
    }
  }
  const told = async () => {
    const { json } = await invoke(ctx, `GET /api/workloads/${workload.id}/topology`, { as })
    const { instances } = json as { instances: LiveInstance[] }
    return Object.fromEntries(instances.map(({ pod_name: pod, fault }) => [pod, fault?.error_cause]))
  }
  const inFeed = async () => {
    const [change] = (await invoke(ctx, 'GET /api/changes', { as })).json as ChangeRecord[]
    return change?.error_cause
  }
  const pushId = await workload.push(1)
  await ctx.advance(60_000)
  expect(await told()).toEqual({ 'pod-a': 'not_sent', 'pod-b': 'no_answer' })
  expect(await inFeed()).toBe('no_answer')
  silent!.apply(config(1).hash)
  await ctx.advance(2_000)
  expect(await inFeed()).toBe('not_sent')
  await ctx.advance(500_000)
  expect(await workload.ends(pushId)).toEqual({ a: 'straggler: not_sent', b: 'applied' })
  expect(await told()).toEqual({ 'pod-a': 'not_sent', 'pod-b': undefined })
  expect(await inFeed()).toBe('not_sent')
})

it('says so of one that came since, to which this process sends what a former one pushed', async () => {
  ctx = await createFleetContext(database)
  const workload = new PushedWorkload(ctx, 'a')
  const pushId = await workload.push(1)
  workload.agents[0]!.apply(config(1).hash)
  await ctx.advance(2_000)
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  fakeAgent(ctx.fleet, { uid: workload.agents[0]!.uid, host: 'vm', pod: 'pod-a' }).apply(config(1).hash)
  const joiner = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-b' })
  joiner.connection.tell = () => 'dropped'
  await ctx.advance(600_000)
  expect(await new PushedWorkload(ctx, '').ends(pushId)).toEqual({ a: 'applied', b: 'straggler: not_sent' })
})

it('does not say so of what a former process had sent, though this one cannot', async () => {
  ctx = await createFleetContext(database)
  const workload = new PushedWorkload(ctx, 'a')
  const pushId = await workload.push(1)
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  // It reads no more: no frame leaves for it.
  const again = fakeAgent(ctx.fleet, { uid: workload.agents[0]!.uid, host: 'vm', pod: 'pod-a' })
  again.connection.tell = () => 'dropped'
  await ctx.advance(600_000)
  expect(await new PushedWorkload(ctx, '').ends(pushId)).toEqual({ a: 'straggler: no_answer' })
})
