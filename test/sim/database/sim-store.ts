import type { Connection } from '../../../lib/store/connection.ts'
import { keepOnOneCore } from '../../support/one-core.ts'
import { openTestConnection } from '../../support/postgres.ts'
import { APPROVER, AUTHOR } from '../operator/operator-world.ts'
import { RealSessions } from './real-sessions.ts'

/** The database in which worlds are run one after the other, each as if it were the first. */
export interface SimStore {
  sessions: RealSessions
  /** A connection that is no process's, for reading what is stored. */
  watcher: Connection
  /** Remove the traces of the world before: its rows, sequences and the epoch. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** Take a migrated database in which nothing has happened yet. */
export async function openSimStore(dsn: string): Promise<SimStore> {
  await keepOnOneCore(process.pid)
  const watcher = await openTestConnection(dsn)
  // A trigger forbids to delete audit records; in this mode triggers do not run.
  await watcher.execute('set session_replication_role = replica')
  const sessions = new RealSessions(dsn, watcher)
  const keeper = await openTestConnection(dsn)
  await keeper.execute('set idle_in_transaction_session_timeout = 0')
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
      await keeper.execute('rollback')
      const used = await listUsed(watcher, tables)
      if (used.length > 0) await watcher.execute(`truncate ${used.join(', ')} restart identity cascade`)
      await watcher.execute('update process_epoch set epoch = 1')
      // PostgreSQL uses the room of old rows again once no transaction on the whole server can see them, so the order of
      // rows that nothing sorts would depend on what happens in other databases. This one sees them until the world ends.
      await keeper.execute('begin')
      await keeper.query('select pg_current_xact_id()')
    },
    async close() {
      await keeper.close()
      await sessions.close()
      await watcher.close()
    },
  }
}

/** Insert a user; the same two request and approve in every world, and nobody signs in. */
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

/** The tables that are empty before the first world: those are cleared between worlds, and the others are kept. */
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

/** Of these tables those that have been written to, even if it was rolled back. */
async function listUsed(watcher: Connection, tables: readonly string[]): Promise<string[]> {
  const rows = await watcher.query<{ name: string }>(
    `select name from unnest($1::text[]) as name where pg_relation_size(name::regclass) > 0`,
    [tables],
  )
  return rows.map(({ name }) => name)
}
