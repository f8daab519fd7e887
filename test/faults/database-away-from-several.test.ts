import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../e2e/support/service.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { configOf } from './support/fleet.ts'
import { Loads } from './support/loads.ts'
import { type Several, startSeveral } from './support/several.ts'

const PROCESSES = 3
const AGENTS = 50
/**
 * Longer than an owner may act without a renewal, than other members wait for a silent owner, and than the grace of an
 * agent that is away.
 */
const AWAY_MS = 60_000
const BEAT_MS = 500
/** The owner has the database back this much later than the others, which leave it the precedence for ten seconds. */
const OWNER_LATER_MS = 4_000
/** The way to the database of the owner, and that of the others. */
let ownersWay: DatabaseProxy
let othersWay: DatabaseProxy
let several: Several
let loads: Loads

beforeAll(async () => {
  const dsn = await createDatabase()
  ownersWay = await startDatabaseProxy(dsn)
  othersWay = await startDatabaseProxy(dsn)
  const ofProcess = (index: number) => (index === 0 ? ownersWay.dsn : othersWay.dsn)
  several = await startSeveral(PROCESSES, { dsn: { ofProcess, ofTest: () => dsn } })
  loads = await Loads.connect(several, AGENTS)
})
afterAll(async () => {
  loads?.end()
  await several?.end()
  await ownersWay?.close()
  await othersWay?.close()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('a database that is away for a minute takes nobody from three processes, and a push that stood is finished', {
  timeout: 240_000,
}, async () => {
  const [first] = several.all
  const workloadId = await loads.storedWorkload()
  loads.beat(BEAT_MS)
  const yaml = configOf('pushed right before the database went away')
  await first!.api.pushConfig(workloadId, yaml)
  ownersWay.goAway()
  othersWay.goAway()
  for (const load of loads.all) load.resetStats()

  await pause(AWAY_MS / 2)
  const during = await Promise.all(several.all.map(({ api }) => api.call('GET', '/api/workloads')))
  await pause(AWAY_MS / 2)
  // Every agent is where it was, and each beat was answered, at the owner and at both fronts.
  loads.expectNobodyCut()
  const fewest = (AGENTS * AWAY_MS) / BEAT_MS / 2
  for (const load of loads.all) expect(load.stats().replies.count).toBeGreaterThan(fewest)
  // What needs the database is refused as such, and nothing else happened to those who asked.
  for (const { status } of during) expect([200, 503]).toContain(status)
  othersWay.comeBack()
  await pause(OWNER_LATER_MS)
  ownersWay.comeBack()

  await loads.everybodyRuns(yaml)
  await loads.storedAsApplied()
  // The owner had precedence when the database was back: no other process took its place, and none gave up.
  const [found] = await several.rows<{ epoch: number }>('select epoch::int from process_epoch')
  expect(found!.epoch).toBe(1)
  expect(several.all.map((one) => one.running().hasEnded())).toEqual([false, false, false])
  await eventually('each is ready and serves', async () => {
    const answers = await Promise.all(several.all.map(({ api }) => api.call('GET', '/api/workloads')))
    return answers.every(({ status }) => status === 200)
  })
  // One more push, so that all is well beyond what was kept.
  const next = configOf('pushed after the database was back')
  await first!.api.pushConfig(workloadId, next)
  await loads.everybodyRuns(next)
  loads.expectNobodyCut()
  const [events] = await several.rows<{ n: number }>(
    `select count(*)::int as n from workload_events where event_type <> 'connected'`,
  )
  expect(events!.n).toBe(0)
})
