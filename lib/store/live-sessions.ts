import type { ServerSession } from './connection.ts'
import { DatabaseUnavailable } from './db.ts'

/**
 * The sessions that a process has with the database, and which of them are of the past. A server whose host vanished, and
 * a path that passes nothing more on, say nothing: what waits on such a session would wait for half a minute. So a new
 * session tells of the others.
 */
export class LiveSessions {
  /** Each, and whether it is reserved. */
  readonly #sessions = new Map<ServerSession, boolean>()
  readonly #proveMs: number

  /** An idle session that is to prove that it is alive has this long for it. */
  constructor(proveMs = PROVE_MS) {
    this.#proveMs = proveMs
  }

  /**
   * Take a new session in. Where its server goes on with a newer timeline than that of others, a replica took the place of
   * theirs: they end, as what they may still commit is no part of the history. Throws `DatabaseUnavailable` where it is the
   * other way round: this is the former server, or one that was not told. Or theirs is gone, and this one was restored from
   * a backup: on a session on which something is asked that is found out by itself, and the idle ones are asked now.
   */
  admit(session: ServerSession, isReserved: boolean): void {
    for (const other of this.#sessions.keys()) if (other.isBroken) this.#sessions.delete(other)
    const others = [...this.#sessions.keys()]
    const newer = others.filter((other) => isOlder(session, other))
    for (const other of newer) other.proveAlive(this.#proveMs)
    if (newer.length > 0) throw new DatabaseUnavailable(REPLACED)
    this.#sessions.set(session, isReserved)
    for (const other of others) if (isOlder(other, session)) other.end(new Error(REPLACED))
  }

  /**
   * End the sessions, but for the reserved ones, on which the database has said nothing since then, and on which something
   * was asked before `askedMs` and waits still.
   */
  endUnheard(sinceMs: number, askedMs: number): void {
    for (const [session, isReserved] of [...this.#sessions]) {
      const isWaiting = session.asksSinceMs !== null && session.asksSinceMs <= askedMs
      if (!isReserved && isWaiting && session.heardMs < sinceMs) session.end(new Error(UNHEARD))
    }
  }
}

function isOlder({ timeline }: ServerSession, than: ServerSession): boolean {
  return timeline !== null && than.timeline !== null && timeline < than.timeline
}

const PROVE_MS = 5_000
const REPLACED = 'this server is the former one: a replica took its place'
const UNHEARD = 'the session does not answer, and a new one does'
