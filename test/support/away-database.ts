import { type Database, DatabaseUnavailable } from '../../lib/store/db.ts'

/** Let no transaction be made from now on, until the function is called that this returns. */
export function takeAway(db: Database): () => void {
  const transaction = db.transaction.bind(db)
  db.transaction = () => Promise.reject(new DatabaseUnavailable('away'))
  return () => {
    db.transaction = transaction
  }
}
