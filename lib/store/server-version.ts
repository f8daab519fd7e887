import type { Db } from './db.ts'

/** The version of the PostgreSQL server, as it says it itself: `18.4`. */
export async function readServerVersion(db: Db): Promise<string> {
  const rows = await db.query<{ version: string }>(`select current_setting('server_version') as version`)
  return rows[0]?.version ?? ''
}
