import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

it('the last rollback of a workload keeps everybody who had a part in those before it, which nobody had looked at, and since when these wait', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(94))
    await connection.execute(
      `insert into workloads (id, fingerprint_source, fingerprint_keys, display_name, type, version, status, last_seen_at,
         labels, trusted_labels, accepts_remote_config, generation, push_seq, created_at)
       values ('w', 'host', '{}', 'w', 'collector', '', 'connected', now(), '{}', '{}', true, 0, 0, now())`,
    )
    await connection.execute(
      `insert into reviews (id, kind, workload_id, reason, done_by, author_ids, done_at) values
         ('first', 'rollback', 'w', '', 'eve', '{eve}', '2026-11-01T01:00:00Z'),
         ('last', 'rollback', 'w', '', 'bob', '{bob}', '2026-11-01T02:00:00Z')`,
    )
    await run(all)
    const rows = await connection.query<{ id: string; author_ids: string[] }>(
      'select id, done_by, done_at, author_ids from reviews',
    )
    const since = new Date('2026-11-01T01:00:00Z')
    expect(rows).toMatchObject([{ id: 'last', done_by: 'bob, eve', done_at: since }])
    expect([...rows[0]!.author_ids].sort()).toEqual(['bob', 'eve'])
  })
})
