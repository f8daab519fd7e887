import type { AgentReport, ServerMessage } from './report.ts'

/**
 * One way to reach agents: a WebSocket, which may carry several agents, or the poller behind one uid.
 * Over HTTP `send` always answers 'dropped': what is to be said waits for the next poll.
 */
export interface AgentConnection {
  /** Unique among the connections of both transports within the process. */
  readonly id: number
  readonly transport: 'ws' | 'http'
  /** Send one encoded frame. 'dropped' means that the peer will not see it. */
  send(frame: Uint8Array): 'sent' | 'buffered' | 'dropped'
  /** Say this to an agent, where the connection makes the frame itself; see `tellAgent`. */
  tell?(uidOnWire: Uint8Array, message: ServerMessage): 'sent' | 'buffered' | 'dropped'
  /** Cut the connection without a Close frame, which would strand some clients. */
  drop(): void
}

/** What the listener knows of a report besides its words. */
export interface AboutReport {
  /** The same request came before. */
  isRetransmission?: boolean
  /** It is of a second agent that has the same uid: it is to have another one. */
  isDuplicate?: boolean
  /** From this report on two agents are told apart: what either said before was taken for words of one. */
  isToldApart?: boolean
  /** Every message up to this one was seen, whatever number was taken last: none is missing. */
  isCaughtUp?: boolean
  /** The AgentToServer as it came, for whoever passes it on. */
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
  /**
   * The connection ended, for whatever reason; every agent last seen on it is gone with it. `isOurDoing` says that
   * it was ended by us, which tells nothing of the agents.
   */
  connectionClosed(connection: AgentConnection, options?: { isOurDoing?: boolean }): void
}
