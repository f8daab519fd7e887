import pg from 'pg'
import { DatabaseUnavailable } from './db.ts'

// Classes of SQLSTATE that mean "this server cannot serve now": connection exceptions, too many
// connections, shutdown or start-up of the server, and a server that became a read-only replica.
const LOSS_CODES = /^(08...|53300|57P0[1-5]|25006)$/

// Classes of SQLSTATE that mean "not now" on a session that is sound: no room on the disk, in memory or in a table
// of locks, a fault below the server, a deadlock, a statement that took too long. Nothing is wrong with the rows:
// what is dropped for them is lost for nothing.
const PASSING_CODES = /^(53...|58...|40001|40P01|55P03|57014)$/

/** Is it "not now", on a session that is sound? */
export const isPassing = (error: unknown) =>
  error instanceof pg.DatabaseError && PASSING_CODES.test(error.code ?? '')

/** Did a statement give up waiting for a lock, as `lock_timeout` says? */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable
    ? isLockTimeout(error.cause)
    : error instanceof pg.DatabaseError && error.code === '55P03'

/** Is the session lost, or the server unable to serve? */
export function isLoss(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return LOSS_CODES.test(error.code ?? '')
  // Whatever is not an answer of the server came from the socket or the driver's state, except for
  // parameters that could not be serialised.
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError)
}

/** A fault that says what could not be done, with the driver's own as its cause. */
export function unavailable(during: string, cause: unknown): DatabaseUnavailable {
  const reason =
    cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(cause)
  return new DatabaseUnavailable(`database unavailable during ${during}: ${reason}`, { cause })
}
