/** Memory of sessions and API tokens that ended: caches forget them, listeners hear of them. */
export interface SessionEnds {
  /** Call after the commit. */
  announce(sessionIds: readonly string[]): void
}
