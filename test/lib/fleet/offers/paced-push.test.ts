import { expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { createFleetContext, type FakeAgent, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

const AGENTS = 1_000
/** The work of the process for one offer and what follows from it, in ms. */
const WORK_MS = 0.03

const database = await useTestDatabase()

/** Push to many agents of one workload; returns after each millisecond how many were offered the config by then. */
async function pushTo(host: string, busyMs: (agents: readonly FakeAgent[]) => number): Promise<number[]> {
  const agents: FakeAgent[] = []
  const ctx = await createFleetContext(database, { busyMs: () => busyMs(agents) })
  for (let n = 0; n < AGENTS; n++) agents.push(fakeAgent(ctx.fleet, { host }))
  await ctx.advance(1_000)
  await pushConfig(ctx.fleet, agents[0]!.workloadId, configYaml())
  const counts: number[] = []
  for (let ms = 0; ms < 100 && counts.at(-1) !== AGENTS; ms++) {
    ctx.timers.advance(1)
    counts.push(offered(agents))
  }
  for (const agent of agents) expect(agent.offered()).toEqual([configHash(configYaml())])
  await ctx.close()
  return counts
}

const offered = (agents: readonly FakeAgent[]) => agents.filter((agent) => agent.offered().length > 0).length

it('a push takes no more than three fifths of the time of a process that is busy with it', async () => {
  const counts = await pushTo('busy', (agents) => offered(agents) * WORK_MS)
  // The first chunk goes out at once.
  const tookMs = counts.length
  expect(((AGENTS - 200) * WORK_MS) / tookMs).toBeLessThanOrEqual(0.6)
})

it('a push waits for nothing where the process has time', async () => {
  expect((await pushTo('idle', () => 0)).length).toBeLessThan(10)
})

it('a push goes on in a process that something else keeps busy', async () => {
  let busyMs = 0
  const counts = await pushTo('flooded', () => {
    busyMs += 10_000
    return busyMs
  })
  expect(counts.at(-1)).toBe(AGENTS)
})
