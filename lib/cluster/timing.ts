/** How often a member renews its row. */
export const RENEW_MS = 1_000
/** An owner that has not renewed its row for this long is replaced; its database sessions are ended first. */
export const OWNER_SILENT_MS = 4_000
/**
 * An owner commits and sends only for this long after its last renewal began, so that it has stopped before another
 * process may replace it.
 */
export const OWNER_FRESH_MS = 3_000
/** A tick that comes this much too late shows that the process stood still: what waits to be sent is out of date. */
export const LATE_MS = 2_000
/** For this long after an outage of the database the silent owner is not replaced, so that it can renew first. */
export const OUTAGE_PATIENCE_MS = 10_000
/** A member whose clock differs more from that of the database is not ready. */
export const SKEW_MAX_MS = 2_000
/** How long a member leaves a free lock alone for each member that started after it and is as good an owner. */
export const RANK_PATIENCE_MS = 1_000
/** How long, besides, one that never had a link leaves it to better ones. */
export const BEHIND_PATIENCE_MS = 10_000
/**
 * The same for one that others do not reach. It does not know of each process alike whether that was tried, and is behind
 * those as well that wait because they do not know that of others.
 */
export const LAST_PATIENCE_MS = 20_000
/** A row that was not renewed for this long is deleted. */
export const FORGET_MS = 60_000
/** The database ends a transaction that is idle for this long. */
export const IDLE_IN_TRANSACTION_MS = 3_000
