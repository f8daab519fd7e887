import type { Connection } from '../../../lib/store/connection.ts'
import { openTestConnection } from '../../support/postgres.ts'
import { APPROVER, AUTHOR } from '../operator/operator-world.ts'
import { RealSessions } from './real-sessions.ts'

/** The database that worlds live in, one after the other, each as if it were the first. */
export interface SimStore {
  sessions: RealSessions
  /** Looks at what is stored, beside the processes. */
  watcher: Connection
  /** Forget the world before: rows, numbers that count up, and the epoch. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** Take a migrated database in which nothing has happened yet. */
export async function openSimStore(dsn: string): Promise<SimStore> {
  const watcher = await openTestConnection(dsn)
  // Audit records are kept from being cleared by a trigger.
  await watcher.execute('set session_replication_role = replica')
  const sessions = new RealSessions(dsn, watcher)
  for (const person of [AUTHOR, APPROVER]) await addPerson(watcher, person)
  const tables = await listEmptyTables(watcher)
  for (const name of tables) {
    // Statistics that are gathered at some real moment would change plans, and with them the order of rows.
    await watcher.execute(`alter table ${name} set (autovacuum_enabled = off)`)
  }
  return {
    sessions,
    watcher,
    async clear() {
      await sessions.open()
      const used = await listUsed(watcher, tables)
      if (used.length > 0) await watcher.execute(`truncate ${used.join(', ')} restart identity cascade`)
      await watcher.execute('update process_epoch set epoch = 1')
    },
    async close() {
      await sessions.close()
      await watcher.close()
    },
  }
}

/** Whoever asks and approves in every world; there is no sign-in. */
async function addPerson(watcher: Connection, person: typeof AUTHOR): Promise<void> {
  await watcher.execute(
    `insert into users (id, email, email_key, password_hash, created_at) values ($1, $2, $2, '!', '2026-01-01T00:00:00Z')
     on conflict do nothing`,
    [person.userId, person.email],
  )
  await watcher.execute(
    `insert into user_groups (user_id, group_id) values ($1, 'grp_system_administrator') on conflict do nothing`,
    [person.userId],
  )
}

/** Those that a world fills; what migrations wrote stays. */
async function listEmptyTables(watcher: Connection): Promise<string[]> {
  const rows = await watcher.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
  )
  const empty: string[] = []
  for (const { name } of rows) {
    const found = await watcher.query(`select from ${name} limit 1`)
    if (found.length === 0) empty.push(name)
  }
  return empty
}

/** Where a row was ever written, whether it was committed or not. */
async function listUsed(watcher: Connection, tables: readonly string[]): Promise<string[]> {
  const rows = await watcher.query<{ name: string }>(
    `select name from unnest($1::text[]) as name where pg_relation_size(name::regclass) > 0`,
    [tables],
  )
  return rows.map(({ name }) => name)
}
