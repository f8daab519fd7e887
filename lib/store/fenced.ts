import type { Database, Db } from './db.ts'

/**
 * The database for what only the owner (the one process that decides) may write: every transaction first asks
 * `checkEpoch`, which throws when another process has become the owner meanwhile, as after this one was cut off or
 * stood still. A statement outside a transaction is not checked: what writes is a transaction, be it of one statement.
 * The few writes that are right whichever process makes them say so where they are made. `mayBegin` is asked before
 * the database is, which may give no answer for long, and throws where this process knows already that it may not write.
 */
export function fenced(
  db: Database,
  checkEpoch: (tx: Db) => Promise<void>,
  mayBegin: () => void = () => undefined,
): Database {
  return {
    query: (text, params) => db.query(text, params),
    execute: (text, params) => db.execute(text, params),
    async transaction(name, work) {
      mayBegin()
      return db.transaction(name, async (tx) => {
        await checkEpoch(tx)
        return work(tx)
      })
    },
    snapshot: (name, work) => db.snapshot(name, work),
  }
}
