import { expect, it } from 'vitest'
import { migrate, readMigrations } from '../../../lib/store/migrate.ts'
import { locateRuntimeFiles } from '../../../runtime/files.ts'
import { fakeClock, recordingLog } from '../../support/fakes.ts'
import { openTestConnection, useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

it('the labels of stored push groups, which meant what operators set, say so', async () => {
  const connection = await openTestConnection(database.dsn)
  try {
    await connection.execute('drop schema public cascade')
    await connection.execute('create schema public')
    const all = readMigrations(locateRuntimeFiles().migrations)
    const parts = { clock: fakeClock(), log: recordingLog() }
    const before = all.filter(({ version }) => version < 13)
    await migrate(connection, before, parts)
    await connection.execute(
      `insert into push_groups (id, name, description, selector) values
         ('all', 'All', '', '{"types": ["collector"]}'),
         ('none', 'None', '', '{"match_labels": {}, "versions": ["1"]}'),
         ('prod', 'Prod', '', '{"match_labels": {"env": "prod", "a/b": "c"}, "types": ["sdk"]}')`,
    )
    await migrate(connection, all, parts)
    expect(await connection.query('select id, selector from push_groups order by id')).toEqual([
      { id: 'all', selector: { types: ['collector'] } },
      { id: 'none', selector: { match_labels: {}, versions: ['1'] } },
      {
        id: 'prod',
        selector: { match_labels: { 'muster/env': 'prod', 'muster/a/b': 'c' }, types: ['sdk'] },
      },
    ])
  } finally {
    await connection.close()
  }
})
