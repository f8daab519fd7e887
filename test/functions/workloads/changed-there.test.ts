import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import compareConfigs from '../../../functions/workloads/compare-configs.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { trimEvents } from '../../../lib/store/workload-events.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type { WorkloadEventRecord } from '../../../lib/wire/events.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { EvidencePack } from '../../../lib/wire/reports.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// That somebody changed a config on a host is an event: whoever looks later must find when it was, also after a restart.

const database = await useTestDatabase()
const MINUTE_MS = 60_000
const CHANGED = configYaml(9999)
let ctx: FleetTestContext
let token: string

async function start(clock?: FleetTestContext['clock']): Promise<void> {
  ctx = await createFleetContext(database, {
    edition: createCompleteEdition(),
    ...(clock === undefined ? {} : { clock }),
  })
  token = (await signIn(ctx)).token
}
beforeEach(() => start())
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const get = async <T>(path: string) => (await invoke(ctx, `GET ${path}`, { as: token })).json as T
const recordOf = (id: string) => get<WorkloadRecord>(`/api/workloads/${id}`)
const eventsOf = async (id: string) =>
  (await get<WorkloadEventRecord[]>(`/api/workloads/${id}/events`)).filter(({ event_type: type }) =>
    type.startsWith('config_'),
  )
async function look(): Promise<void> {
  // What was reported is stored a moment later.
  await ctx.advance(2_000)
  await compareConfigs.run(ctx, new AbortController().signal)
  await ctx.advance(1_000)
}

/** An instance that applied a config and runs it. */
async function applied(): Promise<FakeAgent> {
  const agent = fakeAgent(ctx.fleet, { service: 'edge', host: 'h' })
  await ctx.advance(300)
  await pushConfig(ctx.fleet, agent.workloadId, configYaml())
  agent.apply()
  agent.effective(configYaml())
  await look()
  return agent
}

describe('a config that was changed on its host', () => {
  it('is told with when it was first seen, wherever it is told, and stands in the log', async () => {
    const agent = await applied()
    const id = agent.workloadId
    expect(await eventsOf(id)).toEqual([])
    await ctx.advance(10 * MINUTE_MS)
    agent.effective(CHANGED)
    await look()
    const { trouble, altered_since: since = '' } = await recordOf(id)
    expect(trouble).toMatchObject({ kind: 'altered', since })
    expect(ctx.clock.now().getTime() - Date.parse(since)).toBeLessThan(3_000)
    expect(await eventsOf(id)).toEqual([
      expect.objectContaining({
        event_type: 'config_altered',
        instance_uid: agent.uid,
        occurred_at: since,
      }),
    ])
    await ctx.advance(5 * MINUTE_MS)
    await look()
    expect((await recordOf(id)).trouble).toMatchObject({ since })
    const [instance] = await get<LiveInstance[]>(`/api/workloads/${id}/instances`)
    expect(instance).toMatchObject({ effective_matches: false, altered_since: since })
    const { items } = await get<DriftOverview>('/api/config-safety/drift')
    expect(items[0]).toMatchObject({ drift_status: 'altered', altered_since: since })
    expect(await eventsOf(id)).toHaveLength(1)
    // An evidence pack that said "in sync" would prove the opposite.
    const asked = { scope: { workload_ids: [id] }, include: { drift_findings: true } }
    const { json } = await invoke(ctx, 'POST /api/reports/evidence-pack', { as: token, body: asked })
    expect((json as EvidencePack).sections[0]!.items[0]).toMatchObject({
      severity: 'warning',
      facts: { drift_status: 'altered', altered_instance_count: 1, altered_since: since },
    })
    // It is no coming and going.
    const { version_changed: count } = await get<{ version_changed: number }>(
      `/api/workloads/${id}/events/stats`,
    )
    expect(count).toBe(0)
  })

  it('is told with its since also where the changed text is known already, as of hosts that one script changed', async () => {
    const agent = await applied()
    const id = agent.workloadId
    agent.effective(CHANGED)
    await look()
    agent.effective(configYaml())
    await look()
    expect(await recordOf(id)).not.toHaveProperty('altered_since')
    agent.effective(CHANGED)
    // The record is made anew before anybody has looked: how many there are is known at once, since when is not.
    await ctx.advance(2_000)
    expect(await recordOf(id)).toMatchObject({ altered_instance_count: 1 })
    await look()
    const { altered_since: since = '' } = await recordOf(id)
    expect(ctx.clock.now().getTime() - Date.parse(since)).toBeLessThan(10_000)
  })

  it('began when it began, also after a restart of the service, and its end is an event as well', async () => {
    const agent = await applied()
    const id = agent.workloadId
    agent.effective(CHANGED)
    await look()
    const { altered_since: since } = await recordOf(id)
    expect(since).toBeDefined()
    await ctx.advance(MINUTE_MS)
    // However old it is: nothing else says since when.
    const { clock } = ctx
    expect(await trimEvents(database.pool, new Date(clock.now().getTime() + MINUTE_MS), 100)).toBe(1)
    await ctx.close()
    ctx.clock.advance(10 * MINUTE_MS)
    await start(ctx.clock)
    const back = fakeAgent(ctx.fleet, { service: 'edge', host: 'h', uid: agent.uid })
    await ctx.advance(1_000)
    back.apply(configHash(configYaml()))
    back.effective(CHANGED)
    await look()
    expect(await recordOf(id)).toMatchObject({ altered_since: since, trouble: { kind: 'altered', since } })
    expect(await eventsOf(id)).toHaveLength(1)
    back.effective(configYaml())
    await look()
    expect(await recordOf(id)).not.toHaveProperty('altered_since')
    expect((await eventsOf(id)).map(({ event_type: type }) => type)).toEqual([
      'config_restored',
      'config_altered',
    ])
  })
})
