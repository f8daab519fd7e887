import { afterAll, expect, it } from 'vitest'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database, { edition: createCompleteEdition() })
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

it('instances that do not answer are the cause on every page, while their push goes on as well', async () => {
  const { token: as } = await signIn(ctx, { groups: ['viewer'] })
  const [answers] = ['answers', 'silent'].map((pod) =>
    fakeAgent(ctx.fleet, { service: 'quiet', host: 'quiet-vm', pod }),
  )
  await ctx.advance(300)
  const { workloadId } = answers!
  const { hash } = await pushConfig(ctx.fleet, workloadId, configYaml(2))
  answers!.apply()
  const read = async <T>(path: string) => (await invoke(ctx, `GET ${path}`, { as })).json as T
  const said = async () => {
    const { trouble } = await read<WorkloadRecord>(`/api/workloads/${workloadId}`)
    const { instances } = await read<{ instances: LiveInstance[] }>(`/api/workloads/${workloadId}/topology`)
    const { items } = await read<DriftOverview>('/api/config-safety/drift')
    const item = items.find((one) => one.workload_id === workloadId)
    const odd = instances.find(({ pod_name: pod }) => pod === 'silent')
    return { trouble, instance: odd?.fault?.error_cause, drift: item?.fault?.error_cause }
  }
  await ctx.advance(29_000)
  expect(await said()).toEqual({ trouble: undefined, instance: undefined, drift: undefined })
  await ctx.advance(2_000)
  const everywhere = {
    trouble: { kind: 'drifted', count: 1, total: 2, config_hash: hash, error_cause: 'no_answer' },
    instance: 'no_answer',
    drift: 'no_answer',
  }
  expect(await said()).toMatchObject(everywhere)
  for (let n = 0; n < 30; n++) await ctx.advance(30_000)
  expect(await said()).toMatchObject(everywhere)
})
