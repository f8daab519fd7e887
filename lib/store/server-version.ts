import type { Db } from './db.ts'

/** The version of the PostgreSQL server, as it says it itself: `18.4`. */
export async function readServerVersion(db: Db): Promise<string> {
  const rows = await db.query<{ version: string }>(`select current_setting('server_version') as version`)
  return rows[0]?.version ?? ''
}

/**
 * Refuse a server older than PostgreSQL 15, by name: the statements are tried on it and on 18. Refuse a database that is
 * not in UTF-8, too: in another encoding some texts of agents and people cannot be kept, and names cannot be compared.
 */
export async function checkServer(db: Db): Promise<void> {
  const rows = await db.query<{ number: string; name: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name,
       current_setting('server_encoding') AS encoding`,
  )
  const { number, name, encoding } = rows[0]!
  if (Number(number) < 150_000)
    throw new Error(`PostgreSQL 15 or newer is needed, this server is PostgreSQL ${name}`)
  if (encoding !== 'UTF8') throw new Error(`A database in UTF-8 is needed, this one is in ${encoding}`)
}
