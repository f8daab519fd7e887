import type { Database, Db } from './db.ts'

/**
 * The database for what only the active process may write: every transaction first asks `checkEpoch`, which throws
 * when another process has become the active one. Nothing of a process that was cut off or stood still slips in.
 */
export function fenced(db: Database, checkEpoch: (tx: Db) => Promise<void>): Database {
  return {
    query: (text, params) => db.query(text, params),
    execute: (text, params) => db.execute(text, params),
    transaction: (name, work) =>
      db.transaction(name, async (tx) => {
        await checkEpoch(tx)
        return work(tx)
      }),
    snapshot: (name, work) => db.snapshot(name, work),
  }
}
