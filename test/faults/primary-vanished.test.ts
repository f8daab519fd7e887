import { expect, test } from 'vitest'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { untilStored, useReplicatedPair } from './support/replicated-pair.ts'
import type { OneOfSeveral } from './support/several.ts'

const AGENTS = 20
/** For how long there is no primary. */
const AWAY_MS = 6_000
/** A change is stored so soon after the new primary takes writes. */
const STORED_WITHIN_MS = 5_000
let way: DatabaseProxy
const openWay = async (primaryDsn: string) => {
  way = await startDatabaseProxy(primaryDsn)
  return way
}
const pair = useReplicatedPair(AGENTS, {}, openWay)

/** Let each agent report another health, over and over; the answer ends that. */
function keepReporting(): () => Promise<unknown> {
  let isOver = false
  const reporting = pair.loads.all.map(async (load) => {
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
  const { postgres, several, loads } = pair
  const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral]
  await loads.storedWorkload()
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
