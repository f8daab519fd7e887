import { describe, expect, it } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { listTargets } from '../../lib/store/push-targets.ts'
import { findPush, type Push } from '../../lib/store/pushes.ts'
import { DEFAULT_CONFIG, startSimulatedAgent } from '../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../support/eventually.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { findFreePort, startTestService, type TestService } from '../support/service.ts'

const database = await useTestDatabase()
const GOOD = `${DEFAULT_CONFIG}# second\n`

async function push(on: TestService, workloadId: string, body: string): Promise<Push> {
  const outcome = await on.service.ctx.fleet.push(
    {
      workloadId,
      body,
      hash: configHash(body),
      used: [],
      path: 'request',
      actor: { userId: 'u1', email: 'a@example.com', askAgain: null },
      approvalId: null,
      rollbackTargetKind: null,
    },
    async () => ({ ok: true }),
  )
  if (!outcome.ok) throw new Error(outcome.code)
  return outcome.push
}

const stored = (on: TestService, pushId: string) => findPush(on.service.ctx.db, pushId)

describe('a config pushed to real sockets', () => {
  it('reaches every instance, survives a restart without a second offer, and is rolled back when it fails', async () => {
    const opampAddress = `127.0.0.1:${await findFreePort()}`
    let running = await startTestService(database, { opampAddress })
    const url = `ws://${running.opampUrl}`
    const agents = [1, 2].map(() =>
      startSimulatedAgent({
        url,
        reconnectMs: 50,
        identifying: { 'service.name': 'otelcol', 'service.version': '0.149.0' },
        nonIdentifying: { 'host.name': 'vm-1' },
        behaviour: { kind: 'apply', delayMs: 5 },
      }),
    )
    const fleet = () => running.service.ctx.fleet
    const workloadId = await eventually(
      'both are live',
      () => [...fleet().state.workloads.values()].find((workload) => workload.live.count === 2)?.id,
    )

    const first = await push(running, workloadId, DEFAULT_CONFIG)
    await eventually('both have applied it', async () => {
      const row = await stored(running, first.pushId)
      return row?.status === 'applied' && row.counts.applied === 2
    })
    const offersHeard = () =>
      agents.map(
        (agent) =>
          agent.heard.filter((word) => (word as { remoteConfig?: unknown }).remoteConfig != null).length,
      )
    expect(offersHeard()).toEqual([1, 1])

    // A restart keeps its address.
    await running.stop()
    running = await startTestService(database, { opampAddress })
    await eventually('both are back', () => fleet().workload(workloadId)?.live.count === 2)
    await eventually('what both run is known', () =>
      [...fleet().state.instances.values()].every((instance) => instance.reported.isKnown),
    )
    expect(offersHeard()).toEqual([1, 1])

    const second = await push(running, workloadId, GOOD)
    await eventually(
      'it is applied',
      async () => (await stored(running, second.pushId))?.status === 'applied',
    )
    const bad = await push(running, workloadId, DEFAULT_CONFIG.replace('debug: {}', 'nonsense: {}'))
    await eventually('it has failed', async () => (await stored(running, bad.pushId))?.status === 'failed')
    const rollback = await eventually('the good one is back', () => {
      const newest = fleet().workload(workloadId)?.newestPush
      return newest?.kind === 'auto-rollback' && newest.status === 'applied' && newest
    })
    expect(rollback).toMatchObject({
      hash: second.hash,
      rollbackOfPushId: bad.pushId,
      pushedBy: 'auto-rollback',
    })
    const targets = await listTargets(running.service.ctx.db, [bad.pushId])
    expect(targets.some(({ target }) => target.state === 'failed')).toBe(true)
    for (const agent of agents) await agent.stop()
    await running.stop()
  })
})
