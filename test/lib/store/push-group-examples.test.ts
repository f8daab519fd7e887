import { expect, it } from 'vitest'
import { useTestDatabase } from '../../support/postgres.ts'
import { onEmptySchema } from '../../support/schema-steps.ts'

const database = await useTestDatabase()
const used = await useTestDatabase()

it('a new installation has no push groups', async () => {
  expect(await database.pool.query('select id from push_groups')).toEqual([])
})

it('an installation that somebody uses keeps its groups, as they were seeded and as they were edited', async () => {
  await onEmptySchema(used, async ({ connection, all, before, run }) => {
    await run(before(10))
    await connection.execute(
      `insert into users (id, email, email_key, password_hash, created_at) values ('00000000-0000-4000-8000-000000000001', 'a@b', 'a@b', '', now())`,
    )
    await connection.execute(`update push_groups set name = 'Ours' where id = 'edge'`)
    await connection.execute(`delete from push_groups where id = 'payments'`)
    await run(all)
    expect(await connection.query('select id, name from push_groups order by position')).toEqual([
      { id: 'prod-eu', name: 'Production EU collectors' },
      { id: 'staging', name: 'Staging collectors' },
      { id: 'edge', name: 'Ours' },
    ])
  })
})
