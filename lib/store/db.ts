/**
 * Something SQL can be sent to: the pool, or one open transaction. Every statement function in
 * `lib/store` takes it first, so that the same statement runs inside or outside a transaction.
 */
export interface Db {
  /** Run one statement and return its rows. Throws `DatabaseUnavailable` when no answer came. */
  query<Row extends object>(text: string, params?: readonly unknown[]): Promise<Row[]>
  /** Run one statement and return how many rows it touched. */
  execute(text: string, params?: readonly unknown[]): Promise<number>
}

/** The pool: statements of their own, or several in one transaction. */
export interface Database extends Db {
  /** Run `work` in one transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
}

/**
 * The database could not be reached, dropped the connection, or has no room or time now; the statement's fate may be
 * unknown.
 */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable'
}

/** The connection was lost after COMMIT was sent: the transaction may stand, and nobody here knows. */
export class CommitInDoubt extends DatabaseUnavailable {
  override readonly name = 'CommitInDoubt'
}
