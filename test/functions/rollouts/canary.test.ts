import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { CanarySelection, CanaryValidation, RolloutRecord } from '../../../lib/wire/rollouts.ts'
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
const SECOND = configHash(configYaml(2))
const SICK = {
  healthy: false,
  status: 'StatusPermanentError',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  editor = await signIn(ctx, { groups: ['editor'] })
  agents = ['pod-a', 'pod-b', 'pod-c', 'pod-d'].map((pod) =>
    fakeAgent(ctx.fleet, { host: 'vm', pod, attributes: { zone: pod === 'pod-c' ? 'west' : 'east' } }),
  )
  workloadId = agents[0]!.workloadId
  await ctx.advance(300)
  await pushConfig(ctx.fleet, workloadId, configYaml(1))
  for (const agent of agents) agent.apply()
  await ctx.advance(300)
})
afterAll(() => ctx.close())

const base = () => `/api/workloads/${workloadId}/config`
const post = (path: string, body: unknown) => invoke(ctx, `POST ${base()}${path}`, { as: editor.token, body })
const validate = (selection: CanarySelection, config = configYaml(2)) =>
  post('/canary/validate', { config, selection })
const start = (selection: CanarySelection, more: object = {}) =>
  post('/canary', { config: configYaml(2), selection, ...more })
const uids = ({ targets }: CanaryValidation) => targets.map(({ instance_uid }) => instance_uid)
const hashes = () => agents.map((agent) => agent.offered().at(-1))

async function approve(config = configYaml(2)): Promise<string> {
  const { id } = (await post('/approvals', { draft_yaml: config })).json as { id: string }
  // Approved by somebody else, because a workload without an environment label is treated like production.
  const approver = await signIn(ctx)
  const call = { as: approver.token, body: { comment: 'fine' } }
  expect((await invoke(ctx, `POST ${base()}/approvals/${id}/approve`, call)).status).toBe(200)
  return id
}

describe('POST …/config/canary/validate', () => {
  it.each([
    ['one', () => ({ instance_uid: agents[2]!.uid }), () => [agents[2]!.uid]],
    ['count', () => ({ count: 2 }), () => [agents[0]!.uid, agents[1]!.uid]],
    ['n', () => ({ count: 1 }), () => [agents[0]!.uid]],
    ['percentage', () => ({ percentage: 30 }), () => [agents[0]!.uid, agents[1]!.uid]],
    ['label_selector', () => ({ labels: { zone: 'west' } }), () => [agents[2]!.uid]],
    [
      'instances',
      () => ({ instance_uids: [agents[3]!.uid, '', agents[1]!.uid, agents[3]!.uid] }),
      () => [agents[3]!.uid, agents[1]!.uid],
    ],
  ])('answers whom %s would reach, and the stages', async (strategy, about, wanted) => {
    const { status, json } = await validate({ strategy, ...about() })
    expect(status).toBe(200)
    const found = json as CanaryValidation
    expect(found.valid).toBe(true)
    expect(uids(found)).toEqual(wanted())
    expect(found.targets[0]).toMatchObject({ status: 'eligible', pod_name: expect.any(String) })
    expect(found.stages).toEqual([
      { index: 0, count: wanted().length, target_count: wanted().length, dwell_seconds: 0 },
      { index: 1, percentage: 100, target_count: 4, dwell_seconds: 0 },
    ])
    expect(hashes()).toEqual([FIRST, FIRST, FIRST, FIRST])
  })

  it.each([
    ['one', {}, 'invalid_instance_target'],
    ['count', { count: 0 }, 'invalid_count'],
    ['count', { count: 4 }, 'canary_too_broad'],
    ['percentage', { percentage: 100 }, 'invalid_percentage'],
    ['label_selector', { labels: { zone: 'north' } }, 'canary_empty'],
    ['instances', { instance_uids: ['0192d3b4000070008000ffffffffffff'] }, 'instance_target_not_connected'],
    ['moon', {}, 'unsupported_selection_strategy'],
  ])('says what is wrong with %s %j', async (strategy, about, code) => {
    const { status, json } = await validate({ strategy, ...about })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      valid: false,
      error_codes: [code],
      errors: [expect.any(String)],
      stages: [],
    })
  })

  it('names the instance that cannot be chosen, and one of another workload', async () => {
    agents[1]!.say({ health: { ...SICK, lastError: 'disk full' } })
    await ctx.advance(5_000)
    const sick = (await validate({ strategy: 'one', instance_uid: agents[1]!.uid })).json
    expect(sick).toMatchObject({
      valid: false,
      stop_reasons: ['collector_degraded'],
      targets: [{ instance_uid: agents[1]!.uid, status: 'refused', stop_reason: 'collector_degraded' }],
    })
    // Selections that do not name the unhealthy instance skip it.
    expect(uids((await validate({ strategy: 'count', count: 2 })).json as CanaryValidation)).toEqual([
      agents[0]!.uid,
      agents[2]!.uid,
    ])
    const stranger = fakeAgent(ctx.fleet, { host: 'elsewhere' })
    await ctx.advance(300)
    expect((await validate({ strategy: 'one', instance_uid: stranger.uid })).json).toMatchObject({
      error_codes: ['instance_target_cross_workload'],
    })
  })

  it('says what is wrong with the config', async () => {
    const { json } = await validate({ strategy: 'count', count: 1 }, 'receivers: {}')
    expect(json).toMatchObject({ valid: false, targets: [] })
    expect((json as CanaryValidation).errors![0]).toBe('configuration failed validation')
    expect((json as CanaryValidation).errors!.length).toBeGreaterThan(1)
    expect((await validate({ strategy: 'count', count: 1 }, ' ')).status).toBe(400)
    expect((await post('/canary/validate', 'no json')).json).toMatchObject({ error: 'invalid json body' })
  })
})

describe('POST …/config/canary', () => {
  it('needs an approved request with exactly this text', async () => {
    const refused = { status: 409, json: { code: 'approval_required' } }
    expect(await start({ strategy: 'count', count: 1 })).toMatchObject(refused)
    await post('/approvals', { draft_yaml: configYaml(2) })
    expect(await start({ strategy: 'count', count: 1 })).toMatchObject({
      ...refused,
      json: { code: 'approval_required', request_status: 'pending' },
    })
    await approve(configYaml(3))
    expect(await start({ strategy: 'count', count: 1 })).toMatchObject(refused)
    await ctx.advance(300)
    expect(hashes()).toEqual([FIRST, FIRST, FIRST, FIRST])
  })

  it('reaches the chosen instance only, until an operator promotes it', async () => {
    const approval = await approve()
    const selection = { strategy: 'one', instance_uid: agents[2]!.uid }
    const started = await start(selection, { comment: 'carefully' })
    expect(started.status).toBe(202)
    const { id } = started.json as RolloutRecord
    expect(started.json).toMatchObject({
      status: 'running',
      config_hash: SECOND,
      approval_id: approval,
      selection,
      targets: [{ instance_uid: agents[2]!.uid }],
    })
    await ctx.advance(300)
    expect(hashes()).toEqual([FIRST, FIRST, SECOND, FIRST])
    const promote = () => post(`/canary/${id}/promote`, undefined)
    expect((await promote()).status).toBe(409)
    agents[2]!.apply()
    // The canary waits for an operator as long as it takes.
    await ctx.advance(3_600_000)
    expect(hashes()).toEqual([FIRST, FIRST, SECOND, FIRST])
    const waiting = (await invoke(ctx, `GET ${base()}/canary/${id}`, { as: editor.token })).json
    expect(waiting).toMatchObject({ status: 'succeeded', counts: { applied: 1 } })
    expect(waiting).not.toHaveProperty('promoted_at')
    expect((await promote()).status).toBe(202)
    await ctx.advance(2_000)
    expect(hashes()).toEqual([SECOND, SECOND, SECOND, SECOND])
    for (const agent of agents) agent.apply()
    await ctx.advance(3_000)
    expect((await invoke(ctx, `GET ${base()}/canary/${id}`, { as: editor.token })).json).toMatchObject({
      status: 'promoted',
      promoted_at: expect.any(String),
    })
    expect(ctx.fleet.workload(workloadId)!.activeHash).toBe(SECOND)
  })

  it('halts while it waits to be promoted, when a chosen instance falls ill', async () => {
    await approve()
    const { id } = (await start({ strategy: 'count', count: 1 })).json as RolloutRecord
    await ctx.advance(300)
    agents[0]!.apply()
    await ctx.advance(2_000)
    agents[0]!.say({ health: { ...SICK, lastError: 'disk full' } })
    await ctx.advance(65_000)
    expect((await invoke(ctx, `GET ${base()}/canary/${id}`, { as: editor.token })).json).toMatchObject({
      status: 'halted',
      halt: { gate: 'health' },
    })
    expect(hashes()).toEqual([SECOND, FIRST, FIRST, FIRST])
  })

  it('answers a refused selection with what the validation says, and pushes nothing', async () => {
    await approve()
    expect(await start({ strategy: 'count', count: 4 })).toMatchObject({
      status: 400,
      json: { valid: false, code: 'canary_too_broad', error_codes: ['canary_too_broad'] },
    })
    // The order of the keys is that of the first version: clients that compare answers by their bytes rely on it.
    const refused = (await start({ strategy: 'count', count: 4 })).json as object
    const kept = ['error', 'valid', 'targets', 'stages', 'error_codes', 'errors', 'code']
    expect(Object.keys(refused).filter((key) => kept.includes(key))).toEqual(kept)
    agents[1]!.say({ health: { ...SICK, lastError: 'disk full' } })
    await ctx.advance(5_000)
    expect(await start({ strategy: 'one', instance_uid: agents[1]!.uid })).toMatchObject({
      status: 409,
      json: { code: 'collector_degraded', targets: [{ stop_reason: 'collector_degraded' }] },
    })
    expect(hashes()).toEqual([FIRST, FIRST, FIRST, FIRST])
  })

  it('says of a rollout in stages who runs it first', async () => {
    const id = await approve()
    await post(`/approvals/${id}/push`, { stages: [{ percentage: 25 }, { percentage: 100 }] })
    const { json } = await invoke(ctx, `GET ${base()}/canary`, { as: editor.token })
    expect(json).toMatchObject([{ selection: { strategy: 'percentage', percentage: 25 } }])
  })
})
