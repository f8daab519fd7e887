import { expect, it } from 'vitest'
import { ReportedTexts } from '../../../lib/links/reported-texts.ts'
import { DatabaseUnavailable, type Db } from '../../../lib/store/db.ts'
import { findReportedConfig } from '../../../lib/store/reported-configs.ts'
import { fakeClock, recordingLog } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

function textsOver(db: Db) {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  return { texts: new ReportedTexts({ db, clock, timers, log: recordingLog() }), timers }
}

it('wait up to 32 MiB while the database is away, and are stored when it is back', async () => {
  let isAway = true
  const db: Db = {
    query: (...of) => database.pool.query(...of),
    execute: (...of) =>
      isAway ? Promise.reject(new DatabaseUnavailable('away')) : database.pool.execute(...of),
  }
  const { texts } = textsOver(db)
  const body = 'x'.repeat(8 * 1_048_576)
  expect([1, 2, 3, 4].map((n) => texts.reportedConfig({ hash: `h${n}`, body }))).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(texts.hasRoomForConfigs).toBe(false)
  expect(texts.reportedConfig({ hash: 'h5', body: 'small' })).toBe(false)
  await texts.store()
  expect(texts.hasRoomForConfigs).toBe(false)
  isAway = false
  await texts.store()
  expect(texts.hasRoomForConfigs).toBe(true)
  expect(await findReportedConfig(database.pool, 'h4')).toBe(body)
})

it('that the database refuses keep none of the others waiting', async () => {
  const { texts } = textsOver(database.pool)
  texts.reportedConfig({ hash: 'bad', body: 'a\u0000b' })
  texts.reportedConfig({ hash: 'good', body: 'fine' })
  for (let round = 0; round < 3; round++) await texts.store()
  expect(await findReportedConfig(database.pool, 'good')).toBe('fine')
  expect(await findReportedConfig(database.pool, 'bad')).toBeNull()
})

it('are all stored when a front closes, however many wait', async () => {
  const { texts } = textsOver(database.pool)
  for (let n = 0; n < 250; n++) texts.reportedConfig({ hash: `many${n}`, body: 'small' })
  await texts.storeAll()
  const rows = await database.pool.query(`select from reported_configs where hash like 'many%'`)
  expect(rows).toHaveLength(250)
})

it('are all stored when a front closes while some are being stored', async () => {
  const { texts } = textsOver(database.pool)
  for (let n = 0; n < 150; n++) texts.reportedConfig({ hash: `late${n}`, body: 'small' })
  const underWay = texts.store()
  await texts.storeAll()
  const rows = await database.pool.query(`select from reported_configs where hash like 'late%'`)
  expect(rows).toHaveLength(150)
  await underWay
})

it('keep no front from closing while the database is away', async () => {
  const away = () => Promise.reject(new DatabaseUnavailable('away'))
  const { texts } = textsOver({ query: away, execute: away })
  texts.reportedConfig({ hash: 'late', body: 'small' })
  await texts.storeAll()
  expect(await findReportedConfig(database.pool, 'late')).toBeNull()
})
