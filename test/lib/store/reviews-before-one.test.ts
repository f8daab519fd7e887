import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'

// The step of the schema by which the last rollback of a workload is looked at alone.

const database = await useTestDatabase()

it('keeps with the last one everybody who had a part in those before it', async () => {
  const { pool } = database
  // As the index was before.
  await pool.execute('drop index reviews_one_open')
  await pool.execute(`create unique index reviews_one_open on reviews (workload_id, kind)
    where reviewed_at is null and kind in ('known_good', 'labels')`)
  await pool.execute(
    `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status, last_seen_at,
       labels, trusted_labels, accepts_remote_config, generation, push_seq, created_at)
     values ('w', 'host', '{}', 'w', 'collector', '', 'connected', now(), '{}', '{}', true, 0, 0, now())`,
  )
  const add = (id: string, by: string, hour: number) =>
    pool.execute(
      `insert into reviews (id, kind, workload_id, reason, done_by, author_ids, done_at)
       values ($1, 'rollback', 'w', '', $2, array[$2], $3)`,
      [id, by, new Date(Date.UTC(2026, 10, 1, hour))],
    )
  await add('first', 'eve', 1)
  await add('last', 'bob', 2)
  const sql = await readFile(
    new URL('../../../migrations/0094-one-open-review-of-rollbacks.sql', import.meta.url),
    'utf8',
  )
  await pool.execute(sql)
  const rows = await pool.query<{ id: string; done_by: string; author_ids: string[] }>(
    'select id, done_by, author_ids from reviews',
  )
  expect(rows).toMatchObject([{ id: 'last', done_by: 'bob, eve' }])
  expect([...rows[0]!.author_ids].sort()).toEqual(['bob', 'eve'])
})
