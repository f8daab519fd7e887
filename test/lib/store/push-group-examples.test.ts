import { expect, it } from 'vitest'
import { migrate, readMigrations } from '../../../lib/store/migrate.ts'
import { locateRuntimeFiles } from '../../../runtime/files.ts'
import { fakeClock, recordingLog } from '../../support/fakes.ts'
import { openTestConnection, useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const used = await useTestDatabase()

it('a new installation has no push groups', async () => {
  expect(await database.pool.query('select id from push_groups')).toEqual([])
})

it('an installation that somebody uses keeps its groups, as they were seeded and as they were edited', async () => {
  const connection = await openTestConnection(used.dsn)
  try {
    await connection.execute('drop schema public cascade')
    await connection.execute('create schema public')
    const all = readMigrations(locateRuntimeFiles().migrations)
    const parts = { clock: fakeClock(), log: recordingLog() }
    await migrate(
      connection,
      all.filter(({ version }) => version < 10),
      parts,
    )
    await connection.execute(
      `insert into users (id, email, email_key, password_hash, created_at) values ('00000000-0000-4000-8000-000000000001', 'a@b', 'a@b', '', now())`,
    )
    await connection.execute(`update push_groups set name = 'Ours' where id = 'edge'`)
    await connection.execute(`delete from push_groups where id = 'payments'`)
    await migrate(connection, all, parts)
    expect(await connection.query('select id, name from push_groups order by position')).toEqual([
      { id: 'prod-eu', name: 'Production EU collectors' },
      { id: 'staging', name: 'Staging collectors' },
      { id: 'edge', name: 'Ours' },
    ])
  } finally {
    await connection.close()
  }
})
