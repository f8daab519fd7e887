import { type Random, systemRandom, uuidv7 } from '../ids.ts'
import type { Connection } from './connection.ts'
import type { Db } from './db.ts'

/** First key of each of muster's advisory locks ("must" in ASCII); the second says which lock. */
export const LOCK_SPACE = 0x6d757374
const PROCESS_LOCK = 1

/** The session that holds the owner's lock. */
export interface Holder {
  pid: number
  application: string
  address: string
  since: Date
}

/** A text that tells sessions of the server apart: a process id alone is used again. */
export const keyOfSession = ({ pid, since }: Pick<Holder, 'pid' | 'since'>) =>
  `${pid} since ${since?.getTime()}`

/** The statement that asks for the owner's lock; exported, like the others here, for tests to recognise. */
export const ASK_FOR_LOCK = `SELECT pg_try_advisory_lock(${LOCK_SPACE}, ${PROCESS_LOCK}) AS taken`

/** Take the owner's lock if nobody has it; whether it was taken. */
export async function tryAdvisoryLock(connection: Connection): Promise<boolean> {
  const rows = await connection.query<{ taken: boolean }>(ASK_FOR_LOCK)
  return rows[0]!.taken
}

/** End the session that holds the lock, which is one of this process's own, and wait until it is gone. */
export async function endHolder(connection: Connection, { pid }: Holder): Promise<void> {
  await connection.query('SELECT pg_terminate_backend($1, $2)', [pid, TAKE_WAIT_MS])
}

/**
 * End the session that holds the owner's lock, and take it: who waits for it gets it, and whoever only asks for it
 * meanwhile does not.
 */
export async function takeAdvisoryLockFrom(connection: Connection, { pid }: Holder): Promise<void> {
  await connection.transaction('lock.take-again', async (tx) => {
    await tx.execute(`SET LOCAL lock_timeout = ${TAKE_WAIT_MS}`)
    await tx.query(`SELECT pg_terminate_backend($1), pg_advisory_lock(${LOCK_SPACE}, ${PROCESS_LOCK})`, [pid])
  })
}

/** How long a session that is ended may go on to hold the lock. */
const TAKE_WAIT_MS = 2_500

/** Give the owner's lock up, where this session has it. */
export async function releaseAdvisoryLock(connection: Connection): Promise<void> {
  await connection.query(`SELECT pg_advisory_unlock(${LOCK_SPACE}, ${PROCESS_LOCK})`)
}

/** The statement that asks who holds the owner's lock. */
export const ASK_WHO_HOLDS_IT = `SELECT l.pid, coalesce(nullif(a.application_name, ''), 'unnamed') AS application,
       coalesce(host(a.client_addr), 'local socket') AS address, a.backend_start AS since
     FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.granted AND l.classid = ${LOCK_SPACE} AND l.objid = ${PROCESS_LOCK}
       AND l.objsubid = 2 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** Who holds the owner's lock now; undefined where nobody does. */
export async function findHolder(connection: Connection): Promise<Holder | undefined> {
  const rows = await connection.query<Holder>(ASK_WHO_HOLDS_IT)
  return rows[0]
}

/**
 * One ownership. A replica that took the place of the database may lack that its epoch was raised; then the next owner
 * gets the same number, and another mark.
 */
export interface Ownership {
  epoch: number
  mark: string
}

/** The statement by which a process that has the lock becomes the owner: it returns the new ownership. */
export const RAISE_EPOCH = `INSERT INTO process_epoch (id, epoch, raised_at, mark) VALUES (1, 1, $1, $2)
     ON CONFLICT (id) DO UPDATE
       SET epoch = process_epoch.epoch + 1, raised_at = excluded.raised_at, mark = excluded.mark
     RETURNING epoch, mark`

const HAS_MARK = `SELECT 1 FROM pg_attribute
     WHERE attrelid = 'process_epoch'::regclass AND attname = 'mark' AND NOT attisdropped`

/**
 * Raise the epoch and return the new ownership. The epoch's table is made here and not by a migration: the epoch must be
 * raised before the first migration runs, so that a former owner that was cut off cannot write into a schema that is
 * changing.
 */
export async function raiseEpoch(
  connection: Connection,
  now: Date,
  random: Random = systemRandom,
): Promise<Ownership> {
  await connection.query(`CREATE TABLE IF NOT EXISTS process_epoch (
    id integer PRIMARY KEY CHECK (id = 1), epoch bigint NOT NULL, raised_at timestamptz(3) NOT NULL)`)
  // Asked first, because the change would wait for everybody who reads the table, and make all others wait behind it.
  if ((await connection.query(HAS_MARK)).length === 0)
    await connection.query('ALTER TABLE process_epoch ADD COLUMN IF NOT EXISTS mark uuid')
  const rows = await connection.query<Ownership>(RAISE_EPOCH, [now, uuidv7(now, random)])
  return rows[0]!
}

/** The history of writes that a server goes on with, which a promoted replica begins anew. */
export interface History {
  timeline: string
  /** A replica has each commit of this session before it is answered, so that none that was answered is lost with the server. */
  isReplicated: boolean
}

/** The timeline of a server that takes writes, as an expression. */
export const TIMELINE = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)'

/** A commit of this session is answered without a replica that has it where the one setting names none, or the other does not wait. */
const HISTORY = `${TIMELINE} AS timeline,
       current_setting('synchronous_standby_names') <> ''
         AND current_setting('synchronous_commit') NOT IN ('off', 'local') AS "isReplicated"`

/** The statement that asks for the history. */
export const ASK_FOR_HISTORY = `SELECT ${HISTORY}`

/** The history that this server goes on with now. */
export async function readHistory(connection: Connection): Promise<History> {
  const rows = await connection.query<History>(ASK_FOR_HISTORY)
  return rows[0]!
}

/**
 * The ownership as it is now, and the history in which it is kept; none before there was one. A replica may lack the
 * column of the mark, too.
 */
const ASK_WHOSE = `SELECT epoch, to_jsonb(process_epoch) ->> 'mark' AS mark, ${HISTORY}
     FROM process_epoch WHERE id = 1`

/** Whether this ownership is the newest that the database knows. */
export async function isNewest(db: Pick<Db, 'query'>, { epoch, mark }: Ownership): Promise<boolean> {
  const [now] = await db.query<Ownership>(ASK_WHOSE)
  return now?.epoch === epoch && now.mark === mark
}

/**
 * The history as it is now, where this ownership is the newest; null where another one is. Nobody else becomes the owner
 * before this transaction has ended: raising the epoch waits for its lock. 'elsewhere': the database is not the one whose
 * timeline this is, but a replica that took its place.
 */
export async function staysNewest(
  tx: Db,
  { epoch, mark }: Ownership,
  timeline: string,
): Promise<History | 'elsewhere' | null> {
  const [now] = await tx.query<Ownership & History>(`${ASK_WHOSE} FOR SHARE`)
  if (now !== undefined && now.timeline !== timeline) return 'elsewhere'
  return now?.epoch === epoch && now.mark === mark ? now : null
}
