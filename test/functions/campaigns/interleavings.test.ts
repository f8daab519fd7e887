import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Campaigns } from '../../../lib/campaigns/campaigns.ts'
import { orderTargets } from '../../../lib/campaigns/plan/waves.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import { findCampaign } from '../../../lib/store/campaigns.ts'
import { CommitInDoubt } from '../../../lib/store/db.ts'
import type { CampaignRecord, CampaignTarget } from '../../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { eventually } from '../../support/eventually.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Something happens between two steps of a campaign.

const database = await useTestDatabase()
let db: FaultyDatabase
/** Done once inside the next transaction of this name, before its first statement. */
let atBegin: { name: string; act(): Promise<void> } | null
/** Done once inside the next transaction of this name, when it has read whether there is a freeze. */
let afterFreezeRead: typeof atBegin
let ctx: FleetTestContext
let campaigns: Campaigns
let editor: SignedIn
let approver: SignedIn
let agents: FakeAgent[]

const FIRST = configHash(configYaml(1))
const SECOND = configHash(configYaml(2))
const HOSTS = ['vm-1', 'vm-2', 'vm-3', 'vm-4']
const SICK = {
  healthy: false,
  status: 'StatusPermanentError',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}

beforeEach(async () => {
  await database.pool.execute('delete from campaigns')
  await database.pool.execute('delete from workloads')
  atBegin = null
  afterFreezeRead = null
  const faulty = faultyDatabase(database.pool)
  db = {
    ...faulty,
    transaction: (name, work) =>
      faulty.transaction(name, async (tx) => {
        const todo = atBegin?.name === name ? atBegin : null
        if (todo !== null) atBegin = null
        await todo?.act()
        return work({
          execute: (text, params) => tx.execute(text, params),
          async query<Row extends object>(text: string, params?: readonly unknown[]) {
            const rows = await tx.query<Row>(text, params)
            const last = afterFreezeRead?.name === name && params?.[0] === 'freeze' ? afterFreezeRead : null
            if (last !== null) afterFreezeRead = null
            await last?.act()
            return rows
          },
        })
      }),
  }
  ctx = await createFleetContext(database, { edition: createCompleteEdition(), db })
  campaigns = ctx.campaigns
  editor = await signIn(ctx, { groups: ['editor'] })
  approver = await signIn(ctx, { groups: ['editor'] })
  agents = HOSTS.map((host) => fakeAgent(ctx.fleet, { host }))
  await ctx.advance(300)
  for (const agent of agents) await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
  for (const agent of agents) agent.apply()
  await ctx.advance(300)
})
afterEach(() => ctx.close())

const call = (method: string, path: string, body?: unknown) =>
  invoke(ctx, `${method} /api/campaigns${path}`, { as: editor.token, body })
const record = async (id: string) => (await call('GET', `/${id}`)).json as CampaignRecord
const targets = async (id: string) => (await call('GET', `/${id}/targets?limit=500`)).json as CampaignTarget[]
const targetOf = async (id: string, { workloadId }: FakeAgent) =>
  (await targets(id)).find(({ workload_id }) => workload_id === workloadId)!
const runs = () => agents.map((agent) => agent.offered().at(-1))
const applyAll = (hash = SECOND) => {
  for (const agent of agents) if (agent.offered().at(-1) === hash) agent.apply()
}

/** Advance the clock by `ms`, let the campaigns do what is due, and the fleet what follows. */
async function work(ms = 0): Promise<void> {
  if (ms > 0) await ctx.advance(ms)
  await campaigns.work(new AbortController().signal)
  await ctx.advance(300)
}

/** Replace the campaigns' engine by a new one, as after a restart: it knows only what the database holds. */
const startAgain = () => {
  campaigns = new Campaigns(ctx.campaigns.parts)
}

const vms = {
  selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-*'] }] },
}

async function plan(id: string): Promise<CampaignRecord> {
  expect((await call('POST', `/${id}/plan`)).status).toBe(202)
  while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
  return record(id)
}

const asked = (more: object) => ({
  name: 'Two',
  change: { kind: 'text', yaml: configYaml(2) },
  scope: vms,
  waves: [{}],
  ...more,
})

async function approve(id: string): Promise<void> {
  const { plan_hash } = await plan(id)
  expect((await call('POST', `/${id}/request`, { plan_hash })).status).toBe(200)
  const body = { comment: 'yes', plan_hash }
  const { status } = await invoke(ctx, `POST /api/campaigns/${id}/approve`, { as: approver.token, body })
  expect(status).toBe(200)
}

async function approved(more: object = {}): Promise<string> {
  const { status, json } = await call('POST', '', asked(more))
  expect(status).toBe(201)
  const { id } = json as CampaignRecord
  await approve(id)
  return id
}

async function start(more: object = {}): Promise<string> {
  const id = await approved(more)
  expect((await call('POST', `/${id}/start`)).status).toBe(200)
  return id
}

const leave = (agent: FakeAgent) => {
  agent.goodbye()
  agent.lose()
}

describe('a plan', () => {
  it('that ends while its campaign is read is in what is told of it', async () => {
    const { id } = (await call('POST', '', asked({}))).json as CampaignRecord
    const read = (await findCampaign(database.pool, id))!
    await campaigns.planner.begin(read, '').done
    const [told] = await campaigns.records([read], () => ({
      userId: '',
      withTexts: true,
      sees: null,
      withHelp: false,
    }))
    expect(told).toMatchObject({ status: 'planned', plan_hash: expect.any(String) })
    expect(told).not.toHaveProperty('planning')
  })
})

describe('waves', () => {
  it('are found however late in the order their members come', async () => {
    for (let n = 5; n <= 56; n++) agents.push(fakeAgent(ctx.fleet, { host: `vm-${n}` }))
    await ctx.advance(300)
    const takeover = { change: { kind: 'text', yaml: configYaml(2), takeover: true } }
    const { json } = await call('POST', '', asked(takeover))
    const { id } = json as CampaignRecord
    const last = (await orderTargets(id, agents)).at(-1)!
    const host = `vm-${agents.indexOf(last) + 1}`
    const first = {
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: [host] }] },
    }
    await call('PUT', `/${id}`, asked({ ...takeover, waves: [first, {}] }))
    await approve(id)
    await call('POST', `/${id}/start`)
    await work()
    expect(last.offered().at(-1)).toBe(SECOND)
    expect(runs().filter((hash) => hash === SECOND)).toHaveLength(1)
  })

  it('begin with workloads that are there: who is away tries nothing out', async () => {
    const { json } = await call('POST', '', asked({ waves: [{ count: 1 }, {}] }))
    const { id } = json as CampaignRecord
    const ordered = await orderTargets(id, agents)
    for (const agent of ordered.slice(0, 3)) leave(agent)
    await ctx.advance(200_000)
    await approve(id)
    expect((await targetOf(id, ordered[3]!)).wave).toBe(0)
    expect((await record(id)).plan!.waves.map(({ instance_count }) => instance_count)).toEqual([1, 0])
  })
})

describe('a freeze', () => {
  /** Whether somebody waits for one of muster's advisory locks. */
  const isSomebodyWaiting = async () =>
    (
      await database.pool.query(
        `select from pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      )
    ).length > 0

  it('that is set while a target is being started waits for that push: nothing starts once it is answered', async () => {
    const admin = await signIn(ctx)
    const id = await start({ limits: { silent: 4 }, waves: [{ count: 1 }, {}] })
    let answered: ReturnType<typeof invoke> | undefined
    let isAnswered = false
    let cameFirst: boolean | undefined
    afterFreezeRead = {
      name: 'campaign.push',
      async act() {
        const until = new Date(ctx.clock.now().getTime() + 3_600_000).toISOString()
        answered = invoke(ctx, 'PUT /api/freeze', { as: admin.token, body: { reason: 'Fair', until } })
        void answered.then(() => {
          isAnswered = true
        })
        await eventually('the freeze waits', async () => isAnswered || (await isSomebodyWaiting()))
        cameFirst = isAnswered
      },
    }
    await campaigns.work(new AbortController().signal)
    expect((await answered!).status).toBe(200)
    expect(cameFirst).toBe(false)
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    expect(runs().filter((hash) => hash === SECOND)).toHaveLength(1)
    expect((await record(id)).counts).toMatchObject({ applied: 1, waiting: 3 })
    await invoke(ctx, 'DELETE /api/freeze', { as: admin.token })
  })
})

describe('a target', () => {
  it('is not taken for overtaken while the answer to its push is lost', async () => {
    const id = await start()
    db.loseAnswer('campaign.push')
    await campaigns.work(new AbortController().signal)
    expect(db.pending()).toEqual([])
    await campaigns.work(new AbortController().signal)
    expect((await record(id)).counts).toEqual({ started: 4 })
    await work(3_000)
    expect(runs()).toEqual(HOSTS.map(() => SECOND))
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'done', counts: { applied: 4 } })
  })

  it('that is put on hold while its turn is being taken is left alone', async () => {
    const id = await start({ limits: { silent: 4 } })
    const admin = await signIn(ctx)
    const held = agents[1]!
    atBegin = {
      name: 'campaign.push',
      async act() {
        const body = { reason: 'mine' }
        const answer = await invoke(ctx, `POST /api/workloads/${held.workloadId}/hold`, {
          as: admin.token,
          body,
        })
        expect(answer.status).toBe(200)
      },
    }
    await work()
    await work(3_000)
    expect(held.offered()).toEqual([FIRST])
    expect(await targetOf(id, held)).toMatchObject({ state: 'skipped', reason: 'held' })
    expect(runs().filter((hash) => hash === SECOND)).toHaveLength(3)
  })

  it('that was not well before is not what the campaign made unwell', async () => {
    agents[0]!.say({ health: SICK })
    await ctx.advance(120_000)
    expect(ctx.fleet.workload(agents[0]!.workloadId)!.status).toBe('degraded')
    const id = await start({ waves: [{ count: 4, dwell_seconds: 600 }, {}] })
    await work()
    applyAll()
    await work(120_000)
    await work(300)
    expect(ctx.fleet.workload(agents[0]!.workloadId)!.status).toBe('degraded')
    expect((await record(id)).status).not.toBe('halted')
  })

  it('that cannot be written keeps no other from its turn', async () => {
    const id = await start({ limits: { silent: 4 } })
    const poisoned = agents[2]!
    await database.pool.execute(`create function refuse_this() returns trigger language plpgsql as $$ begin
      if new.workload_id = '${poisoned.workloadId}' then raise exception 'not this one'; end if; return new; end $$`)
    await database.pool.execute(
      'create trigger poison before insert on pushes for each row execute function refuse_this()',
    )
    try {
      for (let n = 0; n < 3; n++) await work(300)
      expect(runs().filter((hash) => hash === SECOND)).toHaveLength(3)
      applyAll()
      await work(11 * 60_000)
      await work(11 * 60_000)
      expect(await targetOf(id, poisoned)).toMatchObject({ state: 'skipped' })
      expect((await record(id)).status).toBe('done')
    } finally {
      await database.pool.execute('drop trigger poison on pushes')
      await database.pool.execute('drop function refuse_this')
    }
  })

  it('of many instances of which none can report has an end', async () => {
    const mute = AGENT_CAPABILITIES.reportsStatus | AGENT_CAPABILITIES.acceptsRemoteConfig
    for (let n = 0; n < 21; n++) fakeAgent(ctx.fleet, { host: 'big', pod: `pod-${n}`, capabilities: mute })
    await ctx.advance(300)
    const scope = {
      selector: { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['big'] }] },
    }
    const id = await start({
      scope,
      limits: { silent: 1 },
      change: { kind: 'text', yaml: configYaml(2), takeover: true },
    })
    for (let n = 0; n < 4; n++) await work(11 * 60_000)
    expect((await record(id)).status).toBe('done')
  })

  it('that comes back is not started when whoever approved may not any more', async () => {
    leave(agents[1]!)
    await ctx.advance(200_000)
    const id = await start()
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'done', counts: { applied: 3, offline: 1 } })
    await database.pool.execute('delete from user_groups where user_id = $1', [approver.userId])
    agents[1] = fakeAgent(ctx.fleet, { host: 'vm-2', uid: agents[1]!.uid })
    for (let n = 0; n < 3; n++) await work(6_000)
    expect(agents[1].offered()).not.toContain(SECOND)
    const halt = { gate: 'approver_gone' }
    expect(await record(id)).toMatchObject({ status: 'halted', halt, counts: { applied: 3, offline: 1 } })
  })
})

describe('the first wave', () => {
  const silent = { status: 'halted', halt: { gate: 'silent', value: 1, limit: 0, wave: 0 } }

  it('halts the campaign where its workload went away at its turn: nothing was tried out', async () => {
    const id = await approved({ waves: [{ count: 1 }, {}] })
    const canary = (await orderTargets(id, agents))[0]!
    leave(canary)
    await ctx.advance(200_000)
    expect((await call('POST', `/${id}/start`)).status).toBe(200)
    for (let n = 0; n < 4; n++) await work(60_000)
    expect(await record(id)).toMatchObject(silent)
    expect((await record(id)).halt!.workload_ids).toEqual([canary.workloadId])
    expect(runs().filter((hash) => hash === SECOND)).toEqual([])
  })

  it.each([0, 30])(
    'halts it too where who went away is waited for %i s, less than the wave is watched',
    async (seconds) => {
      const id = await approved({ waves: [{ count: 1 }, {}], catch_up_seconds: seconds })
      const canary = (await orderTargets(id, agents))[0]!
      leave(canary)
      await ctx.advance(200_000)
      expect((await call('POST', `/${id}/start`)).status).toBe(200)
      for (let n = 0; n < 6; n++) await work(60_000)
      expect(await record(id)).toMatchObject(silent)
      expect((await record(id)).halt!.workload_ids).toEqual([canary.workloadId])
      expect(runs().filter((hash) => hash === SECOND)).toEqual([])
    },
  )

  it('goes on without it where an operator says so, and with it when it comes back', async () => {
    const id = await approved({ waves: [{ count: 1 }, {}] })
    const canary = (await orderTargets(id, agents))[0]!
    leave(canary)
    await ctx.advance(200_000)
    await call('POST', `/${id}/start`)
    for (let n = 0; n < 4; n++) await work(60_000)
    expect((await call('POST', `/${id}/continue`)).status).toBe(200)
    for (let n = 0; n < 4; n++) await work(60_000)
    expect(await record(id)).toMatchObject(silent)
    const raised = { comment: 'it is being repaired', limits: { silent: 1 } }
    expect((await call('POST', `/${id}/continue`, raised)).status).toBe(200)
    for (let n = 0; n < 4; n++) await work(60_000)
    expect(runs().filter((hash) => hash === SECOND)).toHaveLength(3)
  })

  it('halts the campaign where its workload never answered, or was left out', async () => {
    const id = await start({ waves: [{ count: 1 }, {}], limits: { failed: 4 } })
    for (let n = 0; n < 4; n++) await work(11 * 60_000)
    expect(await record(id)).toMatchObject({ status: 'halted', halt: { gate: 'silent' } })
    expect(runs().filter((hash) => hash === SECOND)).toHaveLength(1)
  })
})

describe('a target that applied', () => {
  it('and vanished since counts as one that got unwell', async () => {
    const id = await start({ waves: [{ count: 1, dwell_seconds: 3_600 }, {}] })
    await work()
    applyAll()
    await work(300)
    const canary = (await orderTargets(id, agents))[0]!
    canary.lose()
    for (let n = 0; n < 4; n++) await work(120_000)
    expect(await record(id)).toMatchObject({
      status: 'halted',
      halt: { gate: 'unhealthy', value: 1, workload_ids: [canary.workloadId] },
    })
  })
})

describe('a target that applied, as its end is written', () => {
  it('and gets something else by hand meanwhile is watched for what the campaign brought', async () => {
    const id = await start({ waves: [{ count: 1, dwell_seconds: 600 }, {}] })
    await work()
    const canary = agents.find((agent) => agent.offered().at(-1) === SECOND)!
    canary.apply()
    atBegin = {
      name: 'campaign.note-ends',
      async act() {
        await pushConfig(ctx.fleet, canary.workloadId, configYaml(5))
      },
    }
    await work(300)
    expect(atBegin).toBeNull()
    expect(await targetOf(id, canary)).toMatchObject({ state: 'applied' })
    canary.apply()
    await ctx.advance(300)
    canary.say({ health: SICK })
    await work(120_000)
    await work(5_000)
    expect(ctx.fleet.workload(canary.workloadId)!.status).toBe('degraded')
    expect((await record(id)).status).toBe('running')
  })
})

describe('a campaign that somebody paused and let go on with raised limits as its step was under way', () => {
  it('does not halt over the limits that were', async () => {
    const id = await start({ waves: [{ count: 2, dwell_seconds: 600 }, {}] })
    await work()
    const canaries = agents.filter((agent) => agent.offered().at(-1) === SECOND)
    canaries[0]!.fail('no')
    canaries[1]!.apply()
    atBegin = {
      name: 'campaign.move',
      async act() {
        expect((await call('POST', `/${id}/pause`, { comment: 'wait' })).status).toBe(200)
        ctx.clock.advance(5)
        const body = { comment: 'known', limits: { failed: 2 } }
        const { status, json } = await call('POST', `/${id}/continue`, body)
        expect(status, JSON.stringify(json)).toBe(200)
      },
    }
    await work(300)
    expect(atBegin).toBeNull()
    await work(3_000)
    expect(await record(id)).toMatchObject({ status: 'running', counts: { failed: 1 } })
  })
})

describe('drift', () => {
  const ELSE = 'ab'.repeat(32)

  it('of a target that applied the change halts the campaign, once it has lasted for half a minute', async () => {
    const id = await start({ waves: [{ count: 1, dwell_seconds: 3_600 }, {}] })
    await work()
    applyAll()
    await work(300)
    const canary = (await orderTargets(id, agents))[0]!
    // It comes back by itself: that is no drift yet.
    canary.apply(ELSE)
    await work(10_000)
    canary.apply(SECOND)
    await work(25_000)
    expect((await record(id)).status).toBe('running')
    canary.apply(ELSE)
    await work(10_000)
    expect((await record(id)).status).toBe('running')
    await work(31_000)
    expect(await record(id)).toMatchObject({
      status: 'halted',
      halt: { gate: 'drifted', value: 1, limit: 0, wave: 0 },
    })
    expect((await record(id)).halt!.workload_ids).toEqual([canary.workloadId])
  })

  it('of a target that drifted before its start does not count, also after a restart', async () => {
    const id = await approved({ waves: [{ count: 1, dwell_seconds: 3_600 }, {}] })
    const canary = (await orderTargets(id, agents))[0]!
    canary.apply(ELSE)
    await ctx.advance(300)
    expect((await call('POST', `/${id}/start`)).status).toBe(200)
    await work()
    canary.apply(SECOND)
    await work(300)
    expect((await record(id)).counts).toMatchObject({ applied: 1 })
    canary.apply(ELSE)
    for (let n = 0; n < 3; n++) await work(31_000)
    startAgain()
    for (let n = 0; n < 3; n++) await work(31_000)
    expect((await record(id)).status).toBe('running')
  })
})

describe('a campaign that nobody goes on with', () => {
  const DAYS_MS = 86_400_000
  const ends = (id: string) =>
    database.pool.query<{ detail: string }>(
      `select detail from audit_events where action = 'campaign.expire' and resource_id = $1`,
      [id],
    )

  it('ends with a record that says why: a request after 14 days, one that is paused after 30', async () => {
    const waiting = await approved()
    const paused = await start({ name: 'Three', change: { kind: 'text', yaml: configYaml(3) } })
    await call('POST', `/${paused}/pause`)
    ctx.clock.advance(31 * DAYS_MS)
    await campaigns.work(new AbortController().signal)
    const [expired] = await ends(waiting)
    expect(JSON.parse(expired!.detail)).toEqual({ status: 'expired', idle_days: 14 })
    const [aborted] = await ends(paused)
    expect(JSON.parse(aborted!.detail)).toEqual({ status: 'aborted', idle_days: 30 })
    expect(await database.pool.query('select status, closed_by from campaigns order by status')).toEqual([
      { status: 'aborted', closed_by: 'muster' },
      { status: 'expired', closed_by: 'muster' },
    ])
  })
})

describe('a workload with an aborted rollout', () => {
  it('is not busy: its push stays pending for ever', async () => {
    const { workloadId } = agents[0]!
    const stages = [1, 4].map((count) => ({ count, dwellMs: 0, gates: [] }))
    await pushConfig(ctx.fleet, workloadId, configYaml(7), () => {}, stages)
    const actor = { userId: 'u1', email: 'pusher@example.com', askAgain: null }
    const rolloutId = ctx.fleet.workload(workloadId)!.rollout!.stored.id
    expect((await ctx.fleet.rollouts.abort(workloadId, rolloutId, actor)).ok).toBe(true)
    const id = await start()
    await work()
    expect(await targetOf(id, agents[0]!)).toMatchObject({ state: 'started' })
  })
})

describe('a target that failed', () => {
  it('goes back to what it ran before, whatever is pinned', async () => {
    const { workloadId } = agents[0]!
    await pushConfig(ctx.fleet, workloadId, configYaml(5))
    agents[0]!.apply()
    await ctx.advance(300)
    await database.pool.execute(
      `insert into known_good_configs (workload_id, config_hash, marked_at, marked_by) values ($1, $2, $3, 'a')`,
      [workloadId, FIRST, ctx.clock.now()],
    )
    await start({ limits: { failed: 4 } })
    await work()
    agents[0]!.fail('it does not start')
    await ctx.advance(1_000)
    expect(agents[0]!.offered().at(-1)).toBe(configHash(configYaml(5)))
  })
})

describe('a start', () => {
  it('of which the answer is lost is looked at all the same', async () => {
    const id = await approved()
    await work()
    db.loseAnswer('campaign.decide')
    await expect(call('POST', `/${id}/start`)).rejects.toThrow(CommitInDoubt)
    for (let n = 0; n < 3; n++) await work(6_000)
    expect(runs()).toEqual(HOSTS.map(() => SECOND))
  })
})

describe('a roll-back', () => {
  it('takes the config back from who had not said yet that it runs it', async () => {
    const id = await start({ limits: { silent: 4 } })
    await work()
    for (const agent of agents.slice(1)) agent.apply()
    await work(11 * 60_000)
    await work(300)
    expect((await record(id)).counts).toEqual({ applied: 3, no_answer: 1 })
    expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await work()
    expect(runs()).toEqual(HOSTS.map(() => FIRST))
    for (const agent of agents) agent.apply()
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 4 } })
  })

  it('waits for who is being taken back as long as for who was started, whoever runs it', async () => {
    const id = await start()
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    await work(60 * 60_000)
    expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await work()
    expect((await record(id)).counts).toEqual({ rolling_back: 4 })
    startAgain()
    await work()
    expect((await record(id)).counts).toEqual({ rolling_back: 4 })
    for (const agent of agents) agent.apply()
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 4 } })
  })

  it('gives up nobody for a commit that was lost, also where nobody is waited for', async () => {
    const id = await start({ catch_up_seconds: 0 })
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await ctx.advance(300)
    db.loseCommit('rollback')
    await campaigns.work(new AbortController().signal)
    await campaigns.work(new AbortController().signal)
    await work(3_000)
    await work(3_000)
    expect(runs()).toEqual(HOSTS.map(() => FIRST))
    for (const agent of agents) agent.apply()
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 4 } })
  })

  it('does not take a target for moved on while the answer to its push is lost', async () => {
    const id = await start()
    await work()
    applyAll()
    for (let n = 0; n < 4; n++) await work(300)
    expect((await call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    db.loseAnswer('rollback')
    await campaigns.work(new AbortController().signal)
    await campaigns.work(new AbortController().signal)
    expect((await record(id)).counts?.['moved_on']).toBeUndefined()
    await work(3_000)
    await work(3_000)
    for (const agent of agents) if (agent.offered().at(-1) === FIRST) agent.apply()
    for (let n = 0; n < 4; n++) await work(300)
    expect(await record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 4 } })
  })
})
