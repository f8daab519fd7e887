import type { Db } from './db.ts'

/** Make a transaction that has done nothing yet read one moment of the database, and write nothing. */
export async function beginSnapshot(tx: Db): Promise<void> {
  await tx.execute('set transaction isolation level repeatable read, read only')
}
