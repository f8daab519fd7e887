import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { fakeClock } from '../../support/fakes.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { countLoopTurns } from '../../support/loop-turns.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// Every list of fleet configs asks of every workload under which of them it is. What that takes must not grow with how
// often it is asked, and must let others have their turn.

const HOSTS = 8
const database = await useTestDatabase()
let ctx: FleetTestContext
let as: string
let isSlow: boolean
let looks: Map<string, number>

beforeEach(async () => {
  isSlow = false
  const clock = fakeClock()
  const { monotonicMs } = clock
  let slowMs = 0
  clock.monotonicMs = () => {
    if (isSlow) slowMs += 20
    return monotonicMs() + slowMs
  }
  ctx = await createFleetContext(database, { edition: createCompleteEdition(), clock })
  as = (await signIn(ctx)).token
  for (let at = 0; at < HOSTS; at++)
    fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': `edge-${at}` } })
  await ctx.advance(1_000)
  looks = new Map()
})
afterEach(async () => {
  await ctx.close()
  for (const table of ['workloads', 'fleet_configs']) await database.pool.execute(`delete from ${table}`)
})

const call = (route: string, body?: unknown) =>
  invoke(ctx, route, { as, ...(body === undefined ? {} : { body }) })

const BY_HOST = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['edge-*'] }] }

/** Count from now on how often the identity of each workload is looked at by a selector. */
function watch(): void {
  looks.clear()
  for (const workload of ctx.fleet.state.workloads.values()) {
    const { id, fingerprintKeys } = workload
    const watched = new Proxy(fingerprintKeys, {
      get(target, name) {
        if (name === 'host.name') looks.set(id, (looks.get(id) ?? 0) + 1)
        return Reflect.get(target, name) as unknown
      },
    })
    Object.assign(workload, { fingerprintKeys: watched })
  }
}
const looked = (): number => [...looks.values()].reduce((sum, count) => sum + count, 0)
const workloads = (): Workload[] => [...ctx.fleet.state.workloads.values()]

describe('under which fleet config a workload is', () => {
  it('is found out once, however often it is asked, read and stored again', async () => {
    await call('POST /api/fleet-configs', { name: 'Edge', selector: BY_HOST })
    watch()
    await ctx.fleetConfigs.counts()
    expect(looks.size).toBe(HOSTS)
    looks.clear()
    for (let again = 0; again < 3; again++) {
      await call('GET /api/fleet-configs')
      await ctx.fleetConfigs.load()
      await ctx.fleetConfigs.storeMemberships()
      await ctx.fleetConfigs.conflicts()
    }
    expect(looked()).toBe(0)
  })

  it('is found out anew for the workload whose labels changed, and for no other', async () => {
    await call('POST /api/fleet-configs', {
      name: 'Edge',
      selector: {
        match_expressions: [
          ...BY_HOST.match_expressions,
          { key: 'muster/tier', operator: 'In', values: ['rim'] },
        ],
      },
    })
    const [one, other] = workloads() as [Workload, Workload]
    await ctx.fleetConfigs.counts()
    watch()
    await ctx.fleetConfigs.counts()
    looks.clear()
    const labels = { labels: { tier: 'rim' } }
    expect((await call(`PUT /api/workloads/${one.id}/trusted-labels`, labels)).status).toBe(200)
    expect(ctx.fleetConfigs.membershipOf(one).configId).not.toBeNull()
    expect(ctx.fleetConfigs.membershipOf(other).configId).toBeNull()
    await ctx.fleetConfigs.counts()
    expect([...looks.keys()]).toEqual([one.id])
  })

  it('is found out anew once a selector or a priority changed', async () => {
    const low = (await call('POST /api/fleet-configs', { name: 'Low', selector: BY_HOST })).json as {
      id: string
    }
    const high = (await call('POST /api/fleet-configs', { name: 'High', selector: BY_HOST })).json as {
      id: string
    }
    const [one] = workloads() as [Workload]
    expect(ctx.fleetConfigs.membershipOf(one)).toEqual({ configId: low.id, rivals: [high.id] })
    await call(`PUT /api/fleet-configs/${high.id}`, { name: 'High', selector: BY_HOST, priority: 5 })
    expect(ctx.fleetConfigs.membershipOf(one)).toEqual({ configId: high.id, rivals: [] })
    const none = { match_labels: { 'identity/host.name': 'core-*' } }
    await call(`PUT /api/fleet-configs/${high.id}`, { name: 'High', selector: none, priority: 5 })
    expect(ctx.fleetConfigs.membershipOf(one)).toEqual({ configId: low.id, rivals: [] })
  })

  it('lets others have their turn by the clock while it is found out', async () => {
    await call('POST /api/fleet-configs', { name: 'Edge', selector: BY_HOST })
    isSlow = true
    const turns = countLoopTurns()
    const counts = await ctx.fleetConfigs.counts()
    const turned = turns.over()
    expect([...counts.values()]).toEqual([{ under: HOSTS, conflicts: 0, held: 0, keptBy: new Map() }])
    expect(turned).toBeGreaterThanOrEqual(HOSTS - 1)
  })
})

describe('fleet configs together', () => {
  const wide = (name: string, count: number) => ({
    match_expressions: [
      {
        key: 'identity/host.name',
        operator: 'In',
        values: Array.from({ length: count }, (_, at) => `${name}${at}-*`),
      },
    ],
  })

  it('have so many conditions at most, since every workload is compared with all of them', async () => {
    let made = 0
    let answer = await call('POST /api/fleet-configs', { name: 'x0', selector: wide('x0', 50) })
    for (; answer.status === 201 && made < 100; made++)
      answer = await call('POST /api/fleet-configs', { name: `x${made + 1}`, selector: wide(`x${made}`, 50) })
    expect(answer).toMatchObject({ status: 409, json: { code: 'fleet_configs_too_wide' } })
    const [first] = ctx.fleetConfigs.configs
    // Where there is no room a fleet config may still stay as wide as it is, or become less so.
    const same = { name: 'renamed', selector: wide('y', 50) }
    expect((await call(`PUT /api/fleet-configs/${first!.id}`, same)).status).toBe(200)
    expect(
      (await call(`PUT /api/fleet-configs/${first!.id}`, { ...same, selector: wide('y', 1) })).status,
    ).toBe(200)
    const wider = { name: 'z', selector: wide('z', 50) }
    expect((await call('POST /api/fleet-configs', wider)).status).toBe(201)
    expect(await call(`PUT /api/fleet-configs/${first!.id}`, same)).toMatchObject({
      status: 409,
      json: { code: 'fleet_configs_too_wide' },
    })
  })
})
