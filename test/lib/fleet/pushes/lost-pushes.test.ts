import { afterAll, expect, it } from 'vitest'
import type { RevisionRecord } from '../../../../lib/wire/revisions.ts'
import { createFleetContext, type FakeAgent, fakeAgent } from '../../../support/fleet.ts'
import { invoke, signIn } from '../../../support/invoke.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

const database = await useTestDatabase()
let ctx = await createFleetContext(database)
afterAll(() => ctx.close())
const viewer = (await signIn(ctx, { groups: ['viewer'] })).token

const join = (uid?: string): FakeAgent =>
  fakeAgent(ctx.fleet, { host: 'crashing', ...(uid === undefined ? {} : { uid }) })

it('a push that failed as every instance was lost has failed on each of them, also after a restart', async () => {
  const agents = [join(), join()]
  const { workloadId } = agents[0]!
  await pushConfig(ctx.fleet, workloadId, configYaml())
  for (let time = 0; time < 2; time++) {
    for (const agent of agents) agent.lose()
    await ctx.advance(1_000)
    for (const [at, { uid }] of agents.entries()) agents[at] = join(uid)
    await ctx.advance(1_000)
  }
  const expected = { status: 'failed', target_count: 2, failed_count: 2, pending_count: 0 }
  const read = async () => {
    const { json } = await invoke(ctx, `GET /api/workloads/${workloadId}/configs`, { as: viewer })
    return (json as RevisionRecord[])[0]
  }
  expect(await read()).toMatchObject(expected)
  await ctx.advance(1_000)
  await ctx.close()
  ctx = await createFleetContext(database)
  expect(await read()).toMatchObject(expected)
})
