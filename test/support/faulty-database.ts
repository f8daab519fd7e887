import { CommitInDoubt, type Database, type Db } from '../../lib/store/db.ts'

/** The same database as a plain object, for a test that replaces some of what it does. */
export const through = (db: Database): Database => ({
  query: (text, params) => db.query(text, params),
  execute: (text, params) => db.execute(text, params),
  transaction: (name, work) => db.transaction(name, work),
  snapshot: (name, work) => db.snapshot(name, work),
})

/** A database with faults that a test sets on transactions and snapshots, by their names. Each happens once. */
export interface FaultyDatabase extends Database {
  /** The answer to the next commit is lost: the change stands, and whoever made it hears of a fault. */
  loseAnswer(name: string): void
  /** The next commit is lost on its way: nothing stands, and whoever made it hears of the same fault. */
  loseCommit(name: string): void
  /** Do something when the next one has said all but its last word. */
  beforeEnd(name: string, act: () => void): void
  /** The names of those that have not come yet. */
  pending(): string[]
}

export function faultyDatabase(db: Database): FaultyDatabase {
  const lostAnswers = new Set<string>()
  const lostCommits = new Set<string>()
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
    pending: () => [...lostAnswers, ...lostCommits, ...acts.keys()],
  }
}
