import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { Loads } from './support/loads.ts'
import { type ReplicatedPostgres, startReplicatedPostgres } from './support/replicated-postgres.ts'
import { type OneOfSeveral, type Several, startSeveral } from './support/several.ts'

const AGENTS = 20
/** For how long there is no primary. */
const AWAY_MS = 6_000
/** A change is stored so soon after the new primary takes writes. */
const STORED_WITHIN_MS = 5_000
let postgres: ReplicatedPostgres
let way: DatabaseProxy
let several: Several
let loads: Loads

beforeAll(async () => {
  postgres = await startReplicatedPostgres()
  way = await startDatabaseProxy(postgres.primaryDsn())
  const { host } = new URL(postgres.primaryDsn())
  const dsn = postgres.dsn.replace(host, new URL(way.dsn).host)
  several = await startSeveral(2, {
    dsn: { ofProcess: () => dsn, ofTest: () => postgres.primaryDsn() },
  })
  loads = await Loads.connect(several, AGENTS)
  loads.beat(1_000)
  await loads.storedWorkload()
})
afterAll(async () => {
  loads?.end()
  await several?.end()
  await way?.close()
  await postgres?.stop()
})

/** Wait until a change through this process is stored; answers with how long that took, in ms. */
async function untilStored({ api }: OneOfSeveral, theme: string): Promise<number> {
  const fromMs = performance.now()
  await eventually(
    'a change is stored',
    async () => {
      const { status } = await api.call('PUT', '/api/me/preferences', { theme, language: 'en' })
      expect([200, 204, 503]).toContain(status)
      return status < 300
    },
    { everyMs: 50 },
  )
  return performance.now() - fromMs
}

/** Let each agent report another health, over and over; the answer ends that. */
function keepReporting(): () => Promise<unknown> {
  let isOver = false
  const reporting = loads.all.map(async (load) => {
    while (!isOver) {
      await load.changeHealth({ rounds: 3 })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })
  return () => {
    isOver = true
    return Promise.all(reporting)
  }
}

test('where the host of the primary vanishes without a word, changes are stored soon after a replica took its place', async () => {
  const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral]
  const stopReporting = keepReporting()
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  way.vanish()
  await postgres.stopReplication()
  // What is asked meanwhile may wait for the former primary, and keeps nothing from those that come later.
  const asked = Promise.all([untilStored(owner, 'dark'), untilStored(front, 'light')])
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS))
  await postgres.promote()
  const took = await Promise.all([untilStored(owner, 'dark'), untilStored(front, 'light')])
  await asked
  await stopReporting()
  expect(Math.max(...took)).toBeLessThan(STORED_WITHIN_MS)

  // The same process owns, and no socket was lost.
  const [found] = await several.rows<{ epoch: number }>('select epoch::int from process_epoch')
  expect(found!.epoch).toBe(1)
  expect(several.all.map((one) => one.running().hasEnded())).toEqual([false, false])
  loads.expectNobodyCut()
  expect(await owner.api.get('/api/audit/verify')).toMatchObject({ valid: true })
})
