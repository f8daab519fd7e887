import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { ConfigDiff } from '../../../lib/wire/diff.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
let workloadId: string

beforeEach(async () => {
  ctx = await createFleetContext(database)
  admin = await signIn(ctx)
  workloadId = fakeAgent(ctx.fleet, { attributes: { env: 'agent', 'muster/env': 'spoofed' } }).workloadId
  await ctx.advance(1_000)
})
afterEach(() => ctx.close())

const put = (body: unknown, id = workloadId) =>
  invoke(ctx, `PUT /api/workloads/${id}/trusted-labels`, { as: admin.token, body })
const labels = async () =>
  ((await invoke(ctx, `GET /api/workloads/${workloadId}`, { as: admin.token })).json as WorkloadRecord).labels

describe('PUT /api/workloads/{id}/trusted-labels', () => {
  it('replaces all of them, shows them under their prefix, and writes who did it', async () => {
    const answer = await put({ labels: { tier: 'edge', env: 'prod' } })
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.json).toEqual({
      workload_id: workloadId,
      labels: { env: 'prod', tier: 'edge' },
      rule_labels: {},
    })
    expect(await labels()).toMatchObject({ env: 'agent', 'muster/env': 'prod', 'muster/tier': 'edge' })
    await put({ labels: { team: 'payments' } })
    expect(await labels()).toMatchObject({ 'muster/team': 'payments' })
    expect(await labels()).not.toHaveProperty('muster/env')
    const filter = { action: 'workload.trusted_labels', workloadId }
    const audited = await listAuditRecords(database.pool, filter, { beforeSeq: null, limit: 10, offset: 0 })
    expect(audited.map((entry) => [entry.email, entry.detail])).toEqual([
      [admin.email, '{"team":"payments"}'],
      [admin.email, '{"env":"prod","tier":"edge"}'],
    ])
  })

  it('says for policy and for the reach of a diff where the workload runs, whatever its agents say', async () => {
    const neighbour = fakeAgent(ctx.fleet, { service: 'neighbour', attributes: { cluster: 'eu-1' } })
    await ctx.advance(1_000)
    await put({ labels: { env: 'production', cluster: 'eu-1' } })
    const yaml = configYaml()
    const plan = await invoke(ctx, `POST /api/workloads/${workloadId}/config/plan`, {
      as: admin.token,
      body: yaml,
    })
    expect(plan.json).toMatchObject({ prod_target: true, policy: { target: { environment: 'production' } } })
    const body = { base_yaml: yaml, target_yaml: configYaml(1), context: { workload_id: workloadId } }
    const diff = (await invoke(ctx, 'POST /api/configs/diff', { as: admin.token, body })).json as ConfigDiff
    expect(diff.blast_radius.impacted_clusters).toEqual(['eu-1', 'production'])
    expect(diff.blast_radius.critical_collectors.map(({ workload_id: id }) => id).sort()).toEqual(
      [workloadId, neighbour.workloadId].sort(),
    )
    const own = diff.blast_radius.critical_collectors.find(({ workload_id: id }) => id === workloadId)
    expect(own!.reasons).toContain('production_label')
  })

  it('clears them with an empty or an absent object, and keeps them over a restart', async () => {
    await put({ labels: { env: 'prod' } })
    await ctx.close()
    ctx = await createFleetContext(database)
    admin = await signIn(ctx)
    expect(await labels()).toMatchObject({ 'muster/env': 'prod' })
    expect(await put({})).toMatchObject({ status: 200, json: { labels: {} } })
    expect(await labels()).not.toHaveProperty('muster/env')
  })

  it.each([
    [{ labels: { '': 'a' } }, 'labels () has an empty text'],
    [{ labels: { a: ' ' } }, 'labels (a) has an empty text'],
    [{ labels: { 'muster/a': 'b' } }, 'labels (muster/a) has a key with the prefix muster/'],
    [{ labels: { a: 'b\n' } }, 'labels (a) has a text with control characters'],
    [{ labels: { a: 'b'.repeat(257) } }, 'labels (a) has a text of more than 256 characters'],
    [
      { labels: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 'v'])) },
      'labels has more than 50 entries',
    ],
    [{ labels: { a: 1 } }, 'invalid JSON'],
    [{ labels: [] }, 'invalid JSON'],
  ])('refuses %j', async (body, error) => {
    expect(await put(body)).toMatchObject({ status: 400, json: { error } })
    expect(Object.keys(await labels()).filter((key) => key.startsWith('muster/'))).toEqual([])
  })

  it('knows no workload that is not there', async () => {
    expect(await put({ labels: {} }, 'unknown')).toMatchObject({
      status: 404,
      json: { error: 'workload not found' },
    })
  })
})

describe('GET /api/trusted-labels', () => {
  const list = (query = '') => invoke(ctx, `GET /api/trusted-labels${query}`, { as: admin.token })

  it('lists those that an operator set labels on, by name, page by page', async () => {
    const { workloadId: other } = fakeAgent(ctx.fleet, { service: 'another' })
    const { workloadId: bare } = fakeAgent(ctx.fleet, { service: 'bare' })
    await ctx.advance(1_000)
    await put({ labels: { env: 'prod' } })
    await put({ labels: { team: 'payments' } }, other)
    const all = (await list()).json as { workload_id: string }[]
    // Other tests of this file leave theirs.
    expect(all.filter(({ workload_id: id }) => id === workloadId || id === other)).toEqual([
      { workload_id: other, labels: { team: 'payments' }, rule_labels: {} },
      { workload_id: workloadId, labels: { env: 'prod' }, rule_labels: {} },
    ])
    expect(all.some(({ workload_id: id }) => id === bare)).toBe(false)
    const paged: unknown[] = []
    for (let next: string | undefined = '/api/trusted-labels?limit=1'; next !== undefined; ) {
      const page = await invoke(ctx, `GET ${next}`, { as: admin.token })
      paged.push(...(page.json as unknown[]))
      next = /<([^>]+)>/.exec(page.headers['Link'] ?? '')?.[1]
    }
    expect(paged).toEqual(all)
  })

  it('is for those who may change them', async () => {
    const editor = await signIn(ctx, { groups: ['editor'] })
    expect(await invoke(ctx, 'GET /api/trusted-labels', { as: editor.token })).toMatchObject({ status: 403 })
  })
})
