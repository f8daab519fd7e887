import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet, untilAllOpen } from './support/fleet.ts'

const AGENTS = 5_000
let fleet: FaultFleet

beforeAll(async () => {
  fleet = await startFaultFleet({ agents: AGENTS })
})
afterAll(() => fleet.end())

test('after a kill -9 the whole fleet comes back at once: nothing is offered again, full state is asked for once', async () => {
  const { service, load } = fleet
  await service.api.post(await approveConfig(fleet, configOf('storm')), { comment: 'go' }, 202)
  const applied = () =>
    fleet.rows<{ n: number }>(`select count(*)::int as n from push_targets where state = 'applied'`)
  await eventually('everybody has applied it', async () => (await applied())[0]!.n === AGENTS)
  load.resetStats()

  await service.restart('SIGKILL')
  await untilAllOpen(fleet, AGENTS)
  await eventually('the inventory counts everybody', async () => {
    const [workload] = await service.api.get('/api/workloads')
    return workload.connected_instance_count === AGENTS && workload.drifted_instance_count === 0
  })

  const stats = load.stats()
  expect(stats.offers).toBe(0)
  expect(stats.fullStateRequestsMost).toBe(1)
  expect(stats.errors).toBe(0)
  expect((await applied())[0]!.n).toBe(AGENTS)
})

test('a stop under load ends in good order, and the reconnect within the grace is no event', async () => {
  const { service, load } = fleet
  // That what an agent reports is not what it applied is found meanwhile, of one text after the other.
  const count = async () =>
    (
      await fleet.rows<{ n: number }>(
        `select count(*)::int as n from workload_events where event_type in ('connected', 'disconnected')`,
      )
    )[0]!.n
  const before = await count()
  load.beats({ intervalMs: 1_000 })
  const startedAt = performance.now()
  const running = service.process()

  await service.restart('SIGTERM')

  load.stopBeats()
  expect(running.exitCode()).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  await untilAllOpen(fleet, AGENTS)
  await eventually('the inventory counts everybody', async () => {
    const [workload] = await service.api.get('/api/workloads')
    return workload.connected_instance_count === AGENTS
  })
  expect(await count()).toBe(before)
})
