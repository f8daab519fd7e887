import type { Connection } from '../../lib/store/connection.ts'
import { type Migration, migrate, readMigrations } from '../../lib/store/migrate.ts'
import { locateRuntimeFiles } from '../../runtime/files.ts'
import { fakeClock, recordingLog } from './fakes.ts'
import { openTestConnection, type TestDatabase } from './postgres.ts'

/** A database without any table, and the steps by which its schema is made. */
export interface EmptySchema {
  connection: Connection
  /** All steps of this tree, by version. */
  all: readonly Migration[]
  /** Those before a version. */
  before(version: number): Migration[]
  /** Run those of these steps that the database has not run. */
  run(steps: readonly Migration[]): Promise<void>
}

/** Empty a test database, and do something with it on a connection of its own: for what an upgrade finds in it. */
export async function onEmptySchema(
  database: TestDatabase,
  work: (schema: EmptySchema) => Promise<void>,
): Promise<void> {
  const connection = await openTestConnection(database.dsn)
  const all = readMigrations(locateRuntimeFiles().migrations)
  const parts = { clock: fakeClock(), log: recordingLog() }
  try {
    await connection.execute('drop schema public cascade')
    await connection.execute('create schema public')
    await work({
      connection,
      all,
      before: (version) => all.filter((step) => step.version < version),
      run: async (steps) => void (await migrate(connection, [...steps], parts)),
    })
  } finally {
    await connection.close()
  }
}
