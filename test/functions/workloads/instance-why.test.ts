import { afterAll, expect, it } from 'vitest'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database)
afterAll(() => ctx.close())

it('an instance that stands out says why: what its health says, or what became of its push', async () => {
  const viewer = await signIn(ctx, { groups: ['viewer'] })
  const [well, sick, silent] = ['well', 'sick', 'silent'].map((pod) =>
    fakeAgent(ctx.fleet, { service: 'odd', host: 'vm', pod }),
  )
  await ctx.advance(300)
  const { workloadId } = well!
  await pushConfig(ctx.fleet, workloadId, configYaml(1))
  well!.apply()
  sick!.apply()
  const told = async () => {
    const path = `GET /api/workloads/${workloadId}/topology`
    const { instances } = (await invoke(ctx, path, { as: viewer.token })).json as {
      instances: LiveInstance[]
    }
    return Object.fromEntries(instances.map(({ pod_name: pod, fault }) => [pod, fault?.error_cause]))
  }
  await ctx.advance(300)
  expect(await told()).toEqual({ well: undefined, sick: undefined, silent: undefined })
  sick!.say({
    health: {
      healthy: false,
      startTimeMs: 0,
      lastError: 'dial tcp: lookup telemetry.example.com: no such host',
      status: '',
      statusTimeMs: 0,
      children: new Map(),
    },
  })
  for (let n = 0; n < 30; n++) await ctx.advance(30_000)
  expect(await told()).toEqual({ well: undefined, sick: 'connection_failed', silent: 'no_answer' })
  silent!.fail('listen tcp 0.0.0.0:4317: bind: address already in use')
  await ctx.advance(1_000)
  // Its own report says it.
  expect((await told())['silent']).toBeUndefined()
})
