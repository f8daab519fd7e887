import type { Database } from '../store/db.ts'

/** What a follower took over as it read again, and what it has to read once more: that changed while it read. */
export interface Reread {
  adopted: readonly string[]
  passedOver: readonly string[]
}

/** Of a follower that need not say what it took over. */
export const READ: Reread = { adopted: [], passedOver: [] }

/**
 * Where those register that keep in memory what the database holds. They follow a change as its caller tells them, but
 * nobody does where the caller is told of a failure although the change stands, or may stand: then all of them read
 * again. Whatever a process keeps of the database registers as it is made.
 */
export interface CommitFollowers {
  /** Have this read again what it keeps, after a change of which it may not have heard. */
  follow(readAgain: (db: Database) => Promise<Reread>): void
  /** A change stands, or may stand, and was not told, or could not be read: have all followers read again. */
  note(): void
}

/** For a process that ends before anything in its memory could be out of date. */
export const noFollowers: CommitFollowers = { follow: () => {}, note: () => {} }
