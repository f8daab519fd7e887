import { afterAll, describe, expect, it } from 'vitest'
import compareConfigs from '../../../functions/workloads/compare-configs.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type { FleetSummary } from '../../../lib/wire/fleet-summary.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const ctx = await createFleetContext(await useTestDatabase(), { edition: createCompleteEdition() })
afterAll(() => ctx.close())
const { token } = await signIn(ctx, { groups: ['viewer'] })

const get = async (route: string) => (await invoke(ctx, route, { as: token })).json
const listed = async () => (await get('GET /api/workloads')) as WorkloadRecord[]
const compared = async () => {
  // What was reported is stored a moment later.
  await ctx.advance(2_000)
  await compareConfigs.run(ctx, new AbortController().signal)
  await ctx.advance(300)
}

/** Everything that says of the workload whether it is in trouble. */
async function told() {
  const [workload] = await listed()
  const drift = (await get('GET /api/config-safety/drift')) as DriftOverview
  const { worst, troubled_count, loud_count } = (await get('GET /api/fleet/summary')) as FleetSummary
  return {
    trouble: workload!.trouble,
    altered: workload!.altered_instance_count,
    drifted: workload!.drifted_instance_count,
    drift: [drift.summary.drifted_collectors, drift.items[0]!.drift_status],
    overview: [worst.map(({ trouble }) => trouble?.kind), troubled_count, loud_count],
  }
}

const IN_SYNC = { altered: undefined, drifted: 0, drift: [0, 'in_sync'], overview: [[], 0, 0] }

describe('an instance whose config somebody changed on its host', () => {
  it('is a lesser trouble of its workload in the list, the drift and the overview, until it runs what it should', async () => {
    const pods = ['a', 'b', 'c', 'd'].map((pod) =>
      fakeAgent(ctx.fleet, { service: 'edge', host: 'h', pod: `edge-${pod}` }),
    )
    await ctx.advance(300)
    await pushConfig(ctx.fleet, pods[0]!.workloadId, configYaml())
    for (const pod of pods) {
      pod.apply()
      pod.effective(configYaml())
    }
    await compared()
    expect(await told()).toMatchObject(IN_SYNC)

    ctx.frames.length = 0
    pods[2]!.effective(configYaml(9999))
    await compared()
    const { trouble, ...others } = await told()
    expect(trouble).toEqual({ kind: 'altered', since: expect.any(String), count: 1, total: 4 })
    expect(others).toEqual({ altered: 1, drifted: 0, drift: [1, 'altered'], overview: [['altered'], 1, 0] })
    // Browsers that look at the list are told by themselves.
    const update = ctx.frames.findLast(({ type }) => type === 'workload_update')
    expect(update).toMatchObject({ workload: { altered_instance_count: 1, trouble: { kind: 'altered' } } })
    // It is no alert: those go by what agents say of their status.
    expect(await get('GET /api/alerts')).toEqual([])

    pods[2]!.effective(configYaml())
    await compared()
    expect(await told()).toMatchObject(IN_SYNC)
    expect((await listed())[0]).not.toHaveProperty('trouble')
  })

  it('compares each pair of texts once, however many instances report it', async () => {
    const pods = Array.from({ length: 40 }, (_, at) =>
      fakeAgent(ctx.fleet, { service: 'crowd', host: 'h', pod: `crowd-${at}` }),
    )
    await ctx.advance(300)
    await pushConfig(ctx.fleet, pods[0]!.workloadId, configYaml())
    for (const [at, pod] of pods.entries()) {
      pod.apply()
      // Each reports a text of its own.
      pod.effective(configYaml(5_000 + at))
    }
    await compared()
    const crowd = (await listed()).find(({ display_name: name }) => name === 'crowd')
    expect(crowd).toMatchObject({
      altered_instance_count: 40,
      trouble: { kind: 'altered', count: 40, total: 40 },
    })
  })
})
