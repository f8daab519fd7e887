import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LOOK_CHUNK, REPORTED_SPARE_MAX, type SweepResult, sweep } from '../../../lib/fleet/janitor.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import { findContent } from '../../../lib/store/config-contents.ts'
import type { Database, Db } from '../../../lib/store/db.ts'
import { fenced } from '../../../lib/store/fenced.ts'
import { reportOf } from '../../support/agent-report.ts'
import { through } from '../../support/faulty-database.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const DAY_MS = 86_400_000
const GRACE_MS = 120_000
const never = new AbortController().signal

let database: TestDatabase
let ctx: FleetTestContext
beforeEach(async () => {
  database = await createTestDatabase()
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.drop()
})

const clean = (more: object = {}): Promise<SweepResult> => {
  const { db, clock, log, fleet } = ctx
  const days = { retentionDays: 30, archiveDays: 90, eventRetentionDays: 30, alertRetentionDays: 60 }
  return sweep({ db, clock, log, fleet, ...days, workloadsMax: 1_000, ...more }, never)
}
const count = async (from: string): Promise<number> =>
  (await database.pool.query<{ n: number }>(`select count(*)::int as n from ${from}`))[0]!.n
const workloadOf = ({ workloadId }: FakeAgent) => ctx.fleet.workload(workloadId)
/** Disconnect agents, and let the grace of their workloads pass. */
async function gone(...agents: FakeAgent[]): Promise<void> {
  for (const agent of agents) agent.lose()
  await ctx.advance(GRACE_MS + 2_000)
}
const removed = () => ctx.frames.filter((frame) => frame.type === 'workload_removed')

it('a process that another one has taken over from removes nothing', async () => {
  const agent = fakeAgent(ctx.fleet)
  agent.effective(configYaml())
  await gone(agent)
  ctx.clock.advance(400 * DAY_MS)
  const kept = async () =>
    Promise.all(['workload_events', 'reported_configs', 'agent_workloads'].map((table) => count(table)))
  const before = await kept()
  expect(Math.min(...before)).toBeGreaterThan(0)
  const { archive, discard, state } = ctx.fleet
  const nothing = { doubtAgents() {}, forgetAgents() {}, textsRemoved() {}, async textsMissing() {} }
  const fleet = { archive, discard, state, ...nothing }
  const db = fenced(database.pool, () => Promise.reject(new Error('another process is active')))
  await clean({ db, fleet, retentionDays: 500, homesMax: 0 })
  expect(await kept()).toEqual(before)
})

describe('an archived workload', () => {
  it('is removed when its days in the archive are over, with everything that was kept of it', async () => {
    const agent = fakeAgent(ctx.fleet)
    await gone(agent)
    ctx.clock.advance(30 * DAY_MS + 1)
    expect(await clean()).toMatchObject({ archived: 1, deleted: 0 })
    ctx.clock.advance(90 * DAY_MS)
    expect(await clean()).toMatchObject({ deleted: 0 })
    ctx.clock.advance(1)
    expect(await clean()).toMatchObject({ deleted: 1 })
    expect(workloadOf(agent)).toBeNull()
    expect(ctx.fleet.state.homes.size).toBe(0)
    expect(
      (await count('workloads')) + (await count('workload_events')) + (await count('agent_workloads')),
    ).toBe(0)
    await ctx.advance(2_000)
    expect(removed()).toMatchObject([{ workload_id: agent.workloadId }])
    // When its agent comes back it is taken for a new one.
    const again = fakeAgent(ctx.fleet, { uid: agent.uid })
    await ctx.advance(1_000)
    expect(workloadOf(again)).toMatchObject({ status: 'connected', archivedAt: null })
  })

  it('stays when somebody comes while it is being removed', async () => {
    const agent = fakeAgent(ctx.fleet, { host: 'late' })
    await gone(agent)
    ctx.clock.advance(31 * DAY_MS)
    await clean()
    ctx.clock.advance(91 * DAY_MS)
    const { fleet } = ctx
    const discard: typeof fleet.discard = (id, isRemoved) =>
      fleet.discard(id, async (tx) => {
        const outcome = await isRemoved(tx)
        fakeAgent(fleet, { host: 'late', uid: agent.uid })
        return outcome
      })
    const { state } = fleet
    const [archive, forgetAgents] = [fleet.archive.bind(fleet), fleet.forgetAgents.bind(fleet)]
    expect(await clean({ fleet: { state, archive, forgetAgents, discard } })).toMatchObject({ deleted: 0 })
    await ctx.advance(1_000)
    expect(workloadOf(agent)).toMatchObject({ status: 'connected', archivedAt: null })
    expect(await count(`workloads where archived_at is null and status = 'connected'`)).toBe(1)
  })
})

describe('archiving', () => {
  it('that loses to an arrival leaves nothing behind', async () => {
    const agent = fakeAgent(ctx.fleet, { host: 'back' })
    await gone(agent)
    const outcome = await ctx.fleet.archive(agent.workloadId, null, async (tx) => {
      await tx.execute(`insert into push_groups (id, name, description, selector) values ('x', '', '', '{}')`)
      fakeAgent(ctx.fleet, { host: 'back', uid: agent.uid })
    })
    expect(outcome).toEqual({ ok: false, code: 'workload-not-disconnected' })
    expect(await count(`push_groups where id = 'x'`)).toBe(0)
    await ctx.advance(1_000)
    expect(await count('workloads where archived_at is not null')).toBe(0)
  })

  it('that was committed when somebody came is done, and he takes the workload out again', async () => {
    let arrive = () => {}
    await ctx.close()
    ctx = await createFleetContext(database, {
      db: {
        ...through(database.pool),
        async transaction(name, work) {
          const outcome = await database.pool.transaction(name, work)
          arrive()
          return outcome
        },
      },
    })
    const agent = fakeAgent(ctx.fleet, { host: 'back' })
    await gone(agent)
    await ctx.fleet.writer.flush()
    const outcome = await ctx.fleet.archive(agent.workloadId, null, async () => {
      arrive = () => {
        arrive = () => {}
        fakeAgent(ctx.fleet, { host: 'back', uid: agent.uid })
      }
    })
    expect(outcome).toEqual({ ok: true })
    expect(await count('workloads where archived_at is not null')).toBe(1)
    await ctx.advance(1_000)
    expect(workloadOf(agent)).toMatchObject({ status: 'connected', archivedAt: null })
    expect(await count('workloads where archived_at is not null')).toBe(0)
  })
})

describe('alerts', () => {
  it('are removed when they were resolved for long enough, but for what keeps a rule quiet', async () => {
    const agent = fakeAgent(ctx.fleet)
    await ctx.advance(1_000)
    const now = ctx.clock.now().getTime()
    const insert = (id: string, rule: string, resolvedAt: Date | null, quiet = false) =>
      database.pool.execute(
        `insert into alerts (id, workload_id, rule, severity, message, fired_at, resolved_at, quiet)
         values ($1, $2, $3, 'warning', '', $4, $5, $6)`,
        [id.repeat(32), agent.workloadId, rule, new Date(now - 200 * DAY_MS), resolvedAt, quiet],
      )
    const old = new Date(now - 60 * DAY_MS - 1)
    await insert('a', 'workload_down', old)
    await insert('b', 'workload_down', new Date(now - 60 * DAY_MS))
    await insert('c', 'workload_down', null)
    await insert('d', 'config_drift', old, true)
    expect(await clean()).toMatchObject({ trimmedAlerts: 1 })
    const left = await database.pool.query<{ id: string }>('select left(id, 1) as id from alerts order by id')
    expect(left.map(({ id }) => id)).toEqual(['b', 'c', 'd'])
  })
})

describe('room for workloads', () => {
  it('is made of those that were away for longest and that nobody has touched', async () => {
    const agents = Array.from({ length: 10 }, () => fakeAgent(ctx.fleet))
    await ctx.advance(1_000)
    const [pushed, labelled, live, ...rest] = agents as [FakeAgent, FakeAgent, FakeAgent, ...FakeAgent[]]
    const push = pushConfig(ctx.fleet, pushed.workloadId, configYaml())
    await ctx.advance(500)
    await push
    pushed.apply()
    await ctx.fleet.setTrustedLabels(labelled.workloadId, { 'muster/env': 'test' }, null, async () => {})
    for (const agent of [pushed, labelled, ...rest]) await gone(agent)
    expect(await clean({ workloadsMax: 10 })).toMatchObject({ displaced: 0 })
    ctx.clock.advance(DAY_MS)
    await ctx.alerts.run(never)
    expect(ctx.counters.openAlertsInAll()).toBe(9)
    expect(await clean({ workloadsMax: 20 })).toMatchObject({ displaced: 0 })
    expect(await clean({ workloadsMax: 10 })).toMatchObject({ displaced: 2 })
    expect(agents.filter((agent) => workloadOf(agent) === null)).toEqual(rest.slice(0, 2))
    expect(ctx.counters.openAlertsInAll()).toBe(7)
    // The same where what is kept of them takes nearly as many bytes as it may.
    const { total } = ctx.fleet.state.kept
    expect(await clean({ keptBytesMax: 2 * total })).toMatchObject({ displaced: 0 })
    const { displaced } = await clean({ keptBytesMax: total })
    expect(displaced).toBeGreaterThan(0)
    expect(agents.filter((agent) => workloadOf(agent) === null)).toEqual(rest.slice(0, 2 + displaced))
    expect(ctx.fleet.state.kept.total).toBeLessThanOrEqual(0.8 * total)
    expect(await clean({ workloadsMax: 3 })).toMatchObject({ displaced: 5 - displaced })
    expect(agents.filter((agent) => workloadOf(agent) !== null)).toEqual([pushed, labelled, live])
    expect(await count('workloads')).toBe(3)
  })
})

describe('the share of one connection of the room for what agents say', () => {
  const connectionOf = (id: number): AgentConnection => ({
    id,
    transport: 'ws',
    send: () => 'sent',
    drop() {},
  })
  const [gateway, other] = [connectionOf(9_001), connectionOf(9_002)]
  const shareOf = ({ id }: AgentConnection) => ctx.fleet.state.kept.shareOf(id)
  let sequence = 0
  function name(connection: AgentConnection, host: string) {
    const attributes = new Map(Object.entries({ 'host.name': host, note: 'x'.repeat(1_000) }))
    const report = reportOf('ab'.repeat(16), sequence++, { capabilities: 0, attributes })
    expect(ctx.fleet.receive(connection, report, {}).message.errorResponse).toBeUndefined()
  }
  /** An agent names one workload after the other, and goes to another connection. */
  async function fill() {
    for (let n = 0; n < 10; n++) name(gateway, `h${n}`)
    await ctx.advance(1_000)
    name(other, 'h9')
    await ctx.advance(GRACE_MS + 2_000)
  }

  it('is relieved of what went elsewhere and of what is gone, which stays while there is room for all', async () => {
    await fill()
    const { kept, workloads } = ctx.fleet.state
    const [total, share, elsewhere] = [kept.total, shareOf(gateway), shareOf(other)]
    expect(share).toBeGreaterThan(20_000)
    const most = { keptBytesMax: 10 * total, keptBytesPerConnectionMax: 2 * share }
    await clean(most)
    expect(shareOf(gateway)).toBe(share)
    expect(await clean({ ...most, keptBytesPerConnectionMax: share })).toMatchObject({ displaced: 0 })
    expect(shareOf(gateway)).toBeLessThanOrEqual(0.8 * share)
    expect(shareOf(gateway)).toBeGreaterThan(0.5 * share)
    expect(shareOf(other)).toBeGreaterThan(elsewhere)
    expect([workloads.size, kept.total]).toEqual([10, total])
    // Who comes back is on the share again.
    name(gateway, 'h0')
    expect(shareOf(gateway)).toBeGreaterThan(0.8 * share)
  })

  it('fills no more than half of the room by that: beyond it only what is removed makes room on it', async () => {
    await fill()
    const { kept, workloads } = ctx.fleet.state
    const share = shareOf(gateway)
    const most = { keptBytesMax: 1.5 * kept.total, keptBytesPerConnectionMax: 0.8 * share }
    expect(await clean(most)).toMatchObject({ displaced: 0 })
    expect(shareOf(gateway)).toBeGreaterThan(0.8 * share)
    ctx.clock.advance(DAY_MS)
    const { displaced } = await clean(most)
    expect(displaced).toBeGreaterThan(0)
    expect(workloads.size).toBe(10 - displaced)
    expect(shareOf(gateway)).toBeLessThanOrEqual(0.64 * share)
  })
})

describe('agents that are gone', () => {
  it('are remembered while they are here, for their days after, and up to a number', async () => {
    const here = fakeAgent(ctx.fleet)
    const away = fakeAgent(ctx.fleet)
    await gone(away)
    ctx.clock.advance(30 * DAY_MS + 1)
    await clean()
    expect([...ctx.fleet.state.homes.keys()]).toEqual([here.uid])
    expect(await count('agent_workloads')).toBe(1)
    for (let n = 0; n < 5; n++) await gone(fakeAgent(ctx.fleet))
    // The row of the connected instance counts as seen just now from the janitor's first look on.
    await clean({ homesMax: 3 })
    await clean({ homesMax: 3 })
    expect(await count('agent_workloads')).toBe(3)
    expect(ctx.fleet.state.homes.size).toBe(3)
    expect(ctx.fleet.state.homes.has(here.uid)).toBe(true)
  })

  it('leave no row with an applied push that they joined, and are remembered by it for what they failed', async () => {
    const host = 'one'
    const first = fakeAgent(ctx.fleet, { host })
    await ctx.advance(500)
    const { pushId } = await pushConfig(ctx.fleet, first.workloadId, configYaml())
    await ctx.advance(500)
    first.apply()
    await ctx.advance(1_000)
    const { targets } = workloadOf(first)!.active!
    const joiners: FakeAgent[] = []
    for (let n = 0; n < 6; n++) {
      const joiner = fakeAgent(ctx.fleet, { host })
      joiner.say({ remoteConfigStatus: { hash: '', status: 'unset', errorMessage: '' } })
      await ctx.advance(1_000)
      if (n === 0) joiner.fail('port in use')
      else joiner.apply()
      joiners.push(joiner)
      await ctx.advance(500)
    }
    expect(targets.size).toBe(7)
    expect(await count('push_targets')).toBe(7)
    // They have lived with the config for a while: who vanishes sooner may have died of it.
    await ctx.advance(11 * 60_000)
    await gone(...joiners)
    const [failed] = joiners as [FakeAgent]
    expect([...targets.keys()].sort()).toEqual([first.uid, failed.uid].sort())
    expect(await count('push_targets')).toBe(2)
    expect(workloadOf(first)!.active!.push).toMatchObject({
      pushId,
      status: 'applied',
      counts: { joined: 1 },
    })
    expect(await count('quarantines')).toBe(1)
    // A joiner that comes back gets its row again.
    const back = fakeAgent(ctx.fleet, { host, uid: joiners[1]!.uid })
    back.apply(workloadOf(first)!.activeHash!)
    await ctx.advance(1_000)
    expect(await count('push_targets')).toBe(3)
    ctx.clock.advance(31 * DAY_MS)
    await clean()
    expect([...targets.keys()].sort()).toEqual([first.uid, back.uid].sort())
    expect(await count('push_targets')).toBe(2)
    expect(await count('quarantines')).toBe(0)
    expect(workloadOf(first)!.quarantinedInstances.size).toBe(0)
  })

  it('are not known from before our start for longer than the grace', async () => {
    const agents = Array.from({ length: 3 }, () => fakeAgent(ctx.fleet))
    await ctx.advance(1_000)
    await ctx.close()
    ctx = await createFleetContext(database)
    expect(ctx.fleet.state.knownAtStart.size).toBe(agents.length)
    await ctx.advance(GRACE_MS)
    expect(ctx.fleet.state.knownAtStart.size).toBe(0)
  })
})

describe('texts of configs', () => {
  it('go a day after the last workload that was pushed them', async () => {
    const [kept, removed] = [fakeAgent(ctx.fleet), fakeAgent(ctx.fleet)]
    await ctx.advance(500)
    for (const agent of [kept, removed]) await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    await pushConfig(ctx.fleet, removed.workloadId, configYaml(2))
    await ctx.advance(500)
    await ctx.fleet.remove(removed.workloadId, null, async () => {})
    expect(await clean()).toMatchObject({ removedConfigs: 0 })
    ctx.clock.advance(DAY_MS + 1)
    expect(await clean()).toMatchObject({ removedConfigs: 1 })
    expect(await count('config_contents')).toBe(1)
    expect((await findContent(database.pool, configHash(configYaml(1))))?.body).toBe(configYaml(1))
  })
})

describe('one look of the janitor', () => {
  it('is at so many agents and no more, however many there are', async () => {
    for (let n = 0; n < 2 * LOOK_CHUNK + 10; n++) fakeAgent(ctx.fleet, { host: `host ${n % 5}` })
    await ctx.advance(1_000)
    ctx.clock.advance(31 * DAY_MS)
    let longest = 0
    let touched = 0
    const watch = (params: readonly unknown[] = []) => {
      for (const value of params) if (Array.isArray(value)) longest = Math.max(longest, value.length)
    }
    const watched = (db: Db): Db => ({
      query(text, params) {
        watch(params)
        return db.query(text, params)
      },
      async execute(text, params) {
        watch(params)
        const changed = await db.execute(text, params)
        if (text.startsWith('update agent_workloads')) touched += changed
        return changed
      },
    })
    const { pool } = database
    const transaction: Database['transaction'] = (name, work) =>
      pool.transaction(name, (tx) => work(watched(tx)))
    await clean({ db: { ...through(pool), ...watched(pool), transaction } })
    expect(touched).toBe(2 * LOOK_CHUNK + 10)
    expect(longest).toBe(LOOK_CHUNK)
  })
})

describe('reported configs', () => {
  it('that nobody runs are kept for a day and up to a number, and those that are run for ever', async () => {
    const agent = fakeAgent(ctx.fleet)
    agent.effective(configYaml())
    await ctx.advance(1_000)
    ctx.clock.advance(DAY_MS + 1)
    await database.pool.execute(
      `insert into reported_configs select 'old ' || n, '', $1 from generate_series(1, 10) n`,
      [new Date(ctx.clock.now().getTime() - DAY_MS - 1)],
    )
    const insertNew = `insert into reported_configs
      select 'new ' || n, '', $1::timestamptz + n * interval '1 ms' from generate_series(1, $2::int) n`
    await database.pool.execute(insertNew, [ctx.clock.now(), REPORTED_SPARE_MAX + 500])
    ctx.clock.advance(60_000)
    // Configs that instances run count as reported just now from the janitor's first look on.
    await clean()
    await clean()
    expect(await count(`reported_configs where hash like 'old %'`)).toBe(0)
    expect(await count('reported_configs')).toBe(REPORTED_SPARE_MAX + 1)
    expect(await count(`reported_configs where hash like 'new %'`)).toBe(REPORTED_SPARE_MAX)
    expect(await count(`reported_configs where hash in ('new 1', 'new 500')`)).toBe(0)
  })

  it('are stored again when somebody reports one that was removed', async () => {
    const agent = fakeAgent(ctx.fleet)
    agent.effective(configYaml(1))
    await ctx.advance(1_000)
    agent.effective(configYaml(2))
    await ctx.advance(1_000)
    expect(await count('reported_configs')).toBe(2)
    ctx.clock.advance(DAY_MS + 1)
    await clean()
    expect(await count('reported_configs')).toBe(1)
    agent.effective(configYaml(1))
    await ctx.advance(1_000)
    expect(await count('reported_configs')).toBe(2)
  })
})

it('keeps a bounded number of events, the newest, and since when who is changed on its host', async () => {
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(500)
  const { workloadId } = agent
  await database.pool.execute('delete from workload_events')
  await database.pool.execute(
    `insert into workload_events (workload_id, instance_uid, pod_name, event_type, version, prev_version, occurred_at)
     select $1, $2, '', case n when 1 then 'config_altered' else 'connected' end, n::text, '', $3::timestamptz + n * interval '1 second'
     from generate_series(1, 50) n`,
    [workloadId, agent.uid, ctx.clock.now()],
  )
  const versions = async () =>
    (await database.pool.query<{ version: string }>('select version from workload_events order by id')).map(
      ({ version }) => Number(version),
    )
  await clean({ eventsMax: 50 })
  expect(await versions()).toHaveLength(50)
  expect((await clean({ eventsMax: 20 })).trimmedEvents).toBe(29)
  expect(await versions()).toEqual([1, ...Array.from({ length: 20 }, (_, n) => n + 31)])
})
