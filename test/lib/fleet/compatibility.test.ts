import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, test } from 'vitest'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const ctx = await createFleetContext(await useTestDatabase())
afterAll(() => ctx.close())

test('a push does not keep the component lists that an agent made up and reports no more', async () => {
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(500)
  await pushConfig(ctx.fleet, agent.workloadId, configYaml())
  const instance = ctx.fleet.state.instances.get(agent.uid)!
  const lists: WeakRef<object>[] = []
  for (let n = 0; n < 200; n++) {
    // All lists come under one hash, which the agent chooses: only the first list is kept for other agents that report
    // the hash.
    const types = ['debug', 'otlp', `made-up-${n}`]
    const components = new Map(['receivers', 'exporters'].map((category) => [category, types]))
    agent.say({ components: { hash: 'aa', components } })
    lists.push(new WeakRef(instance.components!))
  }
  await ctx.advance(1_000)
  // Lists that this turn of the event loop has looked at are held until it is over.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  expect(lists.filter((list) => list.deref() !== undefined).length).toBeLessThanOrEqual(3)
})
