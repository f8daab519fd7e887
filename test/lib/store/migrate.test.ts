import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection } from '../../../lib/store/connection.ts'
import { type Migration, migrate, readMigrations } from '../../../lib/store/migrate.ts'
import { eventually } from '../../support/eventually.ts'
import { fakeClock, recordingLog } from '../../support/fakes.ts'
import { openTestConnection, useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const clock = fakeClock()
let connection: Connection

const step = (version: number, more: Partial<Migration> = {}): Migration => ({
  version,
  name: `step-${version}`,
  isBreaking: false,
  sql: `CREATE TABLE step_${version} (n integer)`,
  ...more,
})

/** Make the table of migrations look as if only these had ever run. */
async function startFrom(migrations: Migration[]): Promise<void> {
  await connection.execute('DELETE FROM schema_migrations')
  await migrate(connection, migrations, { clock, log: recordingLog() })
}

beforeAll(async () => {
  connection = await openTestConnection(database.dsn)
})
afterAll(() => connection.close())

describe('migrate', () => {
  it('applies what is missing, once, and remembers when', async () => {
    await startFrom([step(101)])
    expect(await migrate(connection, [step(101), step(102)], { clock, log: recordingLog() })).toEqual([102])
    expect(await migrate(connection, [step(101), step(102)], { clock, log: recordingLog() })).toEqual([])
    const rows = await connection.query('SELECT version, applied_at FROM schema_migrations ORDER BY version')
    expect(rows).toEqual([
      { version: 101, applied_at: clock.now() },
      { version: 102, applied_at: clock.now() },
    ])
  })

  it('lets others pass while somebody holds a table, as a backup does, and goes on once that is over', async () => {
    await startFrom([step(120)])
    const holder = await openTestConnection(database.dsn)
    const other = await openTestConnection(database.dsn)
    const log = recordingLog()
    try {
      await holder.query('BEGIN')
      await holder.query('LOCK TABLE step_120 IN ACCESS SHARE MODE')
      const alter = step(121, { sql: 'ALTER TABLE step_120 ADD COLUMN m integer' })
      const done = migrate(connection, [step(120), alter], { clock, log })
      await eventually('it says that it waits', async () => log.lines.length > 0)
      expect(log.lines).toMatchObject([{ level: 'warn', fields: { version: 121 } }])
      // Readers are not kept waiting behind the step for as long as the backup takes.
      expect(await other.query('SELECT * FROM step_120')).toEqual([])
      await holder.query('COMMIT')
      expect(await done).toEqual([121])
    } finally {
      await holder.close()
      await other.close()
    }
  })

  it('leaves nothing of a step that fails', async () => {
    await startFrom([])
    const failing = step(103, { sql: 'CREATE TABLE step_103 (n integer); SELECT 1/0' })
    await expect(migrate(connection, [failing], { clock, log: recordingLog() })).rejects.toThrow(
      'division by zero',
    )
    expect(await connection.query("SELECT to_regclass('step_103') AS found")).toEqual([{ found: null }])
    expect(await connection.query('SELECT version FROM schema_migrations')).toEqual([])
  })

  it('runs against a newer harmless migration with a warning', async () => {
    await startFrom([step(104), step(105)])
    const log = recordingLog()
    expect(await migrate(connection, [step(104)], { clock, log })).toEqual([])
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { versions: [105] } }])
  })

  it('refuses a newer migration that breaks it, by name', async () => {
    await startFrom([step(106), step(107, { isBreaking: true })])
    await expect(migrate(connection, [step(106)], { clock, log: recordingLog() })).rejects.toThrow(
      'migration 107 (step-107) of a newer muster breaks this one, whose newest is 106',
    )
  })

  it('puts the statement time-out back', async () => {
    await startFrom([step(108)])
    expect(await connection.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '30s' }])
  })
})

describe('reading migrations', () => {
  const read = async (files: Record<string, string>) => {
    const directory = await mkdtemp(join(tmpdir(), 'muster-migrations-'))
    try {
      for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
      return readMigrations(directory)
    } finally {
      await rm(directory, { recursive: true })
    }
  }

  it('takes version, name and breaking from file name and first line', async () => {
    const files = {
      '0002-b.sql': '-- breaks older binaries: yes\nB',
      '0001-a.sql': '-- breaks older binaries: no\nA',
    }
    expect(await read(files)).toMatchObject([
      { version: 1, name: 'a', isBreaking: false },
      { version: 2, name: 'b', isBreaking: true },
    ])
  })

  it('refuses a file that does not say whether it breaks older binaries', async () => {
    await expect(read({ '0001-a.sql': 'SELECT 1' })).rejects.toThrow('0001-a.sql')
  })

  it('refuses two files with one version', async () => {
    const first = '-- breaks older binaries: no'
    await expect(read({ '0001-a.sql': first, '0001-b.sql': first })).rejects.toThrow('version 1')
  })
})
