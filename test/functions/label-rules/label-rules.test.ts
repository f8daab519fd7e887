import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import sweepJanitor from '../../../functions/janitor/sweep.ts'
import { listWorkloadsByTrustedLabel } from '../../../lib/store/report-scope.ts'
import { listKeptClasses } from '../../../lib/store/reviews.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { LabelRulePreview, LabelRuleRecord } from '../../../lib/wire/label-rules.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { productionYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let db: FaultyDatabase
let ctx: FleetTestContext
let as: string

const open = () => createFleetContext(database, { db, edition: createCompleteEdition() })
beforeEach(async () => {
  db = faultyDatabase(database.pool)
  ctx = await open()
  as = (await signIn(ctx)).token
})
afterEach(async () => {
  await ctx.close()
  for (const table of ['workloads', 'fleet_configs', 'label_rules', 'reviews', 'settings'])
    await database.pool.execute(`delete from ${table}`)
})

const call = (route: string, body?: unknown) =>
  invoke(ctx, route, { as, ...(body === undefined ? {} : { body }) })
/** Connect a collector on a host of its own; returns its workload's id at once. */
const host = (name: string, attributes: Record<string, string> = {}): string =>
  fakeAgent(ctx.fleet, { service: 'otelcol', host: name, attributes }).workloadId
const reviews = async (kind: ReviewRecord['kind']) =>
  ((await call('GET /api/reviews')).json as ReviewRecord[]).filter((review) => review.kind === kind)
const labelsOf = (id: string) => ctx.fleet.workload(id)!.trustedLabels

const on = (glob: string) => ({ match_labels: { 'identity/host.name': glob } })
const rule = (name: string, glob: string, labels: Record<string, string>, more: object = {}) => ({
  name,
  selector: on(glob),
  labels,
  ...more,
})

async function make(body: object): Promise<LabelRuleRecord> {
  const answer = await call('POST /api/label-rules', body)
  expect(answer.status, JSON.stringify(answer.json)).toBe(201)
  return answer.json as LabelRuleRecord
}

async function preview(body: object): Promise<LabelRulePreview> {
  const answer = await call('POST /api/label-rules/preview', body)
  expect(answer.status, JSON.stringify(answer.json)).toBe(200)
  return answer.json as LabelRulePreview
}

describe('a label rule', () => {
  it('gives its labels to those that are there, and to newcomers before anybody looks at them', async () => {
    const there = host('web-1')
    const other = host('db-1')
    await call('POST /api/fleet-configs', {
      name: 'Web',
      selector: { match_labels: { 'muster/tier': 'web' } },
    })
    const config = ctx.fleetConfigs.configs[0]!.id
    const looked = await preview(rule('Web', 'web-*', { tier: 'web' }))
    expect(looked).toMatchObject({ workload_count: 1, changed_count: 1, moved_count: 1, lowered_count: 0 })
    expect(looked.changes).toMatchObject([{ workload_id: there, set: { tier: 'web' }, removed: [] }])
    // The preview has changed nothing.
    expect(labelsOf(there)).toEqual({})
    const made = await make(rule('Web', 'web-*', { tier: 'web' }))
    expect(made).toMatchObject({ name: 'Web', workload_count: 1, overruled_count: 0, by_hand_count: 0 })
    expect([there, other].map(labelsOf)).toEqual([{ tier: 'web' }, {}])
    // A new host has its labels in the same turn of the event loop in which it described itself, before its row is
    // written.
    const newcomer = ctx.fleet.workload(host('web-2'))!
    expect(newcomer.trustedLabels).toEqual({ tier: 'web' })
    expect(ctx.fleetConfigs.membershipOf(newcomer).configId).toBe(config)
    await ctx.advance(1_000)
    expect(await call(`GET /api/workloads/${newcomer.id}`)).toMatchObject({
      json: { labels: { 'muster/tier': 'web' } },
    })
    expect(ctx.frames).toContainEqual({ type: 'label_rules_update', rule_count: 1 })
    // The tables hold the same labels.
    const found = await listWorkloadsByTrustedLabel(database.pool, 'tier', 'web')
    expect(found.map(({ id }) => id).sort()).toEqual([there, newcomer.id].sort())
  })

  it('gives way to what an operator set by hand, and takes its labels along when it goes', async () => {
    const [a, b] = [host('web-1'), host('web-2')]
    await ctx.advance(1_000)
    await call(`PUT /api/workloads/${a}/trusted-labels`, { labels: { tier: 'mine', owner: 'ada' } })
    expect(await preview(rule('Web', 'web-*', { tier: 'web', site: 'x' }))).toMatchObject({
      workload_count: 2,
      changed_count: 2,
      by_hand_count: 1,
    })
    const { id } = await make(rule('Web', 'web-*', { tier: 'web', site: 'x' }))
    expect(labelsOf(a)).toEqual({ tier: 'mine', owner: 'ada', site: 'x' })
    expect(await call(`GET /api/workloads/${a}/trusted-labels`)).toMatchObject({
      json: {
        labels: { tier: 'mine', owner: 'ada' },
        rule_labels: {
          tier: { value: 'web', rule_id: id, rule_name: 'Web', is_overruled: true },
          site: { value: 'x', rule_name: 'Web', is_overruled: false },
        },
      },
    })
    expect(await call(`GET /api/label-rules/${id}`)).toMatchObject({ json: { by_hand_count: 1 } })
    // Once the operator's label is gone, the rule's label counts again.
    await call(`PUT /api/workloads/${a}/trusted-labels`, { labels: { owner: 'ada' } })
    expect(labelsOf(a)).toEqual({ tier: 'web', owner: 'ada', site: 'x' })
    const less = await call(`PUT /api/label-rules/${id}`, rule('Web', 'web-2', { tier: 'web' }))
    expect(less).toMatchObject({ status: 200, json: { workload_count: 1 } })
    expect([a, b].map(labelsOf)).toEqual([{ owner: 'ada' }, { tier: 'web' }])
    expect(await call(`DELETE /api/label-rules/${id}`)).toMatchObject({ status: 204 })
    expect([a, b].map(labelsOf)).toEqual([{ owner: 'ada' }, {}])
    expect(await call(`DELETE /api/label-rules/${id}`)).toMatchObject({ status: 404 })
    const actions = await database.pool.query<{ action: string }>(
      `select action from audit_events where resource_id = '${id}' order by seq`,
    )
    expect(actions.map(({ action }) => action)).toEqual([
      ...['label_rule.create', 'label_rule.update', 'label_rule.delete'],
    ])
  })

  it('counts by its priority and then by its age, and a conflict is said', async () => {
    const id = host('web-1')
    const first = await make(rule('First', 'web-*', { tier: 'a', site: 'x' }))
    ctx.clock.advance(1)
    const second = await make(rule('Second', '*', { tier: 'b' }))
    expect(labelsOf(id)).toEqual({ tier: 'a', site: 'x' })
    expect(await preview({ ...rule('Second', '*', { tier: 'b' }), id: second.id })).toMatchObject({
      conflicts: [{ rule_name: 'First', key: 'tier', workload_count: 1, wins: false }],
    })
    const raised = rule('Second', '*', { tier: 'b' }, { priority: 1 })
    expect(await preview({ ...raised, id: second.id })).toMatchObject({
      changed_count: 1,
      conflicts: [{ rule_id: first.id, key: 'tier', workload_count: 1, wins: true }],
    })
    await call(`PUT /api/label-rules/${second.id}`, raised)
    expect(labelsOf(id)).toEqual({ tier: 'b', site: 'x' })
    const list = (await call('GET /api/label-rules')).json as LabelRuleRecord[]
    expect(list.map(({ name, overruled_count }) => [name, overruled_count])).toEqual([
      ['Second', 0],
      ['First', 1],
    ])
    const paged = await call('GET /api/label-rules?limit=1')
    const next = /cursor=([^&>]+)/.exec(String(paged.headers['Link'] ?? paged.headers['link']))![1]
    const rest = (await call(`GET /api/label-rules?limit=1&cursor=${next}`)).json as LabelRuleRecord[]
    expect(rest.map(({ name }) => name)).toEqual(['First'])
    expect(await call('POST /api/label-rules', rule('First', '*', { x: 'y' }))).toMatchObject({
      status: 409,
      json: { code: 'label_rule_taken' },
    })
  })

  it('may be a list of hosts, known or to come', async () => {
    const id = host('web-1')
    const list = 'host.name,site,muster/tier\nweb-1,paris,edge\n"web-2","Saint-Denis, 93",\n\n'
    expect(await preview({ name: 'Hosts', list })).toMatchObject({ workload_count: 1, absent_count: 1 })
    const made = await make({ name: 'Hosts', list })
    expect(made).toMatchObject({ list_key: 'host.name', list_labels: ['site', 'tier'], list_count: 2, list })
    expect([id, host('web-2'), host('web-3')].map(labelsOf)).toEqual([
      { site: 'paris', tier: 'edge' },
      { site: 'Saint-Denis, 93' },
      {},
    ])
    const [shown] = (await call('GET /api/label-rules')).json as LabelRuleRecord[]
    expect(shown).not.toHaveProperty('list')
  })
})

describe('a rule by which a change would need less of an approval', () => {
  it('is made only where somebody says that it is meant, and in person', async () => {
    const id = host('web-1', { env: 'qa' })
    await ctx.advance(1_000)
    await call(`PUT /api/workloads/${host('web-9')}/trusted-labels`, { labels: { env: 'prod' } })
    const body = rule('Test', 'web-*', { env: 'test' })
    const looked = await preview(body)
    // web-1 had no environment, which counts like production, so `test` lowers its rule. The label that an operator set
    // on web-9 stands.
    expect(looked).toMatchObject({ workload_count: 2, changed_count: 1, lowered_count: 1, by_hand_count: 1 })
    expect(looked.changes).toMatchObject([
      { workload_id: id, class_before: 'unlabelled', class_after: 'other', is_lowered: true },
    ])
    expect(await call('POST /api/label-rules', body)).toMatchObject({
      status: 409,
      json: { code: 'label_rule_lowers', count: 1 },
    })
    expect(labelsOf(id)).toEqual({})
    const { id: made } = await make({ ...body, confirm_lowering: true })
    expect(labelsOf(id)).toEqual({ env: 'test' })
    // Approvals follow the former environment until a second person has accepted the change, or for a day.
    expect(await reviews('labels')).toMatchObject([{ workload_id: id, reason: 'unlabelled → other' }])
    // Making it production is stricter and needs no confirmation; taking that back does.
    const strict = rule('Test', 'web-*', { env: 'prod' })
    expect(await call(`PUT /api/label-rules/${made}`, strict)).toMatchObject({ status: 200 })
    expect(await call(`DELETE /api/label-rules/${made}`)).toMatchObject({
      status: 409,
      json: { code: 'label_rule_lowers' },
    })
    expect(await call(`DELETE /api/label-rules/${made}?confirm_lowering=true`)).toMatchObject({ status: 204 })
    expect(labelsOf(id)).toEqual({})
  })

  it('waits for a second person also where another rule that said the same goes while it is looked at', async () => {
    const one = await make(rule('One', 'web-*', { env: 'prod' }))
    const two = await make(rule('Two', '*-1', { env: 'prod' }))
    const id = host('web-1', { env: 'qa' })
    await ctx.advance(1_000)
    const remove = (of: LabelRuleRecord) => call(`DELETE /api/label-rules/${of.id}?confirm_lowering=true`)
    const transaction = db.transaction
    db.transaction = async (name, work) => {
      db.transaction = transaction
      expect(await remove(two)).toMatchObject({ status: 204 })
      return transaction(name, work)
    }
    expect(await remove(one)).toMatchObject({ status: 204 })
    expect(labelsOf(id)).toEqual({})
    expect(await reviews('labels')).toMatchObject([{ workload_id: id, reason: 'production → unlabelled' }])
  })

  it('is one also where only newcomers would be lowered', async () => {
    const body = rule('Test', 'qa-*', { env: 'qa' })
    expect(await preview(body)).toMatchObject({ changed_count: 0, lowered_count: 0, lowers_newcomers: true })
    expect(await call('POST /api/label-rules', body)).toMatchObject({ status: 409 })
    const { id } = await make({ ...body, confirm_lowering: true })
    // Renaming the rule lowers nothing and needs no confirmation.
    expect(await call(`PUT /api/label-rules/${id}`, { ...body, name: 'QA' })).toMatchObject({ status: 200 })
  })

  it('is one also where a rule goes, and less is asked of newcomers without an environment', async () => {
    const anybody = { approvals: 1, author_counts: true, valid_hours: null }
    const others = { approvals: 2, author_counts: false, valid_hours: null }
    const policy = { production: others, other: others, unlabelled: anybody }
    const another = (await signIn(ctx, { email: 'another@example.com' })).token
    for (const by of [as, another]) await invoke(ctx, 'PUT /api/approval-policy', { as: by, body: policy })
    const body = rule('QA', 'qa-*', { env: 'qa' })
    const { id } = await make(body)
    const to = (more: object) => call(`PUT /api/label-rules/${id}`, { ...body, ...more })
    // Whom the rule means has an environment all the same.
    expect(await to({ labels: { env: 'dev', tier: 'x' } })).toMatchObject({ status: 200 })
    const lowers = { status: 409, json: { code: 'label_rule_lowers', count: 0 } }
    for (const less of [{ selector: on('qa-1') }, { labels: { tier: 'qa' } }])
      expect(await to(less)).toMatchObject(lowers)
    expect(await call(`DELETE /api/label-rules/${id}`)).toMatchObject(lowers)
    expect(await reviews('label_rule')).toEqual([])
    expect(await call(`DELETE /api/label-rules/${id}?confirm_lowering=true`)).toMatchObject({ status: 204 })
    expect(await reviews('label_rule')).toMatchObject([{ reason: 'QA', kept_classes: ['other'] }])
    const newcomer = host('qa-1')
    const request = await ofNewcomer(newcomer)
    expect(
      await call(`POST /api/workloads/${newcomer}/config/approvals/${request}/approve`, { comment: 'ok' }),
    ).toMatchObject({ status: 409, json: { code: 'approval_needs_another' } })
  })

  it('is one also where it hides what makes newcomers production under any key', async () => {
    await make(rule('Zone', 'web-*', { zone: 'prod-eu' }))
    expect(
      await call('POST /api/label-rules', rule('EU', 'web-1', { zone: 'eu' }, { priority: 5 })),
    ).toMatchObject({
      status: 409,
      json: { code: 'label_rule_lowers' },
    })
  })

  it('waits for a second person also for one that is archived and comes back', async () => {
    await make(rule('Web', 'web-*', { env: 'prod' }))
    const agent = fakeAgent(ctx.fleet, { service: 'otelcol', host: 'web-1' })
    const { workloadId } = agent
    await ctx.advance(1_000)
    agent.goodbye()
    await ctx.advance(300_000)
    expect(await call(`POST /api/workloads/${workloadId}/archive`)).toMatchObject({ status: 204 })
    const staging = rule('QA', 'web-1', { env: 'qa' }, { priority: 5 })
    expect(await preview(staging)).toMatchObject({ workload_count: 0, lowered_count: 1 })
    await make({ ...staging, confirm_lowering: true })
    expect(await reviews('labels')).toMatchObject([{ workload_id: workloadId, reason: 'production → other' }])
  })

  const ofNewcomer = async (id: string) => {
    await ctx.advance(1_000)
    const draft = { draft_yaml: productionYaml(1) }
    const made = await call(`POST /api/workloads/${id}/config/approvals`, draft)
    return (made.json as ApprovalRecord).id
  }

  it('waits for a second person for those who come later as well', async () => {
    await make(rule('QA', 'qa-*', { env: 'qa' }, { confirm_lowering: true }))
    const [review] = await reviews('label_rule')
    expect(review).toMatchObject({ workload_id: '', reason: 'QA', kept_classes: ['unlabelled'] })
    ctx.clock.advance(1_000)
    const id = host('qa-1')
    const request = await ofNewcomer(id)
    const approve = () =>
      call(`POST /api/workloads/${id}/config/approvals/${request}/approve`, { comment: 'ok' })
    await signIn(ctx, { email: 'second@example.com' })
    expect(await approve()).toMatchObject({ status: 409, json: { code: 'approval_needs_another' } })
    const look = { comment: 'right', accepted: true }
    expect(await call(`POST /api/reviews/${review!.id}`, look)).toMatchObject({ status: 409 })
    const third = (await signIn(ctx, { email: 'third@example.com' })).token
    expect(await invoke(ctx, `POST /api/reviews/${review!.id}`, { as: third, body: look })).toMatchObject({
      status: 200,
    })
    expect(await approve()).toMatchObject({ status: 200 })
  })

  it('waits for those who come later, and for nobody else, also where the clock was put back', async () => {
    const there = host('db-1')
    await ctx.advance(1_000)
    await make(rule('QA', 'qa-*', { env: 'qa' }, { confirm_lowering: true }))
    ctx.clock.set(new Date(ctx.clock.now().getTime() - 3_600_000))
    const late = host('qa-1')
    await ctx.advance(1_000)
    expect(await listKeptClasses(database.pool, [there, late])).toEqual(new Map([[late, ['unlabelled']]]))
  })

  it('waits a day for those who come later where nobody looks, and no longer', async () => {
    await make(rule('Prod', 'qa-*', { env: 'prod' }))
    await make(rule('QA', 'qa-1', { env: 'qa' }, { priority: 5, confirm_lowering: true }))
    expect(await reviews('label_rule')).toMatchObject([{ kept_classes: ['production', 'unlabelled'] }])
    ctx.clock.advance(1_000)
    const id = host('qa-1')
    await ctx.advance(1_000)
    // A day is counted by the database's clock, whatever becomes of that of the process.
    ctx.clock.advance(25 * 3_600_000)
    expect((await listKeptClasses(database.pool, [id])).get(id)).toEqual(['production', 'unlabelled'])
    as = (await signIn(ctx, { email: 'next-hour@example.com' })).token
    expect(await reviews('label_rule')).toHaveLength(1)
    await database.pool.execute(`update reviews set kept_since = kept_since - interval '24 hours'`)
    expect((await listKeptClasses(database.pool, [id])).size).toBe(0)
    as = (await signIn(ctx, { email: 'next-day@example.com' })).token
    expect(await reviews('label_rule')).toEqual([])
  })
})

describe('rules', () => {
  it('outlive the process, and what is stored follows them', async () => {
    const id = host('web-1')
    await make(rule('Web', 'web-*', { tier: 'web' }))
    await ctx.close()
    // The rows are out of date, as when the process was killed after it had stored the rule and before the rows.
    await database.pool.execute(`update workloads set rule_labels = '{"old": "x"}'`)
    ctx = await open()
    expect(labelsOf(id)).toEqual({ tier: 'web' })
    expect(labelsOf(host('web-7'))).toEqual({ tier: 'web' })
    await ctx.advance(1_000)
    expect(await database.pool.query(`select rule_labels from workloads where id = $1`, [id])).toEqual([
      { rule_labels: { tier: 'web' } },
    ])
  })

  it('are in force also where the answer to their commit was lost', async () => {
    const id = host('web-1')
    db.loseAnswer('label-rule.create')
    const lost = call('POST /api/label-rules', rule('Web', 'web-*', { tier: 'web' }))
    await expect(lost).rejects.toThrow('connection lost at commit')
    await ctx.advance(5_000)
    expect(labelsOf(id)).toEqual({ tier: 'web' })
  })

  it.each([
    [{ name: '' }, 'name_required'],
    [{ name: 'a' }, 'label_rule_invalid'],
    [{ name: 'a', selector: {}, labels: { a: 'b' } }, 'selector_empty'],
    [{ name: 'a', selector: on('*') }, 'label_rule_invalid'],
    [{ name: 'a', selector: on('*'), labels: { 'muster/a': 'b' } }, 'labels_have_reserved_prefix'],
    [
      { name: 'a', selector: { match_labels: { 'muster/a': 'b' } }, labels: { a: 'b' } },
      'label_rule_invalid',
    ],
    [{ name: 'a', selector: { match_labels: { env: 'b' } }, labels: { a: 'b' } }, 'selector_key_reported'],
    [{ name: 'a', selector: on('*'), labels: { a: 'b' }, list: 'host.name,a\nx,y' }, 'label_rule_invalid'],
    [{ name: 'a', list: 'host,a\nx,y' }, 'label_rule_invalid'],
    [{ name: 'a', selector: on('*'), labels: { a: 'b' }, priority: 1e9 }, 'label_rule_invalid'],
  ])('%j is refused: %s', async (body, code) => {
    for (const path of ['', '/preview'])
      expect(await call(`POST /api/label-rules${path}`, body)).toMatchObject({ status: 400, json: { code } })
  })

  it('say what is wrong with a list by a code with its fields, and in English', async () => {
    const body = { name: 'a', list: 'host.name,a\nx,1\nx,2' }
    expect(await call('POST /api/label-rules', body)).toMatchObject({
      status: 400,
      json: {
        error: 'the label rule cannot be taken: line 3: x stands there twice',
        code: 'label_rule_invalid',
        reason: 'line 3: x stands there twice',
        why: 'name_twice',
        within: 'line',
        line: 3,
        name: 'x',
      },
    })
  })

  it('may lower the bar of newcomers so often in a day, and what waited for a look goes after 90 days', async () => {
    const lowering = (name: string) => rule(name, 'qa-*', { env: 'qa' }, { confirm_lowering: true })
    await make(lowering('First'))
    const many = (times: number) =>
      database.pool.execute(
        `insert into reviews (id, kind, kept_classes, reason, done_by, author_ids, done_at)
         select 'rev_' || n, 'label_rule', '{unlabelled}', 'x', 'a', '{}', now() from generate_series(1, $1) n`,
        [times],
      )
    await many(199)
    expect(await call('POST /api/label-rules', lowering('Second'))).toMatchObject({
      status: 409,
      json: { code: 'label_rules_full', why: 'lowered_too_often', max: 200 },
    })
    // What lowers nothing goes on.
    await make(rule('Third', 'web-*', { tier: 'web' }))
    const aged = (days: number) =>
      database.pool.execute('update reviews set kept_since = now() - make_interval(days => $1)', [days])
    await aged(1)
    await make(lowering('Second'))
    const left = async () => (await database.pool.query('select from reviews')).length
    const sweep = () => sweepJanitor.run(ctx, new AbortController().signal)
    await aged(89)
    await sweep()
    expect(await left()).toBe(201)
    await aged(91)
    await sweep()
    expect(await left()).toBe(0)
  })

  it('are so many, and set so many labels, and no more', async () => {
    await database.pool.execute(
      `insert into label_rules (id, name, priority, selector, labels, created_by, created_at, updated_by, updated_at)
       select gen_random_uuid(), 'r' || n, 0, '{"match_labels": {"identity/name": "x"}}', '{"a": "b"}',
         'a', now(), 'a', now() from generate_series(1, 99) n`,
    )
    await ctx.labelRules.reload()
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, 'v']))
    await make(rule('The last', 'x', many))
    expect(await call('POST /api/label-rules', rule('more', 'x', { a: 'b' }))).toMatchObject({
      status: 409,
      json: { code: 'label_rules_full' },
    })
    await database.pool.execute(`delete from label_rules where name like 'r%'`)
    await ctx.labelRules.reload()
    const others = (mark: string) => Object.fromEntries(Object.keys(many).map((key) => [key + mark, 'v']))
    await make(rule('Second', 'x', others('b')))
    expect(await call('POST /api/label-rules', rule('Third', 'x', others('c')))).toMatchObject({
      status: 409,
      json: { code: 'label_rules_full' },
    })
  })
})
