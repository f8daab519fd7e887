import { afterAll, beforeEach, expect, it } from 'vitest'
import { listTargets, updateTargets } from '../../../lib/store/push-targets.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let agents: FakeAgent[]
let pushId: string

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database)
  agents = ['pod-b', 'pod-a'].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod }))
  agents[0]!.apply()
  await ctx.advance(300)
  pushId = (await pushConfig(ctx.fleet, agents[0]!.workloadId, configYaml(1))).pushId
})
afterAll(() => ctx.close())

it('stores the targets of a push as they were decided', async () => {
  const stored = await listTargets(database.pool, [pushId])
  const decided = [...ctx.fleet.workload(agents[0]!.workloadId)!.active!.targets.values()]
  expect(stored.map(({ target }) => target)).toEqual(
    decided.sort((a, b) => (a.instanceUid < b.instanceUid ? -1 : 1)),
  )
  expect(stored).toHaveLength(2)
})

it('stores what agents say letter by letter', async () => {
  const stored = await listTargets(database.pool, [pushId])
  const texts = [
    '',
    'NULL',
    '{}',
    'a,b',
    '"',
    '\\',
    '\\"{,}\\\\',
    'one\ntwo\t',
    "it's $1 é 日本 😀",
    ' blank ',
  ]
  for (const text of texts) {
    const said = stored.map(({ target }, n) => ({
      pushId,
      target: {
        ...target,
        podName: text,
        state: 'failed' as const,
        losses: n,
        endedAt: new Date(1_700_000_000_001 + n),
        // Of one target only: the other has none.
        error: n === 0 ? { cause: text, title: text, parameters: { [text]: text, port: 4317 }, text } : null,
      },
    }))
    await updateTargets(database.pool, said)
    expect(await listTargets(database.pool, [pushId])).toEqual(said)
  }
})

it('deletes the targets with their workload', async () => {
  await database.pool.execute('delete from workloads')
  expect(await listTargets(database.pool, [pushId])).toEqual([])
})

it('adds no target to a push that is being deleted', async () => {
  const targets = await listTargets(database.pool, [pushId])
  let late: Promise<void> = Promise.resolve()
  await database.pool.transaction('test', async (tx) => {
    await tx.execute('delete from workloads')
    late = updateTargets(database.pool, targets)
    await untilSomebodyWaits()
  })
  await late
  const [{ count } = { count: -1 }] = await database.pool.query<{ count: number }>(
    'select count(*)::int as count from push_targets',
  )
  expect(count).toBe(0)
})

/** Wait until a statement waits for a lock that another transaction holds. */
async function untilSomebodyWaits(): Promise<void> {
  for (;;) {
    const waiting = await database.pool.query(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%push_targets%'
         and datname = current_database()`,
    )
    if (waiting.length > 0) return
  }
}
