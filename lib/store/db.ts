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
  /**
   * Run `work` in one transaction: committed when it resolves, rolled back when it throws. Its name says what it does
   * (`workload.archive`): the server's log shows it, and tests set faults on it.
   */
  transaction<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T>
  /** Let `work` read one moment of the database, whatever is written meanwhile. It cannot write. */
  snapshot<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T>
}

const NAME = /^[a-z]+([.-][a-z]+)*$/

/** The statement that begins a transaction: its name goes along as a comment, which costs no round trip. */
export function beginStatement(name: string, kind: 'transaction' | 'snapshot'): string {
  if (!NAME.test(name)) throw new Error(`not a name for a transaction: ${JSON.stringify(name)}`)
  const mode = kind === 'snapshot' ? ' ISOLATION LEVEL REPEATABLE READ READ ONLY' : ''
  return `BEGIN${mode} /* ${name} */`
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
