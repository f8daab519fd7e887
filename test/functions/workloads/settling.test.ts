import { afterAll, expect, it } from 'vitest'
import type { WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { isUnwell, listOddities } from '../../../runtime/ui/logic/instances.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database, { edition: createCompleteEdition() })
afterAll(() => ctx.close())

it('an instance that starts is unhealthy nowhere as long as its workload is well, and everywhere once that is not', async () => {
  const { token: as } = await signIn(ctx, { groups: ['viewer'] })
  const [starting, , sick] = ['starting', 'well', 'sick'].map((pod) =>
    fakeAgent(ctx.fleet, { service: 'mixed', host: 'vm', pod }),
  )
  await ctx.advance(300)
  const { workloadId } = starting!
  const health = { startTimeMs: 0, lastError: '', statusTimeMs: 0, children: new Map() }
  const read = async () => {
    const at = `GET /api/workloads/${workloadId}`
    const { trouble, status } = (await invoke(ctx, at, { as })).json as WorkloadRecord
    const { instances, summary } = (await invoke(ctx, `${at}/topology`, { as })).json as WorkloadTopology
    const namesOf = (those: typeof instances) => those.map(({ pod_name: pod }) => pod).sort()
    return {
      status,
      count: trouble?.count,
      counted: summary.unhealthy_count,
      isOdd: summary.heterogeneity.unhealthy_instances,
      unwell: namesOf(instances.filter(isUnwell)),
      marked: namesOf(instances.filter((one) => listOddities(one, summary).includes('unhealthy'))),
      settling: namesOf(instances.filter(({ settling }) => settling)),
    }
  }
  starting!.say({ health: { ...health, healthy: false, status: 'StatusStarting' } })
  await ctx.advance(2_000)
  const wellSoFar = {
    status: 'connected',
    count: undefined,
    counted: 0,
    isOdd: false,
    unwell: [],
    marked: [],
  }
  expect(await read()).toEqual({ ...wellSoFar, settling: ['starting'] })
  sick!.say({ health: { ...health, healthy: false, status: 'StatusRecoverableError' } })
  await ctx.advance(2_000)
  const one = { status: 'degraded', count: 1, counted: 1, isOdd: true, unwell: ['sick'], marked: ['sick'] }
  expect(await read()).toEqual({ ...one, settling: ['starting'] })
  await ctx.advance(60_000)
  const both = ['sick', 'starting']
  expect(await read()).toEqual({ ...one, count: 2, counted: 2, unwell: both, marked: both, settling: [] })
})
