import { afterAll, expect, it } from 'vitest'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database)
afterAll(() => ctx.close())

it('shows what most instances of a workload report to run, to those who may read configs', async () => {
  const agents = [0, 1, 2].map((at) => fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${at}` }))
  await ctx.advance(1_000)
  const path = `GET /api/workloads/${agents[0]!.workloadId}/config/reported`
  const editor = await signIn(ctx, { groups: ['editor'] })
  expect((await invoke(ctx, path, { as: editor.token })).status).toBe(404)
  agents[0]!.effective(configYaml(1))
  for (const agent of agents.slice(1)) agent.effective(configYaml(2))
  await ctx.advance(2_000)
  const { status, json } = await invoke(ctx, path, { as: editor.token })
  expect(status).toBe(200)
  expect(json).toMatchObject({ instance_count: 2, live_instance_count: 3 })
  const instance = `GET /api/workloads/${agents[0]!.workloadId}/instances/${agents[2]!.uid}`
  const detail = (await invoke(ctx, instance, { as: editor.token })).json as Record<string, unknown>
  expect(json).toMatchObject({
    config_hash: detail['reported_config_hash'],
    content: detail['effective_config'],
  })
  const viewer = await signIn(ctx, { groups: ['viewer'] })
  expect((await invoke(ctx, path, { as: viewer.token })).status).toBe(403)
})
