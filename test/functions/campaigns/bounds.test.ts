import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ENDED_KEPT } from '../../../lib/campaigns/decisions.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// What campaigns carry may be megabytes: it is read and told where it is needed, and nowhere else.

const database = await useTestDatabase()
/** Stands in every text of these campaigns. */
const MARK = 'a-mark-in-the-text'
const TEXT = `# ${MARK}\n${configYaml(2)}`
let ctx: FleetTestContext
let ann: SignedIn
let bob: SignedIn
let agents: FakeAgent[]
/** Statements that answered rows with the mark in them, since a test emptied this. */
let readTexts: string[]

beforeEach(async () => {
  for (const table of ['campaigns', 'workloads']) await database.pool.execute(`delete from ${table}`)
  const faulty = faultyDatabase(database.pool)
  readTexts = []
  const query = async (...args: Parameters<typeof faulty.query>) => {
    const rows = await faulty.query(...args)
    if (JSON.stringify(rows).includes(MARK)) readTexts.push(args[0])
    return rows
  }
  const db = { ...faulty, query: query as typeof faulty.query }
  ctx = await createFleetContext(database, { edition: createCompleteEdition(), db })
  ann = await signIn(ctx, { groups: ['editor'] })
  bob = await signIn(ctx, { groups: ['editor'] })
  agents = ['vm-1', 'vm-2'].map((host) => fakeAgent(ctx.fleet, { host }))
  await ctx.advance(300)
  for (const { workloadId } of agents) await pushConfig(ctx.fleet, workloadId, configYaml(1))
  for (const agent of agents) agent.apply()
  await ctx.advance(300)
})
afterEach(() => ctx.close())

const call = (route: string, body?: unknown, by: SignedIn = ann) =>
  invoke(ctx, route, { as: by.token, ...(body === undefined ? {} : { body }) })
const asked = (more: object = {}) => ({
  name: 'Two',
  change: { kind: 'text', yaml: TEXT },
  scope: { workload_ids: agents.map(({ workloadId }) => workloadId) },
  waves: [{ count: 1, dwell_seconds: 0 }, { dwell_seconds: 3_600 }],
  ...more,
})
async function draft(more: object = {}, by: SignedIn = ann): Promise<string> {
  const { status, json } = await call('POST /api/campaigns', asked(more), by)
  expect(status, JSON.stringify(json)).toBe(201)
  return (json as CampaignRecord).id
}
const work = async (ms: number) => {
  await ctx.advance(ms)
  await ctx.campaigns.work(new AbortController().signal)
  await ctx.advance(300)
}

describe('a list of campaigns', () => {
  it('neither tells nor reads what they carry, or whom they name', async () => {
    const id = await draft()
    await draft({ change: { kind: 'patch', patch: { merge: { extensions: { [MARK]: {} } } } } })
    readTexts = []
    const { json } = await call('GET /api/campaigns?limit=10')
    const rows = json as CampaignRecord[]
    expect(rows.map(({ change }) => change.kind).sort()).toEqual(['patch', 'text'])
    for (const row of rows) {
      expect(row.change).not.toHaveProperty('yaml')
      expect(row.change).not.toHaveProperty('patch')
      expect(row).toMatchObject({ scope: {}, named_count: 2 })
    }
    expect(JSON.stringify(json)).not.toContain(MARK)
    expect(readTexts).toEqual([])
    const { json: whole } = await call(`GET /api/campaigns/${id}`)
    const ids = agents.map(({ workloadId }) => workloadId)
    expect(whole).toMatchObject({ change: { kind: 'text', yaml: TEXT }, scope: { workload_ids: ids } })
    expect(whole).not.toHaveProperty('named_count')
  })
})

describe('a campaign at work', () => {
  it('has its text read when targets are started, and at no other look', async () => {
    const id = await draft()
    expect((await call(`POST /api/campaigns/${id}/plan`)).status).toBe(202)
    while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
    const { plan_hash } = (await call(`GET /api/campaigns/${id}`)).json as CampaignRecord
    expect((await call(`POST /api/campaigns/${id}/request`, { plan_hash })).status).toBe(200)
    expect((await call(`POST /api/campaigns/${id}/approve`, { plan_hash, comment: 'yes' }, bob)).status).toBe(
      200,
    )
    expect((await call(`POST /api/campaigns/${id}/start`)).status).toBe(200)
    readTexts = []
    await work(300)
    const offers = () => agents.filter((agent) => agent.offered().length > 1)
    expect(offers()).toHaveLength(1)
    expect(readTexts.length).toBeGreaterThan(0)
    readTexts = []
    for (let looks = 0; looks < 5; looks++) await work(300)
    expect(readTexts).toEqual([])
    for (const agent of offers()) agent.apply()
    await work(300)
    await work(300)
    expect(offers()).toHaveLength(2)
  })
})

describe('a campaign that ended', () => {
  /** Make a campaign that is asked for and ends so. */
  async function endUnstarted(how: string, by = ann, more: object = {}): Promise<string> {
    const id = await draft(more)
    expect((await call(`POST /api/campaigns/${id}/plan`)).status).toBe(202)
    while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
    const { plan_hash } = (await call(`GET /api/campaigns/${id}`)).json as CampaignRecord
    expect((await call(`POST /api/campaigns/${id}/request`, { plan_hash })).status).toBe(200)
    expect((await call(`POST /api/campaigns/${id}/${how}`, { comment: 'no' }, by)).status).toBe(200)
    await ctx.advance(1_000)
    return id
  }
  const keepsText = async (id: string) => {
    const { json } = await call(`GET /api/campaigns/${id}`)
    const targets = (await call(`GET /api/campaigns/${id}/targets`)).json as unknown[]
    expect(json).toMatchObject({ plan_hash: expect.any(String), plan: { target_count: 2 } })
    expect(JSON.stringify(json).includes(MARK)).toBe(targets.length === 2)
    return targets.length === 2
  }

  it('unstarted is kept with text and targets while it is one of the last twenty of its maker, so that nobody fills the disk by asking', async () => {
    const oldest = await endUnstarted('withdraw')
    const second = await endUnstarted('withdraw')
    await database.pool.execute(
      `insert into campaigns select made.* from campaigns c, generate_series(1, $2::int) n,
         jsonb_populate_record(c, jsonb_build_object('id', c.id || n, 'ended_at', c.ended_at + n * interval '1 ms')) made
       where c.id = $1`,
      [second, ENDED_KEPT - 2],
    )
    await draft()
    expect(await keepsText(oldest)).toBe(true)
    const expired = await endUnstarted('withdraw')
    await database.pool.execute(
      `update campaigns set status = 'expired', closed_by_id = null where id = $1`,
      [expired],
    )
    await draft({}, bob)
    expect(await keepsText(oldest)).toBe(true)
    await draft()
    expect([await keepsText(oldest), await keepsText(second), await keepsText(expired)]).toEqual([
      false,
      true,
      true,
    ])
  })

  it('by what somebody else decided, or after it was started, keeps them among any number of others', async () => {
    const rejected = await endUnstarted('reject', bob)
    const approved = await endUnstarted('withdraw')
    const started = await endUnstarted('withdraw')
    const set = (id: string, words: string) =>
      database.pool.execute(`update campaigns set ${words} where id = $1`, [id])
    const byBob = [{ by: bob.email, byId: bob.userId, at: '2026-01-01T00:00:00Z', comment: '' }]
    await set(approved, `approvals = '${JSON.stringify(byBob)}'`)
    await set(started, `status = 'rolled_back', started_at = requested_at`)
    const last = await endUnstarted('withdraw')
    await database.pool.execute(
      `insert into campaigns select made.* from campaigns c, generate_series(1, $2::int) n,
         jsonb_populate_record(c, jsonb_build_object('id', c.id || n)) made where c.id = $1`,
      [last, ENDED_KEPT],
    )
    await draft()
    expect(await keepsText(last)).toBe(false)
    for (const id of [rejected, approved, started]) expect(await keepsText(id)).toBe(true)
  })

  it('unstarted, and not among the last twenty, is without whom it meant and its waves too, where they are large', async () => {
    const noise = (count: number, length: number) =>
      Array.from({ length: count }, () => randomBytes(length).toString('hex').slice(0, length))
    const ids = agents.map(({ workloadId }) => workloadId)
    const selector = { match_expressions: [{ key: 'muster/k', operator: 'In', values: noise(50, 250) }] }
    const large = await endUnstarted('withdraw', ann, {
      scope: { workload_ids: ids, exclude_ids: noise(1_000, 24) },
      waves: [{ selector }, {}],
      windows: [{ from: '00:00', to: '23:59' }],
    })
    const small = await endUnstarted('withdraw')
    await database.pool.execute(
      `insert into campaigns select made.* from campaigns c, generate_series(1, $2::int) n,
         jsonb_populate_record(c, jsonb_build_object('id', c.id || n)) made where c.id = $1`,
      [small, ENDED_KEPT],
    )
    await draft()
    expect([await keepsText(large), await keepsText(small)]).toEqual([false, false])
    const read = async (id: string) => (await call(`GET /api/campaigns/${id}`)).json
    // Nobody, and not all of a fleet config: who saw it not before sees it not now.
    expect(await read(large)).toMatchObject({ scope: { workload_ids: [] }, waves: [], windows: [] })
    expect(await read(small)).toMatchObject({ scope: { workload_ids: ids }, waves: [{ count: 1 }, {}] })
    const sizes = await database.pool.query<{ bytes: number }>(
      `select pg_column_size(c.*)::int as bytes from campaigns c where id = $1`,
      [large],
    )
    expect(sizes[0]!.bytes).toBeLessThan(8_192)
  })

  it('is without its text or patch ninety days later, and keeps its hashes, its plan and its targets', async () => {
    const named = `debug/${MARK}`
    const merge = {
      exporters: { [named]: {} },
      service: { pipelines: { traces: { exporters: ['debug', named] } } },
    }
    const changes = [undefined, { kind: 'patch', patch: { merge } }]
    const ids: string[] = []
    for (const change of changes) {
      const id = await draft(change === undefined ? {} : { change })
      expect((await call(`POST /api/campaigns/${id}/plan`)).status).toBe(202)
      while (ctx.campaigns.planner.progress(id) !== null)
        await new Promise((resolve) => setTimeout(resolve, 5))
      const { plan_hash } = (await call(`GET /api/campaigns/${id}`)).json as CampaignRecord
      expect((await call(`POST /api/campaigns/${id}/request`, { plan_hash })).status).toBe(200)
      expect((await call(`POST /api/campaigns/${id}/withdraw`)).status).toBe(200)
      ids.push(id)
    }
    const age = (days: number) =>
      database.pool.execute(`update campaigns set ended_at = ended_at - interval '1 day' * $1::int`, [days])
    const stored = () => database.pool.query(`select from campaigns where change::text like '%${MARK}%'`)
    await age(89)
    await work(2 * 3_600_000)
    expect(await stored()).toHaveLength(2)
    const before = await Promise.all(ids.map(async (id) => (await call(`GET /api/campaigns/${id}`)).json))
    await age(2)
    await work(2 * 3_600_000)
    expect(await stored()).toHaveLength(0)
    for (const [at, id] of ids.entries()) {
      const { change, plan_hash, plan } = before[at] as CampaignRecord
      const { json } = await call(`GET /api/campaigns/${id}`)
      expect(json).toMatchObject({ plan_hash, plan, change: { kind: change.kind } })
      expect(JSON.stringify(json)).not.toContain(MARK)
      const groups = (await call(`GET /api/campaigns/${id}/groups`)).json
      expect(groups).toMatchObject([{ count: 2, diff: '', diff_missing: true }])
      expect((await call(`GET /api/campaigns/${id}/targets`)).json).toHaveLength(2)
    }
  })
})

describe('drafts', () => {
  const copies = (id: string, count: number) =>
    database.pool.execute(
      `insert into campaigns select made.* from campaigns c, generate_series(1, $2::int) n,
         jsonb_populate_record(c, jsonb_build_object('id', c.id || n)) made
       where c.id = $1`,
      [id, count],
    )

  it('are so many of one person, who goes on with one or waits until they are removed', async () => {
    const id = await draft()
    await copies(id, 98)
    await draft()
    expect(await call('POST /api/campaigns', asked())).toMatchObject({
      status: 409,
      json: { code: 'campaign_drafts_too_many', max: 100 },
    })
    expect((await database.pool.query('select from campaigns')).length).toBe(100)
    // Who is there may be changed, and others have drafts of their own.
    expect((await call(`PUT /api/campaigns/${id}`, asked({ name: 'Three' }))).status).toBe(200)
    expect((await call('POST /api/campaigns', asked(), bob)).status).toBe(201)
    await database.pool.execute(
      `update campaigns set updated_at = updated_at - interval '31 days' where id <> $1`,
      [id],
    )
    await work(2 * 3_600_000)
    expect((await call('POST /api/campaigns', asked())).status).toBe(201)
  })

  it.each([
    ['texts', `change = change || jsonb_build_object('yaml', noise)`],
    [
      'waves',
      `rules = rules || jsonb_build_object('waves', jsonb_build_array(jsonb_build_object('selector', noise)))`,
    ],
  ])('take so much room of one person with their %s', async (_what, set) => {
    const id = await draft()
    await database.pool.execute(
      `update campaigns set ${set}
       from (select string_agg(md5(n::text), '') as noise from generate_series(1, 65536) n) made`,
    )
    await copies(id, 30)
    const refused = { status: 409, json: { code: 'campaign_drafts_too_large' } }
    expect(await call('POST /api/campaigns', asked())).toMatchObject(refused)
    const small = await database.pool.query<{ id: string }>('select id from campaigns order by id limit 1')
    expect((await call(`PUT /api/campaigns/${small[0]!.id}`, asked())).status).toBe(200)
  })

  it('count, and take their room, until they are started or end: asking for them frees nothing', async () => {
    const id = await draft()
    await copies(id, 99)
    const waiting = `update campaigns set status = case when id like '%1' then 'approved' else 'requested' end`
    await database.pool.execute(waiting)
    const many = { status: 409, json: { code: 'campaign_drafts_too_many', max: 100 } }
    expect(await call('POST /api/campaigns', asked())).toMatchObject(many)
    await database.pool.execute(`delete from campaigns where length(id) > length($1::text) + 1`, [id])
    await database.pool.execute(
      `update campaigns set change = change || jsonb_build_object('yaml', (
         select string_agg(md5(n::text), '') from generate_series(1, 131072) n))`,
    )
    const large = { status: 409, json: { code: 'campaign_drafts_too_large' } }
    expect(await call('POST /api/campaigns', asked())).toMatchObject(large)
    expect((await call(`POST /api/campaigns/${id}/withdraw`)).status).toBe(200)
    await database.pool.execute(`update campaigns set status = 'running' where id <> $1`, [id])
    expect((await call('POST /api/campaigns', asked())).status).toBe(201)
  })

  it('keep of windows each day once', async () => {
    const window = { days: [1, 3], from: '01:00', to: '02:00' }
    const id = await draft({ windows: [{ ...window, days: [1, 1, 3, 1] }] })
    const { json } = await call(`GET /api/campaigns/${id}`)
    expect((json as CampaignRecord).windows).toEqual([window])
  })

  it('take no more room where there are too many of them as well', async () => {
    const id = await draft()
    // What Git kept counts once it is released, so that there may be more than one person can make.
    await copies(id, 101)
    await database.pool.execute(
      `update campaigns set change = change || jsonb_build_object('yaml', (
         select string_agg(md5(n::text), '') from generate_series(1, 16384) n))`,
    )
    const larger = asked({ change: { kind: 'text', yaml: `${TEXT}${'# more\n'.repeat(100_000)}` } })
    expect(await call(`PUT /api/campaigns/${id}`, larger)).toMatchObject({
      status: 409,
      json: { code: 'campaign_drafts_too_large' },
    })
    expect((await call(`PUT /api/campaigns/${id}`, asked())).status).toBe(200)
  })

  it('are no more of one person who makes many at one time', async () => {
    const id = await draft()
    await copies(id, 97)
    const answers = await Promise.all(Array.from({ length: 6 }, () => call('POST /api/campaigns', asked())))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409])
  })

  it('are removed by whoever made them, or manages settings, and make room for others', async () => {
    const id = await draft()
    await copies(id, 99)
    expect((await call('POST /api/campaigns', asked())).status).toBe(409)
    const remove = (by: SignedIn, which = id) => call(`DELETE /api/campaigns/${which}`, undefined, by)
    expect(await remove(bob)).toMatchObject({ status: 403 })
    expect((await call(`GET /api/campaigns/${id}`)).status).toBe(200)
    expect((await remove(ann)).status).toBe(204)
    expect(await call(`GET /api/campaigns/${id}`)).toMatchObject({ json: { code: 'campaign_not_found' } })
    expect(await remove(ann)).toMatchObject({ status: 404, json: { code: 'campaign_not_found' } })
    expect((await call('POST /api/campaigns', asked())).status).toBe(201)
    const admin = await signIn(ctx)
    expect((await remove(admin, `${id}1`)).status).toBe(204)
    const records = await database.pool.query<{ email: string; detail: string }>(
      `select email, detail from audit_events where action = 'campaign.remove' order by seq desc limit 2`,
    )
    expect(records.map(({ email, detail }) => ({ email, ...JSON.parse(detail) }))).toEqual([
      { email: admin.email, name: 'Two', created_by: ann.email },
      { email: ann.email, name: 'Two', created_by: ann.email },
    ])
  })

  it('are of an account, and not of whoever else has its e-mail', async () => {
    const id = await draft()
    await copies(id, 99)
    const namesake = await signIn(ctx, { groups: ['editor'] })
    // Two people of an identity provider may have one e-mail.
    await database.pool.execute('update users set email = $1 where id = $2', [ann.email, namesake.userId])
    const remove = await call(`DELETE /api/campaigns/${id}`, undefined, namesake)
    expect(remove).toMatchObject({ status: 403 })
    expect(await call('POST /api/campaigns', asked(), namesake)).toMatchObject({
      status: 201,
      json: { created_by: ann.email, created_by_id: namesake.userId },
    })
    expect((await call(`DELETE /api/campaigns/${id}`)).status).toBe(204)
  })

  it('are removed no more once somebody was asked to approve them, and while they are planned without harm', async () => {
    const id = await draft()
    expect((await call(`POST /api/campaigns/${id}/plan`)).status).toBe(202)
    expect((await call(`DELETE /api/campaigns/${id}`)).status).toBe(204)
    while (ctx.campaigns.planner.progress(id) !== null) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await database.pool.query('select from campaigns')).toHaveLength(0)
    expect(await database.pool.query('select from campaign_targets')).toHaveLength(0)
    const other = await draft()
    expect((await call(`POST /api/campaigns/${other}/plan`)).status).toBe(202)
    while (ctx.campaigns.planner.progress(other) !== null)
      await new Promise((resolve) => setTimeout(resolve, 5))
    const { plan_hash } = (await call(`GET /api/campaigns/${other}`)).json as CampaignRecord
    expect((await call(`POST /api/campaigns/${other}/request`, { plan_hash })).status).toBe(200)
    expect(await call(`DELETE /api/campaigns/${other}`)).toMatchObject({
      status: 409,
      json: { code: 'campaign_not_ready', status: 'requested' },
    })
  })
})
