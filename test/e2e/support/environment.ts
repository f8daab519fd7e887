import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { startPostgres } from '../../../runtime/quickstart/postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The connection string of a PostgreSQL of this run, without the database's name. */
    e2ePostgresUrl: string
    /** False where there is no Go to build a collector with; the tests are then skipped. */
    hasCollector: boolean
  }
}

/** The repository's top folder. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const SOURCES = ['functions', 'lib', 'migrations', 'runtime', 'package.json']

/** When a file was changed last, or the newest of a folder's; 0 when there is none. */
function changedAtMs(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 0
  if (!found.isDirectory()) return found.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => changedAtMs(join(path, name))))
}

/**
 * Build `product` in `dist/` when it is missing or older than the code, and start a database for the run. Returns what
 * ends the database.
 */
export async function setUpService(project: TestProject, product: 'muster.mjs' | 'muster') {
  const changed = Math.max(...SOURCES.map((path) => changedAtMs(join(ROOT, path))))
  if (changedAtMs(join(ROOT, 'dist', product)) < changed) {
    const args = product === 'muster' ? [] : ['--no-executable']
    const build = spawnSync(process.execPath, [join(ROOT, 'runtime', 'build', 'build.mjs'), ...args])
    if (build.status !== 0) throw new Error(`The service could not be built: ${build.stderr}`)
  }
  return startDatabase(project)
}

/** Start a database for the run. Returns a function that stops it. */
export async function startDatabase(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-e2e-postgres-'))
  const postgres = await startPostgres({
    directory: join(directory, 'data'),
    port: await findFreePort('127.0.0.1'),
    password: 'test',
    settings: ['fsync=off', 'synchronous_commit=off', 'max_connections=100'],
  })
  project.provide('e2ePostgresUrl', postgres.dsn(''))
  return async () => {
    await postgres.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
