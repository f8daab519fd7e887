import { expect, it } from 'vitest'
import { migrate, readMigrations } from '../../../lib/store/migrate.ts'
import { locateRuntimeFiles } from '../../../runtime/files.ts'
import { fakeClock, recordingLog } from '../../support/fakes.ts'
import { openTestConnection, useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

// The first text of 0083, which some databases have run: it was changed later the same day.
const FIRST_TEXT = `alter table managed_configs add column ran_commit_sha text not null default '';
  alter table managed_fleet_configs add column ran_commit_sha text not null default ''`

it('a database that ran the first text of a step which was changed afterwards has all columns in the end', async () => {
  const connection = await openTestConnection(database.dsn)
  try {
    await connection.execute('drop schema public cascade')
    await connection.execute('create schema public')
    const parts = { clock: fakeClock(), log: recordingLog() }
    const all = readMigrations(locateRuntimeFiles().migrations)
    const asItWas = all.map((step) => (step.version === 83 ? { ...step, sql: FIRST_TEXT } : step))
    await migrate(
      connection,
      asItWas.filter(({ version }) => version <= 84),
      parts,
    )
    await migrate(connection, all, parts)
    await expect(
      connection.query('select ran_commit_sha, ran_config_hash from managed_configs'),
    ).resolves.toEqual([])
  } finally {
    await connection.close()
  }
})

it('so does one that ran a step which was numbered anew afterwards', async () => {
  const connection = await openTestConnection(database.dsn)
  try {
    await connection.execute('drop schema public cascade')
    await connection.execute('create schema public')
    const parts = { clock: fakeClock(), log: recordingLog() }
    const all = readMigrations(locateRuntimeFiles().migrations)
    const moved = all.find(({ name }) => name === 'makers-of-tokens')!
    await migrate(
      connection,
      [...all.filter(({ version }) => version < 89), { ...moved, version: 89 }],
      parts,
    )
    await migrate(connection, all, parts)
    await expect(connection.query('select made_by_id, made_by from api_tokens')).resolves.toEqual([])
  } finally {
    await connection.close()
  }
})
