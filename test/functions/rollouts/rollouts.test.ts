import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { loadAssignments } from '../../../lib/fleet/state/load-push.ts'
import { isMember } from '../../../lib/fleet/state/state.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { configStateOf, deadEndOf, splitOf } from '../../../lib/model/workload-states.ts'
import { listAuditChain } from '../../../lib/store/audit.ts'
import type { Db } from '../../../lib/store/db.ts'
import { insertQuarantines } from '../../../lib/store/quarantines.ts'
import type { StagePlan } from '../../../lib/store/rollouts.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { RolloutRecord } from '../../../lib/wire/rollouts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { workableHashOf } from '../../../runtime/ui/logic/workloads.ts'
import { HEALTHY } from '../../support/agent-report.ts'
import { through } from '../../support/faulty-database.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let editor: SignedIn
let agents: FakeAgent[]
let workloadId: string
/** What happens once just before the next transaction in which an operator rolls a rollout back. */
let before: (() => Promise<void>) | null = null
const db = {
  ...through(database.pool),
  async transaction<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T> {
    const [act, isMeant] = [before, name === 'rollback.rollout']
    if (isMeant) before = null
    if (isMeant) await act?.()
    return database.pool.transaction(name, work)
  },
}

const SICK = {
  healthy: false,
  status: 'StatusPermanentError',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}
const UNREACHABLE = 'dial tcp 10.3.0.17:4318: connect: connection refused'
const GATES = ['no_failure', 'health', 'drift'] as const
const STAGES: StagePlan[] = [
  { count: 1, dwellMs: 10_000, gates: GATES },
  { percentage: 100, dwellMs: 0, gates: GATES },
]

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database, { edition: createCompleteEdition(), db })
  editor = await signIn(ctx, { groups: ['editor'] })
  agents = ['pod-a', 'pod-b', 'pod-c'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod }))
  workloadId = agents[0]!.workloadId
  await ctx.advance(300)
  await pushConfig(ctx.fleet, workloadId, configYaml(1))
  for (const agent of agents) agent.apply()
  await ctx.advance(300)
})
afterAll(() => ctx.close())

/** Start a rollout of another config; returns its id. */
async function start(stages: StagePlan[] = STAGES): Promise<string> {
  const body = configYaml(2)
  const outcome = await ctx.fleet.push(
    {
      workloadId,
      body,
      hash: configHash(body),
      used: [],
      stages,
      path: 'request',
      actor: { userId: 'u1', email: editor.email, askAgain: null },
      approvalId: null,
      rollbackTargetKind: null,
    },
    async () => ({ ok: true }),
  )
  expect(outcome.ok).toBe(true)
  await ctx.advance(300)
  return ctx.fleet.workload(workloadId)!.rollout!.stored.id
}

const path = (id: string, act = '') => `/api/workloads/${workloadId}/config/canary/${id}${act}`
const read = async (id: string) =>
  (await invoke(ctx, `GET ${path(id)}`, { as: editor.token })).json as RolloutRecord
const act = (id: string, what: 'promote' | 'abort' | 'rollback', as = editor) =>
  invoke(ctx, `POST ${path(id, `/${what}`)}`, { as: as.token })
/** What the fleet's list and the workload's history show of the newest push. */
async function shown(): Promise<unknown[]> {
  const [row] = (await invoke(ctx, 'GET /api/workloads', { as: editor.token })).json as WorkloadRecord[]
  const [revision] = (await invoke(ctx, `GET /api/workloads/${workloadId}/configs`, { as: editor.token }))
    .json as RevisionRecord[]
  return [row!.current_config_push, revision].map((push) => push?.rollout_status)
}
const hashes = () => agents.map((agent) => agent.offered().at(-1))
const [FIRST, SECOND] = [configHash(configYaml(1)), configHash(configYaml(2))]

describe('a staged rollout', () => {
  it('reaches the first stage only, dwells, then reaches everyone and becomes the active config', async () => {
    const id = await start()
    expect(hashes()).toEqual([SECOND, FIRST, FIRST])
    expect(ctx.fleet.workload(workloadId)!.activeHash).toBe(FIRST)
    agents[0]!.apply()
    await ctx.advance(2_000)
    expect((await read(id)).stages.map(({ status }) => status)).toEqual(['dwelling', 'waiting'])
    await ctx.advance(11_000)
    expect(hashes()).toEqual([SECOND, SECOND, SECOND])
    for (const agent of agents.slice(1)) agent.apply()
    await ctx.advance(3_000)
    expect(await read(id)).toMatchObject({
      status: 'succeeded',
      counts: { applied: 3 },
      promoted_at: expect.any(String),
    })
    expect(ctx.fleet.workload(workloadId)).toMatchObject({ activeHash: SECOND, rollout: null })
    // No instance reports the config again: all had done so before the push became the active one.
    const { json } = await invoke(ctx, `GET /api/workloads/${workloadId}`, { as: editor.token })
    expect(json).toMatchObject({ remote_config_status: { status: 'applied', config_hash: SECOND } })
  })

  it('counts a push by its targets again when the counts of a stage were not written any more', async () => {
    await start()
    agents[0]!.apply()
    await ctx.advance(15_000)
    // Counts that are out of date, as a crash leaves them between the commit of a stage and the next write of the
    // counts.
    const { pushId } = ctx.fleet.workload(workloadId)!.rollout!.followed.push
    await database.pool.execute('update pushes set target_count = 1, applied_count = 7 where push_id = $1', [
      pushId,
    ])
    const loaded = await loadAssignments(database.pool, workloadId)
    expect(loaded!.rollout!.followed.push.counts).toMatchObject({ target: 3, applied: 1, applying: 0 })
  })

  it('times the dwell of stages that are open, and of no others', async () => {
    for (let n = 0; n < 3; n++) {
      await start()
      for (const agent of agents) {
        agent.apply()
        await ctx.advance(13_000)
      }
      await pushConfig(ctx.fleet, workloadId, configYaml(1))
      for (const agent of agents) agent.apply()
      await ctx.advance(300)
    }
    expect(ctx.fleet.state.rollingOut.size).toBe(0)
    expect(ctx.fleet.rollouts.timedStages).toBeLessThanOrEqual(1)
  })

  it('gives a joiner the active config until the last stage', async () => {
    await start()
    const joiner = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-d' })
    await ctx.advance(300)
    expect(joiner.offered()).toEqual([FIRST])
  })

  it('takes its members back when one fails, and moves nobody else', async () => {
    const id = await start()
    agents[0]!.fail('exit code 1')
    await ctx.advance(1_000)
    expect(hashes()).toEqual([FIRST, FIRST, FIRST])
    expect(agents[1]!.offered()).toEqual([FIRST])
    expect(await read(id)).toMatchObject({ status: 'failed', rolled_back_at: expect.any(String) })
    const workload = ctx.fleet.workload(workloadId)!
    expect(workload).toMatchObject({ activeHash: FIRST, rollout: null })
    expect(workload.newestPush).toMatchObject({ kind: 'auto-rollback', hash: FIRST, counts: { target: 1 } })
    expect(workload.quarantinedHashes.has(SECOND)).toBe(true)
  })

  it('halts with the gate, the value and the instances, goes on when told to, and is then no longer held', async () => {
    const id = await start()
    expect(await shown()).toEqual(['running', 'running'])
    agents[0]!.apply()
    await ctx.advance(2_000)
    agents[0]!.say({ health: { ...SICK, lastError: UNREACHABLE } })
    await ctx.advance(65_000)
    const halted = await read(id)
    expect(halted).toMatchObject({ status: 'halted', halt: { gate: 'health', value: 1, limit: 0, stage: 0 } })
    // Nobody failed the push: why it stands still is what the unhealthy member complains of.
    const { json } = await invoke(ctx, `GET /api/workloads/${workloadId}`, { as: editor.token })
    expect((json as WorkloadRecord).trouble).toMatchObject({
      kind: 'rollout_halted',
      error_title: expect.any(String),
      unhealthy_count: 1,
    })
    expect(halted.targets[0]).toMatchObject({
      status: 'applied',
      stop_reason: 'health',
      unhealthy: true,
      error_cause: 'connection_failed',
    })
    const drift = (await invoke(ctx, 'GET /api/config-safety/drift', { as: editor.token }))
      .json as DriftOverview
    expect(drift.items[0]?.fault?.error_cause).toBe('connection_failed')
    const feed = (await invoke(ctx, 'GET /api/changes', { as: editor.token })).json as ChangeRecord[]
    expect(feed.find(({ rollout_id: of }) => of === id)).toMatchObject({ error_cause: 'connection_failed' })
    await ctx.alerts.run(new AbortController().signal)
    const alerts = await invoke(ctx, `GET /api/alerts?workload_id=${workloadId}`, { as: editor.token })
    expect(alerts.json).toMatchObject([{ rule: 'rollout_halted', details: { cause: 'connection_failed' } }])
    expect(halted.halt!.message).toContain(agents[0]!.uid)
    expect(await shown()).toEqual(['halted', 'halted'])
    expect((await act(id, 'promote')).status).toBe(202)
    expect(await shown()).toEqual(['running', 'running'])
    await ctx.advance(12_000)
    expect(hashes()).toEqual([SECOND, SECOND, SECOND])
  })

  it('goes on although more fail a gate than the halt shows, and does not halt for the others', async () => {
    const crowd = Array.from({ length: 60 }, (_, at) =>
      fakeAgent(ctx.fleet, { host: 'crowd', pod: `pod-${at}` }),
    )
    workloadId = crowd[0]!.workloadId
    await ctx.advance(300)
    await pushConfig(ctx.fleet, workloadId, configYaml(1))
    for (const agent of crowd) agent.apply()
    await ctx.advance(300)
    const id = await start([{ percentage: 100, dwellMs: 0, gates: GATES }])
    for (const agent of crowd) agent.apply()
    for (const agent of crowd) agent.say({ health: { ...SICK, lastError: 'disk full' } })
    await ctx.advance(65_000)
    const { status, halt } = await read(id)
    expect({ status, value: halt?.value, shown: halt?.instance_uids.length }).toEqual({
      status: 'halted',
      value: 60,
      shown: 50,
    })
    expect((await act(id, 'promote')).status).toBe(202)
    await ctx.advance(5_000)
    expect((await read(id)).status).toBe('succeeded')
  })

  it('shows of each gate what is measured, after Continue as well, and keeps what a stage ended with', async () => {
    const id = await start()
    const health = async (stage = 0) =>
      (await read(id)).stages[stage]!.gates.find(({ name }) => name === 'health')
    agents[0]!.apply()
    await ctx.advance(2_000)
    expect(await health()).toEqual({ name: 'health', value: 0, limit: 0, passed: true })
    agents[0]!.say({ health: { ...SICK, lastError: 'disk full' } })
    await ctx.advance(65_000)
    expect(await health()).toEqual({ name: 'health', value: 1, limit: 0, passed: false })
    expect((await act(id, 'promote')).status).toBe(202)
    // An operator waived the gate; its value stays what it was.
    expect(await health()).toEqual({ name: 'health', value: 1, limit: 0, passed: false, waived: 1 })
    await ctx.advance(12_000)
    expect((await read(id)).stages[0]!.status).toBe('done')
    agents[0]!.say({ health: { ...SICK, healthy: true, status: 'StatusOK' } })
    await ctx.advance(1_000)
    expect(await health(0)).toEqual({ name: 'health', value: 1, limit: 0, passed: false, waived: 1 })
  })

  it('is aborted: its members keep its config, and it cannot be continued or rolled back', async () => {
    const id = await start()
    agents[0]!.apply()
    await ctx.advance(300)
    expect((await act(id, 'abort')).json).toMatchObject({ status: 'aborted', aborted_at: expect.any(String) })
    await ctx.advance(20_000)
    expect(hashes()).toEqual([SECOND, FIRST, FIRST])
    expect(await shown()).toEqual(['aborted', 'aborted'])
    expect(await act(id, 'promote')).toMatchObject({ status: 409 })
    expect(await act(id, 'rollback')).toMatchObject({ status: 409, json: { code: 'rollout_ended' } })
  })

  it('that is aborted in its last stage is kept by those who have it, and newcomers run the active config', async () => {
    const id = await start([{ percentage: 100, dwellMs: 0, gates: GATES }])
    const joiner = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-d' })
    await ctx.advance(300)
    joiner.apply()
    await ctx.advance(300)
    expect([...hashes(), joiner.offered().at(-1)]).toEqual([SECOND, SECOND, SECOND, SECOND])
    expect((await act(id, 'abort')).status).toBe(200)
    const newcomer = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-e' })
    await ctx.advance(5_000)
    expect(newcomer.offered()).toEqual([FIRST])
    expect(joiner.offered()).toEqual([SECOND])
    // What the database holds says the same: whoever takes over gives nobody else the config.
    const { rollout } = (await loadAssignments(database.pool, workloadId))!
    const isGiven = (agent: FakeAgent) => isMember(rollout!, agent.uid)
    expect([...agents, joiner, newcomer].map(isGiven)).toEqual([true, true, true, true, false])
  })

  describe('of a workload that never ran anything from here', () => {
    beforeEach(async () => {
      agents = ['pod-x', 'pod-y', 'pod-z'].map((pod) => fakeAgent(ctx.fleet, { host: 'bare', pod }))
      workloadId = agents[0]!.workloadId
      await ctx.advance(300)
    })

    it('says what became of its failure, and how many run the failed config, in one form everywhere', async () => {
      const id = await start([{ count: 2, dwellMs: 10_000, gates: GATES }, STAGES[1]!])
      agents[0]!.apply()
      await ctx.advance(300)
      agents[1]!.fail('error decoding \'exporters\': unknown type: "kafka"')
      await ctx.advance(1_000)
      expect(ctx.fleet.workload(workloadId)!.activeHash).toBeNull()
      const truth = { kind: 'nowhere_to_go', running_count: 1 }
      const record = await read(id)
      expect(record).toMatchObject({ status: 'failed', aftermath: truth })
      expect(record.error_groups).toMatchObject([{ cause: 'component_unknown', count: 1 }])
      expect(record.stages[0]!.gates[0]).toEqual({ name: 'no_failure', value: 1, limit: 0, passed: false })
      expect(record.targets[0]).toMatchObject({ error_cause: 'component_unknown', status: 'failed' })
      const get = async (path: string) => (await invoke(ctx, `GET ${path}`, { as: editor.token })).json
      const base = `/api/workloads/${workloadId}`
      expect((await get(base)) as WorkloadRecord).toMatchObject({ current_config_push: { aftermath: truth } })
      expect(((await get(`${base}/configs`)) as RevisionRecord[])[0]).toMatchObject({ aftermath: truth })
      expect(await get(`${base}/configs/${SECOND}`)).toMatchObject({ aftermath: truth })
      expect(await get(`${base}/configs/${SECOND}/convergence`)).toMatchObject({ aftermath: truth })
    })

    it('drifts where its first config failed, and is listed by what it reports, with stages as without', async () => {
      const alike = [0, 1].map((at) => fakeAgent(ctx.fleet, { host: `first-${at}` }))
      const own = 'otlphttp:\n    endpoint: https://reported.example.com:4318'
      for (const agent of alike)
        agent.effective(configYaml(7).replace('debug:', own).replace('[debug]', '[otlphttp]'))
      await ctx.advance(300)
      const told: unknown[] = []
      for (const [at, agent] of alike.entries()) {
        workloadId = agent.workloadId
        if (at === 0) await start([{ count: 1, dwellMs: 10_000, gates: GATES }, STAGES[1]!])
        else await pushConfig(ctx.fleet, workloadId, configYaml(2))
        agent.fail('error decoding \'exporters\': unknown type: "kafka"')
        await ctx.advance(1_000)
        const get = async (path: string) => (await invoke(ctx, `GET ${path}`, { as: editor.token })).json
        const record = (await get(`/api/workloads/${workloadId}`)) as WorkloadRecord
        const { items } = (await get('/api/config-safety/drift')) as DriftOverview
        const item = items.find((one) => one.workload_id === workloadId)!
        told.push({
          drifted: record.drifted_instance_count,
          state: configStateOf(record),
          deadEnd: deadEndOf(record),
          drawn: workableHashOf(record),
          status: item.drift_status,
          reasons: item.drift_reasons,
          wanted: item.expected_config_hash,
          runs: item.effective_config_hash,
        })
        // What its instances report says where it sends, and not the config that none of them runs.
        const sends = (await get('/api/fleet/destinations')) as ExportDestination[]
        expect(
          sends.find(({ address }) => address === 'reported.example.com:4318')?.workloads,
        ).toContainEqual(expect.objectContaining({ id: workloadId }))
      }
      expect(told[1]).toEqual(told[0])
      expect(told[0]).toMatchObject({
        drifted: 1,
        state: 'failed',
        deadEnd: SECOND,
        drawn: undefined,
        status: 'drifted',
        wanted: SECOND,
        runs: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
    })

    it('names nothing to roll back to while it runs', async () => {
      const id = await start()
      expect(await read(id)).toMatchObject({ status: 'running' })
      expect((await read(id)).rollback_target_hash).toBeUndefined()
    })

    it('is not rolled back, with a code of its own, and goes on as it was', async () => {
      const id = await start()
      agents[0]!.apply()
      await ctx.advance(300)
      const refused = { status: 409, json: { code: 'rollout_no_way_back', status: 'running' } }
      expect(await act(id, 'rollback')).toMatchObject(refused)
      expect(await read(id)).toMatchObject({ status: 'running', counts: { applied: 1, failed: 0 } })
      await ctx.advance(13_000)
      expect(hashes()).toEqual([SECOND, SECOND, SECOND])
      const audited = await listAuditChain(ctx.db, 0, 500)
      const ofThis = audited.filter(({ resourceId }) => resourceId === workloadId)
      expect(ofThis.map(({ action }) => action)).not.toContain('config.canary.rollback')
    })

    it('can be aborted where it cannot be rolled back', async () => {
      const id = await start()
      expect((await act(id, 'rollback')).status).toBe(409)
      expect((await act(id, 'abort')).json).toMatchObject({ status: 'aborted' })
      expect(await act(id, 'rollback')).toMatchObject({ status: 409, json: { code: 'rollout_ended' } })
    })

    it('tells one story everywhere once it is aborted: who runs it, and that nothing is assigned to the others', async () => {
      const id = await start()
      agents[0]!.apply()
      await ctx.advance(300)
      await act(id, 'abort')
      await ctx.advance(1_000)
      const get = async (path: string) => (await invoke(ctx, `GET ${path}`, { as: editor.token })).json
      const record = (await get(`/api/workloads/${workloadId}`)) as WorkloadRecord
      expect(splitOf(record)).toEqual({ rolloutId: id, hash: SECOND, count: 1, total: 3 })
      expect(configStateOf(record)).toBe('split')
      const { items } = (await get('/api/config-safety/drift')) as DriftOverview
      const item = items.find((one) => one.workload_id === workloadId)!
      expect(item.drift_reasons).toContain('rollout_aborted')
      expect(item.drift_reasons).not.toContain('unmanaged')
      expect(item).not.toHaveProperty('expected_config_hash')
      expect(item).toMatchObject({ rollout_id: id, rollout_config_hash: SECOND })
      expect(record.current_config_push?.outcome).toBe('aborted')
      const [change] = (await get(`/api/changes?workload=${workloadId}`)) as ChangeRecord[]
      expect(change).toMatchObject({ applied_count: 1, target_count: 1, instance_count: 3 })
      // Once nobody runs it any more there is nothing to tell.
      agents[0]!.goodbye()
      await ctx.advance(1_000)
      expect(splitOf((await get(`/api/workloads/${workloadId}`)) as WorkloadRecord)).toBeNull()
    })
  })

  it('is no trouble, in the list as for the alert, once an operator took it back', async () => {
    const id = await start()
    expect((await act(id, 'rollback')).status).toBe(202)
    await ctx.advance(1_000)
    const { json } = await invoke(ctx, `GET /api/workloads/${workloadId}`, { as: editor.token })
    expect((json as WorkloadRecord).trouble?.kind).not.toBe('push_failed')
    await ctx.alerts.run(new AbortController().signal)
    expect((await invoke(ctx, 'GET /api/alerts', { as: editor.token })).json).toEqual([])
  })

  it('says to what it went back, and what it would go back to while it runs', async () => {
    const id = await start()
    expect(await read(id)).toMatchObject({ rollback_target_hash: FIRST })
    agents[0]!.fail('exit code 1')
    await ctx.advance(1_000)
    const going = { kind: 'going_back', config_hash: FIRST, pushed_by: 'auto-rollback', running_count: 0 }
    expect(await read(id)).toMatchObject({ aftermath: going })
    agents[0]!.apply()
    await ctx.advance(1_000)
    expect(await read(id)).toMatchObject({ aftermath: { ...going, kind: 'went_back' } })
    const { json } = await invoke(ctx, `GET /api/workloads/${workloadId}/configs`, { as: editor.token })
    expect((json as RevisionRecord[])[1]).toMatchObject({
      config_hash: SECOND,
      aftermath: { kind: 'went_back' },
    })
    // A later push does not change what is shown as the aftermath.
    await pushConfig(ctx.fleet, workloadId, configYaml(3))
    await ctx.advance(300)
    expect(await read(id)).toMatchObject({ aftermath: { kind: 'went_back' } })
  })

  it.each([
    [
      'rollout_ended',
      'its push has failed meanwhile',
      () =>
        database.pool.execute(
          `update pushes set status = 'failed', phase = 'failed' where config_hash = $1`,
          [SECOND],
        ),
    ],
    [
      'rollout_no_way_back',
      'what it would go back to has failed meanwhile',
      () =>
        insertQuarantines(
          database.pool,
          [
            {
              workloadId,
              hash: FIRST,
              instanceUid: '',
              pushId: ctx.fleet.workload(workloadId)!.active!.push.pushId,
            },
          ],
          ctx.clock.now(),
        ),
    ],
  ])('is refused with %s, and nothing is done, where %s', async (code, _, meanwhile) => {
    const id = await start()
    agents[0]!.apply()
    await ctx.advance(300)
    before = async () => void (await meanwhile())
    expect(await act(id, 'rollback')).toMatchObject({ status: 409, json: { code } })
    await ctx.advance(2_000)
    expect(hashes()).toEqual([SECOND, FIRST, FIRST])
    expect(await database.pool.query('select status from rollouts where id = $1', [id])).toEqual([
      { status: 'running' },
    ])
    const audited = await listAuditChain(ctx.db, 0, 500)
    const ofThis = audited.filter(({ detail }) => detail?.includes(id))
    expect(ofThis.map(({ action }) => action)).not.toContain('config.canary.rollback')
  })

  it('is rolled back in the operator name, and says to what and by which push', async () => {
    const id = await start()
    agents[0]!.apply()
    await ctx.advance(300)
    const answer = await act(id, 'rollback')
    const { newestPush } = ctx.fleet.workload(workloadId)!
    expect(answer).toMatchObject({
      status: 202,
      json: {
        status: 'rollback_started',
        aftermath: { kind: 'going_back', config_hash: FIRST, push_id: newestPush!.pushId },
      },
    })
    expect(hashes()[0]).toBe(FIRST)
    expect(ctx.fleet.workload(workloadId)!.newestPush).toMatchObject({
      kind: 'rollback',
      pushedBy: editor.email,
    })
    const audited = await listAuditChain(ctx.db, 0, 50)
    expect(
      audited.some(({ action, email }) => action === 'config.canary.rollback' && email === editor.email),
    ).toBe(true)
  })

  it('goes on after a restart in the middle of a stage', async () => {
    const id = await start()
    agents[0]!.apply()
    await ctx.advance(2_000)
    await ctx.close()
    ctx = await createFleetContext(database, { edition: createCompleteEdition(), clock: ctx.clock })
    const again = ['pod-a', 'pod-b', 'pod-c'].map((pod, i) => {
      const more = { health: HEALTHY }
      const agent = fakeAgent(ctx.fleet, { host: 'vm', pod, uid: agents[i]!.uid, more })
      agent.apply(i === 0 ? SECOND : FIRST)
      return agent
    })
    await ctx.advance(15_000)
    expect(again[1]!.offered()).toEqual([SECOND])
    expect(ctx.fleet.workload(workloadId)!.rollout?.stored).toMatchObject({ id, stageIndex: 1 })
  })
})

it('knows no rollout of another workload', async () => {
  expect((await invoke(ctx, `GET ${path('canary_nope')}`, { as: editor.token })).status).toBe(404)
  expect((await act('canary_nope', 'abort')).status).toBe(404)
})

describe('the push of an approved request', () => {
  const base = () => `/api/workloads/${workloadId}/config/approvals`
  const post = (path: string, body: object) => invoke(ctx, `POST ${path}`, { as: editor.token, body })

  async function approved(): Promise<string> {
    const { json } = await post(base(), { draft_yaml: configYaml(2) })
    const { id } = json as { id: string }
    // Approved by somebody else, because a workload without an environment label is treated like production.
    const approver = await signIn(ctx)
    const call = { as: approver.token, body: { comment: 'fine' } }
    expect(await invoke(ctx, `POST ${base()}/${id}/approve`, call)).toMatchObject({ status: 200 })
    return id
  }

  it('starts a rollout when it names stages, with the same claim and audit as any push', async () => {
    const id = await approved()
    const stages = [{ count: 1, dwell_seconds: 5 }, { percentage: 100 }]
    const pushed = await post(`${base()}/${id}/push`, { stages })
    expect(pushed).toMatchObject({ status: 202, json: { status: 'pushed', config_hash: SECOND } })
    await ctx.advance(300)
    expect(hashes()).toEqual([SECOND, FIRST, FIRST])
    const list = await invoke(ctx, `GET ${path('').slice(0, -1)}`, { as: editor.token })
    expect(list.json).toMatchObject([
      { status: 'running', approval_id: id, stages: [{ count: 1 }, { percentage: 100 }] },
    ])
    expect(await post(`${base()}/${id}/push`, { stages })).toMatchObject({ status: 409 })
    expect((await listAuditChain(ctx.db, 0, 200)).at(-1)).toMatchObject({ action: 'config.approval.push' })
  })

  it('is shown as halted where its stages are: it waits for somebody, and is not under way', async () => {
    const id = await approved()
    await post(`${base()}/${id}/push`, { stages: [{ count: 1, dwell_seconds: 5 }, { percentage: 100 }] })
    await ctx.advance(300)
    agents[0]!.apply()
    await ctx.advance(1_000)
    agents[0]!.say({ health: { ...SICK, lastError: UNREACHABLE } })
    await ctx.advance(65_000)
    const { json } = await invoke(ctx, `GET ${base()}/${id}`, { as: editor.token })
    expect(json).toMatchObject({ outcome: { status: 'pending', rollout_status: 'halted' } })
  })

  it.each([
    [[{ count: 1, percentage: 10 }], /either count or percentage/],
    [[{}], /either count or percentage/],
    [[], /at least one stage/],
    [[{ count: 2 }, { count: 1 }], /larger than the stage before/],
    [[{ percentage: 101 }], /at most 100/],
    [[{ count: 1, dwell_seconds: -1 }], /dwell_seconds/],
  ])('refuses the stages %j', async (stages, why) => {
    const id = await approved()
    const answer = await post(`${base()}/${id}/push`, { stages })
    expect(answer.status).toBe(400)
    expect((answer.json as { error: string }).error).toMatch(why)
    expect(hashes()).toEqual([FIRST, FIRST, FIRST])
  })
})
