import { access, constants, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../lib/log.ts'
import { openConnection } from '../../lib/store/connection.ts'
import { raiseEpoch } from '../../lib/store/lock-statements.ts'
import { migrate, readMigrations } from '../../lib/store/migrate.ts'
import { bundleWorkersForCheckout, ROOT } from '../../runtime/build/bundle.mjs'
import { findFreePort } from '../../runtime/quickstart/ports.ts'
import { startPostgres } from '../../runtime/quickstart/postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The connection string of the test PostgreSQL's own database; see `createTestDatabase`. */
    postgresUrl: string
    /** The URL of the folder with the bundled worker threads; it ends with a slash. */
    workersUrl: string
  }
}

/** The migrated database that every test database is a copy of. */
const TEMPLATE = 'muster_template'

const MEMORY_FOLDER = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 1_024 ** 3

/** The folder for the database: in memory where there is enough, since databases are made and dropped all the time. */
async function chooseFolder(): Promise<string> {
  try {
    await access(MEMORY_FOLDER, constants.W_OK)
    const { bavail, bsize } = await statfs(MEMORY_FOLDER)
    return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY_FOLDER : tmpdir()
  } catch {
    return tmpdir()
  }
}

/**
 * One PostgreSQL for the whole run, in a folder of its own that is removed afterwards: the embedded 18, or the one
 * whose programs lie in the folder MUSTER_TEST_POSTGRES.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(await chooseFolder(), 'muster-test-postgres-'))
  const programs = process.env['MUSTER_TEST_POSTGRES']
  const postgres = await startPostgres({
    ...(programs ? { programs } : {}),
    directory: join(directory, 'data'),
    port: await findFreePort('127.0.0.1'),
    password: 'test',
    // Nothing here has to survive a crash.
    settings: ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'],
  })
  const admin = await openConnection({
    dsn: postgres.dsn('postgres'),
    applicationName: 'muster-test',
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 30_000,
    clock: systemClock,
  })
  await admin.query(`CREATE DATABASE ${TEMPLATE}`)
  await admin.close()
  const connection = await openConnection({
    dsn: postgres.dsn(TEMPLATE),
    applicationName: 'muster-test',
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 30_000,
    clock: systemClock,
  })
  const directoryOfMigrations = fileURLToPath(new URL('../../migrations', import.meta.url))
  await raiseEpoch(connection, systemClock.now())
  await migrate(connection, readMigrations(directoryOfMigrations), {
    clock: systemClock,
    log: silentLog,
  })
  await connection.close()
  project.provide('postgresUrl', postgres.dsn('postgres'))
  // Inside the repository, so that the threads find node_modules; one folder for each run, so that two runs do not
  // share it.
  const workers = join(ROOT, '.cache', `test-workers-${process.pid}`)
  await bundleWorkersForCheckout(workers)
  project.provide('workersUrl', pathToFileURL(`${workers}/`).href)
  return async () => {
    await postgres.stop()
    await rm(workers, { recursive: true, force: true })
    await rm(directory, { recursive: true, force: true })
  }
}
