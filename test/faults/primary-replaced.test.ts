import { afterAll, beforeAll, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { Load } from '../bench/load/load.ts'
import { eventually } from '../support/eventually.ts'
import { configOf } from './support/fleet.ts'
import { type ReplicatedPostgres, startReplicatedPostgres } from './support/replicated-postgres.ts'
import { type OneOfSeveral, type Several, startSeveral } from './support/several.ts'

const AGENTS = 30
/** For how long there is no primary: longer than an owner may act without a renewal. */
const AWAY_MS = 6_000
let postgres: ReplicatedPostgres
let several: Several
const loads: Load[] = []

beforeAll(async () => {
  postgres = await startReplicatedPostgres()
  several = await startSeveral(2, { dsn: { ofProcesses: postgres.dsn, ofTest: () => postgres.primaryDsn() } })
  for (const [index, { opampPort }] of several.all.entries()) {
    // Agents that never come back once they are cut off.
    const load = new Load({
      ...{ host: '127.0.0.1', port: opampPort, agents: AGENTS, workloads: 1, first: index * AGENTS },
    })
    loads.push(load)
    await load.connect()
    load.beats({ intervalMs: 1_000 })
  }
})
afterAll(async () => {
  for (const load of loads) load.end()
  await several?.end()
  await postgres?.stop()
})

const running = (hash: string) => loads.reduce((sum, load) => sum + (load.running()[hash] ?? 0), 0)
const everyAgent = () => 2 * AGENTS

/** Wait until a change through this process is done; returns after how many ms. */
async function msUntilDone({ api }: OneOfSeveral, theme: string): Promise<number> {
  const startedAt = performance.now()
  await eventually(
    'a change is done',
    async () => {
      const { status } = await api.call('PUT', '/api/me/preferences', { theme, language: 'en' })
      expect([200, 204, 503]).toContain(status)
      return status < 300
    },
    { everyMs: 50 },
  )
  return performance.now() - startedAt
}

test('a primary that is killed and replaced by its standby takes no agent and nothing that was acknowledged', async () => {
  const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral]
  const workloadId = await eventually('every agent is stored', async () => {
    const [found] = await several.rows<{ n: number; id: string }>(
      'select count(*)::int as n, min(workload_id) as id from agent_workloads',
    )
    return found!.n === everyAgent() && found!.id
  })
  const yaml = configOf('acknowledged right before the primary died')
  const label = `/api/workloads/${workloadId}/trusted-labels`
  await owner.api.pushConfig(workloadId, yaml)
  expect((await front.api.call('PUT', label, { labels: { team: 'last words' } })).status).toBeLessThan(300)
  await postgres.killPrimary()
  const { status } = await front.api.call('PUT', label, { labels: { team: 'too late' } })
  expect(status).toBe(503)
  expect(several.all.map((one) => one.running().hasEnded())).toEqual([false, false])
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS))
  for (const load of loads) expect(load.stats().open).toBe(AGENTS)
  await postgres.promote()

  // Ready within five seconds, at each process.
  const tookMs = await Promise.all([msUntilDone(owner, 'dark'), msUntilDone(front, 'light')])
  expect(Math.max(...tookMs)).toBeLessThan(5_000)
  const [labels] = await several.rows<{ team: string }>(
    `select trusted_labels ->> 'team' as team from workloads`,
  )
  expect(labels!.team).toBe('last words')
  await eventually('everybody runs what was pushed', async () => running(configHash(yaml)) === everyAgent())
  await eventually('its end is stored', async () => {
    const [push] = await several.rows<{ status: string; applied: number; failed: number }>(
      `select p.status, count(*) filter (where t.state = 'applied')::int as applied,
         count(*) filter (where t.state = 'failed')::int as failed
       from pushes p join push_targets t using (push_id) group by p.status`,
    )
    expect(push!.failed).toBe(0)
    return push!.status === 'applied' && push!.applied === everyAgent()
  })

  // The same process owns, no other has taken its place, and no socket was lost.
  const [found] = await several.rows<{ epoch: number }>('select epoch::int from process_epoch')
  expect(found!.epoch).toBe(1)
  for (const load of loads) {
    const { open, errors } = load.stats()
    expect({ open, errors }).toEqual({ open: AGENTS, errors: 0 })
  }
  expect(await owner.api.get('/api/audit/verify')).toMatchObject({ valid: true })
})
