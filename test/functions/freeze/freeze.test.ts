import { afterEach, beforeEach, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, makeApiToken, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let as: string
let workload: string
let agent: FakeAgent

beforeEach(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  as = (await signIn(ctx)).token
  agent = fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': 'web-1' } })
  await ctx.advance(1_000)
  workload = agent.workloadId!
})
afterEach(async () => {
  await ctx.close()
  for (const table of ['workloads', 'fleet_configs', 'settings'])
    await database.pool.execute(`delete from ${table}`)
})

const call = (route: string, body?: unknown, token = as) =>
  invoke(ctx, route, { as: token, ...(body === undefined ? {} : { body }) })
const hence = (ms: number) => new Date(ctx.clock.now().getTime() + ms).toISOString()
const HOUR = 3_600_000

async function push(port: number, more: object = {}) {
  const path = `/api/workloads/${workload}/config/approvals`
  const asked = await call(`POST ${path}`, { draft_yaml: configYaml(port), target_env: 'test' })
  const { id } = asked.json as ApprovalRecord
  const approver = await signIn(ctx)
  await invoke(ctx, `POST ${path}/${id}/approve`, { as: approver.token, body: { comment: 'fine' } })
  return call(`POST ${path}/${id}/push`, { comment: 'go', ...more })
}

it('a frozen workload takes a push only where the glass is broken, and any once the freeze is over', async () => {
  const selector = { match_labels: { 'identity/host.name': 'web-*' } }
  const frozen = await call('PUT /api/freeze', { selector, reason: 'Black Friday', until: hence(HOUR) })
  expect(frozen).toMatchObject({
    status: 200,
    json: { freeze: { reason: 'Black Friday', workload_count: 1 } },
  })
  expect(await call(`GET /api/workloads/${workload}/fleet-config`)).toMatchObject({
    json: { freeze: { reason: 'Black Friday' } },
  })
  expect(await push(4317)).toMatchObject({
    status: 409,
    json: { code: 'workload_frozen', reason: 'Black Friday' },
  })
  const broken = await push(4318, { break_glass: true, break_glass_reason: 'it burns' })
  expect(broken).toMatchObject({ status: 202 })
  ctx.clock.advance(2 * HOUR)
  expect(await call('GET /api/freeze')).toMatchObject({ json: { freeze: null } })
  expect(await push(4319)).toMatchObject({ status: 202 })
})

it('a freeze is about those that it selects, or about all, and is lifted', async () => {
  const elsewhere = { match_labels: { 'identity/host.name': 'db-*' } }
  await call('PUT /api/freeze', { selector: elsewhere, reason: 'x', until: hence(HOUR) })
  expect(await push(4317)).toMatchObject({ status: 202 })
  await call('PUT /api/freeze', { reason: 'all of them', until: hence(HOUR) })
  expect(await push(4318)).toMatchObject({ status: 409 })
  expect(await call('DELETE /api/freeze')).toMatchObject({ status: 204 })
  expect(await call('GET /api/freeze')).toMatchObject({ json: { freeze: null } })
  expect(await push(4319)).toMatchObject({ status: 202 })
  const editor = (await signIn(ctx, { groups: ['editor'] })).token
  for (const request of ['PUT /api/freeze', 'DELETE /api/freeze'])
    expect(await call(request, { reason: 'x', until: hence(HOUR) }, editor)).toMatchObject({ status: 403 })
  for (const body of [
    { reason: 'x', until: hence(-1) },
    { reason: 'x', until: 'tomorrow' },
    // A time without a zone would mean another moment on another server.
    { reason: 'x', until: hence(HOUR).replace('Z', '') },
    { reason: 'x', until: '2026-09-31T00:00:00Z' },
    { reason: ' ', until: hence(HOUR) },
    { reason: 'x', until: hence(HOUR), selector: { types: ['collector'] } },
  ])
    expect(await call('PUT /api/freeze', body)).toMatchObject({ status: 400 })
})

it('is neither lifted nor widened by a request that misspells a field, or leaves it empty', async () => {
  const selector = { match_labels: { 'identity/host.name': 'web-*' } }
  const inForce = { selector, reason: 'Black Friday', until: hence(HOUR) }
  await call('PUT /api/freeze', inForce)
  for (const body of [
    {},
    { reason: 'x' },
    { reason: 'x', untill: hence(HOUR) },
    { reason: 'x', until: null },
    { reason: 'x', until: '' },
    { reason: 'x', until: hence(HOUR), selektor: selector },
    { reason: 'x', until: hence(HOUR), selector: null },
    { reason: 'x', until: hence(HOUR), selector: { match_label: {}, match_labels: selector.match_labels } },
  ])
    expect(await call('PUT /api/freeze', body), JSON.stringify(body)).toMatchObject({ status: 400 })
  expect(await call('GET /api/freeze')).toMatchObject({ json: { freeze: inForce } })
})

it('is set and lifted in person: a token does neither', async () => {
  const { token } = await makeApiToken(ctx, await signIn(ctx), ['settings:manage'])
  await call('PUT /api/freeze', { reason: 'x', until: hence(HOUR) })
  const soon = { reason: 'x', until: hence(1_000) }
  for (const request of ['PUT /api/freeze', 'DELETE /api/freeze'])
    expect(await call(request, soon, token)).toMatchObject({
      status: 403,
      json: { code: 'session_required' },
    })
  expect(await call('GET /api/freeze')).toMatchObject({ json: { freeze: { reason: 'x' } } })
})

it('a push by hand to a workload under a fleet config holds it; to any other it does not', async () => {
  const hold = async () =>
    ((await call(`GET /api/workloads/${workload}/fleet-config`)).json as { hold?: object }).hold
  expect(await push(4317)).toMatchObject({ status: 202 })
  expect(await hold()).toBeUndefined()
  const selector = { match_labels: { 'identity/host.name': 'web-1' } }
  await call('POST /api/fleet-configs', { name: 'Web', selector })
  expect(await push(4318)).toMatchObject({ status: 202 })
  expect(await hold()).toMatchObject({ reason: 'go', until: hence(7 * 24 * HOUR) })
  // A push that is refused does not hold the workload.
  await call(`POST /api/workloads/${workload}/release`)
  await call('PUT /api/freeze', { reason: 'x', until: hence(HOUR) })
  expect(await push(4319)).toMatchObject({ status: 409 })
  expect(await hold()).toBeUndefined()
})

it('going back by hand holds it as well: what applies by itself does not undo what somebody took back', async () => {
  await call('POST /api/fleet-configs', {
    name: 'Web',
    selector: { match_labels: { 'identity/host.name': 'web-1' } },
  })
  for (const port of [4317, 4318]) {
    expect(await push(port)).toMatchObject({ status: 202 })
    agent.apply()
    await ctx.advance(1_000)
  }
  await call(`POST /api/workloads/${workload}/release`)
  const back = await call(
    `POST /api/workloads/${workload}/configs/${configHash(configYaml(4317))}/rollback`,
    {},
  )
  expect(back).toMatchObject({ status: 202 })
  expect(await call(`GET /api/workloads/${workload}/fleet-config`)).toMatchObject({
    json: { hold: { reason: 'rolled back on its own', until: hence(7 * 24 * HOUR) } },
  })
})
