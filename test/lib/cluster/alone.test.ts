import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { Alone } from '../../../lib/cluster/alone.ts'
import type { Db } from '../../../lib/store/db.ts'
import { type FakeClock, fakeClock, type RecordingLog, recordingLog } from '../../support/fakes.ts'
import { writeMember } from '../../support/owners.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// A process without an internal address, on a database that members of a fleet of processes use.

const database = await useTestDatabase()
let clock: FakeClock
let log: RecordingLog
let alone: Alone

beforeEach(async () => {
  await database.pool.execute('delete from members')
  clock = fakeClock()
  log = recordingLog()
  alone = new Alone({ clock, log })
})
afterAll(() => database.pool.execute('delete from members'))

const member = (seen: string) => writeMember(database.pool, { id: 'one', address: '127.0.0.1:9' }, seen)
const ask = (db: Db = database.pool) => alone.mayClaim(db)
/** Ask three times a second for so many seconds; returns the last answer. */
async function askFor(seconds: number): Promise<boolean> {
  let answer = await ask()
  for (let asked = 0; asked < seconds * 3; asked++) {
    clock.advance(334)
    answer = await ask()
  }
  return answer
}
/** The database answers nothing for a while, and members are as silent as that makes them. */
async function outage(seconds: number): Promise<void> {
  const away = { query: () => Promise.reject(new Error('away')) } as unknown as Db
  await expect(ask(away)).rejects.toThrow('away')
  clock.advance(seconds * 1_000)
}

it('may claim at once where there is no member', async () => {
  expect(await ask()).toBe(true)
})

it('waits as long as one speaks, and says so once', async () => {
  await member('0 seconds')
  expect(await askFor(3)).toBe(false)
  expect(log.lines.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^standing by while these serve/),
  ])
})

describe('a member that has been silent for more than four seconds', () => {
  it('may have had no database to speak to as this process began: it is waited for', async () => {
    await member('-50 seconds')
    expect(await askFor(9)).toBe(false)
    expect(await askFor(2)).toBe(true)
  })

  it('is gone where the database has answered all along', async () => {
    await member('1 hour')
    expect(await askFor(11)).toBe(false)
    await database.pool.execute(`update members set seen_at = clock_timestamp() - interval '5 seconds'`)
    expect(await ask()).toBe(true)
  })

  it.each([
    ['did not answer', () => outage(5)],
    [
      'answered late',
      async () => {
        const slow = {
          query: async (text: string, params?: readonly unknown[]) => {
            clock.advance(1_500)
            return database.pool.query(text, params)
          },
        } as Db
        await ask(slow)
      },
    ],
  ])('is waited for after a time in which the database %s', async (_how, trouble) => {
    await member('1 hour')
    await askFor(11)
    await trouble()
    await database.pool.execute(`update members set seen_at = clock_timestamp() - interval '5 seconds'`)
    expect(await askFor(9)).toBe(false)
    expect(await askFor(2)).toBe(true)
  })
})
