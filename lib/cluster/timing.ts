/** How often a member renews its row. */
export const RENEW_MS = 1_000
/** An owner whose row was silent for so long is replaced, and its sessions are ended first. */
export const OWNER_SILENT_MS = 4_000
/** An owner commits and sends only for so long after its last renewal began: it stops before anybody may replace it. */
export const OWNER_FRESH_MS = 3_000
/** A tick that comes so much late tells that the process stood still: what waits is of another time. */
export const LATE_MS = 2_000
/** After the database was away the owner of before comes first for so long. */
export const OUTAGE_PATIENCE_MS = 10_000
/** A member whose clock is off the database's by more is not ready. */
export const SKEW_MAX_MS = 2_000
/** When a free lock may be taken by a member that did not start last, for each that started after it. */
export const RANK_PATIENCE_MS = 1_000
/** A row that was silent for so long is struck off. */
export const FORGET_MS = 60_000
/** A transaction that stands still for so long is ended by the database. */
export const IDLE_IN_TRANSACTION_MS = 3_000
