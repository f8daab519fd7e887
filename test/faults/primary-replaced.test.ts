import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { configOf } from './support/fleet.ts'
import { Loads } from './support/loads.ts'
import { type ReplicatedPostgres, startReplicatedPostgres } from './support/replicated-postgres.ts'
import { type OneOfSeveral, type Several, startSeveral } from './support/several.ts'

const AGENTS = 30
/** For how long there is no primary: longer than an owner may act without a renewal. */
const AWAY_MS = 6_000
let postgres: ReplicatedPostgres
let several: Several
let loads: Loads

beforeAll(async () => {
  postgres = await startReplicatedPostgres()
  several = await startSeveral(2, {
    dsn: { ofProcess: () => postgres.dsn, ofTest: () => postgres.primaryDsn() },
  })
  loads = await Loads.connect(several, AGENTS)
  loads.beat(1_000)
})
afterAll(async () => {
  loads?.end()
  await several?.end()
  await postgres?.stop()
})

/** Wait until a change through this process is done. */
async function untilDone({ api }: OneOfSeveral, theme: string): Promise<void> {
  await eventually(
    'a change is done',
    async () => {
      const { status } = await api.call('PUT', '/api/me/preferences', { theme, language: 'en' })
      expect([200, 204, 503]).toContain(status)
      return status < 300
    },
    { everyMs: 50 },
  )
}

/** A client that asks the new primary once a second, as long as the work lasts; returns how often it did. */
async function asksDuring(work: Promise<unknown>): Promise<number> {
  const over = work.then(() => true)
  for (let asked = 0; ; asked++) {
    await several.rows('select 1')
    const second = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 1_000))
    if (await Promise.race([over, second])) return asked
  }
}

test('a primary that is killed and replaced by its standby takes no agent and nothing that was acknowledged', async () => {
  const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral]
  const workloadId = await loads.storedWorkload()
  const yaml = configOf('acknowledged right before the primary died')
  const label = `/api/workloads/${workloadId}/trusted-labels`
  await owner.api.pushConfig(workloadId, yaml)
  expect((await front.api.call('PUT', label, { labels: { team: 'last words' } })).status).toBeLessThan(300)
  await postgres.killPrimary()
  const { status } = await front.api.call('PUT', label, { labels: { team: 'too late' } })
  expect(status).toBe(503)
  expect(several.all.map((one) => one.running().hasEnded())).toEqual([false, false])
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS))
  for (const load of loads.all) expect(load.stats().open).toBe(AGENTS)
  await postgres.promote()

  // Each process is ready before a client that knows the new primary has asked it for the sixth time.
  const done = Promise.all([untilDone(owner, 'dark'), untilDone(front, 'light')])
  expect(await asksDuring(done)).toBeLessThanOrEqual(5)
  const [labels] = await several.rows<{ team: string }>(
    `select trusted_labels ->> 'team' as team from workloads`,
  )
  expect(labels!.team).toBe('last words')
  await loads.everybodyRuns(yaml)
  await loads.storedAsApplied()

  // The same process owns, no other has taken its place, and no socket was lost.
  const [found] = await several.rows<{ epoch: number }>('select epoch::int from process_epoch')
  expect(found!.epoch).toBe(1)
  loads.expectNobodyCut()
  expect(await owner.api.get('/api/audit/verify')).toMatchObject({ valid: true })
})
