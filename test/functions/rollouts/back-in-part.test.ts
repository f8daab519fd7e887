import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let agents: FakeAgent[]
let workloadId: string

const FIRST = configHash(configYaml(1))
const SICK = {
  healthy: false,
  startTimeMs: 0,
  lastError: 'disk full',
  status: '',
  statusTimeMs: 0,
  children: new Map(),
}
const PORT = 'listen tcp 0.0.0.0:4317: bind: address already in use'

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  editor = await signIn(ctx, { groups: ['editor'] })
  agents = ['a', 'b', 'c', 'd'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod }))
  workloadId = agents[0]!.workloadId
  await ctx.advance(300)
  await pushConfig(ctx.fleet, workloadId, configYaml(1))
  for (const agent of agents) agent.apply()
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const get = async <T>(path: string) => (await invoke(ctx, `GET ${path}`, { as: editor.token })).json as T
const read = () => get<WorkloadRecord>(`/api/workloads/${workloadId}`)
const history = () => get<RevisionRecord[]>(`/api/workloads/${workloadId}/configs`)
const look = async () => {
  await ctx.alerts.run(new AbortController().signal)
  const all = await get<AlertRecord[]>(`/api/alerts?workload_id=${workloadId}`)
  return all.filter(({ rule }) => rule === 'push_failed')
}

/** Bring another config to two of the four, where it fails, so that these two are sent the first config again. */
async function failInStages(): Promise<void> {
  const body = configYaml(2)
  const pushed = await ctx.fleet.push(
    {
      workloadId,
      body,
      hash: configHash(body),
      used: [],
      stages: [
        { count: 2, dwellMs: 10_000, gates: ['no_failure'] },
        { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
      ],
      path: 'request',
      actor: { userId: 'u1', email: editor.email, askAgain: null },
      approvalId: null,
      rollbackTargetKind: null,
    },
    async () => ({ ok: true }),
  )
  expect(pushed.ok).toBe(true)
  await ctx.advance(300)
  for (const agent of agents.slice(0, 2)) agent.fail(PORT)
  await ctx.advance(1_000)
  expect(agents.map((agent) => agent.offered().at(-1))).toEqual([FIRST, FIRST, FIRST, FIRST])
}

describe('a rollback that one of two instances applies', () => {
  it('is said to be under way until they answer, and then to have gone back in part, with numbers and the error', async () => {
    await failInStages()
    const going = { kind: 'going_back', config_hash: FIRST, target_count: 2, applied_count: 0 }
    expect((await read()).trouble).toMatchObject({ kind: 'rolled_back', aftermath: going })
    const [told] = await look()
    expect(told).toMatchObject({ details: { aftermath: 'going_back' } })
    expect(told!.message).toMatch(/it is being rolled back to/)

    agents[0]!.apply()
    agents[1]!.fail(PORT)
    await ctx.advance(1_000)
    const inPart = {
      kind: 'went_back_in_part',
      config_hash: FIRST,
      target_count: 2,
      applied_count: 1,
      failed_count: 1,
      error_cause: 'port_in_use',
    }
    const record = await read()
    expect(record.trouble).toMatchObject({ kind: 'push_failed', aftermath: inPart })
    expect(record.current_config_push).toMatchObject({ outcome: 'in_part', is_rollback: true })
    const [rollback, failed] = await history()
    expect(rollback).toMatchObject({ outcome: 'in_part' })
    expect(failed).toMatchObject({ outcome: 'failed', aftermath: inPart })
    const base = `/api/workloads/${workloadId}/configs/${failed!.config_hash}/convergence`
    expect(await get(base)).toMatchObject({ aftermath: inPart })
    const [entry] = await get<ChangeRecord[]>('/api/changes?outcome=in_part')
    expect(entry).toMatchObject({
      kind: 'auto_rollback',
      outcome: 'in_part',
      applied_count: 1,
      target_count: 2,
    })
    expect(await get('/api/changes?outcome=succeeded&kind=auto_rollback')).toEqual([])
  })

  it('is told by an alert of its own, which does not end while the two differ, and ends with a push that all apply', async () => {
    await failInStages()
    const [first] = await look()
    agents[0]!.apply()
    agents[1]!.fail(PORT)
    await ctx.advance(1_000)
    const [second] = await look()
    expect(second!.id).not.toBe(first!.id)
    expect(second!.message).toMatch(
      /the rollback to \w{12} was applied on 1 of 2 instances; 1 failed \(A port/,
    )
    expect(second!.details).toMatchObject({ aftermath: 'went_back_in_part', back_applied: 1, back_total: 2 })
    expect((await look())[0]!.id).toBe(second!.id)
    await pushConfig(ctx.fleet, workloadId, configYaml(3))
    for (const agent of agents) agent.apply()
    await ctx.advance(1_000)
    expect(await look()).toEqual([])
  })

  it('puts right what its alert says once it has gone back everywhere, without another alert', async () => {
    await failInStages()
    const [first] = await look()
    for (const agent of agents.slice(0, 2)) agent.apply()
    await ctx.advance(1_000)
    const [now] = await look()
    expect(now).toMatchObject({ id: first!.id, details: { aftermath: 'went_back' } })
    expect(now!.message).toMatch(/it was rolled back to/)
    expect((await read()).trouble).toMatchObject({ kind: 'rolled_back', aftermath: { kind: 'went_back' } })
  })
})

describe('a rollback that fails as well', () => {
  it('is said of the rollback too: there was an earlier config, and what runs is said of the config that failed', async () => {
    await pushConfig(ctx.fleet, workloadId, configYaml(2))
    for (const agent of agents) agent.fail(PORT)
    await ctx.advance(1_000)
    for (const agent of agents) agent.fail(PORT)
    await ctx.advance(1_000)
    for (const agent of agents) agent.say({ health: SICK })
    await ctx.advance(1_000)

    const failedToo = { kind: 'rollback_failed', config_hash: FIRST, target_count: 4, failed_count: 4 }
    const [rollback, failed] = await history()
    expect(failed).toMatchObject({ status: 'failed', aftermath: failedToo })
    expect(rollback).toMatchObject({ is_rollback: true, status: 'failed', aftermath: failedToo })
    const record = await read()
    expect(record.current_config_push?.aftermath).toEqual(failed!.aftermath)
    expect(record.trouble).toMatchObject({
      kind: 'push_failed',
      push_id: failed!.push_id,
      aftermath: failedToo,
      unhealthy_count: 4,
      instance_count: 4,
    })
    const drift = await get<DriftOverview>('/api/config-safety/drift')
    expect(drift.items[0]!.last_push?.aftermath).toEqual(failed!.aftermath)
    // They could not apply again what they ran: that they run it would contradict that they drift.
    expect(drift.items[0]).toMatchObject({ expected_config_hash: FIRST })
    expect(drift.items[0]!.drift_reasons).toContain('drifted')
    expect(drift.items[0]!.effective_config_hashes ?? []).not.toContain(FIRST)
  })
})
