import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  claimDelivery,
  deleteDelivery,
  insertDeliveries,
  nextDueAt,
} from '../../../lib/store/webhook-deliveries.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const NOW = new Date('2026-01-01T00:00:00Z')

const DELAYS = [60, 300, 0]
const later = (ms: number) => new Date(NOW.getTime() + ms)

// PostgreSQL chooses how to join by the size that it believes a table has, which it updates only now and then.
test.each([1, 2, 7])('takes one delivery at a time from a table last seen with %i', async (seen) => {
  const { pool } = database
  await pool.execute('truncate webhook_deliveries')
  const owed = Array.from({ length: 7 }, (_, n) => ({ id: randomUUID(), alertId: `a${n}`, body: '{}' })).sort(
    (a, b) => (a.id < b.id ? -1 : 1),
  )
  await insertDeliveries(pool, owed.slice(0, seen), NOW)
  await pool.execute('vacuum analyze webhook_deliveries')
  await insertDeliveries(pool, owed.slice(seen), NOW)

  const taken: (string | undefined)[] = []
  for (let n = 0; n <= owed.length; n++) taken.push((await claimDelivery(pool, NOW, DELAYS))?.id)
  expect(taken).toEqual([...owed.map(({ id }) => id), undefined])
})

test('does not take one that another worker, whose clock read a little later, has just taken', async () => {
  const { pool } = database
  await pool.execute('truncate webhook_deliveries')
  await insertDeliveries(pool, [{ id: randomUUID(), alertId: 'a', body: '{}' }], NOW)
  expect((await claimDelivery(pool, NOW, DELAYS))?.attempts).toBe(1)

  expect((await claimDelivery(pool, later(60_002), DELAYS))?.attempts).toBe(2)
  expect(await claimDelivery(pool, later(60_000), DELAYS)).toBeNull()
  expect(await claimDelivery(pool, later(300_000), DELAYS)).toBeNull()
  expect((await claimDelivery(pool, later(360_002), DELAYS))?.attempts).toBe(3)
})

test('takes one at once when the clock was put back by far', async () => {
  const { pool } = database
  await pool.execute('truncate webhook_deliveries')
  await insertDeliveries(pool, [{ id: randomUUID(), alertId: 'a', body: '{}' }], NOW)
  expect((await claimDelivery(pool, later(-3_600_000), DELAYS))?.attempts).toBe(1)
})

test('takes no later one about the same before the earlier one has ended, whatever becomes of that', async () => {
  const { pool } = database
  await pool.execute('truncate webhook_deliveries')
  const tell = (alertId: string, body: string, at = NOW) =>
    insertDeliveries(pool, [{ id: randomUUID(), alertId, body }], at)
  const take = async (ms: number) => await claimDelivery(pool, later(ms), DELAYS)
  await tell('r1', 'requested')
  // The clock was put back between them.
  await tell('r1', 'approved', later(-5))
  await tell('r1', 'pushed')
  await tell('r2', 'other')
  const taken = [await take(0), await take(0)]
  expect([...taken.map((one) => one?.body).sort(), await take(0)]).toEqual(['other', 'requested', null])
  await deleteDelivery(pool, taken.find((one) => one?.body === 'other')!.id)
  const first = taken.find((one) => one?.body === 'requested')!
  // Nothing is due until the first one is tried again: a look before that would find nothing.
  expect(await nextDueAt(pool)).toEqual(later(60_000))
  expect(await take(60_000)).toMatchObject({ body: 'requested', attempts: 2 })
  expect(await take(360_000)).toMatchObject({ body: 'requested', attempts: 3 })
  expect(await take(360_000)).toBeNull()
  for (const body of ['approved', 'pushed']) {
    const before = body === 'approved' ? first : taken[0]!
    await deleteDelivery(pool, before.id)
    taken[0] = (await take(360_000))!
    expect(taken[0]).toMatchObject({ body })
  }
})
