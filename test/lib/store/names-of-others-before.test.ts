import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()

it('what was handed over before an upgrade is with the heir’s account, with whom the others had named of it', async () => {
  await onEmptySchema(database, async ({ connection, all, before, run }) => {
    await run(before(118))
    // Of 'a' the heir spoke for what the first had asked for; of 'b' an account asked that nothing is known of.
    await connection.execute(
      `insert into commit_claims (config_hash, by_id, place, owner, since, has_run, claimed_at)
       select repeat(hash, 64), by_id, 'w', owner, since::timestamptz, false, claimed_at::timestamptz from (values
         ('a', 'first', 'shop', '2026-01-01', '2026-01-01'), ('a', 'heir', 'shop', '2026-01-01', '2026-01-03'),
         ('a', 'else', 'edge', '2026-01-02', null), ('b', 'gone', 'shop', '2026-01-02', '2026-01-02'))
         as of (hash, by_id, owner, since, claimed_at)`,
    )
    await connection.execute(
      `insert into unseen_texts (place, config_hash, owner, by_id, noted_at)
       select 'w', repeat(hash, 64), 'shop', by_id, now()
       from (values ('a', 'first'), ('a', 'heir'), ('b', '')) as of (hash, by_id)`,
    )
    await connection.execute(
      `insert into commit_authors (config_hash, name, noted_at, said, by_id)
       select repeat(hash, 64), name, '2026-01-02', name, by_id
       from (values ('a', 'ann', 'first'), ('a', 'bob', 'else'), ('b', 'carl', 'gone')) as of (hash, name, by_id)`,
    )
    await run(all)
    const claims = await connection.query(
      `select left(config_hash, 1) || ' ' || by_id as claim, since::date::text as day from commit_claims order by 1`,
    )
    expect(claims).toEqual([
      { claim: 'a else', day: '2026-01-02' },
      { claim: 'a first', day: '2026-01-01' },
      { claim: 'a heir', day: '2026-01-03' },
      { claim: 'b gone', day: '2026-01-02' },
    ])
    const told = async (what: string, table: string) =>
      (await connection.query<{ is: string }>(`select ${what} as is from ${table} order by 1`)).map(
        ({ is }) => is,
      )
    expect(await told(`concat_ws(' ', left(config_hash, 1), by_id)`, 'unseen_texts')).toEqual([
      'a first',
      'a heir',
      'b ',
      'b gone',
    ])
    expect(await told(`concat_ws(' ', left(config_hash, 1), name, by_id)`, 'commit_authors')).toEqual([
      'a ann first',
      'a ann heir',
      'a bob else',
      'b carl gone',
    ])
  })
})

it('an older version notes what it is asked for, and when that is approved, as it did', async () => {
  await onEmptySchema(database, async ({ connection, all, run }) => {
    await run(all)
    for (let times = 0; times < 2; times++)
      await connection.execute(
        `insert into commit_claims as l (config_hash, by_id, place, owner, since, has_run, run_at, claimed_at)
         values (repeat('a', 64), 'one', 'w', 'shop', now(), true, now(), now())
         on conflict (config_hash, by_id, place) do update set owner = excluded.owner,
           since = least(l.since, excluded.since), has_run = l.has_run or excluded.has_run,
           run_at = case when l.has_run then coalesce(l.run_at, now()) else excluded.run_at end,
           approved_at = greatest(l.approved_at, excluded.approved_at)`,
      )
    await connection.execute(
      `update commit_claims l set approved_at = greatest(l.approved_at, now()) where l.place = 'w'`,
    )
    expect(await connection.query('select owner from commit_claims')).toEqual([{ owner: 'shop' }])
  })
})
