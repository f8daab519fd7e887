import type { Db } from './db.ts'

/**
 * The time by the database's clock. It decides where a wait must not end early because the clock of one process jumps.
 */
export async function readDatabaseTime(db: Db): Promise<Date> {
  const rows = await db.query<{ now: Date }>(`select date_trunc('milliseconds', clock_timestamp()) as now`)
  return rows[0]!.now
}
