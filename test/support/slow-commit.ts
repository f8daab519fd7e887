import { CommitInDoubt, type Database } from '../../lib/store/db.ts'
import { nextTurn } from '../../lib/turns.ts'
import { through } from './faulty-database.ts'
import type { TestDatabase } from './postgres.ts'

/** A database that can be slow to commit: the answer is lost while the server is still at it. */
export interface SlowDatabase {
  db: Database
  /** Lose the answer to the next commit of this name. It ends when the function that is returned is called. */
  slowDown(name: string): () => void
  /** Resolves when a statement waits for a transaction that has not ended. */
  untilAwaited(): Promise<void>
}

/** Lose the answer to the next commit whose name is slow, as the server is still at it; it ends with `finish`. */
export function commitSlowly(
  db: Database,
  isSlow: (name: string) => boolean,
): { finish: () => void; committed: Promise<void> } {
  const { promise: held, resolve: finish } = withResolver()
  const { promise: committed, resolve: done } = withResolver()
  const { transaction } = db
  db.transaction = (name, work) => {
    if (!isSlow(name)) return transaction(name, work)
    db.transaction = transaction
    return new Promise((_, reject) => {
      const end = transaction(name, async (tx) => {
        const value = await work(tx)
        reject(new CommitInDoubt('connection lost at commit'))
        await held
        return value
      })
      end.then(done, reject)
    })
  }
  return { finish, committed }
}

/** Resolves when a statement waits for a transaction that has not ended. */
export async function untilAwaited({ pool }: TestDatabase): Promise<void> {
  const waits = `select 1 from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`
  while ((await pool.query(waits)).length === 0) await nextTurn()
}

export function slowDatabase(database: TestDatabase): SlowDatabase {
  const db = through(database.pool)
  return {
    db,
    slowDown: (slow) => commitSlowly(db, (name) => name === slow).finish,
    untilAwaited: () => untilAwaited(database),
  }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
