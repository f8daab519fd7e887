import { afterEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { startTestService, type TestService } from '../support/service.ts'

// A row may have been written by hand, or by a newer version that ran on the database in between.

const cleanups: (() => unknown)[] = []
let database: TestDatabase
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const COMPONENTS = { hash: 'a1', components: { receivers: ['otlp'] } }
const STATUS = { status: 'applied', configHash: 'c1', updatedAt: '2026-11-01T00:00:00.000Z', error: null }

/** Start on a database with a workload that can be read, and one for each of these, which it has in a column. */
async function startWith(column: string, values: readonly unknown[]): Promise<TestService> {
  database = await createTestDatabase()
  cleanups.push(() => database.drop())
  await database.pool.execute(
    `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status,
       last_seen_at, labels, rule_labels, trusted_labels, accepts_remote_config, remote_config_status,
       available_components, generation, push_seq, disconnected_at, created_at)
     select 'w' || n, 'host', jsonb_build_object('host.name', 'host-' || n), 'host-' || n, 'collector', '0.130.0',
       'disconnected', now(), '{"host.name": "host"}', '{}', '{"team": "edge"}', true, $1::jsonb, $2::jsonb, 0, 0,
       now(), now()
     from generate_series(0, $3::int) n`,
    [JSON.stringify(STATUS), JSON.stringify(COMPONENTS), values.length],
  )
  for (const [n, value] of values.entries())
    await database.pool.execute(`update workloads set ${column} = $2::jsonb where id = $1`, [
      `w${n + 1}`,
      JSON.stringify(value),
    ])
  const service = await startTestService(database)
  cleanups.push(() => service.stop())
  return service
}

const named = ({ log }: TestService) =>
  log.lines.filter(({ level, fields }) => level === 'error' && 'table' in fields).map(({ fields }) => fields)

const FOREIGN = ['x', { newer: { a: [1] } }, [5, null], 7]

describe('a service on a database in which a workload has a column of another shape', () => {
  for (const column of [
    'available_components',
    'remote_config_status',
    'labels',
    'trusted_labels',
    'rule_labels',
    'fingerprint_keys',
  ])
    it(`starts and shows all, and names the rows, where it is ${column}`, async () => {
      const service = await startWith(column, FOREIGN)
      const as = await service.token()
      const { status, json } = await service.call('GET', '/api/workloads', { as })
      expect(status).toBe(200)
      const ids = ['w0', 'w1', 'w2', 'w3', 'w4']
      expect((json as { id: string }[]).map(({ id }) => id).sort()).toEqual(ids)
      for (const id of ids)
        expect((await service.call('GET', `/api/workloads/${id}`, { as })).status).toBe(200)
      expect(named(service)).toEqual(ids.slice(1).map((id) => ({ table: 'workloads', id, fields: [column] })))
    })

  it('lets a workload count as production, and lie in each freeze, until somebody sets anew what cannot be read', async () => {
    const service = await startWith('trusted_labels', [{ team: 'core', env: ['staging'] }])
    const as = await service.token()
    const labels = async (id: string) =>
      ((await service.call('GET', `/api/workloads/${id}`, { as })).json as { labels: object }).labels
    expect(await labels('w1')).toMatchObject({ 'muster/team': 'core', 'muster/unreadable': 'production' })
    expect(await labels('w0')).not.toHaveProperty(['muster/unreadable'])
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const selector = { match_labels: { 'muster/env': 'production' } }
    const freeze = { reason: 'sale', until, selector }
    const put = await service.call('PUT', '/api/freeze', { as, body: freeze })
    expect(put.status, put.text).toBeLessThan(300)
    const frozen = async (id: string) =>
      (await service.call('GET', `/api/workloads/${id}/fleet-config`, { as })).json as object
    expect(await frozen('w1')).toHaveProperty('freeze')
    expect(await frozen('w0')).not.toHaveProperty('freeze')
    // What it was nobody knows: approvals follow the stricter rule for a day, as where a label of production goes.
    const set = await service.call('PUT', '/api/workloads/w1/trusted-labels', {
      as,
      body: { labels: { env: 'staging' } },
    })
    expect(set.json).toMatchObject({ labels: { env: 'staging' }, stricter_until: expect.any(String) })
    expect(await labels('w1')).not.toHaveProperty(['muster/unreadable'])
    expect(await frozen('w1')).not.toHaveProperty('freeze')
  })

  it('loses by a deletion no more than what was set by hand may go by, nor the stricter rule of production', async () => {
    const service = await startWith('trusted_labels', [[5, null], { env: ['staging'] }])
    const owner = await service.token()
    await database.pool.execute('update users set last_login_at = now()')
    // Without labels by hand they would be staging.
    const staging = {
      name: 'staging',
      selector: { match_labels: { 'identity/host.name': 'host-*' } },
      labels: { env: 'staging' },
      confirm_lowering: true,
    }
    const given = await service.call('POST', '/api/label-rules', { as: owner, body: staging })
    expect(given.status, given.text).toBe(201)
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const wanted = { name: 'machine', permissions: ['workload:delete'], expires_at }
    const made = await service.call('POST', '/api/tokens', { as: owner, body: wanted })
    const machine = (made.json as { token: string }).token
    const remove = (id: string, as: string) => service.call('DELETE', `/api/workloads/${id}`, { as })
    for (const id of ['w1', 'w2']) {
      expect((await remove(id, machine)).json).toMatchObject({ code: 'deletion_lifts_labels' })
      expect((await remove(id, owner)).json).toMatchObject({ code: 'deletion_lowers' })
    }
  })

  it('takes a label beside others only where these can be read, and all labels anew in any case', async () => {
    const service = await startWith('trusted_labels', ['x', { team: 'core', env: ['staging'] }])
    const as = await service.token()
    const patch = (workload_ids: string[], more: object = {}) =>
      service.call('PATCH', '/api/workloads/labels', {
        as,
        body: { workload_ids, labels: { owner: 'x' }, ...more },
      })
    for (const id of ['w1', 'w2'])
      for (const more of [{ dry_run: true }, {}])
        expect(await patch(['w0', id], more)).toMatchObject({
          status: 409,
          json: { code: 'labels_unreadable', workload: id },
        })
    expect((await patch(['w0'])).json).toEqual({ changed_count: 1 })
    for (const id of ['w1', 'w2']) {
      const path = `/api/workloads/${id}/trusted-labels`
      const set = await service.call('PUT', path, { as, body: { labels: { env: 'staging' } } })
      expect(set.json).toMatchObject({ labels: { env: 'staging' }, stricter_until: expect.any(String) })
    }
    expect((await patch(['w1', 'w2'])).json).toEqual({ changed_count: 2 })
  })

  it('counts as such also where its row was written while muster runs', async () => {
    const service = await startWith('trusted_labels', [{ team: 'core' }])
    const as = await service.token()
    await database.pool.execute(
      `update workloads set trusted_labels = '{"env": ["staging"]}' where id = 'w1'`,
    )
    const body = { workload_ids: ['w0', 'w1'], labels: { owner: 'x' } }
    expect(await service.call('PATCH', '/api/workloads/labels', { as, body })).toMatchObject({
      status: 409,
      json: { code: 'labels_unreadable', workload: 'w1', changed_count: 1 },
    })
    const set = await service.call('PUT', '/api/workloads/w1/trusted-labels', {
      as,
      body: { labels: { env: 'staging' } },
    })
    expect(set.json).toMatchObject({ labels: { env: 'staging' }, stricter_until: expect.any(String) })
  })

  it('is not among what a label rule changes that is about others, and stays production under one about it', async () => {
    const service = await startWith('trusted_labels', [{ env: ['staging'] }])
    const as = await service.token()
    const rule = (host: string, labels: object) => ({
      name: host,
      selector: { match_labels: { 'identity/host.name': host } },
      labels,
    })
    const preview = (body: object) => service.call('POST', '/api/label-rules/preview', { as, body })
    expect((await preview(rule('host-0', { zone: 'eu' }))).json).toMatchObject({
      changed_count: 1,
      lowered_count: 0,
      changes: [{ workload_id: 'w0' }],
    })
    const staging = rule('host-1', { env: 'staging' })
    expect((await preview(staging)).json).toMatchObject({
      changed_count: 1,
      lowered_count: 0,
      changes: [
        {
          workload_id: 'w1',
          set: { env: 'staging' },
          removed: [],
          class_before: 'production',
          class_after: 'production',
        },
      ],
    })
    const body = { ...staging, confirm_lowering: true }
    expect((await service.call('POST', '/api/label-rules', { as, body })).status).toBe(201)
    const reviews = (await service.call('GET', '/api/reviews?status=open', { as })).json as object[]
    expect(reviews.filter((review) => 'workload_id' in review && review.workload_id === 'w1')).toEqual([])
  })

  it('keeps of labels those that are texts', async () => {
    const service = await startWith('trusted_labels', [{ team: 'core', newer: { a: [1] } }])
    const as = await service.token()
    const { json } = await service.call('GET', '/api/workloads/w1', { as })
    expect(json).toMatchObject({ labels: { 'muster/team': 'core' } })
    expect(json).not.toHaveProperty(['labels', 'muster/newer'])
  })

  it('names so many rows one by one and counts the others, where all of a fleet are so', async () => {
    const service = await startWith('labels', Array(25).fill('x'))
    expect(named(service)).toHaveLength(21)
    expect(named(service).at(-1)).toEqual({ table: 'workloads', count: 5 })
  })
})
