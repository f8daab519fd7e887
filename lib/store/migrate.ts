import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Connection } from './connection.ts'
import { isLockTimeout } from './driver-errors.ts'

/** One forward step of the schema, from `migrations/NNNN-slug.sql`. */
export interface Migration {
  version: number
  name: string
  /** Whether binaries that do not know this step must not run against it. */
  isBreaking: boolean
  sql: string
}

const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/
const FIRST_LINE = /^-- breaks older binaries: (yes|no)\s*$/

/**
 * Read the migrations of a directory, by version: all at once, since a start waits for it. Throws when a file's name or first
 * line is not as agreed.
 */
export function readMigrations(directory: string): Migration[] {
  const migrations: Migration[] = []
  for (const file of readdirSync(directory).sort()) {
    if (!file.endsWith('.sql')) continue
    const name = FILE_NAME.exec(file)
    const sql = readFileSync(join(directory, file), 'utf8')
    const breaks = FIRST_LINE.exec(sql.split('\n', 1)[0]!)
    if (!name) throw new Error(`Cannot read migration ${file}: expected NNNN-slug.sql`)
    if (!breaks)
      throw new Error(`Cannot read migration ${file}: expected "-- breaks older binaries: yes|no" first`)
    migrations.push({ version: Number(name[1]), name: name[2]!, isBreaking: breaks[1] === 'yes', sql })
  }
  const twice = migrations.find((migration, index) => migrations[index + 1]?.version === migration.version)
  if (twice) throw new Error(`Two migrations have version ${twice.version}`)
  return migrations
}

/** Thrown where a newer binary has left a step that this one must not run against. */
export class DatabaseTooNew extends Error {
  override readonly name = 'DatabaseTooNew'
}

/** The newest of these migrations, and the newest one that breaks binaries which do not know it; 0 for none. */
export const newestOf = (migrations: readonly Migration[]) => ({
  newest: Math.max(0, ...migrations.map(({ version }) => version)),
  breaking: Math.max(0, ...migrations.filter(({ isBreaking }) => isBreaking).map(({ version }) => version)),
})

interface Applied {
  version: number
  name: string
  is_breaking: boolean
}

/**
 * Bring the schema to this binary's version, one transaction a step; the caller holds the process lock, and
 * `connection` is the one that holds it, so that a lost lock also ends a running step. Returns the versions
 * applied now. Throws when a newer binary left a step that this one must not run against.
 */
export async function migrate(
  connection: Connection,
  migrations: readonly Migration[],
  { clock, log, statementTimeoutMs = 30_000 }: { clock: Clock; log: Log; statementTimeoutMs?: number },
): Promise<number[]> {
  await connection.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    version integer PRIMARY KEY, name text NOT NULL, is_breaking boolean NOT NULL, applied_at timestamptz(3) NOT NULL)`)
  const applied = await connection.query<Applied>(
    'SELECT version, name, is_breaking FROM schema_migrations ORDER BY version',
  )
  const pending = planMigrations(migrations, applied, log)
  if (pending.length === 0) return []
  await connection.setStatementTimeout(0)
  try {
    for (const step of pending) {
      await applyStep(connection, step, { clock, log })
      log.info({ version: step.version, name: step.name }, 'migration applied')
    }
  } finally {
    if (!connection.isBroken) await connection.setStatementTimeout(statementTimeoutMs)
  }
  return pending.map((step) => step.version)
}

/** So long a step waits for a table that somebody else holds; others wait behind it meanwhile. */
const LOCK_WITHIN_MS = 3_000
const PAUSE_MS = 1_000

/**
 * Apply a step. A backup holds every table for as long as it takes: the step lets others pass in between, and says once
 * what it waits for.
 */
async function applyStep(
  connection: Connection,
  step: Migration,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await connection.transaction('migration', async (tx) => {
        await tx.query(`set local lock_timeout = ${LOCK_WITHIN_MS}`)
        await tx.query(step.sql)
        await tx.execute(
          'INSERT INTO schema_migrations (version, name, is_breaking, applied_at) VALUES ($1, $2, $3, $4)',
          [step.version, step.name, step.isBreaking, clock.now()],
        )
      })
      return
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (tries === 1) log.warn({ version: step.version, name: step.name }, WAITS_FOR_LOCK)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
}

const WAITS_FOR_LOCK =
  'a migration waits for a table that another session of the database holds, as a backup does: nothing is decided until it is over'

function planMigrations(known: readonly Migration[], applied: readonly Applied[], log: Log): Migration[] {
  const knownVersions = new Set(known.map((step) => step.version))
  const newer = applied.filter((step) => !knownVersions.has(step.version))
  const breaking = newer.find((step) => step.is_breaking)
  if (breaking) {
    throw new DatabaseTooNew(
      `Cannot run against this database: migration ${breaking.version} (${breaking.name}) of a newer muster breaks ` +
        `this one, whose newest is ${Math.max(0, ...knownVersions)}`,
    )
  }
  if (newer.length > 0) {
    const versions = newer.map((step) => step.version)
    log.warn({ versions }, 'the database has migrations of a newer muster; they do not break this one')
  }
  const done = new Set(applied.map((step) => step.version))
  return known.filter((step) => !done.has(step.version))
}
