import { CommitInDoubt, type Database, DatabaseUnavailable, type Db } from '../../lib/store/db.ts'

/** The same database as a plain object, so that a test can replace single methods. */
export const through = (db: Database): Database => ({
  query: (text, params) => db.query(text, params),
  execute: (text, params) => db.execute(text, params),
  transaction: (name, work) => db.transaction(name, work),
  snapshot: (name, work) => db.snapshot(name, work),
})

/**
 * A database on which a test sets faults: for transactions and snapshots by their names, for what is read outside of
 * these by its text. Each fault happens once.
 */
export interface FaultyDatabase extends Database {
  /** Lose the answer to the next commit of this name: the change stands, and the caller gets an error. */
  loseAnswer(name: string): void
  /** Lose the next commit of this name: nothing is stored, and the caller gets the same error. */
  loseCommit(name: string): void
  /** Call `act` when all statements of the next one of this name have run, before its commit. */
  beforeEnd(name: string, act: () => void): void
  /** Refuse the next query outside of transactions whose text has this in it, as for a time-out. */
  refuse(text: string): void
  /** The names of the faults that have not happened yet. */
  pending(): string[]
}

/** Make a database with faults over another one. */
export function faultyDatabase(db: Database): FaultyDatabase {
  const lostAnswers = new Set<string>()
  const lostCommits = new Set<string>()
  const refused = new Set<string>()
  const acts = new Map<string, () => void>()
  const acting =
    <T>(name: string, work: (tx: Db) => Promise<T>) =>
    async (tx: Db): Promise<T> => {
      const value = await work(tx)
      const act = acts.get(name)
      acts.delete(name)
      act?.()
      return value
    }
  return {
    ...through(db),
    async query(text, params) {
      const found = [...refused].find((part) => text.includes(part))
      if (found === undefined) return db.query(text, params)
      refused.delete(found)
      throw new DatabaseUnavailable('canceling statement due to time-out')
    },
    async transaction(name, work) {
      const lost = new CommitInDoubt('connection lost at commit')
      const value = await db.transaction(name, async (tx) => {
        const value = await acting(name, work)(tx)
        if (lostCommits.delete(name)) throw lost
        return value
      })
      if (lostAnswers.delete(name)) throw lost
      return value
    },
    snapshot: (name, work) => db.snapshot(name, acting(name, work)),
    loseAnswer: (name) => void lostAnswers.add(name),
    loseCommit: (name) => void lostCommits.add(name),
    beforeEnd: (name, act) => void acts.set(name, act),
    refuse: (text) => void refused.add(text),
    pending: () => [...lostAnswers, ...lostCommits, ...acts.keys(), ...refused],
  }
}
