import type { AgentReport, ServerMessage } from './report.ts'

/**
 * One way to reach agents: a WebSocket, which may carry several agents, or the poller behind one uid.
 * Over HTTP `send` always answers 'dropped': what is to be said waits for the next poll.
 */
export interface AgentConnection {
  /** Unique among the connections of both transports within the process. */
  readonly id: number
  readonly transport: 'ws' | 'http'
  /** The name of a connection at a front, which stays the same when the link to that front is replaced. */
  readonly place?: string
  /** It says afterwards of each offer whether that left (a link to a front): only then the offer counts as sent. */
  readonly acknowledges?: boolean
  /** The uid that was heard on it last, as text; kept by the exchange, so that the text is not made anew for each beat. */
  lastUid?: string
  /** Whether the bare beats of this agent are answered before they come here (by a front). */
  absorbs?(uid: string): boolean
  /** Send one encoded frame. 'dropped' means that the peer will not see it. */
  send(frame: Uint8Array): 'sent' | 'buffered' | 'dropped'
  /** Send a message to an agent, where the connection makes the frame itself (a link to a front); see `tellAgent`. */
  tell?(uidOnWire: Uint8Array, message: ServerMessage): 'sent' | 'buffered' | 'dropped'
  /** Cut the connection without a Close frame, which would strand some clients. */
  drop(): void
}

/** Another process (a front) that reads the effective configs of its agents and says later what each was. */
export interface ConfigReader {
  readonly memberId: string
  /** Whether it can be expected to say so: false while it has no link. */
  readonly isThere: boolean
}

/** What is known of a report beside its contents. */
export interface AboutReport {
  /** The same HTTP request came before (a retransmission). */
  isRetransmission?: boolean
  /** The report is that of a second agent with the same uid, which is to get another uid. */
  isDuplicate?: boolean
  /**
   * With this report it became known that two agents share the uid; until now the reports of both were taken for those
   * of one agent.
   */
  isToldApart?: boolean
  /**
   * True: every message up to this one was seen (by a front), so none is missing, whatever sequence number came last.
   * False: where the agent was on this connection before, one is missing, or it has started anew.
   */
  isCaughtUp?: boolean
  /** How long ago it was said, at most (to a front); not said where it was just now. */
  agoMs?: number
  /** How long ago it was said, at least, where a front says again what the agent has said before. */
  leastAgoMs?: number
  /** Who reads the effective config in it; not said where that is this process. */
  reader?: ConfigReader | undefined
  /** The AgentToServer as it came, for a front that passes it on. */
  message?: Uint8Array
  /** Where a poll came from, and a digest of its body. */
  poll?: { source: string; digest: string }
}

/** What the OpAMP listener needs from the fleet; the fleet decides, the listener moves bytes. */
export interface FleetPort {
  /**
   * Take one report and give the answer to it at once. Over HTTP `pendingOffer` may follow within a short
   * wait (an offer for this agent whose row is being committed), to be merged into the same answer. The fleet
   * ends the wait: it resolves null when the offer comes too late, so that both sides know it was not carried.
   */
  receive(
    connection: AgentConnection,
    report: AgentReport,
    about: AboutReport,
  ): { message: ServerMessage; pendingOffer: Promise<ServerMessage | null> | null }
  /** The answer to this agent found no room on its connection: what it asks for is to be asked again. */
  answerNotSent(connection: AgentConnection, uid: string, answer: ServerMessage): void
  /**
   * The connection ended, for whatever reason; every agent last seen on it is gone with it. `isOurDoing`: this process
   * ended it, or lost the link to the front that has it, so it says nothing about the agents. The same holds of one that
   * ended while this process stood still: its agents may have left because nobody answered them. `heardAgoMs`: how long ago
   * that front was heard last.
   */
  connectionClosed(connection: AgentConnection, options?: { isOurDoing?: boolean; heardAgoMs?: number }): void
}
