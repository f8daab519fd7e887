/** The open sockets of sessions and API tokens. */
export interface SessionSockets {
  /** The sessions and API tokens with a socket. */
  sessionIds(): readonly string[]
  /** Close the sockets of these. */
  endSessions(sessionIds: readonly string[]): void
}

/** Makes all caches of sessions and API tokens read anew, and says which of them have ended. */
export interface SessionEnds {
  /**
   * Call after the commit, with the ids of the sessions and API tokens that ended; with none where only rights changed.
   */
  announce(sessionIds: readonly string[]): void
}
