import { afterEach, describe, expect, it } from 'vitest'
import { AlertEngine, type AlertEngineParts } from '../../../lib/alerts/engine.ts'
import { systemWebhookNetwork } from '../../../lib/alerts/webhook-client.ts'
import { WebhookDeliveries } from '../../../lib/alerts/webhook-delivery.ts'
import { sweep } from '../../../lib/fleet/janitor.ts'
import { AGENT_CAPABILITIES, type AgentReport } from '../../../lib/opamp/report.ts'
import { type Alert, listAlerts, resolveByOperator } from '../../../lib/store/alerts.ts'
import { type Database, DatabaseUnavailable } from '../../../lib/store/db.ts'
import { fenced } from '../../../lib/store/fenced.ts'
import type { AlertRule } from '../../../lib/wire/alerts.ts'
import { SocketLink } from '../../support/agent-links.ts'
import { HEALTHY } from '../../support/agent-report.ts'
import { openWire } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { seededRandom } from '../../support/fakes.ts'
import { through } from '../../support/faulty-database.ts'
import { type FleetServer, sha256Hex, startFleetServer } from '../../support/fleet-server.ts'
import { uidBytes } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { openTestAgent, SUPERVISOR, type TestAgent, type TestAgentOptions } from '../../support/test-agent.ts'

const database = await useTestDatabase()
const db = database.pool
const never = new AbortController().signal
const GRACE_MS = 120_000
const DAY_MS = 86_400_000
const CONFIG = 'receivers: { otlp: {} }\n'

let server: FleetServer
let tests = 0
let seeds = 100
const agents: TestAgent[] = []

afterEach(async () => {
  for (const agent of agents.splice(0)) agent.lose()
  await server.stop()
  await db.execute('delete from workloads')
  await db.execute('delete from webhook_deliveries')
  tests++
})

const start = async () => {
  server = await startFleetServer(database, { graceMs: GRACE_MS })
  return server
}

const TAKES_NONE = SUPERVISOR & ~AGENT_CAPABILITIES.acceptsRemoteConfig
const uidOf = (n: number) => Buffer.from(uidBytes(tests * 100 + n)).toString('hex')
const NONE: Partial<AgentReport> = {
  health: HEALTHY,
  remoteConfigStatus: { hash: '', status: 'unset', errorMessage: '' },
}

/** Connect an agent that describes itself, and wait until the fleet knows it. */
async function join(n = 1, version = '0.149.0', options: TestAgentOptions = {}): Promise<TestAgent> {
  const wire = await openWire(server.url)
  const identity = { uid: uidOf(n), service: 'otelcol', host: `host-${tests}`, version }
  const agent = openTestAgent(new SocketLink(wire), { ...identity, more: NONE, ...options })
  agents.push(agent)
  await eventually('the agent is live', () => server.live(agent.uid) !== undefined)
  await server.fleet.writer.flush()
  return agent
}

const only = () => {
  const [workload] = [...server.fleet.state.workloads.values()]
  return workload!
}

const isReported = (status: string) => () =>
  [...only().instances].every((one) => one.reported.isKnown && one.reported.status === status)

interface Told {
  kind: 'fired' | 'resolved' | 'restated'
  rule: AlertRule
  isOpen: boolean
}

/** An alert engine over the server's fleet; `told` collects what browsers would be told. */
function engineOf(overrides: Partial<AlertEngineParts> & { minAgentVersion?: string } = {}) {
  const told: Told[] = []
  const note = (kind: Told['kind']) => (alert: Alert) =>
    void told.push({ kind, rule: alert.rule, isOpen: alert.resolvedAt === null })
  const { fleet, clock, log } = server
  const engine = new AlertEngine({
    findConflicts: async () => [],
    findHalts: async () => [],
    findPolicyNews: async () => ({ pending: null, lowered: null, unreadable: null }),
    onlyPasswordLogin: null,
    db,
    clock,
    random: seededRandom(++seeds),
    log,
    fleet: {
      clock: fleet.clock,
      state: fleet.state,
      isCompatible: (instance, assigned) => fleet.isCompatible(instance, assigned),
    },
    settings: { minAgentVersion: overrides.minAgentVersion ?? '', disconnectGraceSeconds: GRACE_MS / 1000 },
    webhooks: { async owe() {} },
    notices: { fired: note('fired'), resolved: note('resolved'), restated: note('restated') },
    ...overrides,
  })
  return { told, run: () => engine.run(never) }
}

const open = async (): Promise<Alert[]> =>
  listAlerts(db, { includeResolved: false, workloadId: null, after: null, limit: null })

describe('workload_down', () => {
  it('fires when the grace has passed, once, and resolves when an instance comes back', async () => {
    const { clock } = await start()
    const { told, run } = engineOf()
    const agent = await join()
    agent.lose()
    await eventually('the agent is gone', () => only().live.count === 0)
    clock.advance(GRACE_MS - 1)
    expect(await run()).toEqual({ fired: 0, resolved: 0 })
    clock.advance(1)
    await eventually('the grace has ended', () => only().status === 'disconnected')
    expect(await run()).toEqual({ fired: 1, resolved: 0 })
    expect(await run()).toEqual({ fired: 0, resolved: 0 })
    expect(await open()).toMatchObject([
      { rule: 'workload_down', severity: 'critical', firedAt: clock.now() },
    ])
    await join()
    expect(await run()).toEqual({ fired: 0, resolved: 1 })
    expect(await open()).toEqual([])
    expect(told).toEqual([
      { kind: 'fired', rule: 'workload_down', isOpen: true },
      { kind: 'resolved', rule: 'workload_down', isOpen: false },
    ])
  })

  it('stays quiet after an operator resolved it, and fires again once it had come back', async () => {
    const { clock } = await start()
    const { run } = engineOf()
    const goDown = async () => {
      agents.pop()!.lose()
      await eventually('the agent is gone', () => only().live.count === 0)
      clock.advance(GRACE_MS)
      await eventually('the grace has ended', () => only().status === 'disconnected')
    }
    await join()
    await goDown()
    await run()
    await resolveByOperator(db, (await open())[0]!.id, clock.now())
    expect(await run()).toEqual({ fired: 0, resolved: 0 })
    await join()
    await run()
    await goDown()
    expect(await run()).toEqual({ fired: 1, resolved: 0 })
  })

  it('goes on after a restart of the service as if nothing had been', async () => {
    const { clock } = await start()
    await join()
    agents.pop()!.lose()
    await eventually('the agent is gone', () => only().live.count === 0)
    clock.advance(GRACE_MS)
    await eventually('the grace has ended', () => only().status === 'disconnected')
    await engineOf().run()
    await server.fleet.writer.flush()
    await server.stop()
    await start()
    expect(await engineOf().run()).toEqual({ fired: 0, resolved: 0 })
    expect(await open()).toHaveLength(1)
  })
})

describe('config_drift', () => {
  it('fires after three minutes without an answer, and resolves when all have applied', async () => {
    const { clock } = await start()
    const { run } = engineOf()
    const agent = await join()
    await run()
    clock.advance(3_600_000)
    await server.push(only().id, CONFIG)
    clock.advance(179_999)
    expect(await run()).toEqual({ fired: 0, resolved: 0 })
    clock.advance(1)
    expect(await run()).toEqual({ fired: 1, resolved: 0 })
    expect((await open())[0]!.message).toContain(
      `config ${sha256Hex(CONFIG).slice(0, 12)} on 1 of 1 instances`,
    )
    agent.apply(sha256Hex(CONFIG))
    await eventually('it is applied', isReported('applied'))
    expect(await run()).toEqual({ fired: 0, resolved: 1 })
  })

  it('does not fire for a config that failed: the failure itself is told, at once', async () => {
    const { clock } = await start()
    const { run } = engineOf()
    const agent = await join()
    await server.push(only().id, CONFIG)
    agent.fail('bad', sha256Hex(CONFIG))
    await eventually('it has failed', () => only().newestPush?.status === 'failed')
    const rules = async () => (await open()).map(({ rule }) => rule).sort()
    clock.advance(59_999)
    await run()
    expect(await rules()).toEqual(['push_failed'])
    clock.advance(1)
    expect(await run()).toEqual({ fired: 0, resolved: 0 })
    expect(await rules()).toEqual(['push_failed'])
  })

  it('waits anew from the offer for one that took no configs when its workload was pushed to', async () => {
    const { clock } = await start()
    const { run } = engineOf()
    const first = await join(1)
    const second = await join(2, '0.149.0', { capabilities: TAKES_NONE })
    const { pushId } = await server.push(only().id, CONFIG)
    first.apply(sha256Hex(CONFIG))
    await eventually('it is applied', () => only().newestPush?.status === 'applied')
    await run()
    clock.advance(600_000)
    second.say({ capabilities: SUPERVISOR })
    await eventually('it is offered the config', () => only().active!.targets.size === 2)
    expect(only().active!.push.pushId).toBe(pushId)
    second.say({
      capabilities: SUPERVISOR,
      remoteConfigStatus: { hash: sha256Hex(CONFIG), status: 'failed', errorMessage: 'bad' },
    })
    const failed = () => [...only().instances].some(({ report }) => report?.status === 'failed')
    await eventually('it has failed there', failed)
    clock.advance(59_999)
    expect(await run()).toEqual({ fired: 0, resolved: 0 })
    clock.advance(1)
    expect(await run()).toEqual({ fired: 1, resolved: 0 })
  })

  it('is not fooled by a wall clock that jumps', async () => {
    const { clock } = await start()
    const { run } = engineOf()
    await join()
    await server.push(only().id, CONFIG)
    await run()
    clock.set(new Date(clock.now().getTime() + DAY_MS))
    expect(await run()).toEqual({ fired: 0, resolved: 0 })
    clock.set(new Date(clock.now().getTime() - 2 * DAY_MS))
    clock.advance(180_000)
    expect(await run()).toEqual({ fired: 1, resolved: 0 })
  })

  it('waits for all of it where the wall clock jumps ahead between the offer and the next look', async () => {
    const { clock } = await start()
    const { run } = engineOf()
    await join()
    await run()
    clock.advance(15_000)
    await server.push(only().id, CONFIG)
    clock.set(new Date(clock.now().getTime() + DAY_MS))
    await run()
    const rules = async () => (await open()).map(({ rule }) => rule).sort()
    clock.advance(179_999)
    await run()
    expect(await rules()).toEqual([])
    clock.advance(1)
    await run()
    expect(await rules()).toEqual(['config_drift'])
  })

  it('keeps the alert of a workload whose instances are gone', async () => {
    const { clock } = await start()
    const { run } = engineOf()
    await join()
    await server.push(only().id, CONFIG)
    clock.advance(180_000)
    await run()
    agents.pop()!.lose()
    await eventually('the agent is gone', () => only().live.count === 0)
    expect(await run()).toEqual({ fired: 0, resolved: 0 })
    expect(await open()).toHaveLength(1)
  })
})

describe('version_outdated', () => {
  it('fires for an older version, and resolves when the rule is switched off', async () => {
    await start()
    await join(1, '0.99.0')
    expect(await engineOf({ minAgentVersion: '0.100.0' }).run()).toEqual({ fired: 1, resolved: 0 })
    expect(await engineOf({ minAgentVersion: '' }).run()).toEqual({ fired: 0, resolved: 1 })
  })
})

describe('what is stored', () => {
  /** A webhook that is owed what it is told, and never called. */
  const toWebhook = () =>
    new WebhookDeliveries({
      db,
      clock: server.clock,
      random: seededRandom(++seeds),
      log: server.log,
      url: 'https://hooks.example.com/',
      network: systemWebhookNetwork,
    })

  it('owes the webhook one call for each alert, in the transaction of the alerts', async () => {
    await start()
    await join(1, '0.1.0')
    const failing: Database = {
      ...dbOf(),
      transaction: (name, work) =>
        db.transaction(name, async (tx) => {
          await work(tx)
          throw new DatabaseUnavailable('the commit was lost')
        }),
    }
    const lost = engineOf({ minAgentVersion: '1.0.0', webhooks: toWebhook(), db: failing })
    await expect(lost.run()).rejects.toThrow(DatabaseUnavailable)
    expect(lost.told).toEqual([])
    expect(await db.query('select id from webhook_deliveries')).toEqual([])
    await engineOf({ minAgentVersion: '1.0.0', webhooks: toWebhook() }).run()
    const [alert] = await open()
    const fired_at = alert!.firedAt.toISOString()
    const [row] = await db.query<{ alert_id: string; body: string }>(
      'select alert_id, body from webhook_deliveries',
    )
    expect(row!.alert_id).toBe(alert!.id)
    expect(JSON.parse(row!.body)).toEqual({
      event: 'alert_fired',
      fired_at,
      alert: {
        id: alert!.id,
        workload_id: only().id,
        rule: 'version_outdated',
        severity: 'warning',
        message: alert!.message,
        fired_at,
      },
    })
  })

  it('stores nothing once another process has taken over', async () => {
    await start()
    await join(1, '0.1.0')
    const db = fenced(dbOf(), () => Promise.reject(new Error('another process has taken over')))
    await expect(engineOf({ minAgentVersion: '1.0.0', db }).run()).rejects.toThrow('taken over')
    expect(await open()).toEqual([])
  })
})

describe('the janitor', () => {
  const parts = (more: object = {}) => ({
    db,
    clock: server.clock,
    log: server.log,
    fleet: server.fleet,
    retentionDays: 30,
    archiveDays: 90,
    eventRetentionDays: 30,
    alertRetentionDays: 90,
    workloadsMax: 1_000,
    ...more,
  })

  const goDown = async () => {
    agents.pop()!.lose()
    await eventually('the agent is gone', () => only().live.count === 0)
    server.clock.advance(GRACE_MS)
    await eventually('the grace has ended', () => only().status === 'disconnected')
    await server.fleet.writer.flush()
  }

  it('archives what was disconnected for too long, resolves its alerts, and leaves it alone after', async () => {
    const { clock } = await start()
    await join()
    await goDown()
    await engineOf().run()
    clock.advance(30 * DAY_MS)
    expect(await sweep(parts(), never)).toMatchObject({ archived: 0 })
    clock.advance(1)
    expect(await sweep(parts(), never)).toMatchObject({ archived: 1 })
    expect(only().archivedAt).toEqual(clock.now())
    expect(server.notices.resolved.map(({ rule }) => rule)).toEqual(['workload_down'])
    expect(await open()).toEqual([])
    expect(await sweep(parts(), never)).toMatchObject({ archived: 0 })
    expect(await engineOf().run()).toEqual({ fired: 0, resolved: 0 })
    await join()
    expect(only().archivedAt).toBeNull()
  })

  it('never archives a live workload, however long ago it was last away', async () => {
    const { clock } = await start()
    await join()
    await goDown()
    clock.advance(31 * DAY_MS)
    await join()
    expect(await sweep(parts(), never)).toMatchObject({ archived: 0 })
    expect(only()).toMatchObject({ archivedAt: null, status: 'connected' })
  })

  it('removes events past their days, however many, and no others', async () => {
    const { clock } = await start()
    await join()
    const old = new Date(clock.now().getTime() - 30 * DAY_MS - 1)
    const kept = new Date(clock.now().getTime() - 30 * DAY_MS)
    await db.execute(
      `insert into workload_events (workload_id, instance_uid, pod_name, event_type, version, prev_version, occurred_at)
       select $1, 'x', '', 'connected', '', '', case when n <= 25000 then $2::timestamptz else $3 end
       from generate_series(1, 25003) as n`,
      [only().id, old, kept],
    )
    expect(await sweep(parts(), never)).toMatchObject({ trimmedEvents: 25_000 })
    const [left] = await db.query<{ n: number }>(
      `select count(*)::int as n from workload_events where instance_uid = 'x'`,
    )
    expect(left!.n).toBe(3)
  })

  it('goes on with its other steps when one fails, and makes up for it the next time', async () => {
    const { clock, log } = await start()
    await join()
    await goDown()
    clock.advance(31 * DAY_MS)
    const archive = () => Promise.reject(new DatabaseUnavailable('gone'))
    const { fleet } = server
    const { state } = fleet
    const [discard, forgetAgents] = [fleet.discard.bind(fleet), fleet.forgetAgents.bind(fleet)]
    const failing = parts({ fleet: { state, discard, forgetAgents, archive } })
    expect(await sweep(failing, never)).toMatchObject({ archived: 0, trimmedEvents: 2 })
    expect(log.lines.filter((line) => line.level === 'error').map((line) => line.fields)).toMatchObject([
      { step: 'archive' },
    ])
    expect(await sweep(parts(), never)).toMatchObject({ archived: 1 })
  })

  it('forgets agents and texts that nothing refers to any more, and keeps those in use', async () => {
    const { clock } = await start()
    await join()
    const old = new Date(clock.now().getTime() - 31 * DAY_MS)
    await db.execute(`insert into agent_workloads values ('old', $1, $2)`, [only().id, old])
    await db.execute(`update agent_workloads set seen_at = $1`, [old])
    await db.execute(`insert into reported_configs values ('old', 'a', $1), ('new', 'b', $2)`, [
      old,
      clock.now(),
    ])
    await sweep(parts(), never)
    const homes = await db.query<{ uid: string }>(`select instance_uid as uid from agent_workloads`)
    expect(homes.map((row) => row.uid)).toEqual([uidOf(1)])
    const texts = await db.query<{ hash: string }>(`select hash from reported_configs`)
    expect(texts.map((row) => row.hash)).toEqual(['new'])
  })
})

const dbOf = (): Database => through(db)
