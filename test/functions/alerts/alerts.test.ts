import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import engine from '../../../functions/alerts/engine.ts'
import sweepJanitor from '../../../functions/janitor/sweep.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { resolveByOperator } from '../../../lib/store/alerts.ts'
import { listAuditRecords, lockAuditChain } from '../../../lib/store/audit.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const never = new AbortController().signal
const DAY_MS = 86_400_000
const SICK = {
  healthy: false,
  lastError: 'disk full',
  status: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}

let ctx: FleetTestContext
let viewer: string
let editor: string

beforeEach(async () => {
  ctx = await createFleetContext(database, { config: { minAgentVersion: '0.100.0' } })
  viewer = (await signIn(ctx, { groups: ['viewer'] })).token
  editor = (await signIn(ctx, { groups: ['editor'] })).token
})

afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const runEngine = () => engine.run(ctx, never)
const list = async (query = '', as = viewer) =>
  (await invoke(ctx, `GET /api/alerts${query}`, { as })).json as AlertRecord[]
const resolve = (id: string, as = editor) => invoke(ctx, `POST /api/alerts/${id}/resolve`, { as })
const resolveFor = (id: string, reason: unknown) =>
  invoke(ctx, `POST /api/alerts/${id}/resolve`, { as: editor, body: { reason } })
const reopen = (id: string, as = editor) => invoke(ctx, `POST /api/alerts/${id}/reopen`, { as })
const alertFrames = () => ctx.frames.flatMap((frame) => (frame.type === 'alert_update' ? [frame.alert] : []))

async function down(agent: FakeAgent): Promise<void> {
  agent.lose()
  await ctx.advance(121_000)
}

async function outdated(service = 'edge'): Promise<FakeAgent> {
  const agent = fakeAgent(ctx.fleet, { service, version: '0.99.0' })
  await ctx.advance(1_000)
  return agent
}

const attributesOf = (agent: FakeAgent, service: string, version: string) =>
  new Map([
    ['service.name', service],
    ['host.name', ctx.fleet.workload(agent.workloadId)!.fingerprintKeys['host.name']!],
    ['service.version', version],
    ['os.description', 'otelcol'],
  ])

describe('a rollout in stages that halts', () => {
  /** Three instances, of which so many are the first stage, and one of those falls ill. */
  async function halted(inFirstStage: number) {
    await ctx.close()
    ctx = await createFleetContext(database, { edition: createCompleteEdition() })
    const as = (await signIn(ctx, { groups: ['editor'] })).token
    const agents = ['a', 'b', 'c'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${pod}` }))
    await ctx.advance(1_000)
    const { workloadId } = agents[0]!
    await pushConfig(ctx.fleet, workloadId, configYaml(1))
    for (const agent of agents) agent.apply()
    await ctx.advance(1_000)
    const stages = [
      { count: inFirstStage, dwellMs: 60_000, gates: ['health'] as const },
      { percentage: 100, dwellMs: 0, gates: ['no_failure'] as const },
    ]
    await pushConfig(ctx.fleet, workloadId, configYaml(2), () => {}, stages)
    await ctx.advance(300)
    const members = agents.filter((agent) => agent.offered().at(-1) === configHash(configYaml(2)))
    for (const member of members) member.apply()
    await ctx.advance(2_000)
    members[0]!.say({ health: SICK })
    await ctx.advance(65_000)
    await runEngine()
    const rollout = ctx.fleet.workload(workloadId)!.rollout!
    const path = `POST /api/workloads/${workloadId}/config/canary/${rollout.stored.id}/promote`
    const promote = async () => expect((await invoke(ctx, path, { as })).status).toBe(202)
    return { workloadId, rollout, members, promote }
  }

  it('is an alert that leads to it, in the list and in a frame, until somebody lets it go on', async () => {
    const { workloadId, rollout, promote } = await halted(1)
    const rolloutId = rollout.stored.id
    const [alert] = await list()
    expect(alert).toMatchObject({
      rule: 'rollout_halted',
      workload_id: workloadId,
      severity: 'warning',
      details: { rollout_id: rolloutId, gate: 'health', value: 1, limit: 0, stage: 1 },
    })
    expect(alertFrames().at(-1)).toMatchObject({ rule: 'rollout_halted', workload_id: workloadId })
    await runEngine()
    expect(await list()).toHaveLength(1)
    await promote()
    await runEngine()
    expect(await list()).toEqual([])
  })

  it('is another alert where the rollout went on and stopped again in its stage before anybody looked', async () => {
    const { rollout, members, promote } = await halted(2)
    const [before] = await list()
    expect(before).toMatchObject({ rule: 'rollout_halted', details: { value: 1 } })
    expect((await resolve(before!.id)).status).toBe(200)
    await promote()
    members[1]!.say({ health: SICK })
    await ctx.advance(65_000)
    expect(rollout.stored.status).toBe('halted')
    const alerts = async () => (await list()).filter(({ rule }) => rule === 'rollout_halted')
    await runEngine()
    const again = await alerts()
    expect(again).toHaveLength(1)
    await runEngine()
    expect(await alerts()).toEqual(again)
  })
})

describe('GET /api/alerts', () => {
  it('lists those of one workload, page by page', async () => {
    const [mine] = [await outdated('mine'), await outdated('other')]
    await down(mine!)
    await runEngine()
    const query = `?workload_id=${mine!.workloadId}&include_resolved=true&limit=1`
    const first = await invoke(ctx, `GET /api/alerts${query}`, { as: viewer })
    const next = /<([^>]+)>/.exec(first.headers['Link'] ?? '')![1]!
    const second = await invoke(ctx, `GET ${next}`, { as: viewer })
    const both = [first, second].flatMap(({ json }) => json as AlertRecord[])
    expect(both.map(({ rule }) => rule).sort()).toEqual(['version_outdated', 'workload_down'])
    expect(both.every(({ workload_id: id }) => id === mine!.workloadId)).toBe(true)
    expect(await list('?workload_id=nobody')).toEqual([])
    expect((await list()).length).toBeGreaterThan(2)
  })

  it('is an empty array without alerts', async () => {
    expect(await list()).toEqual([])
  })

  it('lists what is open, newest first, to everybody who is signed in', async () => {
    const agent = await outdated()
    await runEngine()
    const [first] = await list()
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      workload_id: agent.workloadId,
      rule: 'version_outdated',
      severity: 'warning',
      message: `Workload ${agent.workloadId} (edge) version 0.99.0 is below minimum 0.100.0`,
      details: { version: '0.99.0', minimum: '0.100.0' },
      next: expect.any(String),
      about: {
        name: 'edge',
        place: expect.stringContaining('host-'),
        environment: '',
        cluster: '',
        is_production: false,
      },
      fired_at: ctx.clock.now().toISOString(),
    })
    await down(agent)
    await runEngine()
    expect((await list())[0]!.about).toMatchObject({ name: 'edge', lost_at: expect.any(String) })
    expect((await list()).map((alert) => alert.rule)).toEqual(['workload_down', 'version_outdated'])
  })

  it('adds resolved ones only when asked with exactly true', async () => {
    await outdated()
    await runEngine()
    const [alert] = await list()
    // What to do next is said of an open one only.
    const { next: _, ...rest } = alert!
    await resolve(alert!.id)
    expect(await list()).toEqual([])
    for (const value of ['1', 'TRUE', 'yes', '']) expect(await list(`?include_resolved=${value}`)).toEqual([])
    expect(await list('?include_resolved=true')).toEqual([
      {
        ...rest,
        resolved_at: ctx.clock.now().toISOString(),
        reopen_until: new Date(ctx.clock.now().getTime() + 600_000).toISOString(),
      },
    ])
  })

  it('pages by a cursor', async () => {
    for (const service of ['a', 'b', 'c']) await outdated(service)
    await runEngine()
    const whole = (await list()).map((alert) => alert.id)
    expect(whole).toHaveLength(3)
    const first = await invoke(ctx, 'GET /api/alerts?limit=2', { as: viewer })
    const next = /<(.*)>; rel="next"/.exec(first.headers['Link']!)![1]
    const second = await invoke(ctx, `GET ${next}`, { as: viewer })
    expect(second.headers['Link']).toBeUndefined()
    const ids = [...(first.json as AlertRecord[]), ...(second.json as AlertRecord[])].map((alert) => alert.id)
    expect(ids).toEqual(whole)
    expect((await invoke(ctx, 'GET /api/alerts?cursor=bad', { as: viewer })).status).toBe(400)
  })
})

describe('what fires', () => {
  const SICK = {
    healthy: false,
    status: 'StatusPermanentError',
    lastError: 'no route to host',
    startTimeMs: 1,
    statusTimeMs: 1,
    children: new Map(),
  }
  const WELL = { ...SICK, healthy: true, status: 'StatusOK', lastError: '' }

  it('names an instance like every page: one without a pod by the host that its workload is on', async () => {
    const agent = fakeAgent(ctx.fleet, { host: 'store-18' })
    agent.say({ health: SICK })
    await ctx.advance(61_000)
    await runEngine()
    expect(await list()).toMatchObject([{ rule: 'workload_unhealthy', details: { instances: 'store-18' } }])
  })

  it('is a workload whose instances are all unhealthy for a minute, until they are well again', async () => {
    const agents = ['pod-a', 'pod-b'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod }))
    await ctx.advance(1_000)
    const leaf = { ...SICK, lastError: 'dial tcp 10.0.0.1:4317: connect: connection refused' }
    const health = { ...SICK, lastError: '', children: new Map([['exporter:otlp', leaf]]) }
    for (const agent of agents) agent.say({ health })
    await ctx.advance(30_000)
    await runEngine()
    expect(await list()).toEqual([])
    await ctx.advance(31_000)
    await runEngine()
    const [alert] = await list()
    expect(alert).toMatchObject({
      rule: 'workload_unhealthy',
      severity: 'critical',
      message: expect.stringContaining('on 2 of 2 live instances'),
      // On whom, and why: in muster's own words, as a viewer may not read those of the agents.
      details: {
        unhealthy: 2,
        total: 2,
        instances: 'pod-a, pod-b',
        cause: 'connection_failed',
        cause_title: expect.any(String),
      },
      next: expect.stringContaining('health'),
    })
    const counted = await invoke(ctx, 'GET /api/alerts/count', { as: viewer })
    expect(counted.json).toEqual({ open_count: 1 })
    expect(alertFrames()).toMatchObject([{ id: alert!.id, details: { unhealthy: 2 }, resolved_at: null }])
    for (const agent of agents) agent.say({ health: WELL })
    await ctx.advance(1_000)
    await runEngine()
    expect(await list()).toEqual([])
    expect(alertFrames()).toMatchObject([{}, { id: alert!.id, resolved_at: expect.any(String) }])
  })

  it('advises only what can be done now: going back where there is something to go back to', async () => {
    const agent = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-a' })
    await ctx.advance(1_000)
    const apply = async (port: number) => {
      await pushConfig(ctx.fleet, agent.workloadId, configYaml(port))
      await ctx.advance(300)
      agent.apply()
      await ctx.advance(1_000)
    }
    await apply(1)
    agent.say({ health: SICK })
    await ctx.advance(61_000)
    await runEngine()
    const [first] = await list()
    expect(first).toMatchObject({ rule: 'workload_unhealthy', next_steps: ['push'] })
    expect(first!.next).not.toMatch(/roll back/)
    await apply(2)
    await runEngine()
    const [second] = await list()
    expect(second).toMatchObject({ id: first!.id, next_steps: ['push', 'roll_back'] })
    expect(second!.next).toMatch(/or roll back/)
  })

  it('of one failure is one alert, which gets worse as the workload is unhealthy for it', async () => {
    const agent = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-a' })
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    await ctx.advance(300)
    agent.fail('listen tcp 0.0.0.0:4317: bind: address already in use')
    agent.say({ health: { ...SICK, lastError: 'Agent process exited unexpectedly, exit code=1' } })
    await ctx.advance(1_000)
    await runEngine()
    expect(await list()).toMatchObject([{ rule: 'push_failed', severity: 'warning' }])
    await ctx.advance(200_000)
    await runEngine()
    const open = await list()
    expect(open).toMatchObject([
      { rule: 'push_failed', severity: 'critical', details: { cause: 'port_in_use', unhealthy: 1 } },
    ])
    agent.say({ health: WELL })
    await ctx.advance(1_000)
    await runEngine()
    expect(await list()).toMatchObject([{ id: open[0]!.id, severity: 'warning' }])
  })

  it('is a push that failed, with what was done about it, until the next push is applied', async () => {
    const agent = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-a' })
    await ctx.advance(1_000)
    const push = async (port: number, isGood: boolean) => {
      const { pushId } = await pushConfig(ctx.fleet, agent.workloadId, configYaml(port))
      await ctx.advance(300)
      if (isGood) agent.apply()
      else agent.fail('exit code 1')
      await ctx.advance(1_000)
      await runEngine()
      return pushId
    }
    const hash = (port: number) => configHash(configYaml(port))
    const first = await push(1, false)
    expect(await list()).toMatchObject([
      {
        rule: 'push_failed',
        message: expect.stringMatching(
          /failed on 1 of 1 instances \(The collector stopped while the config was applied\); there was no earlier config to go back to/,
        ),
        details: { push_id: first, config_hash: hash(1), aftermath: 'nowhere_to_go', running: 0 },
      },
    ])
    await push(2, true)
    expect(await list()).toEqual([])
    const third = await push(3, false)
    const [open] = await list()
    const told = { push_id: third, to_hash: hash(2), cause: 'agent_exited' }
    expect(open).toMatchObject({ rule: 'push_failed', details: told })
    expect(open!.message).toContain(`it is being rolled back to ${hash(2).slice(0, 12)}`)
    // A rollback that succeeds does not resolve the alert: somebody has to see that the config he pushed does not run.
    agent.apply()
    await ctx.advance(1_000)
    await runEngine()
    expect(await list()).toMatchObject([{ id: open!.id, details: { aftermath: 'went_back' } }])
    // Another failed push fires another alert.
    const fourth = await push(4, false)
    expect(await list()).toMatchObject([{ rule: 'push_failed', details: { push_id: fourth } }])
    agent.apply()
    await push(5, true)
    expect(await list()).toEqual([])
  })

  it('goes on after a restart: the failure is remembered, and told once', async () => {
    const agent = fakeAgent(ctx.fleet, { host: 'vm', pod: 'pod-a' })
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    await ctx.advance(300)
    agent.fail('exit code 1')
    await ctx.advance(1_000)
    await runEngine()
    const before = await list()
    expect(before).toHaveLength(1)
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    await runEngine()
    expect(await list('', (await signIn(ctx, { groups: ['viewer'] })).token)).toEqual(before)
  })
})

describe('POST /api/alerts/resolve', () => {
  const resolveMany = (ids: readonly string[], as = editor, reason = 'one cause') =>
    invoke(ctx, 'POST /api/alerts/resolve', { as, body: { alert_ids: ids, reason } })

  it('resolves several with one reason, tells browsers of each, and writes who did each', async () => {
    for (const service of ['one', 'two', 'three']) await outdated(service)
    await runEngine()
    const ids = (await list()).map(({ id }) => id)
    expect(ids).toHaveLength(3)
    expect((await resolve(ids[0]!)).status).toBe(200)
    // One that is resolved already, one that is named twice and one that is not there are passed over.
    const answer = await resolveMany([...ids, ids[1]!, 'f'.repeat(32)])
    expect(answer).toMatchObject({ status: 200, json: { resolved_count: 2 } })
    expect(await list()).toEqual([])
    expect(alertFrames().filter(({ resolved_at: at }) => at !== null)).toHaveLength(3)
    const audited = await listAuditRecords(
      database.pool,
      { action: 'alert.resolve' },
      { beforeSeq: null, limit: 2, offset: 0 },
    )
    expect(new Set(audited.map(({ resourceId }) => resourceId))).toEqual(new Set(ids.slice(1)))
    for (const { detail } of audited)
      expect(JSON.parse(detail)).toEqual({ rule: 'version_outdated', reason: 'one cause' })
  })

  it('is refused to whoever may not, and resolves none where one lies outside of the scope', async () => {
    const [inside, outside] = [await outdated('inside'), await outdated('outside')]
    await runEngine()
    const alerts = await list()
    const ids = alerts.map(({ id }) => id)
    expect((await resolveMany(ids, viewer)).status).toBe(403)
    const admin = (await signIn(ctx)).token
    for (const [agent, team] of [
      [inside, 'shop'],
      [outside, 'bank'],
    ] as const)
      await invoke(ctx, `PUT /api/workloads/${agent.workloadId}/trusted-labels`, {
        as: admin,
        body: { labels: { team } },
      })
    const scope = { key: 'muster/team', values: ['shop'] }
    const group = { name: `shop-${ids[0]}`, role: 'editor', scope }
    expect((await invoke(ctx, 'POST /api/groups', { as: admin, body: group })).status).toBe(201)
    const scoped = (await signIn(ctx, { groups: [group.name] })).token
    expect(await resolveMany(ids, scoped)).toMatchObject({ status: 403, json: { code: 'out_of_scope' } })
    expect(await list()).toHaveLength(2)
    const own = alerts.find(({ workload_id: id }) => id === inside.workloadId)!
    expect(await resolveMany([own.id], scoped)).toMatchObject({ status: 200, json: { resolved_count: 1 } })
    expect((await list()).map(({ workload_id: id }) => id)).toEqual([outside.workloadId])
  })

  it('holds the audit trail for nobody while it waits for an alert that another operator is resolving', async () => {
    for (const service of ['one', 'two']) await outdated(service)
    await runEngine()
    const ids = (await list()).map(({ id }) => id).sort()
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    let many: ReturnType<typeof resolveMany> | null = null
    await database.pool.transaction('test', async (tx) => {
      await resolveByOperator(tx, ids[1]!, ctx.clock.now())
      many = resolveMany(ids)
      await expect.poll(async () => (await database.pool.query(waiting)).length, { timeout: 5_000 }).toBe(1)
      // The other operator's record comes last: were the trail held, the two would wait for each other.
      await lockAuditChain(tx)
    })
    expect(await many).toMatchObject({ status: 200, json: { resolved_count: 1 } })
    expect(await list()).toEqual([])
  })

  it('names one to a hundred alerts, by their ids', async () => {
    for (const ids of [[], ['x'], Array.from({ length: 101 }, (_, n) => n.toString(16).padStart(32, '0'))])
      expect(await resolveMany(ids)).toMatchObject({
        status: 400,
        json: { error: 'alert_ids must name 1 to 100 alerts' },
      })
    expect((await resolveMany(['0'.repeat(32)], editor, 'x'.repeat(501))).status).toBe(400)
  })
})

describe('POST /api/alerts/{id}/resolve', () => {
  it('resolves once, tells browsers, and writes who did it', async () => {
    const agent = await outdated()
    await runEngine()
    const [alert] = await list()
    const answer = await resolve(alert!.id)
    expect(answer).toMatchObject({ status: 200, json: { status: 'resolved' } })
    const at = ctx.clock.now().toISOString()
    await ctx.advance(5_000)
    expect(await resolve(alert!.id)).toMatchObject({ status: 200, json: { status: 'resolved' } })
    expect(await list('?include_resolved=true')).toMatchObject([{ id: alert!.id, resolved_at: at }])
    expect(alertFrames().map((frame) => [frame.id, frame.resolved_at])).toEqual([
      [alert!.id, null],
      [alert!.id, at],
    ])
    const audited = await listAuditRecords(
      database.pool,
      { action: 'alert.resolve' },
      { beforeSeq: null, limit: 10, offset: 0 },
    )
    expect(audited.filter((entry) => entry.resourceId === alert!.id)).toMatchObject([
      { resource: 'alert', workloadId: agent.workloadId, detail: '{"rule":"version_outdated"}' },
    ])
  })

  it('keeps the rule quiet until its cause has gone once', async () => {
    const agent = await outdated()
    await runEngine()
    await resolve((await list())[0]!.id)
    await runEngine()
    expect(await list()).toEqual([])
    const describe = (version: string) => agent.say({ attributes: attributesOf(agent, 'edge', version) })
    describe('0.100.0')
    await ctx.advance(1_000)
    await runEngine()
    describe('0.99.0')
    await ctx.advance(1_000)
    await runEngine()
    expect(await list()).toHaveLength(1)
  })

  it.each(['0'.repeat(32), 'x', '%00', "'--"])('knows no alert %j', async (id) => {
    expect(await resolve(encodeURIComponent(id))).toMatchObject({
      status: 404,
      json: { error: 'alert not found' },
    })
  })
})

describe('the reason of a resolution', () => {
  it('is kept, told to browsers, shown and audited, without the blanks around it', async () => {
    await outdated()
    await runEngine()
    const [alert] = await list()
    expect(await resolveFor(alert!.id, '  known, upgraded on Monday ')).toMatchObject({ status: 200 })
    const reason = { resolve_reason: 'known, upgraded on Monday' }
    expect(await list('?include_resolved=true')).toMatchObject([{ id: alert!.id, ...reason }])
    expect(alertFrames().at(-1)).toMatchObject({ id: alert!.id, ...reason })
    const [audited] = await listAuditRecords(
      database.pool,
      { action: 'alert.resolve' },
      { beforeSeq: null, limit: 1, offset: 0 },
    )
    expect(JSON.parse(audited!.detail)).toEqual({
      rule: 'version_outdated',
      reason: 'known, upgraded on Monday',
    })
  })

  it.each([7, 'a\0b', '\ud800', 'x'.repeat(501)])(
    'is refused where it is no short text that can be kept: case %#',
    async (reason) => {
      await outdated()
      await runEngine()
      const [alert] = await list()
      expect(await resolveFor(alert!.id, reason)).toMatchObject({ status: 400 })
      expect(await list()).toHaveLength(1)
    },
  )
})

describe('POST /api/alerts/{id}/reopen', () => {
  async function resolved(): Promise<{ agent: FakeAgent; alert: AlertRecord }> {
    const agent = await outdated()
    await runEngine()
    const [alert] = await list()
    await resolveFor(alert!.id, 'a slip')
    return { agent, alert: alert! }
  }
  const countOf = async (agent: FakeAgent) =>
    ((await invoke(ctx, `GET /api/workloads/${agent.workloadId}`, { as: viewer })).json as WorkloadRecord)
      .open_alert_count

  it('opens it again as it was, tells browsers, and writes who did it; once more changes nothing', async () => {
    const { agent, alert } = await resolved()
    expect(await countOf(agent)).toBe(0)
    for (let i = 0; i < 2; i++) expect(await reopen(alert.id)).toMatchObject({ status: 200, json: alert })
    expect(await list()).toEqual([alert])
    expect(await countOf(agent)).toBe(1)
    expect(alertFrames().map((frame) => frame.resolved_at)).toEqual([null, expect.any(String), null])
    const audited = await listAuditRecords(
      database.pool,
      { action: 'alert.reopen' },
      { beforeSeq: null, limit: 10, offset: 0 },
    )
    expect(audited.filter(({ resourceId }) => resourceId === alert.id)).toHaveLength(1)
    await runEngine()
    expect(await list()).toEqual([alert])
  })

  it('is possible for ten minutes', async () => {
    const { alert } = await resolved()
    await ctx.advance(600_000)
    expect(await reopen(alert.id)).toMatchObject({ status: 200 })
    await resolveFor(alert.id, '')
    await ctx.advance(600_001)
    expect(await reopen(alert.id)).toMatchObject({ status: 409, json: { code: 'alert_not_reopenable' } })
    expect(await list()).toEqual([])
    const [late] = await list('?include_resolved=true')
    expect(late!.reopen_until).toBeUndefined()
  })

  it('is refused where the cause has gone meanwhile, by itself or with its workload', async () => {
    const { agent, alert } = await resolved()
    agent.lose()
    await ctx.advance(121_000)
    const administrator = (await signIn(ctx)).token
    await invoke(ctx, `POST /api/workloads/${agent.workloadId}/archive`, { as: administrator })
    expect(await reopen(alert.id)).toMatchObject({ status: 409 })
    const other = await outdated('other')
    await runEngine()
    const [gone] = await list()
    await resolve(gone!.id)
    other.say({ attributes: attributesOf(other, 'other', '0.100.0') })
    await ctx.advance(1_000)
    await runEngine()
    expect(await reopen(gone!.id)).toMatchObject({ status: 409 })
  })

  it.each(['0'.repeat(32), 'x', '%00', "'--"])('knows no alert %j', async (id) => {
    expect(await reopen(encodeURIComponent(id))).toMatchObject({ status: 404 })
  })

  it('is not for those who may not resolve', async () => {
    const { alert } = await resolved()
    expect(await reopen(alert.id, viewer)).toMatchObject({ status: 403 })
  })
})

describe('the workload record', () => {
  it('counts its open alerts', async () => {
    const agent = await outdated()
    const count = async () => {
      const answer = await invoke(ctx, `GET /api/workloads/${agent.workloadId}`, { as: viewer })
      const record = answer.json as WorkloadRecord
      return [record.open_alert_count, record.version_outdated]
    }
    expect(await count()).toEqual([0, true])
    await runEngine()
    expect(await count()).toEqual([1, true])
    await resolve((await list())[0]!.id)
    expect(await count()).toEqual([0, true])
  })
})

describe('leaving the inventory', () => {
  it('resolves the alerts of an archived workload, by hand and by the janitor', async () => {
    const administrator = (await signIn(ctx)).token
    const byHand = await outdated('by-hand')
    const byJanitor = await outdated('by-janitor')
    byHand.lose()
    await down(byJanitor)
    await runEngine()
    expect(await list()).toHaveLength(4)
    const archived = await invoke(ctx, `POST /api/workloads/${byHand.workloadId}/archive`, {
      as: administrator,
    })
    expect(archived.status).toBe(204)
    expect((await list()).map((alert) => alert.workload_id)).toEqual([
      byJanitor.workloadId,
      byJanitor.workloadId,
    ])
    ctx.clock.advance(30 * DAY_MS + 1)
    await sweepJanitor.run(ctx, never)
    viewer = (await signIn(ctx, { groups: ['viewer'] })).token
    expect(await list()).toEqual([])
    await runEngine()
    expect(await list()).toEqual([])
    expect(alertFrames().filter((frame) => frame.resolved_at !== null)).toHaveLength(4)
  })

  it('tells browsers that the alerts of a deleted workload are over', async () => {
    const administrator = (await signIn(ctx)).token
    const agent = await outdated()
    await runEngine()
    const [alert] = await list()
    await invoke(ctx, `DELETE /api/workloads/${agent.workloadId}`, { as: administrator })
    expect(await list('?include_resolved=true')).toEqual([])
    expect(alertFrames().at(-1)).toMatchObject({ id: alert!.id, resolved_at: ctx.clock.now().toISOString() })
  })
})
