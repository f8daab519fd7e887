import { afterEach, describe, expect, it } from 'vitest'
import { hasOpenPush } from '../../../../lib/fleet/pushes/find-obstacle.ts'
import type { AgentConnection } from '../../../../lib/opamp/fleet-port.ts'
import type { AgentReport } from '../../../../lib/opamp/report.ts'
import type { Database } from '../../../../lib/store/db.ts'
import { reportOf } from '../../../support/agent-report.ts'
import { faultyDatabase } from '../../../support/faulty-database.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

// Every target of a push ends with a cause, whatever keeps its instance from reporting one.

const database = await useTestDatabase()
let ctx: FleetTestContext

async function begin(pods: string, db: Database = database.pool) {
  ctx = await createFleetContext(database, { db })
  const workload = new PushedWorkload(ctx, pods)
  await ctx.advance(500)
  return workload
}
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/** Longer than all repeats of an offer and the longest wait for APPLYING together. */
const LONG_MS = 40 * 60_000

describe('a target ends', () => {
  it('as a straggler when it began to apply the config and then names the one before', async () => {
    const workload = await begin('ab')
    await workload.settle(1)
    const pushId = await workload.push(2)
    const [a, b] = workload.agents
    b!.apply()
    a!.applying()
    a!.apply(config(1).hash)
    await ctx.advance(LONG_MS)
    expect(await workload.ends(pushId)).toEqual({ a: 'straggler: runs_another', b: 'applied' })
    expect(await workload.stored(pushId)).toMatchObject({ status: 'applied' })
    // It was offered the config three times on its connection, and no more.
    expect(a!.offered().filter((hash) => hash === config(2).hash)).toHaveLength(3)
  })

  it('as a straggler when it never answers, and when it never stops applying', async () => {
    const workload = await begin('abc')
    const pushId = await workload.push(1)
    const [a, b] = workload.agents
    a!.apply()
    b!.applying()
    await ctx.advance(LONG_MS)
    expect(await workload.ends(pushId)).toEqual({
      a: 'applied',
      b: 'straggler: apply_timeout',
      c: 'straggler: no_answer',
    })
    expect(await workload.stored(pushId)).toMatchObject({ status: 'applied' })
  })

  it('once, where it says with each heartbeat that it is applying', async () => {
    const workload = await begin('ab')
    const pushId = await workload.push(1)
    const [a, b] = workload.agents
    a!.apply()
    b!.applying()
    await ctx.advance(LONG_MS)
    const changed = () =>
      database.pool.query('select state, updated_at from push_targets where push_id = $1 order by 1', [
        pushId,
      ])
    const before = await changed()
    b!.applying()
    await ctx.advance(2_000)
    expect(await changed()).toEqual(before)
    expect(await workload.ends(pushId)).toEqual({ a: 'applied', b: 'straggler: apply_timeout' })
  })

  it('as gone when its list of components, which came too late, lacks one', async () => {
    const workload = await begin('ab')
    // It reconnects with a gap in its sequence numbers and says nothing else: its full state is being asked for.
    const [a, b] = workload.agents
    b!.lose()
    const connection: AgentConnection = { id: 7_001, transport: 'ws', send: () => 'sent', drop() {} }
    const say = (sequenceNum: number, more: Partial<AgentReport>) =>
      ctx.fleet.receive(connection, reportOf(b!.uid, sequenceNum, { capabilities: SUPERVISOR, ...more }), {})
    say(50, {})
    const pushId = await workload.push(1)
    a!.apply()
    say(51, { components: { hash: 'late', components: new Map([['exporters', ['otlp']]]) } })
    await ctx.advance(10_000)
    expect(await workload.ends(pushId)).toEqual({ a: 'applied', b: 'gone: component_missing' })
    expect(await workload.stored(pushId)).toMatchObject({ status: 'applied' })
  })

  it('as gone when it belongs to another workload before the push is committed', async () => {
    const workload = await begin('ab')
    const [a, b] = workload.agents
    const outcome = await ctx.fleet.push(
      {
        workloadId: workload.id,
        ...config(1),
        used: [],
        path: 'request',
        actor: { userId: 'u1', email: 'p@example.com', askAgain: null },
        approvalId: null,
        rollbackTargetKind: null,
      },
      async () => {
        b!.say({
          attributes: new Map([
            ['service.name', 'moved'],
            ['host.name', 'elsewhere'],
          ]),
        })
        return { ok: true }
      },
    )
    if (!outcome.ok) throw new Error(outcome.code)
    await ctx.advance(500)
    a!.apply()
    await ctx.advance(500)
    expect(b!.offered()).toEqual([])
    expect(await workload.ends(outcome.push.pushId)).toEqual({ a: 'applied', b: 'gone: moved_away' })
    expect(await workload.stored(outcome.push.pushId)).toMatchObject({ status: 'applied' })
  })

  it('with its push, when that failed while it still applied it', async () => {
    const workload = await begin('ab')
    await workload.settle(1)
    const pushId = await workload.push(2)
    const [a, b] = workload.agents
    b!.applying()
    a!.fail('exit code 1')
    await ctx.advance(1_000)
    expect(workload.offered).toEqual([1, 1])
    expect(await workload.ends(pushId)).toEqual({ a: 'failed: agent_exited', b: 'superseded' })
    expect((await workload.stored(pushId)).counts).toMatchObject({ applying: 0, failed: 1 })
  })

  it('as gone when it does not come back within the grace after a restart', async () => {
    const workload = await begin('ab')
    const pushId = await workload.push(1)
    workload.agents[0]!.apply()
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    fakeAgent(ctx.fleet, { uid: workload.agents[0]!.uid, host: 'vm', pod: 'pod-a' }).apply(config(1).hash)
    await ctx.advance(60_000)
    const again = new PushedWorkload(ctx, '')
    expect(await again.ends(pushId)).toEqual({ a: 'applied', b: 'offered' })
    await ctx.advance(70_000)
    expect(await again.ends(pushId)).toEqual({ a: 'applied', b: 'gone: disconnected' })
    expect(await again.stored(pushId)).toMatchObject({ status: 'applied' })
  })
})

it('fails a push on which pod after pod dies, though one of the first had said goodbye', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  const pushId = await workload.push(2)
  const [a, b] = workload.agents
  a!.goodbye()
  let pod = b!
  const died = () => workload.live.newestPush!.pushId !== pushId
  for (let n = 0; n < 30 && !died(); n++) {
    pod.lose()
    pod = workload.join(`b${n}`)
    await ctx.advance(10_000)
  }
  expect(await workload.stored(pushId)).toMatchObject({ status: 'failed' })
  expect(pod.offered().at(-1)).toBe(config(1).hash)
})

it('leaves out of an automatic rollback who has failed its config before', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  const [a, b] = workload.agents
  b!.fail('exit code 1')
  await workload.settle(2)
  const failing = await workload.push(3)
  // The newest config that was applied is 2. That push is marked as failed here, so the rollback goes to 1.
  await database.pool.execute(`update pushes set status = 'failed' where config_hash = $1`, [config(2).hash])
  a!.fail('exit code 1')
  await ctx.advance(1_000)
  const rollback = workload.live.newestPush!
  expect(rollback).toMatchObject({ kind: 'auto-rollback', hash: config(1).hash, rollbackOfPushId: failing })
  expect(rollback.excluded).toEqual({ failed_before: 1 })
  a!.apply()
  await ctx.advance(1_000)
  expect(await workload.stored(rollback.pushId)).toMatchObject({ status: 'applied', counts: { target: 1 } })
})

it('offers a config to whom it was kept from when the push that lifted that got no answer to its commit', async () => {
  const db = faultyDatabase(database.pool)
  const workload = await begin('ab', db)
  await workload.settle(1)
  workload.agents[1]!.fail('exit code 1')
  await workload.settle(2)
  db.loseAnswer('push')
  await expect(workload.push(1)).rejects.toThrow('connection lost at commit')
  await ctx.advance(5_000)
  expect(workload.offered).toEqual([1, 1])
  for (const agent of workload.agents) agent.apply()
  await ctx.advance(1_000)
  expect(workload.live.newestPush).toMatchObject({ hash: config(1).hash, status: 'applied' })
})

it('does not let the first to come after a restart fail for all a config that they had applied', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  const pushId = await workload.settle(2)
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  fakeAgent(ctx.fleet, { uid: workload.agents[0]!.uid, host: 'vm', pod: 'pod-a' }).fail(
    'boom',
    config(2).hash,
  )
  await ctx.advance(2_000)
  expect(await new PushedWorkload(ctx, '').stored(pushId)).toMatchObject({ status: 'applied' })
})

it('offers a config again after a restart to one that was away when what it had failed was pushed again', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  const [a, b] = workload.agents
  b!.fail('exit code 1')
  await ctx.advance(1_000)
  b!.lose()
  await ctx.advance(1_000)
  await workload.push(1)
  a!.apply()
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  const again = fakeAgent(ctx.fleet, { uid: b!.uid, isBare: true })
  again.say({
    attributes: new Map([
      ['service.name', 'edge'],
      ['host.name', 'vm'],
      ['k8s.pod.name', 'pod-b'],
    ]),
    remoteConfigStatus: { hash: config(1).hash, status: 'failed', errorMessage: 'exit code 1' },
  })
  await ctx.advance(1_000)
  expect(again.offered()).toEqual([config(1).hash])
})

/**
 * Let some agents that never come to an end come and go in turn: each stays for five of seven minutes, and may say
 * something as it comes.
 */
async function takeTurns(
  workload: PushedWorkload,
  pods: string,
  minutes: number,
  say: (agent: FakeAgent) => void = () => {},
): Promise<void> {
  const agents = new Map([...pods].map((pod) => [pod, workload.agents['abcdef'.indexOf(pod)]!]))
  for (let minute = 1; minute <= minutes; minute++) {
    await ctx.advance(60_000)
    for (const [n, [pod, agent]] of [...agents].entries()) {
      const at = (minute + n * 3) % 7
      if (at === 5) agent.goodbye()
      if (at !== 0) continue
      const back = workload.join(pod, { uid: agent.uid })
      agents.set(pod, back)
      say(back)
    }
  }
}

describe('agents that never answer, and come and go in turn,', () => {
  it('keep no push open for ever', async () => {
    const workload = await begin('abc')
    const pushId = await workload.push(1)
    workload.agents[0]!.apply()
    await takeTurns(workload, 'bc', 45)
    expect(await workload.stored(pushId)).toMatchObject({ status: 'applied' })
  })

  it('keep none open either where they say each time that they apply it', async () => {
    const workload = await begin('abc')
    const pushId = await workload.push(1)
    workload.agents[0]!.apply()
    await takeTurns(workload, 'bc', 45, (agent) => agent.applying(config(1).hash))
    expect(await workload.stored(pushId)).toMatchObject({ status: 'applied' })
  })

  it('keep none open either where they poll, and leave again sooner than a poller may be silent', async () => {
    ctx = await createFleetContext(database)
    const workload = new PushedWorkload(ctx, 'a', { transport: 'http' })
    const pushId = await workload.push(1)
    let [poller] = workload.agents
    // How the push stands each time before it leaves.
    const stands: string[] = []
    for (let minute = 0; minute < 90; minute++) {
      poller!.say({})
      await ctx.advance(15_000)
      poller!.applying(config(1).hash)
      await ctx.advance(15_000)
      stands.push(workload.live.active!.push.phase)
      poller!.goodbye()
      await ctx.advance(30_000)
      poller = workload.join('a', { uid: poller!.uid, transport: 'http' })
    }
    expect(stands[0]).toBe('applying')
    expect(stands.slice(-10)).toEqual(new Array(10).fill('no_status'))
    poller!.say({})
    await ctx.advance(1_000)
    expect((await workload.ends(pushId))['a']).toMatch(/^straggler: /)
  })

  it('keep no push open for ever, where they join, are forgotten in between and join again', async () => {
    const workload = await begin('a')
    const pushId = await workload.push(1)
    await ctx.advance(600_000)
    expect(await workload.ends(pushId)).toEqual({ a: 'straggler: no_answer' })
    let joiner = workload.join('b')
    const stands: string[] = []
    for (let round = 0; round < 20; round++) {
      await ctx.advance(150_000)
      stands.push(workload.live.active!.push.phase)
      joiner.goodbye()
      await ctx.advance(150_000)
      expect(ctx.fleet.state.instances.has(joiner.uid)).toBe(false)
      joiner = workload.join('b', { uid: joiner.uid })
    }
    expect(stands[0]).toBe('sent')
    expect(stands.slice(-5)).toEqual(new Array(5).fill('no_status'))
    joiner.apply(config(1).hash)
    await ctx.advance(1_000)
    expect(await workload.stored(pushId)).toMatchObject({ status: 'applied' })
  })

  it('keep no stage open for ever', async () => {
    const workload = await begin('abc')
    await workload.settle(1)
    await workload.stage(2, [{ percentage: 100, dwellMs: 0, gates: [] }])
    workload.agents[0]!.apply()
    await takeTurns(workload, 'bc', 45)
    expect(workload.live).toMatchObject({ rollout: null, active: { push: { hash: config(2).hash } } })
  })

  it('keep no automatic rollback open for ever', async () => {
    const workload = await begin('abcd')
    await workload.settle(1)
    await workload.push(2)
    workload.agents[3]!.fail('exit code 1')
    await ctx.advance(1_000)
    const { pushId } = workload.live.newestPush!
    workload.agents[0]!.apply(config(1).hash)
    workload.agents[3]!.apply(config(1).hash)
    await takeTurns(workload, 'bc', 45)
    expect(await workload.stored(pushId)).toMatchObject({ kind: 'auto-rollback', status: 'applied' })
  })

  it('bring a push that nobody answers to its end: each target has one with a cause, and nothing waits for it', async () => {
    const workload = await begin('abc')
    const pushId = await workload.push(1)
    // How the push stands each time that one of them is back and was offered it again.
    const stands: (string | boolean)[][] = []
    await takeTurns(workload, 'abc', 70, () => {
      stands.push([workload.live.active!.push.phase, hasOpenPush(workload.live)])
    })
    expect(stands[0]).toEqual(['sent', true])
    expect(stands.slice(-10)).toEqual(new Array(10).fill(['no_status', false]))
    for (const end of Object.values(await workload.ends(pushId)))
      expect(end).toMatch(/^(straggler: no_answer|gone: left)$/)
    // What is pushed next is not held up by it.
    const next = await workload.push(2)
    for (const agent of workload.agents) agent.apply(config(2).hash)
    await ctx.advance(1_000)
    expect(await workload.stored(next)).toMatchObject({ status: 'applied' })
  })

  it('decide by what they say in the end all the same', async () => {
    const workload = await begin('abc')
    const pushId = await workload.push(1)
    await takeTurns(workload, 'bc', 45)
    expect(await workload.stored(pushId)).toMatchObject({ status: 'pending' })
    workload.join('c', { uid: workload.agents[2]!.uid }).apply(config(1).hash)
    await ctx.advance(1_000)
    expect((await workload.ends(pushId))['c']).toBe('applied')
  })
})

describe('a target that was waited for in vain', () => {
  /** Wait for all targets in vain, let one of them come back, and see that it is offered the config once more. */
  async function comeBack(leave: (agent: FakeAgent) => void) {
    const workload = await begin('ab')
    const pushId = await workload.push(1)
    await ctx.advance(600_000)
    expect(await workload.ends(pushId)).toEqual({ a: 'straggler: no_answer', b: 'straggler: no_answer' })
    const [agent] = workload.agents
    leave(agent!)
    await ctx.advance(5_000)
    const back = workload.join('a', { uid: agent!.uid })
    await ctx.advance(1_000)
    expect(back.offered()).toEqual([config(1).hash])
    const stands = () => [workload.live.active!.push.phase, hasOpenPush(workload.live)]
    return { workload, pushId, back, stands }
  }
  const WAYS = [
    ['with a goodbye', (agent: FakeAgent) => agent.goodbye()],
    ['without', (agent: FakeAgent) => agent.lose()],
  ] as const

  it.each(WAYS)('opens its push no more as it comes back, having left %s', async (_, leave) => {
    const { back, stands } = await comeBack(leave)
    expect(stands()).toEqual(['no_status', false])
    back.applying(config(1).hash)
    await ctx.advance(1_000)
    expect(stands()).toEqual(['no_status', false])
  })

  it.each(WAYS)('decides by what it says then, having left %s: it applies it', async (_, leave) => {
    const { workload, pushId, back } = await comeBack(leave)
    back.apply(config(1).hash)
    await ctx.advance(1_000)
    expect(await workload.stored(pushId)).toMatchObject({ status: 'applied' })
  })

  it.each(WAYS)('decides by what it says then, having left %s: it fails it', async (_, leave) => {
    const { workload, pushId, back } = await comeBack(leave)
    back.applying(config(1).hash)
    await ctx.advance(1_000)
    back.fail('exit code 1')
    await ctx.advance(1_000)
    expect(await workload.stored(pushId)).toMatchObject({ status: 'failed' })
  })
})
