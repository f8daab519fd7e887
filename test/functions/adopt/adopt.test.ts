import { afterAll, expect, it } from 'vitest'
import type { AdoptGroup } from '../../../lib/wire/adopt.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database, { edition: createCompleteEdition() })
afterAll(() => ctx.close())

it('groups what nothing was pushed to by what it reports, and says whether a text is that', async () => {
  const as = (await signIn(ctx)).token
  const agents = ['a', 'b', 'c', 'd', 'e'].map((host) => fakeAgent(ctx.fleet, { host, service: 'otelcol' }))
  await ctx.advance(1_000)
  for (const agent of agents.slice(0, 3)) agent.effective(configYaml(1))
  agents[3]!.effective(configYaml(2))
  await ctx.advance(2_000)
  const list = async (query = '') =>
    (await invoke(ctx, `GET /api/adopt${query}`, { as })).json as AdoptGroup[]
  const groups = await list()
  expect(groups.map(({ workload_count: count }) => count)).toEqual([3, 1, 1])
  expect(groups[0]!.workloads.map(({ id }) => id).sort()).toEqual(
    agents
      .slice(0, 3)
      .map(({ workloadId }) => workloadId)
      .sort(),
  )
  expect(groups.filter((group) => group.reported_config_hash === undefined)).toHaveLength(1)
  expect(await list('?limit=1')).toEqual([groups[0]])

  const members = async (hash?: string) =>
    (await invoke(ctx, `GET /api/adopt/workloads?reported_config_hash=${hash ?? ''}`, { as })).json
  expect(await members(groups[0]!.reported_config_hash)).toHaveLength(3)
  expect(await members()).toEqual([{ id: agents[4]!.workloadId, display_name: 'otelcol', place: 'e' }])
  expect(await members('f'.repeat(64))).toEqual([])

  const check = (content: string, hash = groups[0]!.reported_config_hash) =>
    invoke(ctx, 'POST /api/adopt/check', { as, body: { reported_config_hash: hash, content } })
  expect(await check(configYaml(1))).toMatchObject({
    status: 200,
    json: { effective_matches: true, paths: [], workload_count: 3, instance_count: 3 },
  })
  const other = await check(configYaml(2))
  expect(other).toMatchObject({ json: { effective_matches: false } })
  expect(JSON.stringify(other.json)).toContain('receivers')
  expect(await check(configYaml(1), 'f'.repeat(64))).toMatchObject({ status: 404 })
  expect(await check(configYaml(1), '')).toMatchObject({ status: 404 })

  await pushConfig(ctx.fleet, agents[0]!.workloadId!, configYaml(3))
  expect((await list()).map(({ workload_count: count }) => count)).toEqual([2, 1, 1])
})

it('keeps hosts with one config in one group, whatever attributes their operator gave each of them', async () => {
  const as = (await signIn(ctx)).token
  const yaml = configYaml(7)
  for (const [host, rack] of [
    ['r1', 'a-17'],
    ['r2', 'b-04'],
    ['r3', '12'],
  ] as const) {
    const agent = fakeAgent(ctx.fleet, { host, service: 'racked', attributes: { rack } })
    await ctx.advance(300)
    // A supervisor writes the agent's description into the telemetry resource.
    const resource = `  telemetry:\n    resource:\n      host.name: ${host}\n      rack: ${rack}\n`
    agent.effective(yaml.replace('service:\n', `service:\n${resource}`))
  }
  await ctx.advance(2_000)
  const groups = (await invoke(ctx, 'GET /api/adopt', { as })).json as AdoptGroup[]
  const racked = groups.filter(({ workloads }) => workloads.some((one) => one.display_name === 'racked'))
  expect(racked.map(({ workload_count: count }) => count)).toEqual([3])
})
